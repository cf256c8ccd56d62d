import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.risk.matchings.enumeration import Enumerated

from shoal.errors import InputError
from shoal.risk.attacks import distance_attack


def test_a_pair_weighs_as_much_as_the_error_it_needs_is_likely():
    attack = distance_attack({"age": [30, 40]}, {"age": [30, 44]}, deviations={"age": 10})
    near, far = 1, math.exp(-(1.4**2) / 2)
    assert attack.matrix[0] == pytest.approx(np.array([near, far]) / (near + far))
    assert "standard deviation 10" in " ".join(attack.assumptions)


def test_a_category_is_right_or_wrong_and_missing_ones_tell_nothing():
    attack = distance_attack(
        {"city": ["a", "b", None]}, {"city": ["a", "c", float("nan")]}, mistakes={"city": 0.2}
    )
    odds = attack.matrix / attack.matrix[:, 2:]
    assert odds == pytest.approx(np.array([[0.8, 0.1, 1], [0.1, 0.1, 1], [1, 1, 1]]))


def test_numbers_too_far_apart_for_a_float_are_very_unlikely_pairs():
    ends = [-1e308, 1e308]
    attack = distance_attack({"x": ends}, {"x": ends}, deviations={"x": 1e-9})
    assert attack.matrix.tolist() == [[1, 0], [0, 1]]


def test_no_mistakes_rule_pairs_out():
    attack = distance_attack({"sex": ["f", "m"]}, {"sex": ["m", "m"]}, mistakes={"sex": 0})
    assert attack.matrix.tolist() == [[0, 0], [0.5, 0.5]]


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
@examples(60)
def test_balancing_changes_no_matching(size, seed):
    rng = np.random.default_rng(seed)
    known = {"x": rng.normal(size=size), "c": rng.integers(0, 3, size).tolist()}
    released = {"x": rng.normal(size=size), "c": rng.integers(0, 3, size).tolist()}
    options = {"deviations": {"x": 0.7}, "mistakes": {"c": 0.1}}
    plain = distance_attack(known, released, **options)
    scaled = distance_attack(known, released, balanced=True, sweeps=5000, **options)
    assert scaled.matrix.sum(axis=0) == pytest.approx(1, abs=1e-6)
    assert scaled.matrix.sum(axis=1) == pytest.approx(1, abs=1e-6)
    one, other = (Enumerated(attack.matrix).cracks(range(size)) for attack in (plain, scaled))
    assert [float(x) for x in one] == pytest.approx([float(x) for x in other], rel=1e-9)


def test_values_far_apart_stay_possible():
    attack = distance_attack(
        {"x": [0.0, 1.0]}, {"x": [1e4, 1e4 + 1]}, deviations={"x": 1}, balanced=True
    )
    right = math.exp(0.5) / (1 + math.exp(0.5))  # to keep the order is e times as likely
    assert np.diag(attack.matrix) == pytest.approx(right, rel=1e-6)


@pytest.mark.parametrize(
    ("known", "released", "options", "message"),
    [
        ({}, {}, {}, "at least one attribute"),
        ({"x": [1]}, {"y": [1]}, {}, "no released attribute 'x'"),
        ({"x": [1]}, {"x": [1]}, {}, "either a deviation .for numbers. or a share of mistakes"),
        ({"x": [1]}, {"x": [1]}, {"deviations": {"x": 0}}, "deviation of x must be more than 0"),
        (
            {"x": [1]},
            {"x": [1]},
            {"mistakes": {"x": 2}},
            "mistakes in x must be 0 or more and",
        ),
        ({"x": ["secret"]}, {"x": [1]}, {"deviations": {"x": 1}}, "x has a deviation, so its"),
        ({"x": [1, math.inf]}, {"x": [1, 2]}, {"deviations": {"x": 1}}, "x: 1 infinite value"),
        ({"x": [1, 2]}, {"x": [1]}, {"deviations": {"x": 1}}, "as many rows as columns"),
        ({"x": [1]}, {"x": [1]}, {"deviations": {"x": 1, "z": 1}}, "no known attribute 'z'"),
    ],
)
def test_what_does_not_fit_is_refused(known, released, options, message):
    with pytest.raises(InputError, match=message) as refused:
        distance_attack(known, released, **options)
    assert "secret" not in str(refused.value)
