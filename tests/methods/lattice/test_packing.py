from __future__ import annotations

from contextlib import ExitStack
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.lattice.drawing import draw_table

import shoal
from shoal import Hierarchy, Table
from shoal.methods.lattice import entries
from shoal.methods.lattice.entries import Worth, pack
from shoal.methods.lattice.lattice import Lattice
from shoal.methods.lattice.problem import measurable


def limited(**limits):
    """Change limits of the packing while a block runs."""
    stack = ExitStack()
    for name, value in limits.items():
        stack.enter_context(mock.patch.object(entries, name, value))
    return stack


def at(measures, node):
    cubes = (measures.classes, measures.kept, measures.suppressed, measures.squares)
    return tuple(int(cube[node]) for cube in cubes)


def check_every_node(lattice, k, corner, threads=1):
    """Compare the sweep above a corner with each node counted on its own."""
    measures = lattice.measure(k, corner=corner, threads=threads)
    worth = np.random.default_rng(0).integers(0, 99, lattice.table.records + 1) / 8
    totals = lattice.total(Worth(worth), threads=threads)
    for node in np.ndindex(*lattice.shape):
        assert totals[node] == worth[lattice.class_counts(node)[0]].sum()
        if all(level >= least for level, least in zip(node, corner, strict=True)):
            assert at(measures, node) == lattice.measure_node(node, k)


@given(seed=st.integers(0, 10**6), listed=st.integers(1, 30))
@examples(40)
def test_classes_larger_than_the_listed_ones_are_worth_a_rate_for_each_person(seed, listed):
    lattice = Lattice.of(draw_table(np.random.default_rng(seed)).table)
    sizes = np.arange(lattice.table.records + 1)
    worth = np.rint(sizes * 0.7 * 8) / 8
    shorter = lattice.total(Worth(worth[:listed], 0.7, 1 / 8))
    assert np.array_equal(shorter, lattice.total(Worth(worth)))


@given(
    seed=st.integers(0, 10**6),
    bits=st.integers(6, 20),
    apart=st.booleans(),
    k=st.integers(1, 6),
    raised=st.booleans(),
)
@examples(150)
def test_every_node_is_counted_alike_however_narrow_a_key_is(seed, bits, apart, k, raised):
    draw = np.random.default_rng(seed)
    drawn = draw_table(draw, rows=int(draw.integers(1, 30)))
    lattice = Lattice.of(drawn.table, apart=["illness"] if apart else [])
    corner = tuple(int(draw.integers(h + 1)) if raised else 0 for h in lattice.heights)
    with limited(_KEY_BITS=max(bits, len(drawn.rows).bit_length())):
        check_every_node(lattice, k, corner)


@pytest.mark.parametrize("threads", [1, 2])
def test_too_little_memory_makes_the_sweep_slower_but_not_fail(threads):
    lattice = Lattice.of(draw_table(np.random.default_rng(5), attributes=5, rows=40).table)
    with limited(MEMORY=1000):
        assert pack(lattice, (0,) * 5).fixed == 3
        check_every_node(lattice, 3, (0,) * 5, threads)


def test_many_tasks_are_handed_out_in_batches():
    lattice = Lattice.of(draw_table(np.random.default_rng(6), attributes=5, rows=20).table)
    with limited(_TASKS_AT_ONCE=3, _KEY_BITS=5):
        check_every_node(lattice, 2, (0,) * 5, 2)


def declared(cells, columns=8, values=None):
    """Columns with a declared hierarchy of 257 values, whatever the cells are.

    values: how many values their domains are declared to have, if any.
    """
    tree = Hierarchy.from_rows([[str(v), "low" if v < 128 else "high", "*"] for v in range(257)])
    data = pa.table({f"q{j}": pa.array(cells(j), pa.string()) for j in range(columns)})
    spec = {"role": "quasi"}
    if values is not None:
        spec |= {"type": "category", "values": [str(v) for v in range(values)]}
    return Table.from_arrow(
        data, dict.fromkeys(data.column_names, spec), dict.fromkeys(data.column_names, tree)
    )


def mixed(rows, values=257):
    return lambda j: [str((i * (2 * j + 7)) % values) for i in range(rows)]


@pytest.mark.parametrize(("bits", "fixed"), [(24, 0), (23, 2), (17, 3), (11, 4), (6, 4)])
def test_attributes_are_fixed_until_the_others_fit_a_key(bits, fixed):
    lattice = Lattice.of(declared(mixed(40), columns=4))  # 6 bits each, as a sub-tuple's number
    with limited(_KEY_BITS=bits):
        assert pack(lattice, (0,) * 4).fixed == fixed
        check_every_node(lattice, 2, (0,) * 4)


@pytest.mark.parametrize(
    "cells",
    [
        mixed(300),
        lambda j: ["7"] * 300,
        lambda j: [None] * 300 if j == 3 else mixed(300)(j),
    ],
    ids=["many values", "one value", "a column all missing"],
)
def test_the_data_do_not_decide_whether_a_lattice_can_be_measured(cells):
    lattice = Lattice.of(declared(cells))
    assert lattice.nodes == 3**8
    assert measurable(lattice)
    measures = lattice.measure(3, threads=1)
    for number in range(0, lattice.nodes, 97):
        node = tuple(int(i) for i in np.unravel_index(number, lattice.shape))
        assert at(measures, node) == lattice.measure_node(node, 3)


@pytest.mark.parametrize("values", [127, 257])
def test_safe_la_releases_tuples_that_fit_a_key_and_wider_ones(values):
    table = declared(mixed(300, values), values=values)
    assert (pack(Lattice.of(table), (0,) * 8).fixed > 0) == (values > 127)
    release = shoal.anonymize(table, shoal.KAnonymity(2), "safe-la", seed=1, allow_large_delta=True)
    assert set(release.node) == set(table.quasi)
