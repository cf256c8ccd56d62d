"""Spreadsheets: one sheet, its types, and what is refused."""

from __future__ import annotations

from datetime import date, datetime

import pytest

import shoal
from shoal.files.formats import Format
from shoal.files.reading import read_arrow

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture
def book(tmp_path):
    def write(name="people.xlsx", **sheets):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for title, rows in sheets.items():
            sheet = made.create_sheet(title)
            for row in rows:
                sheet.append(row)
        made.save(tmp_path / name)
        return tmp_path / name

    return write


ROWS = [
    ["age", "weight", "born", "seen", "town", "code"],
    [31, 70.5, date(1990, 1, 2), datetime(2024, 3, 9, 14, 30), "Ulm", "007"],
    [None, 81, date(1985, 5, 6), datetime(2024, 3, 10, 8, 0), None, 12],
]


def test_cells_keep_their_types(book):
    found = read_arrow(book(people=ROWS), Format())
    assert found.to_pydict() == {
        "age": [31, None],
        "weight": [70.5, 81.0],
        "born": [date(1990, 1, 2), date(1985, 5, 6)],
        "seen": [datetime(2024, 3, 9, 14, 30), datetime(2024, 3, 10, 8, 0)],
        "town": ["Ulm", None],
        "code": ["007", "12"],
    }


def test_columns_that_pass_unchanged_stay_text(book):
    found = read_arrow(book(people=ROWS), Format(), ["age"])
    assert found.column("age").to_pylist() == ["31", None]


def test_one_of_several_sheets_must_be_named(book):
    path = book(first=[["a"], [1]], second=[["b"], [2]])
    with pytest.raises(shoal.InputError, match=r"has 2 sheets \(first, second\)"):
        read_arrow(path, Format())
    assert read_arrow(path, Format(sheet="second")).to_pydict() == {"b": [2]}
    with pytest.raises(shoal.InputError, match=r"no sheet 'secnd' .*did you mean 'second'"):
        read_arrow(path, Format(sheet="secnd"))


def test_blank_rows_and_columns_around_the_table_are_left_out(book):
    path = book(people=[[None, None], ["a", "b", None], [1, 2], [None, None], [3, 4]])
    assert read_arrow(path, Format()).to_pydict() == {"a": [1, 3], "b": [2, 4]}


def test_texts_for_missing_values_are_taken_out(book):
    path = book(people=[["a"], [1], ["?"], [3]])
    assert read_arrow(path, Format(missing=("?",))).to_pydict() == {"a": ["1", None, "3"]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a"], [1, "secret"]], "1 rows have cells beyond the last column name"),
        ([], "the sheet is empty"),
    ],
)
def test_what_is_no_table_is_refused_without_showing_cells(book, rows, message):
    with pytest.raises(shoal.InputError, match=message) as caught:
        read_arrow(book(people=rows), Format())
    assert "secret" not in str(caught.value)


def test_a_damaged_file_is_called_that(tmp_path):
    path = tmp_path / "people.xlsx"
    path.write_bytes(b"PK\x03\x04 not a workbook")
    with pytest.raises(shoal.InputError, match="is damaged or not a spreadsheet"):
        read_arrow(path, Format())


def test_a_spreadsheet_is_anonymized(book):
    rows = [["age", "disease"], *([age, "flu"] for age in (31, 33, 47, 48))]
    table = shoal.read(book(people=rows), roles={"age": "quasi", "disease": "sensitive"})
    release = shoal.anonymize(table, k=2)
    assert release.to_arrow().column("age").to_pylist() == ["[31, 33]"] * 2 + ["[47, 48]"] * 2
