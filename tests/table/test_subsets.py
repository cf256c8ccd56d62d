import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.table.subsets import Subsets

DOMAIN = 9
families = st.lists(
    st.sets(st.integers(0, DOMAIN - 1), min_size=1).map(sorted), min_size=1, max_size=6
)


def made(family, domain=DOMAIN):
    indptr = np.cumsum([0, *map(len, family)])
    members = np.array([code for subset in family for code in subset], dtype=np.int32)
    return Subsets.of_members(domain, indptr, members)


def test_neighbouring_codes_share_a_run():
    subsets = made([[0, 1, 2, 5], [8]])
    assert subsets.starts.tolist() == [0, 5, 8]
    assert subsets.stops.tolist() == [3, 6, 9]
    assert subsets.indptr.tolist() == [0, 2, 3]


@given(families)
def test_speaks_of_the_same_sets_as_python_does(family):
    subsets = made(family)
    assert len(subsets) == len(family)
    assert [subsets.members(i).tolist() for i in range(len(family))] == family
    assert subsets.sizes.tolist() == [len(s) for s in family]
    assert subsets.first.tolist() == [min(s) for s in family]
    assert subsets.last.tolist() == [max(s) for s in family]
    assert subsets.whole.tolist() == [len(s) == DOMAIN for s in family]


@given(families)
def test_knows_its_members_from_the_rest(family):
    pairs = [(i, code) for i in range(len(family)) for code in range(DOMAIN)]
    indices, codes = np.array(pairs, dtype=np.int32).T
    held = made(family).hold(indices, codes)
    assert held.tolist() == [code in family[i] for i, code in pairs]


@given(families, st.integers(0, DOMAIN + 1))
def test_finds_the_greatest_member_below_a_code(family, code):
    expected = [max((m for m in s if m < code), default=-1) for s in family]
    assert made(family).last_below(code).tolist() == expected


@given(families, families)
def test_joins_families_end_to_end(family, more):
    joined = Subsets.joined([made(family), made(more), made(family)])
    every = [*family, *more, *family]
    assert [joined.members(i).tolist() for i in range(len(joined))] == every
    assert joined.sizes.tolist() == [len(s) for s in every]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_turns_a_map_into_the_codes_of_each_group(groups):
    names = sorted(set(groups))
    groups = np.array([names.index(g) for g in groups], dtype=np.int32)
    subsets = Subsets.of_groups(groups, len(names))
    assert [subsets.members(g).tolist() for g in range(len(names))] == [
        np.flatnonzero(groups == g).tolist() for g in range(len(names))
    ]
    assert subsets.domain == len(groups)


def test_singletons_hold_one_code_each():
    subsets = Subsets.singletons(3)
    assert [subsets.members(i).tolist() for i in range(3)] == [[0], [1], [2]]


def test_ranges_include_both_ends():
    subsets = Subsets.ranges(9, np.array([2, 4]), np.array([5, 4]))
    assert [subsets.members(i).tolist() for i in range(2)] == [[2, 3, 4, 5], [4]]


def test_a_family_of_none_is_empty():
    subsets = made([])
    assert len(subsets) == 0
    assert subsets.sizes.tolist() == []
    assert subsets.last_below(3).tolist() == []


def test_a_range_over_a_million_values_is_one_run():
    subsets = Subsets.ranges(10**6, np.array([0]), np.array([10**6 - 1]))
    assert len(subsets.starts) == 1
    assert subsets.whole.tolist() == [True]


@given(families)
def test_lays_out_all_members_in_a_row(family):
    indptr, members = made(family).flat()
    assert members.tolist() == [code for subset in family for code in subset]
    assert indptr.tolist() == np.cumsum([0, *map(len, family)]).tolist()


def test_subsets_are_taken_by_place_and_compared_one_by_one():
    subsets = Subsets.of_members(6, np.array([0, 3, 4, 6]), np.array([0, 1, 4, 2, 3, 5]))
    taken = subsets.take(np.array([2, 0, 0, 1]))
    assert [taken.members(i).tolist() for i in range(4)] == [[3, 5], [0, 1, 4], [0, 1, 4], [2]]
    assert taken.equal(subsets.take(np.array([2, 0, 1, 1]))).tolist() == [True, True, False, True]
    assert subsets.equal(Subsets.ranges(6, np.array([0, 2, 3]), np.array([4, 2, 5]))).tolist() == [
        False,
        True,
        False,
    ]
    assert len(subsets.take(np.zeros(0, dtype=np.int64))) == 0
