from __future__ import annotations

from collections import defaultdict
from functools import cache
from math import floor
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.lattice.crowds import KINDS, draw_crowd
from tests.methods.lattice.drawing import SEEDS, cost

import shoal
from shoal import AlphaKAnonymity, KAnonymity, LDiversity, Table, TCloseness
from shoal.methods.lattice import entries
from shoal.methods.lattice.entries import Worth, pack
from shoal.methods.lattice.lattice import Lattice

EXACT = tuple(kind for kind in KINDS if kind != "shared homes")
METHODS = ("datafly", "samarati", "mingen", "incognito", "ola", "flash")
MODELS = (
    KAnonymity(2),
    KAnonymity(3),
    KAnonymity(2) & LDiversity(2, "illness"),
    KAnonymity(2) & TCloseness(0.3, "illness"),
    AlphaKAnonymity(0.6, 2, "illness"),
)


def count(crowd, node, k, apart=False):
    """Classes, those of k or more people, records in the others, squares: by sets of people."""
    found = defaultdict(list)
    for number, members in enumerate(crowd.drawn.classes(node)):
        for i in members:
            found[number, crowd.drawn.illness[i] if apart else None].append(i)
    classes = list(found.values())
    kept = [crowd.drawn.size(m) for m in classes if crowd.size(m) >= k]
    suppressed = crowd.drawn.records - sum(kept)
    return len(classes), len(kept), suppressed, sum(rows**2 for rows in kept)


def at(measures, node):
    cubes = (measures.classes, measures.kept, measures.suppressed, measures.squares)
    return tuple(int(cube[node]) for cube in cubes)


@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(EXACT),
    bits=st.sampled_from([10, 12, 14, 62]),
    apart=st.booleans(),
    k=st.integers(1, 5),
    threads=st.integers(1, 2),
)
# the attributes fill a key of 10 bits, so that the last field has no level above its own
@example(seed=0, kind="several", bits=10, apart=False, k=1, threads=1)
@examples(250)
def test_every_node_counts_people_as_sets_do(seed, kind, bits, apart, k, threads):
    draw = np.random.default_rng(seed)
    crowd = draw_crowd(draw, kind, rows=int(draw.integers(1, 32)))
    lattice = Lattice.of(crowd.table, apart=["illness"] if apart else [])
    assert lattice.exact_sizes
    worth = draw.integers(0, 99, crowd.table.records + 1) / 8
    with mock.patch.object(entries, "_KEY_BITS", bits):
        measures, totals = lattice.measure(k, threads=threads), lattice.total(Worth(worth))
    for node in crowd.drawn.nodes:
        expected = count(crowd, node, k, apart)
        assert at(measures, node) == expected
        assert lattice.measure_node(node, k) == expected
        assert totals[node] == worth[lattice.class_counts(node)[0]].sum()


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), k=st.integers(1, 5))
def test_no_node_below_the_corner_would_do(seed, kind, k):
    draw = np.random.default_rng(seed)
    crowd, limit = draw_crowd(draw, kind), int(draw.integers(0, 6))
    lattice = Lattice.of(crowd.table)
    corner = lattice.corner(k, limit)
    above = lattice.measure(k, corner=corner)
    for node in crowd.drawn.nodes:
        suppressed = count(crowd, node, k)[2]
        if any(level < least for level, least in zip(node, corner, strict=True)):
            assert suppressed > limit or limit >= crowd.drawn.records
        elif lattice.exact_sizes:
            assert at(above, node) == count(crowd, node, k)
        else:
            assert above.suppressed[node] <= suppressed


@given(seed=SEEDS)
@examples(30)
def test_attributes_alone_are_counted_as_their_own_table(seed):
    draw = np.random.default_rng(seed)
    crowd = draw_crowd(draw, "several", attributes=4)
    some = sorted(draw.choice(4, size=int(draw.integers(1, 4)), replace=False).tolist())
    part = Lattice.of(crowd.table).over(some).measure(3)
    columns = tuple(crowd.table[f"q{j}"] for j in some)
    alone = Lattice.of(Table(columns, crowd.table.counts, person=crowd.table.person)).measure(3)
    for name in ("classes", "kept", "suppressed", "squares"):
        assert np.array_equal(getattr(part, name), getattr(alone, name))


def visits(people, towns, ages=None):
    """A table of visits: whom each is about, and where, and at what age."""
    data = pa.table({"who": people, "town": towns, "age": ages or [30] * len(people)})
    return Table.from_arrow(data, {"town": "quasi", "age": "quasi"}, person="who")


def test_people_with_one_tuple_each_are_not_followed():
    constant = pack(Lattice.of(visits(list("aabbb"), list("xxyyy"))), (0, 0))
    assert constant.shape.person == 0
    assert constant.entries.people.tolist() == [1, 1]
    moving = pack(Lattice.of(visits(list("aabbb"), list("xyyyy"))), (0, 0))
    assert moving.entries.followed == 1
    above = pack(Lattice.of(visits(list("aabbb"), list("xyyyy"))), (1, 0))
    assert above.entries.followed == 0  # hidden towns are alike


def test_k_rows_of_one_person_are_not_k_people():
    # town x: five rows of one person; town y: two people
    table = visits(["a"] * 5 + ["b", "c"], ["x"] * 5 + ["y"] * 2)
    release = shoal.anonymize(table, KAnonymity(2), "flash", max_suppression=0)
    assert release.node["town"] == 1
    assert release.classes.sizes.tolist() == [3]
    assert Lattice.of(table).measure(2).suppressed[:, 0].tolist() == [5, 0]


def test_a_person_in_two_classes_counts_once_when_they_merge():
    # each town has two people, but hiding the town leaves two people, not four
    table = visits(list("abab"), list("xxyy"))
    assert Lattice.of(table).measure(3).kept.max() == 0
    with pytest.raises(shoal.InputError, match="3"):
        shoal.anonymize(table, KAnonymity(3), "flash")


@pytest.mark.parametrize("method", METHODS)
def test_k_asks_for_people_and_for_households_where_neither_is_always_fewer(method):
    # town x: one person of two homes; town y: three people of two homes
    data = pa.table(
        {
            "who": ["a", "a", "b", "c", "d"],
            "home": [1, 2, 1, 3, 3],
            "town": ["x", "x", "y", "y", "y"],
        }
    )
    table = Table.from_arrow(data, {"town": "quasi"}, person="who", household="home")
    assert not Lattice.of(table).exact_sizes
    release = shoal.anonymize(table, KAnonymity(2), method, max_suppression=0)
    assert release.node == {"town": 1}


def illnesses(towns, people, ill, tree):
    """Visits with an illness, and towns in a tree."""
    data = pa.table({"who": people, "town": towns, "ill": ill})
    roles = {"town": {"role": "quasi", "hierarchy": {"tree": tree}}, "ill": "sensitive"}
    return Table.from_arrow(data, roles, person="who")


def test_ola_finds_minimal_nodes_above_a_gap():
    # towns are balanced, counties are not, as somebody is in both of their towns; the table is
    tree = {"north": ["a", "b"], "south": ["c", "d"]}
    ill = ["flu", "gout", "flu", "gout", "gout", "flu", "gout", "flu"]
    table = illnesses(list("aabbccdd"), list("pqprstsu"), ill, tree)
    model = TCloseness(0.1, "ill")
    for method in ("ola", "incognito"):
        release = shoal.anonymize(table, model, method, max_suppression=0)
        assert nodes(release) == {(0,), (2,)}
        assert levels(release) == (0,)


def test_samarati_does_not_jump_over_the_only_anonymous_height():
    # both people have both illnesses, one in each town
    tree = {"north": ["a", "b"]}
    table = illnesses(list("aabb"), list("pqpq"), ["flu", "gout", "gout", "flu"], tree)
    release = shoal.anonymize(table, AlphaKAnonymity(0.5, 2, "ill"), "samarati", max_suppression=0)
    assert levels(release) == (0,)


def test_incognito_does_not_judge_by_parts_where_people_are_in_several_classes():
    data = pa.table(
        {"who": list("pqpq"), "a": [1, 1, 2, 2], "b": [1, 1, 2, 2], "ill": list("xyyx")}
    )
    data = pa.concat_tables([data, data.set_column(2, "b", pa.array([3, 3, 3, 3]))])
    table = Table.from_arrow(data, {"a": "quasi", "b": "quasi", "ill": "sensitive"}, person="who")
    model = AlphaKAnonymity(0.5, 2, "ill")
    release = shoal.anonymize(table, model, "incognito", max_suppression=0)
    assert nodes(release) == {(0, 0)}


def suppressible(crowd, share):
    return min(floor(share * crowd.drawn.records + 1e-9), crowd.drawn.records - 1)


@cache
def crowd_for(seed, kind):
    """Draw a table that models can be asked of, with few enough nodes for brute force."""
    draw = np.random.default_rng(seed)
    while True:
        attributes, rows = 1 + seed % 4, int(draw.integers(8, 26))
        crowd = draw_crowd(draw, kind, rows=rows, attributes=attributes)
        enough = crowd.size(range(rows)) > 3 and len(set(crowd.drawn.illness)) > 1
        if enough and len(crowd.drawn.nodes) < 150:
            return crowd


@cache
def kept_at_nodes(seed, kind, model):
    crowd = crowd_for(seed, kind)
    return {node: crowd.kept(node, model) for node in crowd.drawn.nodes}


def anonymous(seed, kind, model, share):
    """Return, for every anonymous node, the classes that are kept there: by brute force."""
    crowd = crowd_for(seed, kind)
    limit = suppressible(crowd, share)
    nodes = kept_at_nodes(seed, kind, model)
    return {node: kept for node, kept in nodes.items() if crowd.suppressed(kept) <= limit}


def lowest(found):
    """Return the nodes with no direct predecessor among them."""
    return {
        node
        for node in found
        if not any(
            (*node[:j], node[j] - 1, *node[j + 1 :]) in found for j in range(len(node)) if node[j]
        )
    }


def levels(release):
    return tuple(release.node.values())


def nodes(release):
    return {tuple(candidate.node.values()) for candidate in release.candidates}


def run(seed, kind, model, method, share, **options):
    table = crowd_for(seed, kind).table
    return shoal.anonymize(table, model, method, max_suppression=share, **options)


def cases(test):
    """Run a test with every model and share, each on the same random tables."""
    named = st.sampled_from(["constant", "several", "homes", "shared homes"])
    test = given(seed=SEEDS, kind=named)(examples(16)(test))
    test = pytest.mark.parametrize("model", MODELS, ids=str)(test)
    return pytest.mark.parametrize("share", [0, 0.25])(test)


@cases
@pytest.mark.parametrize("method", METHODS)
def test_every_method_releases_classes_of_enough_people(seed, kind, model, share, method):
    crowd, possible = crowd_for(seed, kind), anonymous(seed, kind, model, share)
    if method != "datafly" and not possible:
        with pytest.raises(shoal.Infeasible):
            run(seed, kind, model, method, share)
        return
    try:
        release = run(seed, kind, model, method, share)
    except shoal.Infeasible:
        assert method == "datafly"
        assert crowd.drawn.nodes[-1] not in possible
        return
    kept = possible[levels(release)]
    assert release.classes.suppressed == crowd.suppressed(kept)
    assert sorted(release.classes.rows.tolist()) == sorted(map(crowd.drawn.size, kept))
    assert sorted(release.classes.sizes.tolist()) == sorted(map(crowd.size, kept))


@cases
def test_exact_methods_find_what_brute_force_finds(seed, kind, model, share):
    crowd, possible = crowd_for(seed, kind), anonymous(seed, kind, model, share)
    if not possible:
        return
    for objective in ("loss", "precision", "discernibility", "class-size"):
        release = run(seed, kind, model, "flash", share, objective=objective)
        costs = {node: cost(crowd.drawn, objective, node, kept) for node, kept in possible.items()}
        assert costs[levels(release)] == pytest.approx(min(costs.values()))
        assert release.candidates[0].loss == pytest.approx(min(costs.values()))
    costs = {node: cost(crowd.drawn, "precision", node, kept) for node, kept in possible.items()}
    best = {node for node, value in costs.items() if value < min(costs.values()) + 1e-9}
    assert nodes(run(seed, kind, model, "mingen", share)) == best
    height = min(map(sum, possible))
    lowest_height = {node for node in possible if sum(node) == height}
    release = run(seed, kind, model, "samarati", share)
    assert nodes(release) == lowest_height
    for method in ("ola", "incognito"):
        release = run(seed, kind, model, method, share)
        assert nodes(release) == lowest(possible)
        for candidate in release.candidates:
            node = tuple(candidate.node.values())
            assert candidate.loss == pytest.approx(costs[node])
            assert candidate.suppressed == crowd.suppressed(possible[node])


@cases
@pytest.mark.parametrize("method", ["ola", "flash"])
def test_local_recoding_releases_classes_of_enough_people(seed, kind, model, share, method):
    crowd = crowd_for(seed, kind)
    if not anonymous(seed, kind, model, share):
        return
    local = run(seed, kind, model, method, share, local=True)
    ids = local.classes.ids
    for number in range(len(local.classes)):
        members = np.flatnonzero(ids == number).tolist()
        assert all(crowd.keeps(part, members) for part in model.parts)


@pytest.mark.parametrize("method", ["ola", "incognito", "samarati"])
def test_a_model_that_people_make_not_monotone_is_noted(method):
    crowd = crowd_for(3, "several")
    closeness = KAnonymity(2) & TCloseness(0.9, "illness")

    def notes(table, model, share):
        release = shoal.anonymize(table, model, method, max_suppression=share)
        return [note for note in release.run.notes if "monotone" in note]

    (note,) = notes(crowd.table, closeness, 0)
    assert note.startswith("some people have several rows")
    assert notes(crowd.table, KAnonymity(2), 0.3) == []
    assert notes(crowd_for(3, "alone").table, closeness, 0) == []
