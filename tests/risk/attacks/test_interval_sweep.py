import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.risk.matchings.enumeration import Enumerated, near

from shoal.errors import InputError
from shoal.risk.attacks import frequency
from shoal.risk.attacks.frequency import sweep


@st.composite
def intervals(draw, most=7):
    """Draw intervals of places, and a true place for each; there may be no perfect matching."""
    size = draw(st.integers(1, most))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    own = seed.permutation(size)
    first = seed.integers(0, size, size)
    last = np.minimum(first + seed.integers(0, draw(st.integers(1, size)), size), size - 1)
    if draw(st.booleans()):
        first, last = np.minimum(first, own), np.maximum(last, own)
    return first, last, own


def graph(first, last):
    places = np.arange(len(first))
    return ((first[:, None] <= places) & (places <= last[:, None])).astype(float)


@given(intervals())
@examples(200)
def test_equals_the_enumeration_of_all_matchings(drawn):
    first, last, own = drawn
    known = Enumerated(graph(first, last))
    if not known.found:
        with pytest.raises(InputError, match="no perfect matching"):
            sweep(first, last, own)
        return
    swept = sweep(first, last, own)
    assert near(math.exp(swept.log_matchings), known.permanent)
    for found, chance in zip(swept.marginals, known.cracks(own), strict=True):
        assert abs(Fraction(float(found)) - chance) <= Fraction(swept.error) * chance


def banded(size, half_width):
    places = np.arange(size)
    first, last = np.maximum(places - half_width, 0), np.minimum(places + half_width, size - 1)
    return first, last, places


def counted(first, last):
    """Return the number of perfect matchings in whole numbers: sets of used places, in order."""
    ways = {0: 1}
    for low, high in sorted(zip(first.tolist(), last.tolist(), strict=True)):
        after = {}
        for used, number in ways.items():
            for place in range(low, high + 1):
                if not used >> place & 1:
                    chosen = used | 1 << place
                    after[chosen] = after.get(chosen, 0) + number
        ways = after
    return sum(ways.values())


def test_a_long_band_neither_overflows_nor_loses_digits():
    first, last, own = banded(120, 2)
    swept = sweep(first, last, own)
    assert math.isclose(swept.log_matchings, math.log(counted(first, last)), rel_tol=1e-13)
    for item in (0, 60):
        fixed_first, fixed_last = first.copy(), last.copy()
        fixed_first[item] = fixed_last[item] = own[item]
        chance = Fraction(counted(fixed_first, fixed_last), counted(first, last))
        assert near(swept.marginals[item], chance)


def test_hundreds_of_alike_items_keep_their_chance():
    swept = sweep(np.zeros(400, int), np.full(400, 399), np.arange(400))
    assert swept.marginals == pytest.approx(1 / 400, rel=1e-12)
    assert math.isclose(swept.log_matchings, math.lgamma(401), rel_tol=1e-12)


def test_the_same_from_either_end():
    rng = np.random.default_rng(5)
    own = np.arange(60)
    first, last = np.maximum(own - rng.integers(0, 6, 60), 0), np.minimum(own + 3, 59)
    there, back = sweep(first, last, own), sweep(59 - last, 59 - first, 59 - own)
    assert there.marginals == pytest.approx(back.marginals, rel=1e-12)


def test_an_item_that_cannot_be_itself_is_never_found():
    swept = sweep(np.array([0, 0, 0]), np.array([1, 2, 2]), np.array([2, 1, 0]))
    assert swept.marginals[0] == 0
    assert swept.marginals[1:].tolist() == pytest.approx([0.25, 0.25])  # 1 of 4 matchings each


@pytest.mark.parametrize("limit", ["MAX_STEPS", "MAX_VISITS"])
def test_too_many_states_are_not_begun(monkeypatch, limit):
    monkeypatch.setattr(frequency, limit, 100)
    assert sweep(*banded(30, 3)) is None


def test_states_that_do_not_fit_into_a_number_are_not_begun():
    assert sweep(*banded(400, 100)) is None
