"""Exposure: the search against all sets of attributes."""

from importlib import import_module
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.risk.enumeration import published, releases
from tests.risk.with_people import about

from shoal.errors import InputError
from shoal.risk import assess, exposure
from shoal.risk.column_sets import _Kinds


@given(drawn=releases(most=6, columns=3), top=st.integers(1, 3))
@examples(25)
def test_the_search_finds_the_worst_sets_of_each_size(drawn, top):
    release = published(*drawn)
    found = exposure(release, top=top)
    assert found.complete
    assert found.people == len(drawn[0])
    assert found.sets == 7
    for size in (1, 2, 3):
        every = [assess(release, known).value for known in combinations("abc", size)]
        worst = sorted(every, reverse=True)[:top]
        assert [each.value for each in found.of_size(size)] == pytest.approx(worst)


@given(drawn=releases(most=6, columns=3))
@examples(40)
def test_no_more_people_are_found_than_there_are_kinds_of_records(drawn):
    release = published(*drawn)
    kinds = _Kinds(release)
    for size in (3, 2, 1):
        for known in combinations("abc", size):
            assert kinds.count(known) <= kinds.at_most(known, ("a", "b", "c"))
            assert assess(release, known).value <= kinds.count(known) + 1e-9


@pytest.fixture
def telling():
    """Column a tells everybody, b and c nobody."""
    rows = [(i, i, i) for i in range(6)]
    whole = set(range(6))
    return published(rows, [({i}, whole, whole) for i in range(6)])


def test_sets_that_cannot_be_worst_are_not_assessed(telling):
    found = exposure(telling, most=2, top=1)
    assert [(each.known, each.value, each.forced) for each in found.exposed] == [
        (("a",), 6.0, 6),
        (("a", "b"), 6.0, 6),
    ]
    assert (found.assessed, found.sets, found.complete) == (2, 6, True)


def test_a_limit_is_told(telling):
    found = exposure(telling, ["b", "c"], most=9, top=5, limit=2)
    assert (found.assessed, found.complete) == (2, False)
    assert [len(each.known) for each in found.exposed] == [1, 2]
    assert found.to_dict()["exposed"][0]["bound"] == 1


def test_wrong_questions_are_refused(telling, monkeypatch):
    with pytest.raises(InputError, match="top must be a whole number"):
        exposure(telling, top=0)
    with pytest.raises(InputError, match="no attribute 'd'"):
        exposure(telling, ["d"])
    monkeypatch.setattr(import_module("shoal.risk.column_sets"), "_MAX_EXPOSED_SETS", 2)
    with pytest.raises(InputError, match="too many sets of up to 2"):
        exposure(telling, most=2)


@given(
    drawn=releases(most=6, columns=3), person=st.lists(st.integers(0, 2), min_size=6, max_size=6)
)
@examples(25)
def test_the_bound_holds_for_people_with_several_records(drawn, person):
    release = about(published(*drawn), person[: len(drawn[0])])
    kinds = _Kinds(release)
    for size in (3, 2, 1):
        for known in combinations("abc", size):
            assert kinds.count(known) <= kinds.at_most(known, ("a", "b", "c"))
            found = assess(release, known, method="fast")
            if found.method == "exact":
                assert found.value <= found.links + 1e-9 <= kinds.count(known) + 2e-9


def test_more_people_than_kinds_of_records_may_be_found():
    """Both people have two of four rows that all look alike."""
    release = about(published([(0,)] * 4, [({0},)] * 4), [0, 0, 1, 1])
    (found,) = exposure(release).exposed
    assert found.value == pytest.approx(2 * 5 / 6)
    assert (found.bound, exposure(release).people) == (2, 2)
