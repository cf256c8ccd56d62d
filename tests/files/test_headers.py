"""Headers as other programs write them: columns without a name, and names that occur twice."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

import shoal
from shoal.files.requests import RenamedColumns, distinct_names

HEADER = ["", "age", "town", "age", "age_2"]
NAMES = ["column_1", "age", "town", "age_3", "age_2"]
ROWS = [[n, 30 + n % 2, "x", 40, 50 + n] for n in range(6)]


@pytest.fixture
def csv_file(tmp_path):
    lines = [",".join(map(str, row)) for row in [HEADER, *ROWS]]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "people.csv"


@pytest.fixture
def excel_file(tmp_path):
    book = Workbook()
    for row in [HEADER, *ROWS]:
        book.active.append([cell if cell != "" else None for cell in row])
    book.save(tmp_path / "people.xlsx")
    return tmp_path / "people.xlsx"


@pytest.mark.parametrize("file", ["csv_file", "excel_file"])
def test_every_column_gets_a_name_of_its_own(file, request):
    path = request.getfixturevalue(file)
    message = r"column 1 is called 'column_1', 4 is called 'age_3'$"
    with pytest.warns(RenamedColumns, match=message):
        table = shoal.read(path, roles=dict.fromkeys(NAMES, "insensitive"))
    assert [column.name for column in table] == NAMES
    assert table["age_3"].to_arrow().to_pylist() == ["40"] * 6
    assert table["age_2"].to_arrow().to_pylist() == [str(n) for n in range(50, 56)]


@pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
def test_memory_and_disk_name_columns_alike(csv_file, tmp_path):
    made = []
    for place, read in enumerate((shoal.read, shoal.open)):
        with pytest.warns(RenamedColumns):
            table = read(csv_file, roles={"age": "quasi", "age_2": "quasi"})
        shoal.anonymize(table, k=2, method="flash").write(tmp_path / f"{place}.parquet")
        made.append(pq.read_table(tmp_path / f"{place}.parquet"))
    assert made[0].equals(made[1])


def test_a_first_line_that_may_be_a_record_is_not_renamed(tmp_path):
    (tmp_path / "records.csv").write_text("m,m,7\nf,m,8\nm,f,7\nf,f,8\n")
    with pytest.raises(shoal.InputError) as refused:
        shoal.read(tmp_path / "records.csv")
    assert "'m'" not in str(refused.value)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "b"], ("a", "b")),
        (["a", "a", "a"], ("a", "a_2", "a_3")),
        (["a_2", "a", "a"], ("a_2", "a", "a_3")),
        (["column_2", " "], ("column_2", "column_2_2")),
    ],
)
@pytest.mark.filterwarnings("ignore::shoal.files.requests.RenamedColumns")
def test_new_names_are_not_taken(names, expected):
    assert distinct_names("people.csv", names) == expected
