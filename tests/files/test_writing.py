import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from shoal.errors import OutputError
from shoal.files import writing
from shoal.files.formats import Format
from shoal.files.reading import read_arrow
from shoal.files.writing import write_table
from shoal.support.progress import listening

TABLE = pa.table({"a": [1, 2, 3], "b": ["x", "", None]})


@pytest.mark.parametrize(("ending", "mark"), [("csv", ","), ("tsv", "\t"), ("CSV", ",")])
def test_writes_text_with_missing_apart_from_empty(tmp_path, ending, mark):
    path = tmp_path / f"out.{ending}"
    write_table(TABLE, path)
    assert path.read_text() == f'a{mark}b\n1{mark}x\n2{mark}""\n3{mark}\n'


def test_column_names_may_hold_anything(tmp_path):
    names = ['say "hi"', "a,b", "line\nbreak"]
    write_table(pa.table([[1], [2], [3]], names=names), tmp_path / "out.csv")
    options = pacsv.ParseOptions(newlines_in_values=True)
    back = pacsv.read_csv(tmp_path / "out.csv", parse_options=options)
    assert back.column_names == names


def test_names_in_single_quotes_are_read_back_as_such(tmp_path):
    write_table(pa.table({"'a'": ["'x'", "x"], "b": ["1", "2"]}), tmp_path / "out.csv")
    back = read_arrow(tmp_path / "out.csv", Format())
    assert back.to_pydict() == {"'a'": ["'x'", "x"], "b": [1, 2]}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_no_rows_make_a_file_of_names(tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    write_table(TABLE.slice(0, 0), path)
    assert path.stat().st_size > 0


@pytest.mark.parametrize("name", ["out.xlsx", "out", "csv", ".csv"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(OutputError, match="end the name in"):
        write_table(TABLE, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_type_that_text_cannot_hold_is_refused(tmp_path):
    with pytest.raises(OutputError, match="write Parquet instead") as caught:
        write_table(pa.table({"a": [["secret"]]}), tmp_path / "out.csv")
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (OSError(28, "No space left on device"), OutputError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (RuntimeError("bug"), RuntimeError),
    ],
    ids=["disk full", "interrupted", "bug"],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_trouble_in_the_middle_leaves_the_old_file_and_no_other(
    tmp_path, monkeypatch, ending, error, raised
):
    monkeypatch.setattr(writing, "BATCH", 1)
    path = tmp_path / f"out.{ending}"
    path.write_text("old")

    def interrupt(progress):
        if progress.done == 2:
            raise error

    with listening(interrupt), pytest.raises(raised):
        write_table(TABLE, path, force=True)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_tells_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "BATCH", 2)
    heard = []
    with listening(heard.append):
        write_table(TABLE, tmp_path / "out.csv")
    assert [(p.stage, p.done, p.total) for p in heard] == [("write", 2, 3), ("write", 3, 3)]
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 4
