"""Individual risk by sampling weights, against the published tests of sdcMicro and by hand."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import KAnonymity, Table
from shoal.risk import individual_risk, suda

# the sample of sdcMicro's own tests of its function indivRisk, with its figures for "exact"
SAMPLE = {
    "a": [2, 3, 2, 2, 3, 3, 1, 2],
    "b": [3, 3, 3, 3, 3, 3, 4, 3],
    "c": [1, 3, 1, 2, 1, 1, 1, 1],
    "weight": [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51],
}
EXACT = [
    *(0.01355297, 0.08579129, 0.01355297, 0.17707583),
    *(0.01877883, 0.01877883, 0.03931625, 0.01355297),
]


def sample(data=SAMPLE, **options):
    roles = {name: "quasi" for name in data if name not in ("weight", "who", "home")}
    return Table.from_arrow(pa.table(data), {**roles, "weight": "weight"}, **options)


def test_the_exact_figures_of_sdcmicro():
    found = individual_risk(sample())
    assert found.risks == pytest.approx(EXACT, abs=5e-9)
    assert found.sample.tolist() == [3, 1, 3, 1, 2, 2, 1, 3]
    assert found.population.tolist() == [108, 45.5, 108, 17, 100, 100, 123.5, 108]
    assert found.expected == pytest.approx(sum(EXACT), abs=1e-7)
    assert found.average == pytest.approx(sum(EXACT) / 8, abs=1e-8)
    assert found.represented == sum(SAMPLE["weight"])


def test_a_sample_that_is_the_population_has_the_prosecutors_risk():
    """Weights of 1, also if they are a little less, as sdcMicro's figures without weights."""
    for weight in (1.0, 0.9):
        found = individual_risk(sample({**SAMPLE, "weight": [weight] * 8}))
        assert found.risks == pytest.approx([1 / 3, 1, 1 / 3, 1, 1 / 2, 1 / 2, 1, 1 / 3])
        assert found.at_risk == 8


def test_a_sampling_fraction_is_the_same_weight_for_everyone():
    bare = Table.from_arrow(pa.table({"a": SAMPLE["a"]}), {"a": "quasi"})
    weighted = sample({"a": SAMPLE["a"], "weight": [4.0] * 8})
    one, other = individual_risk(bare, sampling_fraction=0.25), individual_risk(weighted)
    assert one.risks == pytest.approx(other.risks)
    assert one.represented == other.represented == 32
    with pytest.raises(shoal.InputError, match="no sampling weights"):
        individual_risk(bare)
    with pytest.raises(shoal.InputError, match="give no sampling fraction"):
        individual_risk(weighted, sampling_fraction=0.25)
    assert suda(weighted).sampling_fraction == 0.25


def test_people_count_once_and_have_their_highest_risk():
    rows = {"a": [1, 1, 2, 2], "who": [1, 2, 1, 1], "weight": [10.0, 30.0, 10.0, 10.0]}
    found = individual_risk(sample(rows, person="who"))
    two = 2 / 38 - (2 / 38) ** 2 * math.log(20)  # two people, weights 40: p = 1/20
    one = 1 / 9 * math.log(10)  # one person, weight 10
    assert found.risks == pytest.approx([two, two, one, one])
    assert found.people_risks == pytest.approx([one, two])
    assert found.represented == 40


def test_households_are_found_by_any_member():
    rows = {"a": [1, 2, 2], "home": [1, 1, 2], "weight": [10.0, 5.0, 5.0]}
    found = individual_risk(sample(rows, household="home"))
    first, second = found.risks[:2]
    together = 1 - (1 - first) * (1 - second)
    assert found.household.expected == pytest.approx(together + second)
    assert found.household.people == pytest.approx(2 * together + second)
    assert found.household.highest == pytest.approx(together)


def test_a_release_lowers_the_risk():
    random = np.random.default_rng(5)
    rows = {"age": random.integers(20, 70, 300), "weight": random.uniform(5, 20, 300)}
    table = sample(rows)
    release = shoal.anonymize(table, KAnonymity(10), "mondrian")
    before, after = individual_risk(table), individual_risk(release)
    assert after.highest < before.highest
    assert after.represented == pytest.approx(before.represented)
    assert after.sample.min() >= 10


def test_the_estimate_is_right_on_average():
    """Over Poisson samples of a known population, expected links match the true ones."""
    random = np.random.default_rng(7)
    population = random.geometric(0.02, 60_000)
    sizes = np.bincount(population)
    estimated, true = 0.0, 0.0
    for _ in range(20):
        drawn = population[random.random(len(population)) < 0.1]
        found = individual_risk(sample({"a": drawn, "weight": np.full(len(drawn), 10.0)}))
        estimated += found.expected
        true += float((1 / sizes[drawn]).sum())
    assert estimated == pytest.approx(true, rel=0.15)
