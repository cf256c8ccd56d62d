"""The quadratic: against numeric derivatives, and its sensitivity against the worst rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.examples import examples

from shoal.dp import DP, audit
from shoal.dp.functional_logistic_regression import (
    Quadratic,
    expand,
    published_sensitivity,
    scaled,
    sensitivity,
    unscaled,
)
from shoal.errors import InputError

KINDS = [("l2", False), ("l2", True), ("l1", False), ("l1", True)]
kinds = pytest.mark.parametrize(("norm", "intercept"), KINDS)


def loss(rows, labels, weights):
    """The logistic loss itself."""
    odds = rows @ weights
    return float((np.logaddexp(0, odds) - labels * odds).sum())


def table(seed, count=40, columns=3):
    rng = np.random.default_rng(seed)
    return scaled(rng.normal(size=(count, columns)), 2.0), rng.random(count) < 0.4


def moved(row, label, norm, intercept):
    """How far this one row moves the packed numbers, in sum, whatever the others are."""
    ready = scaled(np.array([row], dtype=float), 1.0, norm, intercept=intercept)
    return float(np.abs(expand(ready, np.array([label])).packed()).sum())


@pytest.mark.parametrize("seed", range(3))
def test_coefficients_are_the_derivatives_of_the_loss(seed):
    rows, labels = table(seed)
    found = expand(rows, labels)
    step, axes = 1e-3, np.eye(3) * 1e-3
    slope = [(loss(rows, labels, e) - loss(rows, labels, -e)) / (2 * step) for e in axes]
    assert found.linear == pytest.approx(np.array(slope), abs=1e-4)
    bend = [
        [
            loss(rows, labels, e + f) - loss(rows, labels, e - f)
            - loss(rows, labels, f - e) + loss(rows, labels, -e - f)
            for f in axes
        ]
        for e in axes
    ]  # fmt: skip
    assert 2 * found.matrix == pytest.approx(np.array(bend) / (4 * step**2), abs=1e-4)


def test_one_row_by_hand():
    found = expand(np.array([[0.5, -0.25]]), np.array([True]))
    assert found.linear.tolist() == [-0.25, 0.125]
    assert (found.matrix * 8).tolist() == [[0.25, -0.125], [-0.125, 0.0625]]
    assert found.packed().tolist() == [-0.25, 0.125, 1 / 32, -1 / 64, 1 / 128]


def test_sums_do_not_depend_on_the_order_of_rows():
    rows, labels = table(7, count=5000)
    other = np.random.default_rng(1).permutation(len(rows))
    here, there = expand(rows, labels).packed(), expand(rows[other], labels[other]).packed()
    assert np.array_equal(here, there)


def test_sums_of_parts_are_the_sum_exactly():
    rows, labels = table(8, count=3000)
    parts = [expand(rows[part], labels[part]).packed() for part in (slice(0, 1), slice(1, None))]
    assert np.array_equal(parts[0] + parts[1], expand(rows, labels).packed())


def test_blocks_of_rows_change_nothing(monkeypatch):
    rows, labels = table(9, count=100)
    whole = expand(rows, labels).packed()
    monkeypatch.setattr("shoal.dp.functional_logistic_regression._BLOCK", 21)
    assert np.array_equal(expand(rows, labels).packed(), whole)


def test_more_rows_than_can_be_summed_are_refused(monkeypatch):
    monkeypatch.setattr("shoal.dp.functional_logistic_regression._MAX_ROWS", 10)
    with pytest.raises(InputError, match="at most 10 rows"):
        expand(*table(0, count=11))


numbers = st.one_of(
    st.floats(-2, 2), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, 1.0])
)
any_rows = st.integers(1, 6).flatmap(lambda columns: arrays(np.float64, columns, elements=numbers))


@kinds
@examples(80)
@given(row=any_rows, label=st.booleans())
def test_no_row_moves_the_numbers_further_than_said(norm, intercept, row, label):
    said = sensitivity(len(row), norm, intercept=intercept)
    assert moved(row, label, norm, intercept) <= said


@kinds
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_no_corner_and_no_direction_moves_them_further(norm, intercept, columns):
    rng = np.random.default_rng(columns)
    signs = np.array(np.meshgrid(*[(-1.0, 0.0, 1.0)] * columns)).reshape(columns, -1).T
    rows = np.vstack([signs, rng.normal(size=(300, columns))]) * 10  # outside: clipped to the edge
    said = sensitivity(columns, norm, intercept=intercept)
    farthest = max(moved(row, label, norm, intercept) for row in rows for label in (False, True))
    assert said * (1 - 1e-6) <= farthest <= said


@pytest.mark.parametrize("columns", [1, 2, 10, 94])
def test_sensitivity_by_hand(columns):
    assert sensitivity(columns) == pytest.approx(columns**0.5 / 2 + (columns + 1) / 16, rel=1e-5)
    assert sensitivity(columns, "l1") == pytest.approx(0.625, rel=1e-4)


def test_the_published_bound_covers_two_rows():
    assert published_sensitivity(4) == 16
    for columns in range(1, 200):
        for norm, intercept in KINDS:
            tight = sensitivity(columns, norm, intercept=intercept)
            assert published_sensitivity(columns + intercept) >= 2 * tight


@kinds
@examples(80)
@given(row=any_rows, bound=st.floats(1e-3, 1e3))
def test_rows_are_shortened_to_the_bound_and_keep_their_direction(norm, intercept, row, bound):
    found = scaled(row[None, :], bound, norm, intercept=intercept)[0]
    order = 1 if norm == "l1" else 2
    assert np.linalg.norm(found, order) <= 1 + 1e-12
    features = found[: len(row)] * (1 if not intercept else 2 if norm == "l1" else 2**0.5)
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(row / bound, order))
    if length <= 1:
        assert features == pytest.approx(row / bound, abs=1e-12)
    elif np.isfinite(length):
        assert features == pytest.approx(row / bound / length, abs=1e-12)


def test_a_row_of_zeros_stays():
    assert scaled(np.zeros((1, 2)), 1.0, intercept=True)[0] == pytest.approx([0, 0, 0.5**0.5])


@kinds
def test_weights_are_scaled_back(norm, intercept):
    rows = np.array([[0.3, -0.4], [0.1, 0.0]])
    weights = np.array([1.0, 2.0, 3.0][: 2 + intercept])
    slopes, constant = unscaled(weights, 4.0, norm, intercept=intercept)
    ready = scaled(rows, 4.0, norm, intercept=intercept)
    assert rows @ slopes + constant == pytest.approx(ready @ weights)


def test_directions_without_a_minimum_are_left_out():
    saddle = Quadratic(np.array([4.0, 3.0]), np.diag([2.0, -1.0]))
    assert saddle.minimum().tolist() == [-1.0, 0.0]
    assert saddle.minimum(ridge=1.5) == pytest.approx(np.array([-4 / 7, -3.0]))
    hill = Quadratic(np.array([4.0, 3.0]), -np.eye(2))
    assert hill.minimum().tolist() == [0.0, 0.0]


@examples(40)
@given(arrays(np.float64, (3, 4), elements=st.floats(-1, 1)))
def test_the_minimum_is_lower_than_all_around_it(numbers):
    quadratic = Quadratic(numbers[:, 3], numbers[:, :3] @ numbers[:, :3].T + np.eye(3))
    found = quadratic.minimum()

    def value(weights):
        return quadratic.linear @ weights + weights @ quadratic.matrix @ weights

    steps = np.vstack([np.eye(3), -np.eye(3)]) * 0.01
    assert all(value(found) < value(found + step) for step in steps)


@given(st.integers(1, 5), st.integers(0, 100))
def test_packing_is_undone(columns, seed):
    numbers = np.random.default_rng(seed).normal(size=columns + columns * (columns + 1) // 2)
    found = Quadratic.unpacked(numbers, columns)
    assert np.array_equal(found.matrix, found.matrix.T)
    assert np.array_equal(found.packed(), numbers)


def noisy_ratio(share, step):
    """How much likelier noisy numbers are with the farthest row than without, run by run."""
    worst = expand(np.full((1, 2), 0.5**0.5), np.array([False])).packed()
    scale = share * sensitivity(2)  # for ε = 1

    def mechanism(rows, runs, generator):
        noise = generator.laplace(0.0, scale, (runs, len(worst)))
        drawn = rows * worst + (np.rint(noise / step) * step if step else noise)
        return (np.abs(drawn) - np.abs(drawn - worst)).sum(axis=1) / scale

    return mechanism


@pytest.mark.parametrize(
    ("share", "step", "violated"),
    [
        (1.0, 2.0**-40, False),
        (0.5, 2.0**-40, True),  # half the noise
        (1.0, 0.0, True),  # noise off the grid: the last digits of a sum give the input away
    ],
)
def test_an_audit_passes_the_noise_and_finds_less_and_inexact_noise(share, step, violated):
    claim = DP(1.0, 0.0, "the numbers")
    found = audit(noisy_ratio(share, step), [(0, 1)], claim, runs=40_000, vectorised=True)
    assert found.violated is violated
