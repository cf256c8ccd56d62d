from __future__ import annotations

from functools import cache
from itertools import product
from math import floor
from typing import get_args
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from tests import oracle
from tests.examples import examples
from tests.methods.lattice.drawing import SEEDS, cost, draw_table

import shoal
from shoal import EntropyLDiversity, KAnonymity, LDiversity, Table, TCloseness
from shoal.methods.lattice import optimum
from shoal.methods.lattice.lattice import Lattice, release_at
from shoal.methods.lattice.objectives import Objective

OBJECTIVES = get_args(Objective)
METHODS = ("datafly", "samarati", "mingen", "incognito", "ola", "flash")
MODELS = (
    KAnonymity(2),
    KAnonymity(4),
    LDiversity(2, "illness"),
    KAnonymity(2) & TCloseness(0.3, "illness"),
)


def levels(release):
    return tuple(release.node.values())


def nodes(release):
    return [tuple(candidate.node.values()) for candidate in release.candidates]


def neighbours():
    """Figure 2.5 of de Spoelberch (2020): four people, a masked code and an age of two levels."""
    data = pa.table({"zip": ["97385", "97412", "97492", "97365"], "age": [21, 21, 36, 36]})
    roles = {
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "age": {"role": "quasi", "hierarchy": {"tree": {"[20-40]": [21, 36]}}},
    }
    return Table.from_arrow(data, roles)


def plain(**columns):
    """Columns that are kept or hidden."""
    return Table.from_arrow(pa.table(columns), dict.fromkeys(columns, "quasi"))


@pytest.mark.parametrize("method", ["ola", "incognito"])
def test_both_minimal_nodes_of_the_figure_are_found(method):
    release = shoal.anonymize(neighbours(), KAnonymity(2), method, max_suppression=0)
    assert nodes(release) == [(3, 0), (2, 1)]  # the cheaper one first
    assert [c.loss for c in release.candidates] == pytest.approx([3 / 5 / 2, (2 / 5 + 1 / 2) / 2])
    assert release.node == {"zip": 3, "age": 0}
    assert release.to_arrow().to_pylist() == [
        {"zip": "97***", "age": 21},
        {"zip": "97***", "age": 21},
        {"zip": "97***", "age": 36},
        {"zip": "97***", "age": 36},
    ]


def test_the_objective_decides_between_minimal_nodes():
    found = {
        objective: levels(
            shoal.anonymize(
                neighbours(), KAnonymity(2), "ola", max_suppression=0, objective=objective
            )
        )
        for objective in ("precision", "loss", "height")
    }
    # of equal height, so the finer first level wins
    assert found == {"precision": (3, 0), "loss": (3, 0), "height": (2, 1)}


def test_datafly_coarsens_what_has_most_values_until_enough():
    release = shoal.anonymize(neighbours(), KAnonymity(2), "datafly", max_suppression=0)
    assert levels(release) == (3, 0)  # zip, zip, then zip again: the first of two with two values
    assert release.evaluated == 4


@pytest.mark.parametrize(
    ("ages", "k", "node", "suppressed"),
    [
        ([1, 1, 1, 2], 2, 0, 1),  # one record stands out: no more than k
        ([1, 1, 1, 2, 3], 2, 0, 2),  # two: still no more than k
        ([1, 1, 1, 2, 3, 4], 2, 1, 0),  # three: coarsen
        ([1, 1, 1, 2, 3, 4], 3, 0, 3),
    ],
)
def test_datafly_stops_when_at_most_k_records_stand_out(ages, k, node, suppressed):
    release = shoal.anonymize(plain(age=ages), KAnonymity(k), "datafly")
    assert levels(release) == (node,)
    assert release.classes.suppressed == suppressed


def test_datafly_never_suppresses_everybody():
    release = shoal.anonymize(plain(age=[1, 2]), KAnonymity(2), "datafly")
    assert levels(release) == (1,)
    assert release.suppressed is None


def test_samarati_takes_the_lowest_height():
    release = shoal.anonymize(neighbours(), KAnonymity(2), "samarati", max_suppression=0)
    assert nodes(release) == [(2, 1), (3, 0)]  # both of height 3, nothing suppressed at either
    assert levels(release) == (2, 1)


def test_samarati_takes_the_least_suppression_at_the_lowest_height():
    # hiding a leaves (x, 5), (y, 1); hiding b leaves (p, 2), (q, 4)
    table = plain(a=["p", "p", "q", "q", "q", "q"], b=["x", "x", "x", "x", "x", "y"])
    release = shoal.anonymize(table, KAnonymity(4), "samarati", max_suppression=0.4)
    assert nodes(release) == [(1, 0), (0, 1)]
    assert [candidate.suppressed for candidate in release.candidates] == [1, 2]
    assert release.classes.suppressed == 1


def test_mingen_lists_what_ties_and_lets_others_choose():
    table = plain(a=["p", "p", "q", "q"], b=["x", "y", "x", "y"])
    release = shoal.anonymize(table, KAnonymity(2), "mingen")
    assert nodes(release) == [(0, 1), (1, 0)]
    assert levels(release) == (0, 1)
    asked = []

    def prefer(tied):
        asked.extend(tied)
        return tied[-1]

    chosen = shoal.anonymize(table, KAnonymity(2), "mingen", prefer=prefer)
    assert levels(chosen) == (1, 0)
    assert [tuple(c.node.values()) for c in asked] == [(0, 1), (1, 0)]


def test_mingen_looks_at_every_node_that_could_be_best():
    release = shoal.anonymize(neighbours(), KAnonymity(2), "mingen")
    assert levels(release) == (3, 0)
    assert 1 <= release.evaluated <= 6 * 3


def test_flash_looks_at_few_nodes():
    release = shoal.anonymize(
        neighbours(), KAnonymity(2), "flash", max_suppression=0, objective="precision"
    )
    assert levels(release) == (3, 0)
    assert 1 <= release.evaluated < 6 * 3


def suppressible(drawn, share):
    return min(floor(share * drawn.records + 1e-9), drawn.records - 1)


def anonymous(seed, model, share):
    """Return, for every anonymous node, the classes that are kept there: by brute force."""
    drawn = table_for(seed)
    limit = suppressible(drawn, share)
    return {
        node: kept
        for node, kept in kept_at_nodes(seed, model).items()
        if drawn.records - sum(map(drawn.size, kept)) <= limit
    }


@cache
def kept_at_nodes(seed, model):
    """Return, for every node, the classes that keep the model."""
    drawn = table_for(seed)
    everybody = drawn.people(range(len(drawn.rows)))

    def holds(members):
        people = drawn.people(members)
        return all(oracle.keeps(part, people, everybody) for part in model.parts)

    return {node: drawn.kept(node, holds) for node in drawn.nodes}


def lowest(found):
    """Return the nodes with no direct predecessor among them."""
    return {
        node
        for node in found
        if not any(
            (*node[:j], node[j] - 1, *node[j + 1 :]) in found for j in range(len(node)) if node[j]
        )
    }


@cache
def table_for(seed, rows=24):
    """Draw a table that models can be asked of, with few enough nodes for brute force."""
    draw = np.random.default_rng(seed)
    while True:
        drawn = draw_table(draw, attributes=1 + seed % 4, rows=int(draw.integers(4, rows)))
        if len(set(drawn.illness)) > 1 and len(drawn.nodes) < 200:
            return drawn


@pytest.mark.parametrize("share", [0, 0.2, 1.0])
@pytest.mark.parametrize("model", MODELS, ids=str)
@given(seed=SEEDS)
@examples(14)
def test_flash_finds_what_brute_force_over_all_nodes_finds(seed, model, share):
    drawn = table_for(seed)
    possible = anonymous(seed, model, share)
    for objective in OBJECTIVES:
        options = {"max_suppression": share, "objective": objective}
        if not possible:
            with pytest.raises(shoal.Infeasible):
                shoal.anonymize(drawn.table, model, "flash", **options)
            continue
        release = shoal.anonymize(drawn.table, model, "flash", **options)
        kept = possible[levels(release)]
        assert release.classes.suppressed == drawn.records - sum(map(drawn.size, kept))
        if objective == "ncp":
            found = shoal.metrics.ncp(release)
            assert found == pytest.approx(min(penalty_at(seed, model, node) for node in possible))
        else:
            costs = {node: cost_at(seed, objective, node, model) for node in possible}
            found = costs[levels(release)]
            assert found == pytest.approx(min(costs.values()))
        assert release.candidates[0].loss == pytest.approx(found)
        assert nodes(release)[0] == levels(release)
        assert release.evaluated <= len(drawn.nodes)


@cache
def cost_at(seed, objective, node, model):
    return cost(table_for(seed), objective, node, kept_at_nodes(seed, model)[node])


@cache
def penalty_at(seed, model, node):
    return shoal.metrics.ncp(release_at(Lattice.of(table_for(seed).table), node, model))


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(seed=SEEDS)
@examples(20)
def test_without_suppression_all_optimal_methods_agree(seed, model):
    drawn = table_for(seed)
    options = {"flash": {"objective": "precision"}, "ola": {}, "mingen": {}, "incognito": {}}
    if not anonymous(seed, model, 0):
        for method, more in options.items():
            with pytest.raises(shoal.Infeasible):
                shoal.anonymize(drawn.table, model, method, max_suppression=0, **more)
        return
    losses = [
        shoal.anonymize(drawn.table, model, method, max_suppression=0, **more).candidates[0].loss
        for method, more in options.items()
    ]
    assert losses == pytest.approx([losses[0]] * 4)


@pytest.mark.parametrize("share", [0, 0.2])
@pytest.mark.parametrize("model", MODELS[:3], ids=str)
@pytest.mark.parametrize("method", ["ola", "incognito"])
@given(seed=SEEDS)
@examples(16)
def test_candidates_are_all_minimal_nodes_cheapest_first(seed, method, model, share):
    """Sizes and distinct values only rise with the levels, so the minimal nodes say all."""
    drawn = table_for(seed)
    possible = anonymous(seed, model, share)
    if not possible:
        with pytest.raises(shoal.Infeasible):
            shoal.anonymize(drawn.table, model, method, max_suppression=share)
        return
    release = shoal.anonymize(drawn.table, model, method, max_suppression=share)
    assert set(nodes(release)) == lowest(possible)
    assert len(nodes(release)) == len(set(nodes(release)))
    assert nodes(release)[0] == levels(release)
    losses = [candidate.loss for candidate in release.candidates]
    assert losses == pytest.approx(sorted(losses), abs=1e-12)
    assert losses == pytest.approx(
        [cost(drawn, "precision", node, possible[node]) for node in nodes(release)]
    )
    assert [candidate.suppressed for candidate in release.candidates] == [
        drawn.records - sum(map(drawn.size, possible[node])) for node in nodes(release)
    ]


@pytest.mark.parametrize("share", [0, 0.2])
@given(seed=SEEDS)
@examples(20)
def test_samarati_finds_the_lowest_height_that_brute_force_finds(seed, share):
    drawn = table_for(seed)
    possible = anonymous(seed, MODELS[1], share)
    if not possible:
        return
    release = shoal.anonymize(drawn.table, MODELS[1], "samarati", max_suppression=share)
    height = min(map(sum, possible))
    assert sum(levels(release)) == height
    assert set(nodes(release)) == {node for node in possible if sum(node) == height}
    assert release.classes.suppressed == min(c.suppressed for c in release.candidates)


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(seed=SEEDS)
@examples(20)
def test_mingen_lists_every_node_of_least_distortion(seed, model):
    drawn = table_for(seed)
    possible = anonymous(seed, model, 0.2)
    if not possible:
        return
    costs = {node: cost(drawn, "precision", node, kept) for node, kept in possible.items()}
    release = shoal.anonymize(drawn.table, model, "mingen", max_suppression=0.2)
    least = min(costs.values())
    assert set(nodes(release)) == {node for node, value in costs.items() if value < least + 1e-9}
    assert levels(release) == min(nodes(release))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_somebody_is_always_published(method, share):
    # all different: below the top everybody would be suppressed
    table = plain(a=[1, 2, 3, 4], b=["p", "q", "r", "s"])
    release = shoal.anonymize(table, KAnonymity(3), method, max_suppression=share)
    assert levels(release) == (1, 1)
    assert release.suppressed is None


@pytest.mark.parametrize("method", METHODS)
def test_what_cannot_be_met_is_told_as_a_failure(method):
    table = Table.from_arrow(
        pa.table({"a": [1, 2, 3, 4], "ill": ["x", "x", "x", "y"]}),
        {"a": "quasi", "ill": "sensitive"},
    )
    with pytest.raises(shoal.Infeasible, match=r"entropy-l-diversity\(l=2"):
        shoal.anonymize(table, shoal.EntropyLDiversity(2, "ill"), method, max_suppression=0)


@pytest.mark.parametrize("method", METHODS)
def test_columns_without_a_hierarchy_are_noted(method):
    (note,) = shoal.anonymize(plain(a=[1, 1], b=[2, 2]), KAnonymity(2), method).run.notes
    assert note == "no hierarchy for a, b: values are either kept or suppressed"
    assert shoal.anonymize(neighbours(), KAnonymity(2), method).run.notes == ()


@pytest.mark.parametrize("method", ["ola", "incognito"])
def test_a_model_that_is_not_monotone_is_noted(method):
    table = shoal.datasets.patients(60, seed=1)
    model = KAnonymity(2) & TCloseness(0.5, "diagnosis")

    def notes(asked, share):
        release = shoal.anonymize(table, asked, method, max_suppression=share)
        return [note for note in release.run.notes if "monotone" in note]

    assert len(notes(model, 0.5)) == 1
    assert notes(model, 0) == []
    assert notes(KAnonymity(2), 0.5) == []


def outlier():
    """Five records of which one stands out."""
    data = pa.table({"age": [30, 30, 40, 40, 99], "sex": list("ffmmm"), "id": list("abcde")})
    return Table.from_arrow(data, {"age": "quasi", "sex": "quasi", "id": "insensitive"})


@pytest.mark.parametrize("method", METHODS)
def test_suppressed_rows_are_not_written(method, tmp_path):
    release = shoal.anonymize(outlier(), KAnonymity(2), method, max_suppression=0.2)
    assert levels(release) == (0, 0)
    assert release.suppressed.tolist() == [False] * 4 + [True]
    assert release.classes.suppressed == 1
    assert release.to_arrow().column("id").to_pylist() == list("abcd")
    assert release.to_arrow().column("age").to_pylist() == [30, 30, 40, 40]
    release.write(tmp_path / "out.csv")
    written = (tmp_path / "out.csv").read_text()
    assert len(written.splitlines()) == 1 + 4
    assert "99" not in written


@pytest.mark.parametrize("method", METHODS)
def test_suppressed_rows_count_as_lost_altogether(method):
    release = shoal.anonymize(outlier(), KAnonymity(2), method, max_suppression=0.2)
    names = ["ncp", "class", "pub", "precision", "information-loss", "granularity"]
    assert shoal.metrics.evaluate(release, names) == pytest.approx(dict.fromkeys(names, 1 / 5))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_refuses_what_is_not_a_share(method, share):
    with pytest.raises(shoal.InputError, match="max_suppression"):
        shoal.anonymize(outlier(), KAnonymity(2), method, max_suppression=share)


@pytest.mark.parametrize("method", ["ola", "incognito", "flash"])
def test_refuses_an_objective_that_does_not_exist(method):
    with pytest.raises(shoal.InputError, match="objective must be one of"):
        shoal.anonymize(outlier(), KAnonymity(2), method, objective="beauty")


@pytest.mark.parametrize("method", ["samarati", "mingen", "incognito", "ola"])
def test_a_lattice_too_large_to_measure_is_refused(method):
    columns = {f"q{j}": [0, 0, 1, 1] for j in range(24)}
    with pytest.raises(shoal.InputError, match="16,777,216 nodes"):
        shoal.anonymize(plain(**columns), KAnonymity(2), method)


def test_every_method_says_how_many_nodes_it_looked_at():
    every = len(list(product(range(6), range(3))))
    for method in METHODS:
        release = shoal.anonymize(neighbours(), KAnonymity(2), method, max_suppression=0)
        assert release.evaluated >= 1
        if method != "incognito":  # which counts those of parts, too
            assert release.evaluated <= every


def outlier_among_many_columns():
    return plain(**{f"q{j}": [0, 0, 0, 1, 1, j] for j in range(24)})


def test_flash_proves_the_optimum_of_a_lattice_too_large_to_measure():
    release = shoal.anonymize(
        outlier_among_many_columns(), KAnonymity(2), "flash", max_suppression=0.2
    )
    assert set(levels(release)) == {0}  # the last record alone stands out
    assert release.classes.suppressed == 1
    assert not any("too many" in note for note in release.run.notes)
    assert nodes(release) == [levels(release)]
    assert release.candidates[0].loss == pytest.approx(1 / 6)
    assert 1 <= release.evaluated < 1000  # of 16,777,216


@pytest.mark.parametrize("objective", ["loss", "discernibility"])
def test_flash_notes_a_bound_if_the_time_is_over(objective):
    with mock.patch.object(optimum, "_READS", 1):
        release = shoal.anonymize(
            outlier_among_many_columns(),
            KAnonymity(2),
            "flash",
            max_suppression=0.2,
            time_limit=1e-9,
            objective=objective,
        )
    (note,) = (note for note in release.run.notes if "nodes are too many" in note)
    assert f"the best node found has {objective} {release.candidates[0].loss:.4f}" in note
    assert "no node can be below 0.0" in note


def test_flash_fails_if_it_finds_no_node_in_time():
    columns = {f"q{j}": [0, 0, 1, 1] for j in range(24)}
    roles = {**dict.fromkeys(columns, "quasi"), "ill": "sensitive"}
    table = Table.from_arrow(pa.table({**columns, "ill": list("xxxy")}), roles)
    model, options = EntropyLDiversity(2, "ill"), {"max_suppression": 0.3, "time_limit": 1e-9}
    with (
        mock.patch.object(optimum, "_READS", 1),
        pytest.raises(shoal.Infeasible, match="1e-09 s"),
    ):
        shoal.anonymize(table, model, "flash", **options)


def test_flash_proves_that_a_large_lattice_has_no_feasible_node():
    columns = {f"q{j}": [0, 0, 1, 1] for j in range(24)}
    roles = {**dict.fromkeys(columns, "quasi"), "ill": "sensitive"}
    table = Table.from_arrow(pa.table({**columns, "ill": list("xyxy")}), roles)
    with pytest.raises(shoal.Infeasible, match="no node suppresses"):  # the top decides
        shoal.anonymize(table, LDiversity(3, "ill"), "flash")


def test_flash_falls_back_to_the_top_node_if_the_time_is_over():
    columns = {f"q{j}": [0, 0, 1, 1] for j in range(24)}
    roles = {**dict.fromkeys(columns, "quasi"), "ill": "sensitive"}
    table = Table.from_arrow(pa.table({**columns, "ill": list("xxxy")}), roles)
    with mock.patch.object(optimum, "_READS", 1):
        release = shoal.anonymize(table, LDiversity(2, "ill"), "flash", time_limit=1e-9)
    assert set(levels(release)) == {1}


@pytest.mark.parametrize("method", ["ola", "flash"])
def test_local_recoding_takes_up_what_the_first_node_leaves(method):
    # towns are kept where two share one; the other two meet in their county
    data = pa.table({"town": ["na", "na", "nb", "nb", "sa", "sb"]})
    tree = {"north": ["na", "nb"], "south": ["sa", "sb"]}
    table = Table.from_arrow(data, {"town": {"role": "quasi", "hierarchy": {"tree": tree}}})
    options = {"max_suppression": 0.5, "objective": "precision"}
    whole, local = (
        shoal.anonymize(table, KAnonymity(2), method, local=local, **options)
        for local in (False, True)
    )
    assert whole.to_arrow().column("town").to_pylist() == ["na", "na", "nb", "nb"]
    assert local.to_arrow().column("town").to_pylist() == ["na", "na", "nb", "nb", "south", "south"]
    assert local.suppressed is None
    assert levels(local) == (0,)
    assert local.run.notes == ("recoded locally in 2 rounds; node is that of the first round",)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("method", ["ola", "flash"])
@given(seed=SEEDS)
@examples(15)
def test_local_recoding_keeps_the_model_and_loses_no_more(seed, method, model):
    drawn = table_for(seed)
    if not anonymous(seed, model, 0.3):
        return
    options = {"max_suppression": 0.3, "objective": "ncp"}
    whole, local = (
        shoal.anonymize(drawn.table, model, method, local=local, **options)
        for local in (False, True)
    )
    assert local.classes.suppressed <= 0.3 * drawn.records
    assert shoal.metrics.ncp(local) <= shoal.metrics.ncp(whole) + 1e-12
    everybody = drawn.people(range(len(drawn.rows)))
    for number in range(len(local.classes)):
        members = drawn.people(np.flatnonzero(local.classes.ids == number))
        assert all(oracle.keeps(part, members, everybody) for part in model.parts)


def test_flash_brings_the_minimal_nodes_with_it_its_own_first():
    table = shoal.datasets.patients(400, seed=3)
    flash, ola = (
        shoal.anonymize(table, KAnonymity(4), method, objective="precision")
        for method in ("flash", "ola")
    )
    assert flash.candidates[0].node == flash.node
    nodes = {tuple(c.node.values()) for c in ola.candidates} | {tuple(flash.node.values())}
    assert {tuple(c.node.values()) for c in flash.candidates} == nodes
