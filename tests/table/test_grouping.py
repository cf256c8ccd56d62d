import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.table import people
from shoal.table.people import group, order_rows, sum_by


def codes(*values):
    return np.array(values, dtype=np.int32)


def test_numbers_equal_rows_alike_in_lexicographic_order():
    found = group([codes(1, 0, 1, 0), codes(2, 5, 0, 5)], [2, 6])
    assert found.ids.tolist() == [2, 0, 1, 0]
    assert found.first.tolist() == [2 - 1, 2, 0]  # (0, 5), (1, 0), (1, 2)
    assert found.sizes().tolist() == [2, 1, 1]
    assert len(found) == 3


def test_counts_stand_for_that_many_records():
    found = group([codes(0, 1, 0)], [2])
    assert found.sizes(np.array([3, 1, 4])).tolist() == [7, 1]


def test_no_rows_make_no_groups():
    found = group([codes(), codes()], [0, 0])
    assert len(found) == 0
    assert found.sizes().tolist() == []


def test_no_columns_are_refused():
    with pytest.raises(ValueError, match="nothing to group by"):
        group([], [])


def test_ids_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        group([codes(0, 1)], [2]).ids[0] = 1


@given(
    st.integers(1, 6).flatmap(
        lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), max_size=30)
    ),
    st.sampled_from([3, 2**20, 2**31 - 1]),  # 6 columns of 31 bits: keys of 186 bits
)
def test_groups_as_a_dictionary_of_tuples_does(rows, domain):
    rows = [tuple(domain - 1 - value for value in row) for row in rows]
    width = len(rows[0]) if rows else 2
    columns = [codes(*(row[j] for row in rows)) for j in range(width)]
    found = group(columns, [domain] * width)
    ranks = {row: rank for rank, row in enumerate(sorted(set(rows)))}
    assert found.ids.tolist() == [ranks[row] for row in rows]
    assert found.first.tolist() == [rows.index(row) for row in ranks]


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(1, 2**40)), max_size=20))
def test_sums_by_group_and_leaves_out_the_suppressed(pairs):
    ids = codes(*(i for i, _ in pairs))
    counts = np.array([c for _, c in pairs], dtype=np.int64)
    assert sum_by(ids, 5, counts).tolist() == [sum(c for i, c in pairs if i == g) for g in range(5)]
    assert sum_by(ids, 5).tolist() == [sum(i == g for i, _ in pairs) for g in range(5)]


@given(
    st.lists(st.integers(0, 9), max_size=30),
    st.sampled_from([1, 10**5, 10**9, 2**57 // 9]),
    st.sampled_from([0, -3, 10**6]),
    st.sampled_from([1, 64]),
)
def test_keys_are_grouped_alike_whatever_their_size(numbers, step, least, few):
    keys = np.array([least + step * number for number in numbers], dtype=np.int64)
    before = keys.copy()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(people, "_FEW", few)  # above: sorted with the row, or by position
        found = people.group_keys(keys)
    values = sorted(set(numbers))
    assert found.ids.tolist() == [values.index(number) for number in numbers]
    assert found.first.tolist() == [numbers.index(value) for value in values]
    assert (keys == before).all()


def test_narrow_keys_do_not_overflow():
    keys = np.array([2**31 - 1, -(2**31), 2**31 - 1], dtype=np.int32)
    found = people.group_keys(keys)
    assert found.ids.tolist() == [1, 0, 1]
    assert found.first.tolist() == [1, 0]


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 5), min_size=1, max_size=20))
def test_many_wide_columns_are_packed_in_several_steps(rows):
    columns = [np.array(column, dtype=np.int64) * 2**28 for column in zip(*rows, strict=True)]
    found = group(columns, [2**30] * 5)
    tuples = sorted(set(rows))
    assert found.ids.tolist() == [tuples.index(row) for row in rows]


@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=20),
    st.sampled_from([3, 2**15, 2**20, 2**45]),  # each way to sort, and columns packed in two steps
)
def test_rows_are_ordered_by_their_codes_and_equal_ones_keep_their_order(rows, domain):
    columns = list(np.array(rows, dtype=np.int64).reshape(-1, 3).T * (domain // 3))
    expected = sorted(range(len(rows)), key=lambda row: rows[row])
    assert order_rows(columns, [domain] * 3).tolist() == expected
