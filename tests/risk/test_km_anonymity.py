"""kᵐ-anonymity of linked rows, against counting by hand and by sets."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.linked_events import count_combinations
from shoal.errors import InputError
from shoal.risk import linked_events
from shoal.risk.km_anonymity import count_events

VISITS = pa.table({"who": list("aabbccdd"), "ward": [1, 2, 1, 2, 1, 3, 2, 3], "day": [1] * 8})


def test_one_known_event_fits_all_who_have_it():
    found = linked_events(VISITS, "who", "ward", events=1, k=3)
    assert (found.people, found.fewest, found.below, found.alone) == (4, 2, 2, 0)


def test_two_known_events_fit_only_those_who_have_both():
    found = linked_events(VISITS, "who", "ward", events=2, k=2)
    assert (found.fewest, found.below, found.alone) == (1, 2, 2)
    assert not found.holds


def test_repeated_events_count_once_and_columns_join_to_one_event():
    rows = pa.table({"who": list("aaabb"), "ward": [1, 1, 1, 1, 1]})
    assert linked_events(rows, "who", events=2, k=2).holds
    assert linked_events(VISITS, "who", events=1, k=2).holds


def naive(rows, events, k):
    sets = {who: {item for owner, item in rows if owner == who} for who, _ in rows}
    fewest, below, alone, rare = len(sets), set(), set(), set()
    for who, items in sets.items():
        for size in range(1, events + 1):
            for chosen in combinations(sorted(items), size):
                support = sum(set(chosen) <= other for other in sets.values())
                fewest = min(fewest, support)
                below |= {who} if support < k else set()
                alone |= {who} if support == 1 else set()
                rare |= set(chosen) if support < k else set()
    return (len(sets), fewest, len(below), len(alone)), rare


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30)


@given(ROWS, st.integers(1, 4), st.integers(1, 4), st.sampled_from([1, 3, 10**6]))
def test_counts_are_those_of_all_subsets(rows, events, k, part):
    people = np.unique([who for who, _ in rows], return_inverse=True)[1].astype(np.int32)
    items = np.unique([item for _, item in rows], return_inverse=True)[1].astype(np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.core.linked_events._PART", part)
        found = count_events(people, items, events=events, k=k)
        rare = count_combinations(people, items, events=events, k=k).rare
    counts, of_rare = naive(rows, events, k)
    assert (found.people, found.fewest, found.below, found.alone) == counts
    assert set(np.unique([item for _, item in rows])[rare]) == of_rare


def test_too_many_combinations_are_refused(monkeypatch):
    monkeypatch.setattr("shoal.core.linked_events._MAX_COMBINATIONS", 2)
    with pytest.raises(InputError, match="too many combinations"):
        linked_events(VISITS, "who", "ward", events=2)


def test_unknown_columns_are_named():
    with pytest.raises(InputError, match="no column 'wart'"):
        linked_events(VISITS, "who", "wart")
    with pytest.raises(InputError, match="name the column"):
        linked_events(VISITS, [], "ward")
