"""A consistency graph is an attack matrix with repeated rows and columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.risk import psi
from shoal.risk.cracks import cracks_of
from shoal.risk.graphs import Graph

OPTIONS = {"half_width": 0.01, "seed": 1, "threads": 1}


def graph_of(person, record, entries):
    """A graph of rows with these kinds of people and of records, whose own pairs are edges."""
    entries = np.array(entries, dtype=float)
    entries[person, record] = np.maximum(entries[person, record], 1)
    heads, indices = np.nonzero(entries)
    graph = Graph(
        np.array(person, dtype=np.int32),
        np.array(record, dtype=np.int32),
        np.bincount(person),
        np.bincount(record),
        np.searchsorted(heads, np.arange(len(entries) + 1)),
        indices.astype(np.int32),
        None if entries.max() == 1 else entries[heads, indices],
    )
    return graph, entries[np.ix_(person, record)]


@st.composite
def graphs(draw, rows=7, kinds=4, weights=3):
    """A graph of a few rows, and its matrix of rows and records, one each."""
    drawn = [draw(st.lists(st.integers(0, kinds - 1), min_size=1, max_size=rows))]
    drawn.append(
        draw(st.lists(st.integers(0, kinds - 1), min_size=len(drawn[0]), max_size=len(drawn[0])))
    )
    person, record = (np.unique(kinds, return_inverse=True)[1] for kinds in drawn)
    shape = int(person.max()) + 1, int(record.max()) + 1
    cells = st.lists(st.integers(0, weights), min_size=shape[1], max_size=shape[1])
    entries = draw(st.lists(cells, min_size=shape[0], max_size=shape[0]))
    return graph_of(person, record, entries)


@given(st.one_of(graphs(), graphs(weights=1)))
@examples(80)
def test_a_graph_and_its_matrix_have_the_same_solution(drawn):
    graph, matrix = drawn
    solved = cracks_of(graph.pruned(), method="exact", **OPTIONS)
    expected = psi(matrix, method="exact")
    assert solved.risks[graph.pair] == pytest.approx(expected.marginals, abs=1e-12)
    assert solved.low <= expected.value + 1e-12
    assert expected.value - 1e-12 <= solved.high


def test_a_component_that_is_too_expensive_is_sampled_on_both_routes(monkeypatch):
    ring = [[1 if (j - i) % 12 in (0, 1, 5) else 0 for j in range(12)] for i in range(12)]
    graph, matrix = graph_of(np.arange(12), np.arange(12), ring)
    exact = psi(matrix, method="exact").value
    monkeypatch.setattr("shoal.risk.cracks._MAX_SECONDS", 0.0)
    monkeypatch.setattr("shoal.risk.matchings.psi._MAX_SECONDS", 0.0)
    by_graph = cracks_of(graph.pruned(), method="auto", **OPTIONS)
    by_matrix = psi(matrix, seed=1)
    assert (by_graph.sampled, by_matrix.method) == (12, "worm")
    for sampled in (by_graph, by_matrix):
        assert sampled.low - 0.01 <= exact <= sampled.high + 0.01
