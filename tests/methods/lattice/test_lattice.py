from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from tests.examples import examples
from tests.methods.lattice.drawing import SEEDS, draw_table

import shoal
from shoal import Table
from shoal.datasets.public import ADULT_QUASI
from shoal.methods.lattice.entries import pack
from shoal.methods.lattice.lattice import Lattice, named_node

VECTORS = {  # notes of peers: k, node, records suppressed there
    5: ((0, 3, 0, 0, 2, 1, 1, 2, 0), 1346),
    75: ((0, 4, 0, 0, 2, 1, 1, 2, 0), 4316),
    2: ((0, 3, 0, 1, 2, 1, 1, 1, 0), 573),
}
ADULT = (*ADULT_QUASI, "salary-class")


def count(drawn, node, k):
    """Classes, those of k or more, records in the others, sum of squares: by dict counting."""
    sizes = [drawn.size(members) for members in drawn.classes(node)]
    kept = [size for size in sizes if size >= k]
    return len(sizes), len(kept), sum(sizes) - sum(kept), sum(size**2 for size in kept)


def at(measures, node):
    cubes = (measures.classes, measures.kept, measures.suppressed, measures.squares)
    return tuple(int(cube[node]) for cube in cubes)


def equal(one, other):
    names = ("classes", "kept", "suppressed", "squares")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@given(seed=SEEDS)
@examples(300)
def test_every_node_is_measured_as_counting_by_hand_does(seed):
    drawn = draw_table(np.random.default_rng(seed))
    lattice = Lattice.of(drawn.table)
    assert lattice.heights == tuple(drawn.heights)
    assert lattice.nodes == len(drawn.nodes)
    k = 1 + seed % 6
    measures = lattice.measure(k, threads=1)
    for node in drawn.nodes:
        expected = count(drawn, node, k)
        assert at(measures, node) == expected
        assert lattice.measure_node(node, k) == expected


@given(seed=SEEDS)
@examples(40)
def test_the_number_of_threads_changes_nothing(seed):
    lattice = Lattice.of(draw_table(np.random.default_rng(seed)).table)
    assert equal(lattice.measure(3, threads=1), lattice.measure(3, threads=2))


@given(seed=SEEDS)
@examples(40)
def test_attributes_alone_are_measured_as_their_own_table(seed):
    draw = np.random.default_rng(seed)
    drawn = draw_table(draw, attributes=4)
    some = sorted(draw.choice(4, size=int(draw.integers(1, 4)), replace=False).tolist())
    part = Lattice.of(drawn.table).over(some)
    names = [f"q{j}" for j in some]
    alone = Table(tuple(drawn.table[name] for name in names), drawn.table.counts)
    assert equal(part.measure(3), Lattice.of(alone).measure(3))


@given(seed=SEEDS)
@examples(80)
def test_no_node_below_the_corner_would_do(seed):
    draw = np.random.default_rng(seed)
    drawn = draw_table(draw)
    k, limit = int(draw.integers(1, 6)), int(draw.integers(0, 6))
    lattice = Lattice.of(drawn.table)
    corner = lattice.corner(k, limit)
    above = lattice.measure(k, corner=corner)
    for node in drawn.nodes:
        counted = count(drawn, node, k)
        if all(level >= least for level, least in zip(node, corner, strict=True)):
            assert at(above, node) == counted
        else:
            assert above.suppressed[node] > drawn.records
            assert counted[2] > limit or limit >= drawn.records


@pytest.mark.parametrize("rows", [(600, 4), (2000, 3)], ids=str)
def test_larger_tables_are_measured_alike(rows):
    draw = np.random.default_rng(7)
    drawn = draw_table(draw, attributes=rows[1], rows=rows[0])
    measures = Lattice.of(drawn.table).measure(4)
    for node in drawn.nodes:
        assert at(measures, node) == count(drawn, node, 4)


def wide(domains, rows=1100, seed=0):
    """Columns without hierarchies, each with all values of its domain."""
    draw = np.random.default_rng(seed)
    data = {f"q{j}": draw.permutation(np.arange(rows) % domain) for j, domain in enumerate(domains)}
    return Table.from_arrow(pa.table(data), dict.fromkeys(data, "quasi"))


@pytest.mark.parametrize(
    ("domains", "fixed"),
    [
        ([1024] * 6 + [4], 0),  # 62 bits: the last that fit
        ([1024] * 6 + [8], 2),  # 63 bits
        ([600] * 7, 2),  # 70 bits
    ],
    ids=["62 bits", "63 bits", "70 bits"],
)
def test_tuples_wider_than_a_word_are_counted_too(domains, fixed):
    table = wide(domains)
    lattice = Lattice.of(table)
    assert pack(lattice, (0,) * len(domains)).fixed == fixed
    measures = lattice.measure(2)
    rows = list(zip(*(c.codes.tolist() for c in table.columns), strict=True))
    for node in product((0, 1), repeat=len(domains)):
        sizes = Counter(
            tuple(0 if up else v for v, up in zip(row, node, strict=True)) for row in rows
        )
        kept = [size for size in sizes.values() if size >= 2]
        expected = (len(sizes), len(kept), len(rows) - sum(kept), sum(s * s for s in kept))
        assert at(measures, node) == expected


def test_a_random_tree_over_many_values_is_rolled_up_rightly():
    ages = np.random.default_rng(2).integers(0, 90, 500)
    data = pa.table({"age": ages, "sex": np.where(ages % 3 == 0, "f", "m")})
    roles = {
        "age": {"role": "quasi", "hierarchy": {"random": {"seed": 4, "ordered": False}}},
        "sex": "quasi",
    }
    lattice = Lattice.of(Table.from_arrow(data, roles))
    measures = lattice.measure(5)
    assert lattice.heights[0] > 1
    for node in product(*map(range, lattice.shape)):
        assert at(measures, node) == lattice.measure_node(node, 5)
    assert at(measures, lattice.heights) == (1, 1, 0, 500**2)


def test_a_hierarchy_may_have_hundreds_of_levels():
    texts = ["x" * length + "y" * (256 - length) for length in (256, 200, 100, 44, 45, 0)]
    data = pa.table({"text": texts * 2, "sex": ["f", "m"] * 6})
    roles = {"text": {"role": "quasi", "hierarchy": {"mask": "right"}}, "sex": "quasi"}
    lattice = Lattice.of(Table.from_arrow(data, roles))
    assert lattice.heights[0] == 256
    measures = lattice.measure(3)
    for node in product(*map(range, lattice.shape)):
        assert at(measures, node) == lattice.measure_node(node, 3)


def test_a_column_without_hierarchy_is_kept_or_hidden():
    lattice = Lattice.of(wide([3, 5], rows=15))
    assert lattice.shape == (2, 2)
    assert [tuple(codes) for codes in lattice.codes((1, 1))] == [(0,) * 15] * 2


def test_a_node_is_told_by_name_and_level():
    lattice = Lattice.of(wide([3, 5], rows=15))
    assert lattice.named((0, 1)) == {"q0": 0, "q1": 1}
    assert named_node(lattice.named((0, 1))) == "q0 0, q1 1"
    assert repr(lattice) == "Lattice(4 nodes, shape=(2, 2))"


@pytest.fixture(scope="module")
def adult():
    try:
        table = shoal.datasets.load("adult")
    except shoal.InputError:
        pytest.skip("the public tables are not here")
    columns = [table[name] for name in ADULT]
    return Table(tuple(replace(column, role=shoal.Role.QUASI) for column in columns))


@pytest.mark.parametrize("k", VECTORS)
def test_the_census_table_loses_as_many_records_as_peers_count(adult, k):
    node, suppressed = VECTORS[k]
    assert int(Lattice.of(adult).measure(k).suppressed[node]) == suppressed


def test_the_census_table_has_as_many_classes_as_peers_count(adult):
    lattice = Lattice.of(adult)
    classes = lattice.measure(5).classes
    assert lattice.nodes == 12_960
    assert int(classes.sum()) == 36_500_404
    assert int(classes[(0,) * 9]) == 19_502


@pytest.mark.parametrize("method", ["flash", "ola", "mingen"])
def test_the_census_table_keeps_as_much_precision_as_is_possible(adult, method):
    options = {} if method == "mingen" else {"objective": "precision"}
    release = shoal.anonymize(adult, shoal.KAnonymity(5), method, max_suppression=0, **options)
    assert release.candidates[0].loss == pytest.approx(2 / 3, abs=5e-7)
