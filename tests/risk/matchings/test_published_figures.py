"""Figures 2.2, 2.3 and 3.3 to 3.5 of Malik, 2014, and Theorem 4.1.1, number by number."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from tests.examples import examples
from tests.risk.matchings.enumeration import FLAT, TRUE, UNEVEN, Enumerated, attacks, near, worked

from shoal.risk import degree_of_anonymity, expected_cracks, psi
from shoal.risk.matchings import count_matchings, is_flat, split
from shoal.risk.matchings.sinkhorn import sinkhorn

# Figure 2.2(b) is a drawing. 26 graphs have Flu at x, y and z and the cracks that are printed for
# Figure 2.3; this is one of them. All have 18 matchings and 28 cracks in all.
DRAWN = worked("00111 00110 11011 11011 11011")
CRACKS = (5, 3, 1, 2, 0, 2, 0, 0, 2, 0, 1, 1, 3, 3, 0, 1, 1, 3)  # as printed, in section 2.4
PATTERN = worked("10110 01010 00101 01010 10101")  # Figure 3.5(a)


def balanced(matrix):
    """Return the doubly stochastic matrix to which rows and columns can be scaled."""
    found = np.zeros((len(matrix), len(matrix)))
    for part in split(matrix).components:
        scaled = sinkhorn(part, tolerance=1e-13, sweeps=100_000).component
        found[np.ix_(part.rows, part.columns)] = scaled.dense
    return found


def weight(matrix, columns):
    """Return the probability of one matching, given the column letters of its five rows."""
    chosen = tuple("uvxyz".index(letter) for letter in columns)
    known = Enumerated(matrix)
    return float(dict(known.found).get(chosen, 0) / known.permanent)


def test_figures_2_2_and_2_3_hide_the_truth_among_18_matchings():
    matchings = [each for each, _ in Enumerated(DRAWN).found]
    cracks = [sum(a == b for a, b in zip(each, TRUE, strict=True)) for each in matchings]
    assert Counter(cracks) == Counter(CRACKS)
    assert count_matchings(DRAWN) == 18
    assert degree_of_anonymity(DRAWN) == pytest.approx(0.6037, abs=5e-5)
    assert expected_cracks(DRAWN, TRUE).value == pytest.approx(1.56, abs=5e-3)
    assert near(expected_cracks(DRAWN, TRUE).value, Fraction(28, 18))


def test_figure_3_3_gives_84_matchings_nothing_and_36_the_same():
    known = Enumerated(FLAT)
    assert float(known.permanent) == pytest.approx(4 / 81)
    chances = [float(each / known.permanent) for _, each in known.found]
    assert chances == pytest.approx([1 / 36] * 36)
    assert weight(FLAT, "xzuyv") == pytest.approx(1 / 36)  # M2
    assert weight(FLAT, "uzuxv") == 0  # M1, which names u twice and is no matching


@pytest.mark.parametrize(
    # M3 to M5 by the factors that are printed; the pairs that are named beside them are others
    ("columns", "printed"),
    [("xzyvu", 0.254289), ("yxvuz", 0.066384), ("zyxuv", 0.000188)],
)
def test_figure_3_4_weighs_the_named_matchings(columns, printed):
    assert weight(UNEVEN, columns) == pytest.approx(printed, abs=2e-6)


def test_figure_3_4_has_36_matchings_and_its_named_ones_are_the_extremes():
    known = Enumerated(UNEVEN)
    chances = [float(each / known.permanent) for _, each in known.found]
    assert len(chances) == 36  # the text has 36, and 72 one sentence later
    assert max(chances) == pytest.approx(0.2543, abs=5e-5)
    assert min(chances) == pytest.approx(0.0002, abs=5e-5)


def test_figure_3_5_is_the_flat_matrix_of_its_pattern():
    golden = (math.sqrt(5) - 1) / 2
    rest = 1 - golden  # (3 − √5) / 2
    flat = [
        [golden, 0, rest, 0, 0],
        [0, 0.5, 0, 0.5, 0],
        [0, 0, rest, 0, golden],
        [0, 0.5, 0, 0.5, 0],
        [rest, 0, math.sqrt(5) - 2, 0, rest],
    ]
    assert balanced(PATTERN) == pytest.approx(np.array(flat), abs=1e-9)
    assert is_flat(split(flat))
    assert psi(flat).value == pytest.approx(expected_cracks(PATTERN).value)


def test_theorem_4_1_1_on_its_example():
    pattern = worked("00111 00111 11111 11111 11111")
    for found in (expected_cracks(pattern, TRUE), psi(pattern, TRUE), psi(FLAT, TRUE)):
        assert near(found.value, Fraction(13, 9))


@examples(40)
@given(attacks(most=5, kinds=("zeros and ones",)))
def test_theorem_4_1_1_on_any_graph(attack):
    pattern, mapping = attack
    known = Enumerated(pattern)
    assume(known.found)
    flat = balanced(pattern)
    assert is_flat(split(flat))
    cracks = float(sum(known.cracks(mapping)))
    for found in (expected_cracks(pattern, mapping), psi(pattern, mapping), psi(flat, mapping)):
        assert found.value == pytest.approx(cracks, abs=1e-9)
