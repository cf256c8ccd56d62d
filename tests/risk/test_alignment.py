import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.risk import aligned, intersect_classes

ROLES = {"age": "quasi", "town": "quasi", "disease": "sensitive"}


def frame(ages, towns, diseases, ids=None):
    columns = {"age": ages, "town": list(towns), "disease": list(diseases)}
    return pa.table(columns if ids is None else {"id": ids, **columns})


def test_rows_in_the_same_order_are_the_same_people():
    one = frame(["1", "1", "2", "2"], "****", "abab")
    two = frame(["*"] * 4, "xyxy", "abab")
    first, second = aligned([one, two], ROLES)
    assert first.ids.tolist() == [0, 0, 1, 1]
    assert second.ids.tolist() == [0, 1, 0, 1]
    found = intersect_classes([first, second])
    assert (found.k, found.together.alike.alone) == (2, 4)


def test_a_key_finds_people_in_any_order_and_those_left_out():
    one = frame(["1", "1", "2"], "***", "abc", [10, 11, 12])
    two = frame(["*", "*", "*"], "yyx", "dca", [13, 12, 10])
    first, second = aligned([one, two], ROLES, key="id")
    assert first.ids.tolist() == [0, 0, 1, -1]
    assert second.ids.tolist() == [0, -1, 1, 1]
    assert first.table["disease"].to_arrow().to_pylist() == ["a", "b", "c", "d"]
    assert intersect_classes([first, second]).together.people == 4


def test_a_sensitive_column_that_one_lacks_is_left_aside():
    one, two = frame(["1", "1"], "**", "ab"), frame(["1", "2"], "**", "ab").drop(["disease"])
    assert intersect_classes(aligned([one, two], ROLES)).sensitive == ()


def test_missing_cells_are_alike():
    one = frame([None, None, "1", "1"], "****", [None, "a", "a", "b"])
    first, second = aligned([one, one], ROLES)
    assert sorted(first.sizes.tolist()) == [2, 2]
    assert intersect_classes([first, second]).together.alike.fewest == 2


def test_whole_numbers_and_decimals_agree():
    one = pa.table({"age": ["1", "1"], "town": ["x", "x"], "disease": [1, 2]})
    two = pa.table({"age": ["1", "1"], "town": ["x", "x"], "disease": [1.0, 2.0]})
    assert len(aligned([one, two], ROLES)) == 2


@pytest.mark.parametrize(
    ("second", "key", "told"),
    [
        (frame(["1"], "*", "a", [1]), None, "have 2, 1 rows"),
        (frame(["1", "1"], "**", "ab", [2, 2]), "id", "1 of 2 rows of release 2 have no key"),
        (frame(["1", "1"], "**", "ab", [None, 1]), "id", "1 of 2 rows of release 2 have no key"),
        (frame(["1", "1"], "**", "ba", [1, 2]), None, "2 of 2 rows of release 2 differ"),
        (frame(["1", "1"], "**", "ba", [1, 2]), "id", "2 of 2 rows of release 2 differ"),
        (
            frame(["1", "1"], "**", "ab").drop(["town"]),
            None,
            "release 2 must have exactly one column 'town'",
        ),
        (frame(["1", "1"], "**", "ab"), "id", "release 2 must have exactly one column 'id'"),
    ],
)
def test_files_that_do_not_go_together_are_refused(second, key, told):
    with pytest.raises(InputError, match=told):
        aligned([frame(["1", "1"], "**", "ab", [1, 2]), second], ROLES, key)


def test_quasi_identifiers_must_be_named():
    with pytest.raises(InputError, match="no column is a quasi-identifier"):
        aligned([frame(["1"], "*", "a")] * 2, {"disease": "sensitive"})
