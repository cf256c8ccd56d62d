from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.lattice.crowds import KINDS, draw_crowd
from tests.methods.lattice.drawing import draw_table
from tests.methods.lattice.test_optimum import MODELS, RISING

from shoal import KAnonymity, LDiversity
from shoal.methods.lattice.lattice import Lattice, view
from shoal.methods.lattice.objectives import Costs
from shoal.methods.lattice.optimum import ModelCounts, can_judge


@given(
    seed=st.integers(0, 10**6),
    model=st.sampled_from([model for model in MODELS if model.columns]),
    objective=st.sampled_from(RISING),
)
@examples(60)
def test_a_node_suppresses_at_least_what_any_node_above_it_requires(seed, model, objective):
    draw = np.random.default_rng(seed)
    lattice = Lattice.of(draw_table(draw, attributes=int(draw.integers(1, 4))).table)
    assert can_judge(lattice, model)
    gains = Costs(lattice, objective).gains()
    counts = ModelCounts(lattice, (0,) * len(lattice.shape), model, gains)
    nodes = list(np.ndindex(*lattice.shape))
    views = {node: view(lattice, node, model) for node in nodes}
    judged = {node: counts.judge(node) for node in nodes}
    for node in nodes:
        assert judged[node].suppressed == views[node].suppressed
        for below in np.ndindex(*(level + 1 for level in node)):
            assert judged[node].least <= judged[below].suppressed
            assert (judged[node].least_lost <= judged[below].lost + 1e-9).all()


def test_people_with_several_rows_are_not_judged_by_records():
    crowd = draw_crowd(np.random.default_rng(0), KINDS[-1]).table
    assert crowd.unit is not None
    assert not can_judge(Lattice.of(crowd), LDiversity(2, "illness"))
    plain = Lattice.of(draw_table(np.random.default_rng(0)).table)
    assert not can_judge(plain, KAnonymity(2))
