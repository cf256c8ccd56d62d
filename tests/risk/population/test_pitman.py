from collections import Counter
from math import exp, gamma

import numpy as np
import pytest

from shoal.risk.population.frequencies import Frequencies, Pitman, _lattice, _log_likelihood

MODELS = [Pitman(0.3, 0.5), Pitman(0.7, -0.2), Pitman(0.05, 4.0)]


def partitions(people):
    """All ways to part so many people into classes, as lists of class sizes, one for each way."""
    if not people:
        yield []
        return
    for sizes in partitions(people - 1):
        yield [*sizes, 1]
        for place in range(len(sizes)):
            yield [*sizes[:place], sizes[place] + 1, *sizes[place + 1 :]]


def chance(model, sizes):
    return exp(_log_likelihood(Frequencies.of_sizes(np.array(sizes)), model.alpha, model.theta))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("people", [2, 4, 6])
def test_chances_of_all_partitions_sum_to_one(model, people):
    assert sum(chance(model, sizes) for sizes in partitions(people)) == pytest.approx(1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("people", [1, 3, 6])
def test_expected_uniques_are_those_of_all_partitions(model, people):
    expected = sum(chance(model, sizes) * sizes.count(1) for sizes in partitions(people))
    assert model.uniques(people) == pytest.approx(expected if people > 1 else 1)


def test_for_many_people_the_published_formula_holds():
    model, people = Pitman(0.6, 12.0), 1e8
    published = gamma(13.0) / gamma(12.6) * people**0.6
    assert model.uniques(people) == pytest.approx(published, rel=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_who_is_alone_stays_so_with_the_chance_that_newcomers_go_elsewhere(model):
    # 3 people, one alone: of 2 newcomers none may join
    alone = 1.0
    for seated in (3, 4):
        alone *= 1 - (1 - model.alpha) / (model.theta + seated)
    assert model.stays_alone(3, 5) == pytest.approx(alone)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", [1, 2])
def test_inverse_sizes_are_averages_over_who_joins(model, size):
    sample, newcomers = 4, 5
    reached = {size: 1.0}
    for seated in range(sample, sample + newcomers):
        grown = Counter()
        for now, weight in reached.items():
            joins = (now - model.alpha) / (model.theta + seated)
            grown[now + 1] += weight * joins
            grown[now] += weight * (1 - joins)
        reached = grown
    expected = sum(weight / now for now, weight in reached.items())
    found = model.inverse_sizes(np.array([size]), sample, sample + newcomers)
    assert found == pytest.approx([expected])


def test_a_thinned_lattice_sums_as_the_full_one():
    model = Pitman(0.4, 30.0)
    thinned = model.inverse_sizes(np.array([1, 3, 40]), 1000, 40_000)
    full = []
    for size in (1, 3, 40):
        from scipy.stats import betabinom

        rest = model.theta + 1000 - size + model.alpha
        joined = np.arange(39_001)
        chances = betabinom.pmf(joined, 39_000, size - model.alpha, rest)
        full.append(float((chances / (size + joined)).sum()))
    assert thinned == pytest.approx(full, rel=1e-3)
    places, widths = _lattice(5000)
    assert (places[0], places[-1], widths.sum()) == (0, 5000, 5001)


def test_classes_without_newcomers_keep_their_size():
    assert Pitman(0.3, 2.0).inverse_sizes(np.array([1, 4]), 9, 9) == pytest.approx([1, 1 / 4])


def seated(alpha, theta, people, seed):
    """Draw the classes of so many people from the model."""
    rng = np.random.default_rng(seed)
    tables, sizes = [], []
    for person in range(people):
        if rng.random() * (theta + person) < theta + alpha * len(sizes):
            tables.append(len(sizes))
            sizes.append(1)
            continue
        while True:  # a seated person's table, but for α of its first
            table = tables[rng.integers(person)]
            if rng.random() * sizes[table] < sizes[table] - alpha:
                break
        tables.append(table)
        sizes[table] += 1
    return np.array(sizes)


@pytest.mark.parametrize(("alpha", "theta"), [(0.6, 20.0), (0.2, 200.0)])
def test_parameters_are_found_again(alpha, theta):
    sizes = seated(alpha, theta, 6000, seed=2)
    sample = Frequencies.of_sizes(sizes)
    found = Pitman.fit(sample)
    assert found.alpha == pytest.approx(alpha, abs=0.08)
    assert found.uniques(6000) == pytest.approx(int((sizes == 1).sum()), rel=0.05)
    reached = _log_likelihood(sample, found.alpha, found.theta)
    assert reached >= _log_likelihood(sample, alpha, theta)


@pytest.mark.parametrize("sizes", [[5], [1, 1, 1]])
def test_one_class_or_nothing_but_uniques_have_no_fit(sizes):
    assert Pitman.fit(Frequencies.of_sizes(np.array(sizes))) is None
