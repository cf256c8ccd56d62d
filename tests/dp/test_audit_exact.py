"""The exact audit is the definition, written out."""

import math
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.dp.audit_exact import audit_exactly
from shoal.dp.claims import DP
from shoal.errors import InputError

COIN = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}, {"yes": Fraction(1, 4), "no": Fraction(3, 4)}


def claim(epsilon, delta=0.0):
    return DP(epsilon, delta, "an answer")


@st.composite
def distributions(draw, outcomes=5):
    weights = draw(st.lists(st.integers(0, 9), min_size=outcomes, max_size=outcomes))
    weights[draw(st.integers(0, outcomes - 1))] += 1
    return {name: Fraction(weight, sum(weights)) for name, weight in enumerate(weights)}


def by_definition(one, two, ratio):
    """The greatest P(S) − e^ε Q(S) over all sets of outcomes, in either direction."""
    sets = chain.from_iterable(combinations(one, size) for size in range(len(one) + 1))
    return max(
        sum((a[o] - ratio * b[o] for o in inside), Fraction(0))
        for inside in sets
        for a, b in ((one, two), (two, one))
    )


@examples(80)
@given(distributions(), distributions(), st.fractions(1, 6, max_denominator=9))
def test_delta_is_the_greatest_over_all_events(one, two, ratio):
    found = audit_exactly(one, two, claim(math.log(ratio)), ratio=ratio)
    assert found.delta_found == by_definition(one, two, ratio)
    assert isinstance(found.delta_found, Fraction)
    floats = [{name: float(p) for name, p in each.items()} for each in (one, two)]
    near = audit_exactly(*floats, claim(math.log(ratio)))
    assert float(near.delta_found) == pytest.approx(float(found.delta_found), abs=1e-12)


@examples(80)
@given(distributions(), distributions(), st.sampled_from([0.0, 0.05, 0.25]))
def test_epsilon_is_the_least_that_keeps_delta(one, two, delta):
    epsilon = audit_exactly(one, two, claim(0.0, delta)).epsilon_found
    if epsilon == math.inf:
        assert by_definition(one, two, Fraction(10**9)) > delta
    else:
        assert by_definition(one, two, Fraction(math.exp(epsilon + 1e-9))) <= delta
        if epsilon > 0:
            assert by_definition(one, two, Fraction(math.exp(epsilon - 1e-6))) > delta


def test_the_coin_of_three_to_one():
    kept = audit_exactly(*COIN, claim(math.log(3)), ratio=Fraction(3))
    assert (kept.delta_found, kept.violated) == (0, False)
    assert kept.epsilon_found == pytest.approx(math.log(3))
    broken = audit_exactly(*COIN, claim(math.log(2), 0.2), ratio=Fraction(2))
    assert (broken.delta_found, broken.violated) == (Fraction(1, 4), True)
    assert (broken.likelier, broken.outcomes) == ("first", ("yes",))
    assert broken.to_dict()["delta_found"] == 0.25
    assert "the claim is false" in broken.report()
    assert "holds for this pair" in kept.report()
    assert "yes" not in repr(broken)


def test_probabilities_may_come_by_position():
    found = audit_exactly(np.array([0.2, 0.8]), [0.8, 0.2], claim(0.0))
    assert found.delta_found == pytest.approx(0.6)
    assert found.epsilon_found == pytest.approx(math.log(4))


def test_the_direction_is_told():
    one, two = [0.5, 0.5, 0.0], [0.45, 0.45, 0.1]
    found = audit_exactly(one, two, claim(0.2))
    assert (found.likelier, found.outcomes, found.epsilon_found) == ("second", (2,), math.inf)


def test_rounding_is_no_violation():
    tenth = [0.1] * 10
    shifted = [0.2, *[0.1] * 8, 0.0]
    exact_loss = audit_exactly(shifted, tenth, claim(math.log(2), 0.1))
    assert not exact_loss.violated
    assert exact_loss.epsilon_found <= math.log(2) + 1e-9


@pytest.mark.parametrize("wrong", [[0.5, 0.4], [1.5, -0.5], {}])
def test_what_is_no_distribution_is_refused(wrong):
    with pytest.raises(InputError, match="sum to 1"):
        audit_exactly(wrong, [0.5, 0.5], claim(1.0))
