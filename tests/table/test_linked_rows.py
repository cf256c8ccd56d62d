"""Linked rows: people hide among those whose rows together look the same."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal import Classes, Table
from shoal.table.linked import link_rows, linked_sets, profiles


def sizes(who, age):
    """People per class once `who` links the rows."""
    data = pa.table({"age": age})
    table = Table.from_arrow(data, {"age": "quasi"})
    return sorted(Classes.by_quasi(link_rows(table, [pa.array(who)])).sizes.tolist())


def test_people_with_the_same_set_of_values_are_one_class():
    assert sizes(list("aabbcc"), [1, 2, 2, 1, 1, 2]) == [3, 3]


def test_a_person_with_another_set_of_values_is_alone():
    assert sizes(list("aabbc"), [1, 2, 2, 1, 1]) == [1, 2, 2]


def test_the_number_of_equal_rows_makes_no_difference():
    assert sizes(list("aaab"), [1, 1, 1, 1]) == [2]


def test_unique_and_missing_identifiers_link_nothing():
    assert linked_sets([pa.array(["a", "b", None, None])]) is None
    assert linked_sets([]) is None


def test_two_identifiers_link_through_each_other():
    sets = linked_sets([pa.array(["a", "a", "b", "c"]), pa.array([1, 2, 2, 3])])
    assert len(set(sets[:3].tolist())) == 1
    assert sets[3] != sets[0]


ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=30)


@given(ROWS)
def test_profiles_are_equal_exactly_if_the_sets_of_classes_are(rows):
    sets = np.unique([who for who, _ in rows], return_inverse=True)[1].astype(np.int32)
    classes = np.array([value for _, value in rows], dtype=np.int32)
    naive = [frozenset(classes[sets == one].tolist()) for one in sets]
    found = profiles(sets, classes)
    for i in range(len(rows)):
        for j in range(i):
            assert (found[i] == found[j]) == (naive[i] == naive[j])
