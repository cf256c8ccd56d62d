from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.lattice.drawing import draw_table

import shoal
from shoal import KAnonymity, LDiversity, Table
from shoal.methods.lattice import _class_moves, node_counts, optimum
from shoal.methods.lattice import node_counts as chains
from shoal.methods.lattice import node_counts as count_layout
from shoal.methods.lattice.lattice import Lattice
from shoal.methods.lattice.node_counts import find_feasible
from shoal.methods.lattice.objectives import Costs
from shoal.methods.lattice.optimum import find_tied
from shoal.methods.lattice.problem import Problem, cheapest_minimal, minimal_nodes, weigh
from shoal.methods.lattice.searches import _examine_all


@contextmanager
def only_chains(**more):
    """Use chains for every lattice, however small; `more` are other limits of the module."""
    limits = {"sweep_reads": lambda rows, nodes: 10**12, **more}
    with ExitStack() as stack:
        for name, value in limits.items():
            stack.enter_context(mock.patch.object(chains, name, value))
        yield


@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 5),
    limit=st.integers(0, 9),
    bits=st.sampled_from([4, 9, 62]),
    stored=st.sampled_from([100, 1 << 20]),
)
@examples(150)
def test_chains_find_the_nodes_that_a_sweep_finds(seed, k, limit, bits, stored):
    lattice = Lattice.of(draw_table(np.random.default_rng(seed)).table)
    corner = lattice.corner(k, limit)
    with (
        only_chains(),
        mock.patch.object(_class_moves, "WORD_BITS", bits),
        mock.patch.object(count_layout, "_STORED_BYTES", stored),
        mock.patch.object(count_layout, "_STORED_SHARE", 0),
        mock.patch.object(count_layout, "_MAX_TABLES", 4),
    ):
        found = find_feasible(lattice, corner, k, limit)
    counted = lattice.measure(k, corner=corner).suppressed
    assert np.array_equal(found.nodes, counted <= limit)
    assert found.suppressed == {node: counted[node] for node in found.suppressed}
    assert len(found.suppressed) <= found.counted <= lattice.nodes


@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 5),
    share=st.sampled_from([0, 0.05, 0.3, 0.8]),
    objective=st.sampled_from(["precision", "height", "loss", "geometric-loss", "ncp"]),
)
@examples(100)
def test_the_cheapest_minimal_node_is_found_without_the_others(seed, k, share, objective):
    lattice = Lattice.of(draw_table(np.random.default_rng(seed)).table)
    problem = Problem.above_corner(lattice, KAnonymity(k), share)
    with only_chains():
        best, evaluated = cheapest_minimal(problem, objective)
    problem = Problem.above_corner(lattice, KAnonymity(k), share)
    assert problem.measures is not None  # from a sweep
    expected = weigh(problem, minimal_nodes(problem)[0], objective)
    assert best == (expected[0] if expected else None)
    assert 0 < evaluated <= lattice.nodes


@pytest.mark.parametrize("limit", [0, 100, 400])
@pytest.mark.parametrize("columns", [3, 5])
@pytest.mark.parametrize("bits", [9, 62])
def test_counts_stop_early_only_if_the_limit_is_exceeded(bits, columns, limit):
    rng = np.random.default_rng(columns)
    cells = {f"q{j}": (60 * rng.random(4_000) ** (j + 1)).astype(int) for j in range(columns)}
    trees = {name: {"intervals": [5, 20]} for name in cells}
    table = Table.from_arrow(pa.table(cells), dict.fromkeys(cells, "quasi"), trees)
    lattice = Lattice.of(table)
    with mock.patch.object(_class_moves, "WORD_BITS", bits):
        counts = node_counts.NodeCounts(lattice, (0,) * columns, 3, limit)
    measured, stopped = lattice.measure(3).suppressed, 0
    for node in np.ndindex(*lattice.shape):
        found = counts.suppressed(np.array(node, np.int16))
        assert found == measured[node] or (found > limit and measured[node] > limit)
        stopped += found != measured[node]
    assert stopped > 5


def test_a_stored_table_leaves_room_for_others():
    rng = np.random.default_rng(3)
    cells = {f"q{j}": (60 * rng.random(4_000) ** (j + 1)).astype(int) for j in range(5)}
    trees = {name: {"intervals": [5, 20]} for name in cells}
    table = Table.from_arrow(pa.table(cells), dict.fromkeys(cells, "quasi"), trees)
    lattice = Lattice.of(table)
    with (
        mock.patch.object(count_layout, "_STORED_BYTES", 0),
        mock.patch.object(count_layout, "_STORED_SHARE", 0.2),
    ):
        counts = node_counts.NodeCounts(lattice, (0,) * 5, 3, 100)
    boundary = chains.unknown_boundary(lattice.shape)
    assert chains.search_boundary(counts, boundary, 10**12)
    store, tables = counts.store, int(counts.store.tables[0])
    room = len(store.counts) - store.rows[0]
    assert tables > 1
    assert 0 < store.rows[1:tables].max() <= room / 2
    measured = lattice.measure(3).suppressed.ravel()
    assert np.array_equal(boundary.states > 0, measured <= 100)


@pytest.mark.parametrize("share", [0, 0.05])
@pytest.mark.parametrize("model", [KAnonymity(3), KAnonymity(2) & LDiversity(2, "diagnosis")])
@pytest.mark.parametrize("method", ["ola", "samarati", "incognito", "flash"])
def test_chains_change_no_release_and_no_candidate(method, model, share):
    table = shoal.datasets.patients(150, seed=4)
    swept = shoal.anonymize(table, model, method, max_suppression=share)
    expected = list(swept.candidates)
    with only_chains():
        release = shoal.anonymize(table, model, method, max_suppression=share)
        assert list(release.candidates) == expected
    assert release.node == swept.node


@given(seed=st.integers(0, 10**6), k=st.integers(2, 4), share=st.sampled_from([0, 0.1, 0.3, 0.8]))
@examples(60)
def test_mingen_finds_the_ties_of_the_sweep_by_branch_and_bound(seed, k, share):
    problem = Problem.above_corner(
        Lattice.of(draw_table(np.random.default_rng(seed)).table), KAnonymity(k), share
    )
    costs = Costs(problem.lattice, "precision")
    with mock.patch.object(optimum, "_TIED_SHARE", 1):
        tied, evaluated = find_tied(problem, costs)
    expected, nodes = _examine_all(problem, costs)
    assert [(c.node, c.suppressed) for c in tied] == [(c.node, c.suppressed) for c in expected]
    assert np.allclose([c.loss for c in tied], [c.loss for c in expected], rtol=0, atol=1e-12)
    assert nodes == problem.lattice.nodes
    assert not tied or evaluated


def test_ola_counts_few_nodes_if_few_are_minimal():
    table = shoal.datasets.patients(150, seed=4)
    with only_chains():
        release = shoal.anonymize(table, KAnonymity(3), "ola", max_suppression=0)
    assert len(release.candidates) <= release.evaluated < Lattice.of(table).nodes / 4


@pytest.mark.parametrize(
    "limits",
    [
        {"_LEAST_SWEEP": 10**13},
        {"_TRIAL": 0, "_DECIDED": 1},
        {"_TRIAL": 0, "_DECIDED": 0, "_MOST": 0},
    ],
    ids=["small lattice", "few nodes decided", "too many rows read"],
)
def test_the_sweep_takes_over_if_it_is_likely_to_be_cheaper(limits):
    problem = Problem.above_corner(
        Lattice.of(shoal.datasets.patients(150, seed=4)), KAnonymity(3), 0.05
    )
    with only_chains(**limits):
        assert problem.possible.any()
    assert "measures" in vars(problem)
    assert problem.evaluated == problem.lattice.nodes


def test_people_with_several_tuples_are_left_to_the_sweep():
    data = pa.table({"who": list("aabb"), "town": list("xyyy")})
    table = Table.from_arrow(data, {"town": "quasi"}, person="who")
    with only_chains():
        assert find_feasible(Lattice.of(table), (0,), 2, 0) is None
