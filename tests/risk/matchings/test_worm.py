from unittest.mock import patch

import numpy as np
import pytest
from tests.examples import times
from tests.risk.matchings.enumeration import Enumerated

from shoal.errors import InputError, NotConverged
from shoal.risk.matchings import chains
from shoal.risk.matchings.exact import exact
from shoal.risk.matchings.sinkhorn import sinkhorn
from shoal.risk.matchings.structure import split
from shoal.risk.matchings.worm import balanced, sample


def band(size, half):
    apart = np.abs(np.arange(size)[:, None] - np.arange(size))
    return (apart <= half).astype(float)


def random(size, power=1.0, share=1.0, own=0.0, seed=0):
    """A random matrix in which the true pairs are always possible."""
    draw = np.random.default_rng(seed)
    matrix = draw.random((size, size)) ** power * (draw.random((size, size)) < share)
    return matrix + np.where(np.eye(size) > 0, own + (matrix == 0), 0)


CASES = {
    "uniform": random(24),
    "near a permutation": random(20, own=5.0),
    "skewed": random(14, power=6.0),
    "sparse": random(22, share=0.25, seed=3),
    "band": band(18, 2),
    "nearly triangular": np.tril(np.ones((12, 12)), 1),
}


def walk(matrix, mapping=None, **options):
    """Walk over the matchings of a single component."""
    (component,) = split(matrix, mapping).components
    scaled = sinkhorn(component, tolerance=1e-4).component
    ones = np.ones(component.size, dtype=np.int64)
    options = {"start": np.asarray(component.mapping), **options}
    records = np.arange(component.size), ones, component.mapping
    return sample(*scaled.edges, *records, **options)


@pytest.mark.parametrize("name", CASES)
def test_meets_the_exact_values(name):
    true = exact(CASES[name])
    found = walk(CASES[name], seed=2, half_width=0.02)
    assert found.value == pytest.approx(true.psi, rel=0.03)
    assert found.high - found.low <= 0.04 * found.value * (1 + 1e-9)
    assert found.marginals == pytest.approx(true.marginals, abs=0.05)
    assert found.rhat < 1.05
    assert found.effective > 100


@pytest.mark.parametrize("name", ["uniform", "sparse"])
def test_intervals_hold_the_truth_as_often_as_they_say(name):
    true, runs = exact(CASES[name]).psi, times(40)
    found = [walk(CASES[name], seed=seed, half_width=0.05) for seed in range(runs)]
    held = sum(each.low <= true <= each.high for each in found)
    assert held >= 0.85 * runs
    mean = np.mean([each.value for each in found])
    assert mean == pytest.approx(true, rel=4 * 0.025 / np.sqrt(runs))  # no bias


def test_looking_at_some_classes_only_is_fair():
    matrix = random(24, power=3.0)
    true = exact(matrix).psi
    with patch.object(chains, "_DENSE_SPEED", 1), patch.object(chains, "_LOOK_SLOTS", 4):
        found = [walk(matrix, seed=seed, half_width=0.04).value for seed in range(12)]
    assert np.mean(found) == pytest.approx(true, rel=0.02)


def test_taking_back_long_loops_is_fair():
    matrix = random(12, power=2.0)
    with patch.object(chains, "_LOOP_STEPS", (1, 0, 12)):
        found = walk(matrix, seed=1, half_width=0.02)
    assert found.value == pytest.approx(exact(matrix).psi, rel=0.03)


@pytest.mark.parametrize("seed", range(6))
def test_classes_of_several_slots_and_records_of_one_type(seed):
    draw = np.random.default_rng(seed)
    capacity = np.array([3, 2, 1, 2])
    truth = draw.permutation(np.repeat(np.arange(4), capacity))
    row_type = np.array([0, 0, 1, 2, 2, 3, 4, 4])
    by_type = (draw.random((5, 4)) < 0.5) * draw.integers(1, 4, (5, 4)).astype(float)
    by_type[row_type, truth] = 1.0
    indptr = np.concatenate(([0], np.cumsum((by_type > 0).sum(axis=1))))
    indices, weights = np.nonzero(by_type)[1], by_type[by_type > 0]
    scaled = balanced(indptr, indices, weights, row_type, capacity)
    found = sample(indptr, indices, scaled, row_type, capacity, truth, seed=seed, half_width=0.02)
    first = np.cumsum(capacity) - capacity  # any slot of the class: they are alike
    every = Enumerated(np.repeat(by_type[row_type], capacity, axis=1)).marginals()
    true = [float(row[first[own]]) for row, own in zip(every, truth, strict=True)]
    assert found.value == pytest.approx(sum(true), rel=0.03)
    assert found.marginals == pytest.approx(true, abs=0.03)


def test_balanced_weights_sum_to_one_and_keep_their_ratios():
    row_type, capacity = np.array([0, 0, 1, 1, 1]), np.array([3, 2])
    indptr, indices = np.array([0, 2, 4]), np.array([0, 1, 0, 1])
    weights = np.array([1.0, 8.0, 5.0, 2.0])
    scaled = balanced(indptr, indices, weights, row_type, capacity).reshape(2, 2)
    assert scaled @ capacity == pytest.approx(np.ones(2), abs=2e-3)
    assert np.array([2, 3]) @ scaled == pytest.approx(np.ones(2), abs=2e-3)
    cross = scaled[0, 0] * scaled[1, 1] / (scaled[0, 1] * scaled[1, 0])
    assert cross == pytest.approx(1.0 * 2.0 / (8.0 * 5.0))


def test_is_the_same_on_any_number_of_threads():
    one, two, other = (
        walk(CASES["sparse"], seed=seed, threads=threads, half_width=0.05)
        for seed, threads in ((5, 1), (5, 3), (6, 1))
    )
    assert (one.value, one.low, one.steps) == (two.value, two.low, two.steps)
    assert np.array_equal(one.marginals, two.marginals)
    assert one.value != other.value


def test_dense_rows_are_walked_as_listed_ones():
    matrix = sinkhorn(split(CASES["uniform"]).components[0], tolerance=1e-4).component.dense
    every = np.arange(24)
    records = every, np.ones(24, dtype=np.int64), every
    found = sample(np.arange(25) * 24, None, matrix, *records, seed=1, half_width=0.02)
    assert found.value == pytest.approx(exact(matrix).psi, rel=0.03)


def test_half_the_precision_does():
    matrix = sinkhorn(split(CASES["uniform"]).components[0], tolerance=1e-4).component.dense
    every = np.arange(24)
    records = every, np.ones(24, dtype=np.int64), every
    with patch.object(chains, "_LARGE", 10):
        found = sample(np.arange(25) * 24, None, matrix, *records, seed=1, half_width=0.02)
    assert found.value == pytest.approx(exact(matrix).psi, rel=0.03)


def test_a_walk_that_does_not_settle_is_refused():
    ring = np.eye(300) + np.roll(np.eye(300), 1, axis=1)  # two matchings, one long loop apart
    with pytest.raises(NotConverged, match=r"did not converge in [\d,]+ steps: R-hat"):
        walk(ring, seed=0, max_steps=100_000)


def test_an_interval_that_stays_wide_is_refused():
    with pytest.raises(NotConverged, match=r"the interval is ±.*, wider than ±1e-05"):
        walk(CASES["sparse"], seed=0, half_width=1e-5, max_steps=300_000)


def test_loops_that_never_close_are_told():
    with (
        patch.object(chains, "_LOOP_STEPS", (0, 1, 1)),
        pytest.raises(NotConverged, match="loops did not close"),
    ):
        walk(CASES["uniform"], seed=0, max_steps=100)


def test_a_start_that_is_no_matching_is_refused():
    start = np.arange(18)
    start[:2] = 17, 17
    with pytest.raises(InputError, match="the starting matching is not valid for 2 records"):
        walk(CASES["band"], start=start)


def test_slots_must_fit_the_records():
    ones = np.ones(2, dtype=np.int64)
    with pytest.raises(InputError, match="each of the 3 records, not 2 slots"):
        sample(np.arange(4) * 2, None, np.ones((3, 2)), np.arange(3), ones, np.array([0, 1, 1]))


def test_a_loop_that_is_taken_back_leaves_every_record_in_its_slot():
    every = np.arange(12)
    links = chains.link(np.arange(13) * 12, None, random(12, power=2.0), np.ones(12, np.int64))
    records = chains.place(every, np.ones(12, dtype=np.int64), every)
    with patch.object(chains, "_LOOP_STEPS", (0, 3, 3)):
        walk = chains.Chains(links, records, every, every, np.random.SeedSequence(1).spawn(2), 1)
        walk.extend(20)
    assert walk.broken > 0
    for walker in walk.walkers:
        assert np.array_equal(walker.owner[walker.slot], every)
