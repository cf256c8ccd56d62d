"""kᵐ-anonymity of linked rows, against counting by hand and by multisets."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.risk import linked_events
from shoal.risk.known_rows import count_events
from shoal.table.linked import count_combinations

VISITS = pa.table({"who": list("aabbccdd"), "ward": [1, 2, 1, 2, 1, 3, 2, 3], "day": [1] * 8})


def test_one_known_event_fits_all_who_have_it():
    found = linked_events(VISITS, "who", "ward", events=1, k=3)
    assert (found.people, found.fewest, found.below, found.alone) == (4, 2, 2, 0)


def test_two_known_events_fit_only_those_who_have_both():
    found = linked_events(VISITS, "who", "ward", events=2, k=2)
    assert (found.fewest, found.below, found.alone) == (1, 2, 2)
    assert not found.holds


def test_repeated_events_fit_those_who_have_as_many():
    rows = pa.table({"who": list("aaabbc"), "ward": [1] * 6})
    found = [linked_events(rows, "who", events=events, k=2) for events in (1, 2, 3, 10**9)]
    assert [each.fewest for each in found] == [3, 2, 1, 1]
    assert [each.alone for each in found] == [0, 0, 1, 1]
    assert [each.holds for each in found] == [True, True, False, False]


def test_known_columns_join_to_one_event():
    assert linked_events(VISITS, "who", events=1, k=2).holds


def naive(rows, events, k):
    """Count the people with each multiset; rows: pairs of a person and an event."""
    held = defaultdict(Counter)
    for who, item in rows:
        held[who][item] += 1
    fewest, below, alone, rare = len(held), set(), set(), set()
    for who, mine in held.items():
        for size in range(1, events + 1):
            for chosen in set(combinations(sorted(mine.elements()), size)):
                support = sum(Counter(chosen) <= other for other in held.values())
                fewest = min(fewest, support)
                below |= {who} if support < k else set()
                alone |= {who} if support == 1 else set()
                rare |= set(chosen) if support < k else set()
    return (len(held), fewest, len(below), len(alone)), rare


def numbered(values):
    return np.unique(values, return_inverse=True)[1].astype(np.int32)


# people, of whom some have the same event several times
ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5) | st.integers(0, 1)), min_size=1, max_size=30
)


@given(ROWS, st.integers(1, 4), st.integers(1, 4))
def test_counts_are_those_of_all_multisets(rows, events, k):
    people, items = (numbered([row[place] for row in rows]) for place in (0, 1))
    found = count_events(people, items, events=events, k=k)
    rare = count_combinations(people, items, events=events, k=k).rare
    counts, of_rare = naive(rows, events, k)
    assert (found.people, found.fewest, found.below, found.alone) == counts
    assert set(np.unique([item for _, item in rows])[rare]) == of_rare


@given(ROWS, st.lists(st.integers(0, 5), min_size=6, max_size=6), st.integers(1, 4))
def test_merged_events_fit_as_many_people_or_more(rows, merged, events):
    people, items = (numbered([row[place] for row in rows]) for place in (0, 1))
    coarser = numbered([merged[item] for _, item in rows])
    before, after = (count_events(people, each, events=events, k=2) for each in (items, coarser))
    assert after.fewest >= before.fewest
    assert after.below <= before.below


@given(ROWS, st.integers(1, 4), st.integers(1, 3))
def test_rows_may_stand_for_several(rows, events, k):
    people, items = (numbered([row[place] for row in rows]) for place in (0, 1))
    pairs, counts = np.unique(np.array([people, items]), axis=1, return_counts=True)
    every = count_combinations(people, items, events=events, k=k)
    short = count_combinations(*pairs.astype(np.int32), events=events, k=k, counts=counts)
    assert (short.fewest, short.below.tolist()) == (every.fewest, every.below.tolist())
    assert (short.alone.tolist(), short.rare.tolist()) == (
        every.alone.tolist(),
        every.rare.tolist(),
    )


def test_people_with_too_many_combinations_are_refused():
    people = np.repeat(np.arange(2, dtype=np.int32), [2000, 1])
    items = np.append(np.arange(2000), 0).astype(np.int32)
    with pytest.raises(InputError, match=r"1,333,335,000 combinations .* 3 rows.*1,000,000,000"):
        count_events(people, items, events=3, k=2)
    assert count_events(people, items, events=2, k=2).alone == 1
    assert count_events(people, np.zeros_like(items), events=3, k=2).alone == 1  # in one cell


def test_too_many_combinations_in_all_are_refused(monkeypatch):
    monkeypatch.setattr("shoal.table.linked._MAX_IN_ALL", 11)
    with pytest.raises(InputError, match="added up, 12 combinations of at most 2 rows"):
        linked_events(VISITS, "who", "ward", events=2)


def test_unknown_columns_are_named():
    with pytest.raises(InputError, match="no column 'wart'"):
        linked_events(VISITS, "who", "wart")
    with pytest.raises(InputError, match="name the column"):
        linked_events(VISITS, [], "ward")
