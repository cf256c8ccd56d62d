"""Other libraries still have the internals and the messages on which Shoal relies."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import duckdb
import numba
import numpy as np
import pyarrow as pa
import pytest
import typer
from numba.core import caching
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher

from shoal._compat import kernel_files
from shoal._compat import messages as foreign
from shoal._compat import numba as kernel_cache
from shoal._compat import numba as kernels
from shoal._compat import typer as commands
from shoal.cli.shared.options import Command, Group


def double(value):
    return 2 * value


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """Return a new kernel with a cache in a folder of its own, as a new process would make it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    failures = []

    def make():
        kernel = kernels.compile_lazily(double)
        cache = kernel_cache.KernelCache(double, "stamp", lambda: failures.append(1))
        kernels.store_in(kernel, cache)
        return kernel

    yield make
    assert failures == []


def test_numba_loads_a_kernel_from_the_cache_that_it_was_given(cached):
    first, second = cached(), cached()
    assert first(21) == 42
    assert second(21) == 42
    assert sum(first.stats.cache_misses.values()) == 1
    assert sum(second.stats.cache_misses.values()) == 0
    assert sum(second.stats.cache_hits.values()) == 1


def test_numba_stores_an_index_where_it_is_looked_for(cached, tmp_path):
    folder = Path(__file__).parent
    assert not kernel_files.has_kernels_in(tmp_path, folder)
    cached()(21)
    assert kernel_files.has_kernels_in(tmp_path, folder)
    assert not kernel_files.has_kernels_in(tmp_path, folder.parent)


def test_numba_stores_an_index_beside_the_source_if_no_folder_is_stated(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    source = tmp_path / "kernel.py"
    source.write_text("def triple(value):\n    return 3 * value\n")
    triple = runpy.run_path(str(source))["triple"]
    kernel = kernels.compile_lazily(triple)
    kernels.store_in(kernel, kernel_cache.KernelCache(triple, "stamp", pytest.fail))
    assert not kernel_files.has_kernels_beside(tmp_path)
    assert kernel(3) == 9
    assert kernel_files.has_kernels_beside(tmp_path)


@pytest.mark.parametrize("name", ["UserProvided", "InTree", "UserWide"])
def test_numba_has_a_locator_for_each_folder(name):
    assert kernel_cache._locator(name) in caching.CompileResultCacheImpl._locator_classes


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (caching.FunctionCache, ["load_overload", "save_overload", "disable", "cache_path"]),
        (caching.IndexDataCacheFile, ["load", "save", "_load_index", "_save_index", "_save_data"]),
        (Dispatcher, ["get_call_template", "get_overload"]),
        (
            JITCodeLibrary,
            [
                "_optimize_final_module",
                "_finalize_final_module",
                "_finalize_dynamic_globals",
                "_verify_declare_only_symbols",
            ],
        ),
        (CPUContext, ["get_executable", "subtarget"]),
        (CompileResult, ["_reduce", "_rebuild"]),
    ],
    ids=["cache", "files", "kernel", "code", "context", "result"],
)
def test_numba_has_the_methods_that_are_replaced_or_called(owner, names):
    assert [name for name in names if not hasattr(owner, name)] == []


def test_numba_reads_the_version_that_the_cache_states(cached):
    cache = cached()._cache
    assert cache._cache_file._version == f"{numba.__version__}, stamp"
    assert vars(caching.IndexDataCacheFile("folder", "base", "stamp")).keys() >= {
        "_cache_path",
        "_version",
    }


def test_numba_types_calls_between_kernels_by_the_template_of_the_callee():
    callee = kernels.compile_lazily(double)
    caller = kernels.compile_lazily(lambda numbers: callee(numbers[0]) + callee(3))
    compiled = []
    with kernels.listen_to_compilation(lambda: compiled.append(1)):
        assert caller(np.array([2], np.int32)) == 10
    assert compiled == [1, 1]  # the caller, and the callee for int64
    assert callee.signatures == []


def test_numba_compiles_the_part_of_a_kernel_without_machine_code():
    callee = kernels.compile_lazily(double)
    caller = kernels.compile_lazily(lambda number: callee(number) + 1)
    assert caller(20) == 41
    part = callee.get_call_template.__closure__[0].cell_contents.__self__
    (compiled,) = part.overloads.values()
    library = compiled.library
    assert library._compiled_object is None
    assert not library.codegen._engine.is_symbol_defined(compiled.fndesc.llvm_func_name)
    assert callee(21) == 42  # from Python: with a wrapper of its own


def test_numba_counts_no_references_to_arrays_unless_a_kernel_makes_some():
    def add_up(numbers):
        total = 0
        for number in numbers[1:]:
            total += number
        return total

    def copy_first(numbers):
        return numbers.copy()[0]

    numbers = np.arange(4)
    assert kernels.compile_lazily(add_up)(numbers) == 6
    assert kernels.compile_lazily(copy_first, allocates=True)(numbers) == 0
    with pytest.raises(numba.core.errors.NumbaError, match="NRT required but not enabled"):
        kernels.compile_lazily(copy_first)(numbers)


def test_numba_reports_an_error_that_a_part_raises():
    def refuse(number):
        if number > 3:
            raise ValueError("too large")
        return number

    callee = kernels.compile_lazily(refuse)
    caller = kernels.compile_lazily(lambda number: callee(number) + 0)
    assert caller(3) == 3
    with pytest.raises(ValueError, match="too large"):
        caller(4)


def test_numba_reports_each_compilation_before_it_starts():
    times = []
    half = kernels.compile_lazily(lambda number: number / 2)
    with kernels.listen_to_compilation(lambda: times.append(1)):
        assert half(1) == 0.5
        assert half(1) == 0.5
        assert times == [1]
        assert half(1.0) == 0.5
    assert times == [1, 1]


def read_strictly(path, text):
    """Return what the message of DuckDB about a CSV file says."""
    path.write_bytes(text)
    statement = (
        "SELECT * FROM read_csv($path, auto_detect=false, strict_mode=true, delim=',', "
        "quote='\"', escape='\"', header=true, null_padding=false, columns=$columns)"
    )
    parameters = {"path": str(path), "columns": {"a": "VARCHAR", "b": "VARCHAR"}}
    with pytest.raises(duckdb.Error) as caught:
        duckdb.connect().sql(statement, params=parameters).fetchall()
    return foreign.read_csv_error(str(caught.value))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"a,b\n1,2\n3\n", foreign.CsvError(foreign.CsvFault.FIELDS, 3, (2, 1))),
        (b"a,b\n1,2,3\n", foreign.CsvError(foreign.CsvFault.FIELDS, 2, (2, 3))),
        (b'a,b\n1,2\n3,"4\n', foreign.CsvError(foreign.CsvFault.QUOTE, 3)),
        (b"a,b\n1,2\n3,\xff\n", foreign.CsvError(foreign.CsvFault.ENCODING, 3)),
        (b"a,b\n1," + b"2" * 3_000_000 + b"\n", foreign.CsvError(foreign.CsvFault.LENGTH, 2)),
    ],
    ids=["few", "many", "quote", "encoding", "length"],
)
def test_duckdb_says_what_is_wrong_with_a_csv_file(text, error, tmp_path):
    assert read_strictly(tmp_path / "table.csv", text) == error


def test_a_message_about_something_else_is_not_misread():
    assert foreign.read_csv_error("no such thing") == foreign.CsvError(foreign.CsvFault.OTHER)


def test_pyarrow_names_the_column_that_it_cannot_convert():
    pandas = pytest.importorskip("pandas")
    mixed = pandas.DataFrame({"age": [1, 2], "a with type b": [1, "x"]}, dtype=object)
    with pytest.raises(pa.ArrowException) as caught:
        pa.table(mixed)
    assert foreign.unconverted_column(str(caught.value), list(mixed)) == "a with type b"
    assert foreign.unconverted_column(str(caught.value), ["age"]) is None


def test_pyarrow_names_an_index_without_a_name_by_its_level():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1, 2]}, index=["x", "y"])
    names = pa.table(frame).column_names
    assert [foreign.is_unnamed_index(name) for name in names] == [False, True]


def test_polars_marks_its_enums():
    polars = pytest.importorskip("polars")
    texts = polars.Series(["low", "high"])
    frame = {"enum": texts.cast(polars.Enum(["low", "high"])), "plain": texts}
    fields = pa.table(polars.DataFrame(frame)).schema
    assert [foreign.is_polars_enum(field) for field in fields] == [True, False]


def test_scikit_learn_warns_about_names_of_features():
    pandas = pytest.importorskip("pandas")
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier()
    tree.fit(pandas.DataFrame({"age": [1.0, 2.0]}), [0, 1])
    with pytest.warns(UserWarning, match=f"^{foreign.FEATURE_NAMES}"):
        tree.predict_proba(np.array([[1.0]]))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", foreign.FEATURE_NAMES)
        tree.predict_proba(np.array([[1.0]]))


def test_scikit_learn_warns_about_many_classes():
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier()
    rows = np.arange(30.0)[:, None]
    with pytest.warns(UserWarning, match=f"^{foreign.MANY_CLASSES}"):
        tree.fit(rows, np.arange(30))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", foreign.MANY_CLASSES)
        tree.fit(rows, np.arange(30))


@pytest.fixture
def app():
    app = typer.Typer(name="tool", cls=Group, no_args_is_help=True, pretty_exceptions_enable=False)

    @app.command(cls=Command)
    def make(
        context: typer.Context,
        file: str = typer.Argument(metavar="FILE"),
        count: int = typer.Option(1, "--count", min=1),
        share: float = typer.Option(1.0, "--share"),
        mark: list[str] = typer.Option([], "--mark"),  # noqa: B008
        force: bool = typer.Option(False, "--force"),
    ) -> list[str]:
        return [*commands.path_of(context), *(o.name for o in commands.options_given(context))]

    @app.command(cls=Command)
    def stop() -> None:
        raise EOFError

    return app


def refused(app, *words):
    """Return the error of a command line."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        app(words, standalone_mode=False)
    return caught.value


def test_typer_says_which_options_are_on_the_command_line(app):
    assert app(["make", "--force", "x", "--share", "1"], standalone_mode=False) == [
        "make", "file", "share", "force",
    ]  # fmt: skip


def test_typer_says_which_values_are_paths():
    app, paths = typer.Typer(), {}

    @app.command()
    def make(
        context: typer.Context,
        file: Path = typer.Argument(),  # noqa: B008
        other: Path | None = typer.Option(None, "--other"),  # noqa: B008
        word: str = typer.Option("", "--word"),
    ) -> None:
        for option in commands.options_given(context):
            paths[option.name] = commands.is_path(option, context.params[option.name])

    app(["a/b.csv", "--other", "c/d.csv", "--word", "e/f"], standalone_mode=False)
    assert paths == {"file": True, "other": True, "word": False}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["make", "x", "--count", "y"], "Invalid value for '--count': must be a whole number"),
        (
            ["make", "x", "--count", "0"],
            "Invalid value for '--count': must be greater than or equal to 1",
        ),
        (["make", "x", "--share", "y"], "Invalid value for '--share': must be a number"),
        (["make"], "Missing argument 'FILE'"),
    ],
    ids=["integer", "range", "number", "missing"],
)
def test_typer_says_what_is_wrong_with_a_command_line(app, words, message):
    error = refused(app, *words)
    assert commands.is_usage_error(error)
    assert not commands.is_request_for_help(error)
    assert commands.usage_message(error) == message
    assert commands.command_of(error).endswith(" make")


def test_typer_shows_help_for_a_group_without_a_command(app, capsys):
    error = refused(app)
    assert commands.is_usage_error(error)
    assert commands.is_request_for_help(error)
    commands.show_help(error)  # with rich, typer has shown it already
    assert "make" in "".join(capsys.readouterr())


def test_typer_turns_an_end_of_input_into_an_abort_with_its_cause(app):
    error = refused(app, "stop")
    assert isinstance(error, typer.Abort)
    assert not commands.is_usage_error(error)
    assert isinstance(error.__cause__, EOFError)


def test_typer_parses_options_in_the_order_given(app):
    group = typer.main.get_command(app)
    command = group.commands["make"]
    context = command.make_context("make", ["x"])

    def repeated(*words):
        option = commands.repeated_option(command, context, words)
        return option and option.name

    assert repeated("x", "--count", "1", "--count", "2") == "count"
    assert repeated("x", "--mark", "1", "--mark", "2", "--force", "--force") is None


def test_typer_shows_flags_and_arguments_by_what_their_parameters_say(app):
    command = typer.main.get_command(app).commands["make"]
    context = command.make_context("make", ["x"])
    flags = {p.name: p.metavar for p in command.get_params(context) if getattr(p, "is_flag", False)}
    assert flags["force"] == ""
    assert command.collect_usage_pieces(context) == ["[OPTIONS]", "FILE"]
