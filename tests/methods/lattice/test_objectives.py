from __future__ import annotations

from itertools import product
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from tests import oracle
from tests.cases import told
from tests.examples import examples
from tests.methods.lattice.drawing import SEEDS, cost, draw_table

import shoal
from shoal import KAnonymity, LDiversity, Table, TCloseness
from shoal.methods.lattice.lattice import Lattice, release_at, view
from shoal.methods.lattice.objectives import Costs, Objective

OBJECTIVES = get_args(Objective)
MODELS = (KAnonymity(3), KAnonymity(2) & LDiversity(2, "illness"), TCloseness(0.3, "illness"))


def kept_by(drawn, model):
    """Return how the oracle judges a class of the drawn table."""
    everybody = drawn.people(range(len(drawn.rows)))
    return lambda members: all(
        oracle.keeps(part, drawn.people(members), everybody) for part in model.parts
    )


def drawn_for(seed):
    drawn = draw_table(np.random.default_rng(seed), attributes=1 + seed % 3)
    return drawn, Lattice.of(drawn.table)


@given(seed=SEEDS)
@examples(12)
def test_a_node_costs_what_its_cells_cost_one_by_one(seed):
    drawn, lattice = drawn_for(seed)
    costs = {o: Costs(lattice, o) for o in OBJECTIVES if o != "ncp"}
    for model, node in product(MODELS, drawn.nodes):
        found = view(lattice, node, model)
        kept = drawn.kept(node, kept_by(drawn, model))
        with told(model, node):
            assert found.suppressed == drawn.records - sum(map(drawn.size, kept))
            exact = {o: each.exact(node, found) for o, each in costs.items()}
            assert exact == pytest.approx({o: cost(drawn, o, node, kept) for o in costs})


@given(seed=SEEDS)
@examples(40)
def test_the_certainty_penalty_is_that_of_the_release(seed):
    drawn, lattice = drawn_for(seed)
    costs = Costs(lattice, "ncp")
    for model, node in product(MODELS, drawn.nodes):
        found = view(lattice, node, model)
        if found.kept.any():
            release = release_at(lattice, node, model)
            with told(model, node):
                assert costs.exact(node, found) == pytest.approx(shoal.metrics.ncp(release))


@given(seed=SEEDS)
@examples(30)
def test_the_bound_is_never_above_the_cost(seed):
    drawn, lattice = drawn_for(seed)
    costs = {o: Costs(lattice, o) for o in OBJECTIVES}
    for model, k in zip(MODELS, (3, 2, 1), strict=True):
        bounds = {o: each.bound(lattice.measure(k)) for o, each in costs.items()}
        for node in drawn.nodes:
            found = view(lattice, node, model)
            for objective, each in costs.items():
                with told(objective, model, node):
                    assert bounds[objective][node] <= each.exact(node, found) + 1e-12


@given(seed=SEEDS)
@examples(30)
def test_where_the_pass_says_the_cost_it_is_exact(seed):
    drawn, lattice = drawn_for(seed)
    k = 2 + seed % 5
    costs = {o: Costs(lattice, o) for o in OBJECTIVES}
    known = {o: each.by_pass(lattice.measure(k)) for o, each in costs.items()}
    silent = {objective for objective, by_pass in known.items() if by_pass is None}
    assert silent == {"loss", "geometric-loss", "ncp", "entropy"}
    for node in drawn.nodes:
        found = view(lattice, node, KAnonymity(k))
        for objective in known.keys() - silent:
            with told(objective, node):
                exact = costs[objective].exact(node, found)
                assert known[objective][node] == pytest.approx(exact)


def towns(**weights):
    """Six records, each twice; towns of two counties, and a sex without a hierarchy."""
    data = pa.table({"town": ["na", "nb", "sa", "sb", "sc", "sc"] * 2, "sex": list("ffffmm") * 2})
    tree = {"north": ["na", "nb"], "south": ["sa", "sb", "sc"]}
    roles = {
        "town": {"role": "quasi", "hierarchy": {"tree": tree}, "weight": weights.get("town", 1)},
        "sex": {"role": "quasi", "weight": weights.get("sex", 1)},
    }
    return Table.from_arrow(data, roles)


@pytest.mark.parametrize(
    ("objective", "node", "expected"),
    [
        ("precision", (1, 0), (1 / 2 + 0) / 2),
        ("precision", (2, 1), 1),
        ("height", (1, 1), 2 / 3),
        ("loss", (1, 0), (2 / 6 * 1 / 4 + 4 / 6 * 2 / 4) / 2),
        ("loss", (0, 1), 1 / 2),
        ("ncp", (1, 0), (2 / 6 * 1 / 5 + 4 / 6 * 2 / 5) / 2),
        ("entropy", (2, 1), 1),
        ("entropy", (0, 0), 0),
        ("discernibility", (1, 0), 3 * 4**2 / 12**2),
        ("discernibility", (2, 1), 1),
        ("class-size", (1, 0), 1 / 3),
        ("class-size", (2, 1), 1),
    ],
)
def test_costs_by_hand(objective, node, expected):
    lattice = Lattice.of(towns())
    found = view(lattice, node, KAnonymity(2))
    assert found.suppressed == 0
    assert Costs(lattice, objective).exact(node, found) == pytest.approx(expected)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_nothing_costs_nothing_and_everything_costs_one(objective):
    lattice = Lattice.of(towns())
    costs = Costs(lattice, objective)
    nobody = view(lattice, (0, 0), KAnonymity(13))
    assert nobody.suppressed == 12
    assert costs.exact((0, 0), nobody) == pytest.approx(1)
    if objective not in ("discernibility", "class-size"):
        assert costs.exact((0, 0), view(lattice, (0, 0), KAnonymity(2))) == 0


def test_a_heavier_attribute_costs_more():
    node = (2, 0)
    for weights, expected in (({"town": 3}, 3 / 4), ({"sex": 3}, 1 / 4), ({"sex": 0}, 1)):
        lattice = Lattice.of(towns(**weights))
        found = view(lattice, node, KAnonymity(2))
        assert Costs(lattice, "precision").exact(node, found) == pytest.approx(expected)


def test_heights_are_not_weighted():
    lattice = Lattice.of(towns(town=3))
    found = view(lattice, (2, 0), KAnonymity(2))
    assert Costs(lattice, "height").exact((2, 0), found) == pytest.approx(2 / 3)
