import warnings

import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError

NUMERIC = {"age": {"role": "quasi", "kind": "numeric"}, "name": "identifier"}


@pytest.mark.parametrize(
    ("ages", "told"),
    [
        (["31", "secret", "33", "secret"], "2 of 4 rows are not numbers .* the first is row 2 "),
        (["31", "32", "33", "007"], "one row is not numbers .* the first is row 4 "),
        (["31", "", "32", "2024-01-01"], "one row is not .* the first is row 4 "),
        (["2024-01-01", "2024-02-30", "", "2024-03-01"], "one row is not .* first is row 2 "),
        (["2024-01-01 10:00:00", "", "", "2024-01-01 25:00:00"], "one row is .* is row 4 "),
        (["1,5", "2,5", "3", "4"], "2 of 4 rows are .* the first is row 1 "),
        (["9" * 80, "2", "3", "4"], "one row is not .* the first is row 1 "),
    ],
)
def test_text_in_a_numeric_column_is_refused_by_row_and_number(write, ages, told):
    rows = "".join(f'{i},"{age}"\n' for i, age in enumerate(ages))
    with pytest.raises(
        InputError, match=f"people.csv: column 'age': kind numeric, but {told}"
    ) as e:
        shoal.read(write("name,age\n" + rows), roles=NUMERIC)
    assert "missing, or make the column nominal" in str(e.value)
    assert not any(age in str(e.value) for age in ages if len(age) > 3)


def test_text_in_a_numeric_column_of_a_frame_is_refused_too():
    data = pa.table({"name": ["x", "y"], "age": ["31", "secret"]})
    with pytest.raises(InputError, match=r"^column 'age': kind numeric, but one row .* row 2 "):
        shoal.read(data, roles=NUMERIC)


def test_numbers_that_are_kept_as_text_are_told_so():
    data = pa.table({"name": ["x", "y"], "age": ["31", "32"]})
    with pytest.raises(InputError, match="cells are text that reads as numbers"):
        shoal.read(data, roles=NUMERIC)


def test_a_numeric_column_reads_once_its_missing_text_is_named(write):
    path = write("name,age\nx,31\ny,unknown\n")
    assert shoal.read(path, roles=NUMERIC, missing=["unknown"])["age"].labels == ("31", None)


def test_columns_without_a_role_are_left_out_with_one_warning_that_names_them(write):
    path = write("age,town,job\n1,x,y\n2,x,y\n")
    with pytest.warns(shoal.UnassignedColumns) as caught:
        table = shoal.read(path, roles={"age": "quasi"})
    assert [str(w.message) for w in caught] == [
        "no role for town, job: not published; give a column the role insensitive "
        "to pass it through unchanged"
    ]
    assert caught[0].filename == __file__
    assert (table.unassigned, [c.name for c in table]) == (("town", "job"), ["age"])


def test_there_is_no_warning_where_every_column_has_a_role(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = shoal.read(write("age,town\n1,x\n"), roles={"age": "quasi", "town": "identifier"})
    assert table.unassigned == ()


@pytest.mark.parametrize("role", ["insensitive", "identifier"])
def test_carried_columns_pass_byte_for_byte(write, role):
    odd = ["007", "1.50", " x ", "1e3", "+5", "2024-01-01T10:00:00", "Zoë", "-0"]
    rows = "".join(f"{age},{text}\n" for age, text in enumerate(odd))
    table = shoal.read(write("age,odd\n" + rows), roles={"age": "quasi", "odd": role})
    assert table["odd"].to_arrow().to_pylist() == odd


def test_carried_columns_reach_the_written_file_unchanged(write, tmp_path):
    odd = ["007", "1.50", " x ", "1e3"]
    path = write("age,odd\n" + "".join(f"30,{text}\n" for text in odd))
    table = shoal.read(path, roles={"age": "quasi", "odd": "insensitive"})
    shoal.anonymize(table, shoal.KAnonymity(2)).write(tmp_path / "out.csv", order="original")
    again = shoal.read(tmp_path / "out.csv", roles={"age": "quasi", "odd": "insensitive"})
    assert again["odd"].to_arrow().to_pylist() == odd


@pytest.mark.parametrize(
    "name", ["a*.csv", "a?.csv", "a[1].csv", "a [x]*.csv", "~a.csv", "$HOME.csv", "a'b.csv", "{a}"]
)
def test_only_the_named_file_is_read_whatever_its_name(write, name):
    write("age\n99\n", "ab.csv")
    write("age\n98\n", "a1.csv")
    path = write("age\n1\n2\n", name)
    assert shoal.read(path, roles={"age": "quasi"})["age"].labels == ("1", "2")


def test_folders_named_like_keys_add_no_columns(write):
    for name in ("year=2024/people.csv", "year=2024/people.jsonl"):
        text = '{"age": 1}\n' if name.endswith("jsonl") else "age\n1\n"
        assert shoal.read(write(text, name), roles={"age": "quasi"}).unassigned == ()


def test_a_relative_path_is_read_from_the_working_folder(write, tmp_path, monkeypatch):
    write("age\n1\n")
    monkeypatch.chdir(tmp_path)
    assert len(shoal.read("people.csv", roles={"age": "quasi"})) == 1


def test_a_file_changed_in_between_is_read_anew(write):
    for ages in ("1\n2\n", "3\n4\n", "5\n6\n"):
        path = write("age\n" + ages)
        assert shoal.read(path, roles={"age": "quasi"})["age"].labels == tuple(ages.split())


def test_an_interrupt_while_reading_stays_an_interrupt(write, monkeypatch):
    import duckdb

    from shoal.files import query

    class Cursor:
        def sql(self, *_, **__):
            raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")

        def close(self):
            pass

    class Database:
        def cursor(self):
            return Cursor()

    monkeypatch.setattr(query, "_database", lambda process: Database())
    with pytest.raises(KeyboardInterrupt):
        shoal.read(write("age\n1\n"), roles={"age": "quasi"})


def test_reading_leaves_nothing_behind(write, tmp_path, monkeypatch):
    path = write("age,town\r\n1,x\n2,y\r")
    monkeypatch.chdir(tmp_path)
    shoal.read(path, roles={"age": "quasi", "town": "quasi"})
    assert [p.name for p in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere.csv", "no such file"),
        ("folder", "is a directory"),
        ("people.xlsx", "damaged or not a spreadsheet"),
        ("empty.csv", "the file is empty"),
        ("pipe", "not a regular file"),
        ("a\0b", "character that file names cannot have"),
    ],
)
def test_what_is_no_readable_file_is_refused(write, tmp_path, name, told):
    import os

    write("x", "people.xlsx")
    write("", "empty.csv")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=told):
        shoal.read(str(tmp_path / name), roles={"age": "quasi"})
