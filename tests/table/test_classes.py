from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.table.classes import Classes
from shoal.table.table import Table

ROLES = {"zip": "quasi", "sex": "quasi", "disease": "sensitive"}


def table(rows, counts=None):
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    kinds = (pa.int64(), pa.string(), pa.string())
    arrays = [pa.array(cells, kind) for cells, kind in zip(columns, kinds, strict=True)]
    return Table.from_arrow(pa.table(arrays, names=list(ROLES)), ROLES, counts=counts)


ROWS = [(1, "F", "flu"), (1, "F", None), (2, "F", "flu"), (1, "F", "flu"), (None, "F", "flu")]


def test_rows_alike_in_every_quasi_identifier_form_a_class():
    classes = Classes.by_quasi(table(ROWS))
    assert classes.ids.tolist() == [0, 0, 1, 0, 2]
    assert classes.sizes.tolist() == [3, 1, 1]
    assert classes.suppressed == 0
    assert len(classes) == 3
    assert repr(classes) == "Classes(3 classes of 5 rows)"


def test_a_class_shows_what_it_holds_of_a_sensitive_column():
    classes = Classes.by_quasi(table(ROWS))
    assert classes.distinct("disease").tolist() == [2, 1, 1]
    assert classes.shares("disease").tolist() == [2 / 3, 1 / 3, 1, 1]
    assert classes.reference("disease").tolist() == [4 / 5, 1 / 5]


def test_suppressed_rows_belong_to_no_class_but_to_the_reference():
    whole = table(ROWS)
    classes = Classes.of(whole, np.array([0, -1, 1, 0, -1], dtype=np.int32))
    assert classes.sizes.tolist() == [2, 1]
    assert classes.suppressed == 2
    assert classes.distinct("disease").tolist() == [1, 1]
    assert classes.reference("disease").tolist() == [4 / 5, 1 / 5]


def test_the_reference_may_be_another_table():
    classes = Classes.by_quasi(table(ROWS[2:]), origin=table(ROWS))
    assert classes.reference("disease").tolist() == [4 / 5, 1 / 5]


def test_all_rows_may_be_suppressed_or_none_be_there():
    nobody = Classes.of(table(ROWS), np.full(5, -1, dtype=np.int32))
    assert len(nobody) == 0
    assert nobody.suppressed == 5
    assert nobody.distinct("disease").tolist() == []
    empty = Classes.by_quasi(table([]))
    assert len(empty) == 0
    assert empty.reference("disease").tolist() == []


rows_of = st.tuples(
    st.none() | st.integers(0, 1), st.sampled_from("FM"), st.none() | st.sampled_from(["a", "b"])
)


@given(st.dictionaries(rows_of, st.integers(1, 4), min_size=1))
def test_a_weighted_table_has_the_classes_of_the_expanded_one(counted):
    weighted = Classes.by_quasi(table(list(counted), list(counted.values())))
    expanded = Classes.by_quasi(table([row for row, n in counted.items() for _ in range(n)]))
    assert weighted.sizes.tolist() == expanded.sizes.tolist()
    assert weighted.distinct("disease").tolist() == expanded.distinct("disease").tolist()
    assert weighted.shares("disease").tolist() == expanded.shares("disease").tolist()
    assert weighted.reference("disease").tolist() == expanded.reference("disease").tolist()
    sizes = Counter()
    for (zipcode, sex, _), n in counted.items():
        sizes[zipcode, sex] += n
    assert sorted(weighted.sizes) == sorted(sizes.values())


def test_ids_with_a_gap_are_a_fault_of_the_caller():
    with pytest.raises(ValueError, match="without gaps"):
        len(Classes.of(table(ROWS), np.array([0, 2, 2, 0, -1], dtype=np.int32)))
