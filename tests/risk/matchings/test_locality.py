"""Renumbering a problem of the walk changes where its numbers are, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.risk.matchings.chains import arrange


@st.composite
def problems(draw):
    """Types with random classes, and a matching: every record starts in a class of its type."""
    classes = draw(st.integers(1, 6))
    reach = [
        sorted(draw(st.sets(st.integers(0, classes - 1), min_size=1)))
        for _ in range(draw(st.integers(1, 5)))
    ]
    row_type = draw(st.lists(st.integers(0, len(reach) - 1), min_size=1, max_size=8))
    start = np.array([draw(st.sampled_from(reach[kind])) for kind in row_type])
    truth = np.where([draw(st.booleans()) for _ in row_type], start, -1)
    indptr = np.concatenate(([0], np.cumsum([len(each) for each in reach])))
    indices = np.array([place for each in reach for place in each])
    weights = np.arange(1.0, len(indices) + 1)
    capacity = np.bincount(start, minlength=classes)
    return indptr, indices, weights, np.array(row_type), capacity, truth, start


def described(indptr, indices, weights, row_type, capacity, truth, start):
    """Return each record's weights by class, with classes named by their records and slots."""
    members = [frozenset(np.flatnonzero(start == place)) for place in range(len(capacity))]
    found = []
    for record, kind in enumerate(row_type):
        edges = range(indptr[kind], indptr[kind + 1])
        reach = sorted(weights[edge] for edge in edges)
        found.append((reach, members[start[record]], truth[record] < 0, capacity[start[record]]))
    return found


@given(problem=problems())
def test_every_record_keeps_its_edges_its_class_and_its_truth(problem):
    arranged = arrange(*problem)
    *renumbered, order = arranged
    there = described(*renumbered)
    for place, old in enumerate(order):
        reach, members, hidden, slots = there[place]
        expected = described(*problem)[old]
        assert (reach, frozenset(order[list(members)]), hidden, slots) == expected


@given(problem=problems())
def test_classes_of_a_type_ascend_and_a_component_has_consecutive_classes(problem):
    arranged = arrange(*problem)
    for first, last in zip(arranged.indptr, arranged.indptr[1:], strict=False):
        assert (np.diff(arranged.indices[first:last]) > 0).all()
    assert (np.diff(arranged.start) >= 0).all()
    spans = [
        set(arranged.indices[first:last])
        for first, last in zip(arranged.indptr, arranged.indptr[1:], strict=False)
    ]
    components: list[set[int]] = []
    for span in spans:
        touched = [each for each in components if each & span]
        components = [each for each in components if not each & span]
        components.append(span.union(*touched))
    for each in components:
        assert max(each) - min(each) + 1 == len(each)
