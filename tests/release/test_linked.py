import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.release.row_matching import read_published, rows_by_key
from shoal.table.table import Table


def admitted(texts, values, **options):
    """What each text admits of a column's values."""
    table = Table.from_arrow(pa.table({"x": values}), {"x": {"role": "quasi", **options}})
    codes, subsets = read_published(pa.table({"x": texts}), table, ["x"])["x"]
    labels = table["x"].labels
    found = []
    for code in codes.tolist():
        runs = range(subsets.indptr[code], subsets.indptr[code + 1])
        members = [c for r in runs for c in range(subsets.starts[r], subsets.stops[r])]
        found.append([labels[c] for c in members])
    return found


def test_ranges_values_and_stars_admit_what_they_say():
    ages = [19, 25, 30, 31]
    found = admitted(["20-30", "[20, 30[", "31", "*", ">=30", "99"], ages)
    assert found == [["25", "30"], ["25"], ["31"], ["19", "25", "30", "31"], ["30", "31"], []]


def test_sets_masks_and_labels_of_a_hierarchy():
    towns = ["10115", "10117", "20095"]
    tree = {"hierarchy": {"mask": "right"}}
    found = admitted(["1011*", "{10115, 20095}", "2****", "north"], towns, **tree)
    assert found == [["10115", "10117"], ["10115", "20095"], ["20095"], []]


def test_text_that_looks_like_a_published_form_admits_what_either_meaning_does():
    words = ["*", "12", "12*", "a", "b", "{a, b}"]
    assert admitted(["*"], words) == [words]
    assert admitted(["{a, b}", "12*"], words) == [["a", "b", "{a, b}"], ["12", "12*"]]


def test_an_empty_cell_is_a_missing_value_or_hides_all():
    assert admitted([None, "1"], ["1", None]) == [[None], ["1"]]
    assert admitted([None, None], ["1", "2"]) == [["1", "2"], ["1", "2"]]


def test_a_column_must_be_there():
    table = Table.from_arrow(pa.table({"x": [1]}), {"x": "quasi"})
    with pytest.raises(InputError, match="has no column 'x'"):
        read_published(pa.table({"y": [1]}), table, ["x"])


def test_rows_are_found_by_key():
    asked, known = pa.table({"id": [3, 9, 1]}), pa.table({"id": ["1", "2", "3"]})
    assert rows_by_key(asked, known, "id").tolist() == [2, -1, 0]


@pytest.mark.parametrize(
    ("ids", "told"),
    [([1, 1], "1 of 2 rows of the identified file have no key"), ([1, None], "1 of 2 rows")],
)
def test_keys_must_tell_rows_apart(ids, told):
    with pytest.raises(InputError, match=told):
        rows_by_key(pa.table({"id": ids}), pa.table({"id": [1]}), "id")
    with pytest.raises(InputError, match="no such column"):
        rows_by_key(pa.table({"name": ids}), pa.table({"id": [1]}), "id")
