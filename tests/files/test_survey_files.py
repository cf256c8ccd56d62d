"""Files of Stata and SPSS: labels become ordered categories."""

from __future__ import annotations

import pytest

import shoal
from shoal.files.formats import Format
from shoal.files.reading import read_arrow
from shoal.table.column import Column

pd = pytest.importorskip("pandas")
pyreadstat = pytest.importorskip("pyreadstat")

LABELS = {"income": {1: "low", 2: "middle", 3: "high"}}


@pytest.fixture(params=[".dta", ".sav"])
def path(request, tmp_path):
    frame = pd.DataFrame(
        {
            "income": [3.0, 1.0, 2.0, None],
            "age": [30.0, 41.0, 52.0, 63.0],
            "town": ["a", "", "b", "c"],
        }
    )
    file = tmp_path / f"survey{request.param}"
    write = pyreadstat.write_dta if request.param == ".dta" else pyreadstat.write_sav
    write(frame, str(file), variable_value_labels=LABELS)
    return file


def test_labels_are_categories_in_the_order_of_their_codes(path):
    found = read_arrow(path, Format())
    assert found.column("income").to_pylist() == ["high", "low", "middle", None]
    column = Column.encode("income", found.column("income"))
    assert column.kind == "ordinal"
    assert column.labels == ("low", "middle", "high", None)


def test_whole_numbers_and_blank_texts_are_read_as_such(path):
    found = read_arrow(path, Format())
    assert found.column("age").to_pylist() == [30, 41, 52, 63]
    assert str(found.schema.field("age").type) == "int64"
    assert found.column("town").to_pylist() == ["a", None, "b", "c"]


def test_a_damaged_file_is_called_that(tmp_path):
    path = tmp_path / "survey.sav"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(shoal.InputError, match="is damaged or of an unknown version"):
        read_arrow(path, Format())
