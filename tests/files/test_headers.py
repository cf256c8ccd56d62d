"""Files without column names: recognized without a word of their first record, and read."""

import pytest

import shoal
import shoal.files.reading
from shoal.errors import InputError
from shoal.files.csv_files import looks_like_data

PEOPLE = [["39", "m", "Bonn"], ["50", "f", "Lyon"], ["38", "m", "Bonn"], ["41", "f", "Lyon"]]


@pytest.mark.parametrize(
    ("header", "records"),
    [
        (["24", "m", "Bonn"], PEOPLE),  # a number above numbers, values that recur
        (["24", "x", "Rome"], PEOPLE),
        (["24", "?", ""], PEOPLE),
        (["Bonn", "m"], [["Lyon", "f"], ["Bonn", "m"]]),
        (["HIV", "HIV", "flu"], [["flu", "HIV", "flu"], ["HIV", "cold", "HIV"]]),
        (["2024-01-02", "a"], [["2024-02-03", "b"]]),
        (["02.01.2024", "a"], [["03.02.2024", "b"]]),
        (["1", "2"], []),
        (["31", "31"], [["31", "31"]]),
    ],
)
def test_a_first_line_that_looks_like_the_others_is_data(header, records):
    assert looks_like_data(header, records)


@pytest.mark.parametrize(
    ("header", "records"),
    [
        (["age", "sex", "town"], PEOPLE),
        (["name", "town"], [["Kim", "Bonn"], ["Lee", "Lyon"]]),
        (["name", "town"], []),
        (["country", "2019", "2020"], [["Chad", "x", "y"], ["Mali", "x", "y"]]),
        (["id", "2019", "2020"], [["1", "1.5", "2"], ["2", "3", "4"]]),  # years as names
        (["id", "name", "name"], [["1", "Kim", "x"], ["2", "Lee", "y"]]),
        (["", "age"], [["1", "30"], ["2", "40"]]),  # row numbers without a name
        (["age", "other"], [["1", "other"], ["2", "none"]]),  # a name recurs, another cannot
    ],
)
def test_a_first_line_of_names_is_not(header, records):
    assert not looks_like_data(header, records)


ROWS = "24,m,HIV,HIV\n35,f,flu,HIV\n36,f,HIV,flu\n"


@pytest.mark.parametrize("roles", [{"sex": "quasi"}, {"column_1": "quasi"}])
def test_no_message_shows_the_first_record(write, roles):
    with pytest.raises(InputError, match="the first row looks like data, not column") as caught:
        shoal.read(write(ROWS), roles=roles)
    assert "HIV" not in str(caught.value)
    assert "24" not in str(caught.value).replace(str(write(ROWS)), "")


def test_two_names_alike_that_may_be_cells_go_by_their_places(write):
    """Nothing stands above a number, so nothing shows that this is a header."""
    path = write("x,HIV,b,HIV\n" + "p,q,r,s\n" * 10)
    with pytest.raises(InputError, match="columns 2 and 4 have the same name") as caught:
        shoal.read(path, roles={"age": "quasi"})
    assert "HIV" not in str(caught.value)


def test_columns_without_names_are_numbered(write):
    roles = {"column_1": "quasi", "column_3": "sensitive", "column_2": "insensitive"}
    with pytest.warns(shoal.UnassignedColumns, match="column_4"):
        table = shoal.read(write(ROWS), roles=roles, header=False)
    assert table["column_1"].to_arrow().to_pylist() == [24, 35, 36]
    with pytest.warns(shoal.UnassignedColumns, match="column_4"):
        read = shoal.read(write(ROWS), {"file": {"header": False}, "columns": roles})
    assert read.names("quasi") == ("column_1",)


def test_a_name_that_the_schema_knows_makes_a_header(write):
    path = write("1,2\n3,4\n5,6\n")
    table = shoal.read(path, roles={"1": "quasi", "2": "insensitive"})
    assert len(table) == 2


def test_a_stated_header_is_taken_as_stated(write):
    path = write("m,n\nm,n\n")
    table = shoal.read(path, roles={"m": "quasi", "n": "quasi"}, header=True)
    assert len(table) == 1
    with pytest.raises(InputError, match="header must be true or false"):
        shoal.read(path, roles={"m": "quasi"}, header="no")


def test_the_release_of_a_file_without_names_has_them(write, tmp_path):
    path = write("".join(f"{20 + i % 2},{'fm'[i % 2]}\n" for i in range(20)))
    roles = {"column_1": "quasi", "column_2": "sensitive"}
    table = shoal.read(path, roles=roles, header=False)
    shoal.anonymize(table, shoal.KAnonymity(2)).write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("column_1,column_2\n")
    assert len(shoal.read_released(tmp_path / "out.csv", table).original) == 20
