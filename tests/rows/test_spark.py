"""Rows in Spark give the release that the same rows in memory give, byte for byte."""

from __future__ import annotations

import csv
import random
import re
import sys
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.rows import spark_sessions
from tests.rows.conftest import ROLES, TREES, rows, write_csv

import shoal
from shoal import Greedy, InputError, KAnonymity
from shoal.files.parquet_checks import DamagedParquet, check_pages
from shoal.rows.spark.sessions import SparkFailed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.skipif(bool(spark_sessions.missing()), reason=spark_sessions.missing()),
    pytest.mark.xdist_group("spark"),
]
BY_ROLE = {
    role: [name for name, each in ROLES.items() if each == role] for role in set(ROLES.values())
}
NAN = float("nan")


def table(count=300):
    """Return records as a frame reads them: numbers are numbers, and NA is missing."""
    records = rows(count)
    cells = {name: [record[name] for record in records] for name in records[0]}
    cells["age"] = [None if age == "NA" else int(age) for age in cells["age"]]
    cells["income"] = list(map(float, cells["income"]))
    cells["cost"] = [Decimal(cost).quantize(Decimal("0.01")) for cost in cells["cost"]]
    cells["house"] = [record["patient"][:2] for record in records]
    kinds = {"age": pa.int16(), "cost": pa.decimal128(9, 2)}
    return pa.table({name: pa.array(each, kinds.get(name)) for name, each in cells.items()})


@pytest.fixture(scope="session")
def frame(spark):
    return spark.createDataFrame(table()).cache()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def assert_same(one, other, folder, endings=("csv", "parquet")):
    for ending in endings:
        first, second = folder / f"one.{ending}", folder / f"other.{ending}"
        assert one.write(first, force=True) == other.write(second, force=True)
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("model", "method", "options", "units"),
    [
        ("k-anonymity(3)", "flash", {}, {"rows_are_people": True}),
        ("k-anonymity(2)", "mondrian", {}, {"person": "patient"}),
        (
            "k-anonymity(2) & l-diversity(2, illness)",
            "ola",
            {"max_suppression": 0.2},
            {"person": "patient", "household": "house"},
        ),
    ],
)
def test_a_frame_gives_the_release_of_the_table_in_memory(
    model, method, options, units, frame, tmp_path
):
    asked = {**BY_ROLE, **units, "hierarchies": TREES, **options}
    one = shoal.anonymize(table(), model, method, **asked)
    other = shoal.anonymize(frame, model, method, **asked)
    assert one.node == other.node
    assert_same(one, other, tmp_path)
    checked = other.write(tmp_path / "parts")
    assert checked == one.verify() == one.write(tmp_path / "memory")
    assert contents(tmp_path / "parts") == contents(tmp_path / "memory")
    parts = pq.ParquetDataset(tmp_path / "parts").read()
    assert parts.equals(pq.read_table(tmp_path / "one.parquet"))
    assert other.to_native().toArrow().equals(parts)


CELLS = {  # the Arrow type of a column that Spark has too, and the cells that it draws from
    "small integers": (pa.int8(), range(-5, 6)),
    "large integers": (pa.int64(), [10**17, -(10**17), 3, 4]),
    "single floats": (pa.float32(), [1.5, 0.1, -0.0, 0.0, NAN, 1e20]),
    "floats": (pa.float64(), [1.5, 0.1, -0.0, 1e-7, 123456789.125, 2.0, NAN]),
    "decimals": (pa.decimal128(12, 2), [Decimal("1.10"), Decimal("-2.05"), Decimal("100.00")]),
    "texts": (pa.string(), ["a", "b", "c d", "10", "9", "=x", ""]),
    "odd texts": (pa.string(), ["Zoë", "ß", "日本", "a\nb", '"q"', "Ａ"]),
    "truths": (pa.bool_(), [True, False]),
    "dates": (pa.date32(), [date(2000 + n, 1 + n, 1) for n in range(4)]),
    "times": (pa.timestamp("us"), [datetime(2020, 3, 29, n % 3, 0, 0, n * 500) for n in range(5)]),
    "midnights": (pa.timestamp("us"), [datetime(2020, 1, 1 + n) for n in range(4)]),
}


def drawn(draw, count):
    kind, cells = CELLS[draw.choice(list(CELLS))]
    missing = draw.choice([0, 0.1])
    return pa.array(
        [None if draw.random() < missing else draw.choice(list(cells)) for _ in range(count)], kind
    )


def schema_of(data):
    """Return the schema of Spark, with times that have no time zone."""
    from pyspark.sql.types import StructType

    from shoal.rows.spark.sessions import spark_type

    fields = [f"`{n}` {spark_type(data.schema.field(n).type)}" for n in data.column_names]
    return StructType.fromDDL(", ".join(fields))


@pytest.mark.parametrize("seed", range(3))
def test_a_random_table_gives_the_same_release_in_memory_on_disk_and_in_spark(
    seed, spark, tmp_path
):
    draw = random.Random(seed)
    method = ["flash", "mondrian", "datafly"][seed]
    data = pa.table({f"c {n}": drawn(draw, 200) for n in range(5)})
    roles = {n: draw.choice(["quasi", "sensitive", "insensitive"]) for n in data.column_names}
    roles["c 0"] = roles["c 1"] = "quasi"
    pq.write_table(data, tmp_path / "rows.parquet")
    frame = spark.createDataFrame(data, schema_of(data))
    tables = {
        "memory": shoal.read(tmp_path / "rows.parquet", roles=roles),
        "duckdb": shoal.open(tmp_path / "rows.parquet", roles=roles),
        "spark": shoal.open(frame, roles=roles),
    }
    made = {}
    for name, each in tables.items():
        release = shoal.anonymize(each, k=2, method=method)
        output = tmp_path / "release.csv"
        made[name] = release.write(output, force=True), output.read_bytes()
    assert made["memory"] == made["duckdb"] == made["spark"]


def test_check_counts_classes_in_spark_and_inspect_says_that_it_samples(
    spark, frame, tmp_path, monkeypatch
):
    from pyspark.sql.classic.dataframe import DataFrame

    from shoal import checking

    fetched = []
    to_arrow = DataFrame.toArrow
    monkeypatch.setattr(
        DataFrame, "toArrow", lambda self: fetched.append(to_arrow(self)) or fetched[-1]
    )
    for asked in (
        {"model": "k-anonymity(9) & l-diversity(2, illness)", "quasi": ["sex"]},
        {"k": 2, "quasi": ["sex", "age"], "person": "patient", "linked": False},
    ):
        assert shoal.check(frame, **asked) == shoal.check(table(), **asked)
    assert max(each.num_rows for each in fetched) < 100  # of 300 rows
    with pytest.raises(shoal.NotAnonymous) as caught:
        shoal.check(frame, k=50, quasi=["sex", "age"])
    with pytest.raises(shoal.NotAnonymous, match=re.escape(str(caught.value))):
        shoal.check(table(), k=50, quasi=["sex", "age"])
    with pytest.raises(InputError, match="state linked=False"):
        shoal.check(frame, k=2, quasi="sex", person="patient")
    assert shoal.inspect(frame).to_dict() == shoal.inspect(table()).to_dict()
    monkeypatch.setattr(checking.sample_rows, "__defaults__", (50,))
    assert "drawn at random from 300" in shoal.inspect(frame).hints[0]


def damage_first_page(path):
    """Flip the last bit of the first column of a Parquet file."""
    column = pq.read_metadata(path).row_group(0).column(0)
    start = min(column.data_page_offset, column.dictionary_page_offset or column.data_page_offset)
    content = bytearray(path.read_bytes())
    content[start + column.total_compressed_size - 1] ^= 1
    path.write_bytes(content)


def test_pages_that_spark_reads_and_writes_have_checksums(frame, tmp_path):
    release = shoal.anonymize(frame, k=3, **BY_ROLE, rows_are_people=True)
    release.write(tmp_path / "parts")
    part = next((tmp_path / "parts").glob("*.parquet"))
    frame.limit(40).coalesce(1).write.parquet(f"file://{tmp_path}/others")
    other = next((tmp_path / "others").glob("*.parquet"))
    for path in (part, other):
        check_pages(path)
        damage_first_page(path)
        with pytest.raises(DamagedParquet, match="a page was changed"):
            check_pages(path)
    first = pq.read_schema(part).names[0]
    with (
        shoal.open(part, roles={first: "quasi"}, rows_are_people=True, engine="spark") as damaged,
        pytest.raises(SparkFailed),
    ):
        shoal.anonymize(damaged, k=2)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_is_read_by_its_exact_name(spark, ending, tmp_path):
    """An address of Spark is a pattern, in which `[ab]` stands for one letter."""
    for name in ("a", "b", "[ab]", "{a,b}", "*", "?", "%61", "#a", "\\a"):
        people = pa.table({"age": [30] * 4, "sex": [name] * 4})
        path = tmp_path / f"week {name}.{ending}"
        write_csv(path, people.to_pylist()) if ending == "csv" else pq.write_table(people, path)
    for path in sorted(tmp_path.iterdir()):
        roles = {"age": "quasi", "sex": "sensitive"}
        with shoal.open(path, roles=roles, rows_are_people=True, engine="spark") as table:
            release = shoal.anonymize(table, k=2)
        release.write(tmp_path / "out.csv", force=True)
        released = {row["sex"] for row in csv.DictReader((tmp_path / "out.csv").open())}
        assert released == {path.stem.removeprefix("week ")}
        (tmp_path / "out.csv").unlink()


def test_nulls_nan_and_empty_texts_are_one_missing_value(spark, tmp_path):
    data = pa.table(
        {
            "word": ["", None, "", " ", " ", "NA", "NA", None] * 3,
            "size": pa.array([NAN, None, 1.5, 1.5] * 6),
            "said": ["", "flu", None, "cold"] * 6,
        }
    )
    asked = {"quasi": ["word", "size"], "sensitive": "said", "rows_are_people": True}
    frame = spark.createDataFrame(data)
    one, other = (shoal.anonymize(each, "l-diversity(2, said)", **asked) for each in (data, frame))
    assert_same(one, other, tmp_path)
    assert one.verify().holds
    for published in (data.slice(0, 4), frame.limit(4)):  # the third size is alone
        with pytest.raises(shoal.NotAnonymous, match="2 of 2 classes break it"):
            shoal.check(published, "l-diversity(2, said)", quasi="size")


@pytest.mark.parametrize("joined", [False, True])
def test_partitions_give_the_release_that_duckdb_gives(joined, frame, tmp_path, monkeypatch):
    """Dictionaries and entries that are too large for every task are joined with the rows."""
    from shoal.rows.spark import codes as encoding
    from shoal.rows.spark import partitions

    if joined:
        monkeypatch.setattr(encoding, "_MAX_SENT", 5)
        monkeypatch.setattr(partitions, "_MAX_SENT", 5)
    pq.write_table(table(), tmp_path / "rows.parquet")
    settings = {"roles": ROLES, "rows_are_people": True, "partition_rows": 150}
    made = []
    for source in (tmp_path / "rows.parquet", frame):
        each = shoal.open(source, **settings, processes=0)
        release = shoal.anonymize(each, "l-diversity(2, illness)", "greedy")
        checked = release.write(tmp_path / "release.csv", force=True)
        made.append((checked, (tmp_path / "release.csv").read_bytes(), release.run.notes))
    assert made[0] == made[1]
    assert made[0][0].holds


def test_errors_of_partitions_reach_the_driver(frame):
    each = shoal.open(frame, roles=ROLES, rows_are_people=True)
    with pytest.raises(shoal.Infeasible, match="cannot be met"):
        shoal.anonymize(each, "l-diversity(9, illness)", "greedy")


def test_a_lost_result_is_computed_again_if_it_stays_the_same(frame, tmp_path):
    """Executors that lose stored rows may not mix them with those of another run."""

    class Changing(Greedy):
        def search(self, rows, model):
            import pathlib

            k = KAnonymity(9) if pathlib.Path(changed).exists() else model
            return Greedy().search(rows, k)

    changed = str(tmp_path / "changed")
    each = shoal.open(frame, roles=ROLES, rows_are_people=True)
    rows_of = shoal.anonymize(each, k=3, method=Changing()).to_spark()
    before = rows_of.toArrow()
    each.close()
    assert rows_of.toArrow().equals(before)
    (tmp_path / "changed").touch()
    with pytest.raises(Exception, match="computed again with another result"):
        rows_of.toArrow()


CANARY = "Quetzalcoatlus"


def partitions_of(frame, search):
    """Run a function on the rows of a frame, on the executors."""
    from shoal.release.partitioned_release import PartitionWork

    each = shoal.open(frame, roles=ROLES, rows_are_people=True)
    assert each.records == 300
    columns = (each.encoded["note"].column,)
    return list(each.engine.map_partitions([[()]], PartitionWork(columns, (), (), search)))


def test_nothing_that_spark_logs_contains_a_cell(spark, log, tmp_path):
    data = table()
    for place, name in ((0, "note"), (1, "illness"), (2, "patient")):
        cells = data.column(name).to_pylist()
        cells[: 20 * (place + 1)] = [f"{CANARY}{place}"] * 20 * (place + 1)
        data = data.set_column(data.column_names.index(name), name, pa.array(cells))
    frame = spark.createDataFrame(data)
    for method in ("flash", "greedy"):
        each = shoal.open(frame, roles=ROLES, person="patient")
        release = shoal.anonymize(each, k=2, method=method)
        release.write(tmp_path / method)
        release.write(tmp_path / f"{method}.csv")

    def search(rows):
        raise RuntimeError(f"a cell: {rows['note'].values.to_pylist()}")

    with pytest.raises(SparkFailed, match=r"RuntimeError.*search, line \d+ of test_spark.py"):
        partitions_of(frame, search)
    logged = log.read_text(encoding="utf-8")
    assert logged.count("INFO") > 1000
    assert CANARY not in logged


def test_a_worker_that_is_killed_is_an_error_without_a_cell(frame):
    def search(rows):
        import os

        os.kill(os.getpid(), 9)

    with pytest.raises(SparkFailed, match="a Python worker ended, perhaps for lack of memory"):
        partitions_of(frame, search)


def test_errors_of_spark_name_the_step_and_no_cell(spark, capfd):
    from pyspark.sql import functions as f

    data = pa.table({"town": [CANARY, "b"] * 10, "age": list(range(20))})
    wrong = spark.createDataFrame(data).withColumn("age", f.col("town").cast("int"))
    with pytest.raises(SparkFailed, match="Spark failed to count the values") as caught:
        shoal.anonymize(wrong, k=2, quasi=["town", "age"], method="flash")
    assert CANARY not in str(caught.value)
    assert CANARY not in capfd.readouterr().err
    assert caught.value.kind == "CAST_INVALID_INPUT"


@pytest.mark.parametrize(
    ("module", "advice"),
    [("shoal.rows.opening", "do not have Shoal; ship it"), ("numba", "executors lacks a package")],
)
def test_a_module_that_executors_lack_is_an_error_with_advice(module, advice):
    from pyspark.errors import PySparkException

    from shoal.rows.spark.sessions import explained

    with pytest.raises(SparkFailed, match=advice) as caught, explained("anonymize"):
        raise PySparkException(f"{CANARY}: ModuleNotFoundError: No module named '{module}'")
    assert CANARY not in str(caught.value)


@pytest.fixture(scope="session")
def release(frame):
    return shoal.anonymize(frame, k=3, method="flash", **BY_ROLE, rows_are_people=True)


def test_parts_have_the_rows_and_bytes_that_one_process_writes(release, tmp_path, monkeypatch):
    from shoal.files import writing as staging
    from shoal.release import large_release
    from shoal.rows.spark import part_tasks, parts

    monkeypatch.setattr(staging, "PART_ROWS", 64)
    monkeypatch.setattr(part_tasks, "STORED", 10)
    for module in (staging, large_release, parts):
        monkeypatch.setattr(module, "BATCH", 32)
    checked = release.write(tmp_path / "executors")
    assert checked == release.verify()
    layout = large_release.lay_out(release, text=False)
    with staging.staged(tmp_path / "one") as made:
        made.write(release._batches(layout), layout.schema, checked.records)
    assert len(contents(tmp_path / "one")) == 1 + -(-checked.records // 64)
    assert contents(tmp_path / "executors") == contents(tmp_path / "one")


def test_a_failing_write_leaves_the_old_folder(release, tmp_path, monkeypatch):
    import os
    import signal

    from shoal.rows.spark import parts

    release.write(tmp_path / "release")
    before = contents(tmp_path / "release")
    driver = os.getpid()

    def failing(folder):
        def task(batches):
            raise RuntimeError(next(batches).to_pylist())

        return task

    def interrupting(folder):
        def task(batches):
            os.kill(driver, signal.SIGINT)
            yield from batches

        return task

    def elsewhere(folder):
        return storing(f"{folder}/of/another/machine")

    def wrong(layout, *given):
        cells = pa.array(["x"] * len(layout.cells["sex"]))
        return writing(replace(layout, cells={**layout.cells, "sex": cells}), *given)

    storing, writing = parts.storing, parts.writing
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored
    for name, task, error, message in (
        ("storing", failing, SparkFailed, "Spark failed to sort the released rows"),
        ("storing", interrupting, KeyboardInterrupt, "^"),
        ("storing", elsewhere, shoal.OutputError, "No such file or directory.*all of them share"),
        ("writing", wrong, shoal.NotAnonymous, "the written rows are not the released ones"),
    ):
        monkeypatch.setattr(parts, name, task)
        with pytest.raises(error, match=message):
            release.write(tmp_path / "release", force=True)
        monkeypatch.undo()
        assert [path.name for path in tmp_path.iterdir()] == ["release"]
        assert contents(tmp_path / "release") == before
    signal.signal(signal.SIGINT, handler)


def test_an_address_gets_its_parts_and_then_the_manifest(release, tmp_path):
    address = f"file://{tmp_path}/release"
    assert release.write(address) == release.verify()
    names = sorted(path.name for path in (tmp_path / "release").glob("[!.]*"))
    assert names[0] == "_manifest.json"
    assert all(name.startswith("part-") for name in names[1:])
    assert pq.ParquetDataset(tmp_path / "release").read().num_rows == release.verify().records
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    with pytest.raises(shoal.OutputError, match="exists already"):
        release.write(address)
    with pytest.raises(shoal.OutputError, match="fsspec has no file system for"):
        release.write("unheard-of://bucket/release")


def test_the_command_line_reads_text_like_a_table_in_memory(
    spark, people, tmp_path, capsys, monkeypatch
):
    from shoal.cli import main

    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)

    arguments = ["anonymize", str(people), "--quasi", "postcode,age,income,sex", "-k", "3"]
    arguments += ["--sensitive", "illness,cost", "--insensitive", "note", "--rows-are-people"]
    arguments += ["--missing", "NA", "--method", "flash", "--hierarchy", "age=intervals: [10, 40]"]
    arguments.append("--trim")
    people.write_text(people.read_text().replace(",", ", "))
    for name, more in (("one", ["--engine", "duckdb"]), ("other", ["--engine", "spark"])):
        output = ["-o", str(tmp_path / f"{name}.csv")]
        monkeypatch.setattr(sys, "argv", ["shoal", *arguments, *more, *output])
        with pytest.raises(SystemExit) as caught:
            main()
        assert not caught.value.code
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    assert "the rows stay in Spark" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("who", "model", "status"),
    [
        ("--person who --quasi ward", "km-anonymity(5, 1)", None),
        ("--person who --quasi ward", "km-anonymity(5, 2)", 1),
        ("--schema SCHEMA", "km-anonymity(5, 1)", 2),
    ],
)
def test_linked_rows_are_counted_as_often_as_they_occur_or_refused(
    spark, tmp_path, capsys, monkeypatch, who, model, status
):
    """Person p0 was in the north twice, all others once; a pseudonym that links rows is refused."""
    from shoal.cli import main

    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)
    lines = [f"p{number},north" for number in (0, 0, 1, 2, 3, 4)]
    (tmp_path / "visits.csv").write_text("\n".join(["who,ward", *lines]) + "\n")
    (tmp_path / "schema.yaml").write_text(
        "columns:\n  who: {role: identifier, replace: pseudonym}\n  ward: {role: quasi}\n"
    )
    options = who.replace("SCHEMA", str(tmp_path / "schema.yaml")).split()
    asked = ["verify", str(tmp_path / "visits.csv"), *options, "--model", model]
    monkeypatch.setattr(sys, "argv", ["shoal", *asked, "--engine", "spark"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert (caught.value.code or None) == status
    assert ("are not checked in Spark" in capsys.readouterr().err) == (status == 2)


def test_times_with_a_zone_and_streams_are_refused(spark):
    data = pa.table({"seen": pa.array([datetime(2020, 1, 1)], pa.timestamp("us"))})
    zoned = spark.createDataFrame(data)
    with pytest.raises(InputError, match="cast the column to timestamp_ntz"):
        shoal.anonymize(zoned, k=2, quasi="seen")
    with pytest.raises(InputError, match="a streaming frame has no end"):
        shoal.anonymize(spark.readStream.format("rate").load(), k=2, quasi="value")


CONNECT = """
import sys, warnings
from pathlib import Path

warnings.simplefilter("ignore")
from pyspark.sql import SparkSession

import shoal

address, *paths = sys.argv[1:]
source, folder = map(Path, paths)
session = SparkSession.builder.remote(address).getOrCreate()
for usual in ("spark.sql.adaptive.enabled", "spark.sql.codegen.wholeStage"):
    session.conf.set(usual, "true")
session.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
frame = session.read.parquet(f"file://{source}")
assert "connect" in type(frame).__module__
roles = {"quasi": ["postcode", "sex"], "sensitive": "illness", "person": "patient"}
release = shoal.anonymize(frame, k=3, method="flash", **roles)
release.write(folder / "other.csv")
release.write(folder / "parts")
table = shoal.open(frame, roles={"postcode": "quasi", "illness": "sensitive"}, rows_are_people=True)
assert shoal.anonymize(table, k=3, method="sorted").verify().holds
session.stop()
"""


def test_spark_connect_gives_the_same_release(spark, tmp_path):
    """With the usual settings of plans, which other tests change to be quick."""
    import subprocess

    data = table()
    pq.write_table(data, tmp_path / "rows.parquet")
    roles = {"quasi": ["postcode", "sex"], "sensitive": "illness", "person": "patient"}
    shoal.anonymize(data, k=3, method="flash", **roles).write(tmp_path / "one.csv")
    address = spark_sessions.connect_address(spark)
    arguments = [sys.executable, "-c", CONNECT, address, tmp_path / "rows.parquet", tmp_path]
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    assert (tmp_path / "parts" / "_manifest.json").exists()


def test_what_spark_needs_is_said_if_it_is_missing(monkeypatch, people):
    from shoal.rows.memory import Budget
    from shoal.rows.spark import sessions

    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(InputError, match="Spark needs Java 17 or later"):
        sessions.check_java()
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(shoal.MissingExtra, match=r"pip install 'shoal-privacy\[spark\]'"):
        sessions.find_session("local[2]", Budget.parse("1GB"))
    with pytest.raises(InputError, match="states where Spark runs"):
        shoal.open(people, roles={"age": "quasi"}, master="local[2]")
