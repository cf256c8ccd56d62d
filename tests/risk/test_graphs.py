"""Consistency graphs against pairs written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.risk.enumeration import published, releases, weight

from shoal.errors import InputError
from shoal.risk import consistency
from shoal.risk import graphs as module
from shoal.risk.graphs import believed


def edges(graph):
    """Pairs of kinds with their weight."""
    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    return dict(zip(zip(graph.heads, graph.indices, strict=True), weights, strict=True))


@given(drawn=releases(), known=st.sampled_from([(0,), (1,), (0, 1)]))
@examples(60)
def test_a_pair_is_an_edge_where_the_person_lies_in_the_cells(drawn, known):
    rows, cells = drawn
    graph = consistency(published(*drawn), ["ab"[j] for j in known])
    found = edges(graph)
    for i, row in enumerate(rows):
        for j, cell in enumerate(cells):
            fits = all(row[column] in cell[column] for column in known)
            assert ((graph.person[i], graph.record[j]) in found) == fits
    assert graph.people.sum() == graph.copies.sum() == graph.many.sum() == len(rows)
    assert [tuple(graph.own[p]) for p in graph.pair] == list(
        zip(graph.person, graph.record, strict=True)
    )
    assert graph.edges_of(graph.own).tolist() == [list(found).index(tuple(p)) for p in graph.own]


@given(drawn=releases(), rates=st.dictionaries(st.integers(0, 1), st.sampled_from([0.125, 0.5])))
@examples(40)
def test_what_may_be_wrong_makes_pairs_unlikely_not_impossible(drawn, rates):
    rows, cells = drawn
    graph = believed(published(*drawn), None, {"ab"[j]: rate for j, rate in rates.items()})
    found = edges(graph)
    for i, row in enumerate(rows):
        for j, cell in enumerate(cells):
            expected = float(weight(row, cell, (0, 1), rates))
            if not rates:
                expected = float(expected > 0)
            assert found.get((graph.person[i], graph.record[j]), 0.0) == expected


def test_pairs_that_leave_somebody_without_a_record_are_dropped():
    """Record 0 is person 0's or 1's, record 1 anybody's: person 2 must have record 2."""
    release = published([(0,), (1,), (2,)], [({0, 1},), ({0, 1},), ({0, 1, 2},)])
    graph = consistency(release)
    assert len(graph.indices) == 5  # kinds of records: the first two are alike
    assert len(graph.pruned().indices) == 3
    assert graph.pruned().candidates.tolist() == [2, 2, 1]
    assert "v1" not in repr(graph)


def test_places_outside_the_release_fit_everybody():
    release = published([(0,), (1,), (1,)], [({0},), ({0, 1},), ({1},)], suppressed=[2])
    graph = consistency(release, present=False)
    assert graph.hidden
    assert graph.copies.tolist() == [1, 1, 1]
    assert graph.record.tolist()[2] == 2
    assert graph.candidates.tolist() == [2, 1]
    assert {pair[1] for pair in edges(graph)} == {0, 1, 2}
    everyone = published([(0,), (1,)], [({0},), ({0, 1},)])
    assert not consistency(everyone, present=False).hidden


def test_too_many_pairs_are_refused(monkeypatch):
    release = published([(0,), (1,)], [({0, 1},), ({1},)])
    monkeypatch.setattr(module, "_MAX_PAIRS", 2)
    with pytest.raises(InputError, match="3 pairs of people and records match"):
        consistency(release)
    monkeypatch.setattr("shoal.risk.graphs._MAX_BELIEFS", 3)
    monkeypatch.setattr(module, "_MAX_PAIRS", 4)
    with pytest.raises(InputError, match="4 pairs of records are too many to weight"):
        believed(release, None, {"a": 0.1})
