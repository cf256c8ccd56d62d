import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError
from shoal.risk import population_uniqueness
from shoal.risk.population.frequencies import Frequencies
from shoal.risk.population.uniqueness import choose
from shoal.table.table import Table


@pytest.mark.parametrize(
    ("pitman", "zayatz", "snb", "fraction", "chosen"),
    [
        (5.0, 9.0, 1.0, 0.1, "pitman"),
        (None, 9.0, 1.0, 0.05, "zayatz"),
        (5.0, 9.0, 1.0, 0.11, "snb"),
        (5.0, 1.0, 9.0, 0.5, "zayatz"),
        (5.0, 9.0, None, 0.5, "zayatz"),
    ],
)
def test_dankars_rule(pitman, zayatz, snb, fraction, chosen):
    assert choose({"pitman": pitman, "zayatz": zayatz, "snb": snb}, fraction) == chosen


def populations():
    rng = np.random.default_rng(11)
    yield "zipf", rng.zipf(1.5, 60_000)
    sizes = 1 + rng.negative_binomial(0.4, 0.1, 12_000)
    yield "negative binomial", np.repeat(np.arange(len(sizes)), sizes)
    table = shoal.datasets.patients(40_000, 3)
    kinds = table["occupation"].codes.astype(np.int64) * 10_000 + table["admission_date"].codes
    yield "patients", kinds * 10 + table["sex"].codes


POPULATIONS = dict(populations())


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("name", POPULATIONS)
def test_samples_of_known_populations_tell_their_uniques_within_three_tenths(name, fraction):
    ids = POPULATIONS[name]
    true = int((np.unique(ids, return_counts=True)[1] == 1).sum())
    rows = np.random.default_rng(5).choice(len(ids), round(fraction * len(ids)), replace=False)
    sample = Frequencies.of_sizes(np.unique(ids[rows], return_counts=True)[1])
    found = population_uniqueness(sample, fraction, refits=0)
    assert found.model == ("pitman" if fraction <= 0.1 else found.model)
    assert found.uniques == pytest.approx(true, rel=0.3)
    assert found.share == pytest.approx(true / len(ids), rel=0.3)


def test_the_interval_holds_the_truth_where_the_model_is_right():
    from tests.risk.population.test_pitman import seated

    rng = np.random.default_rng(0)
    held = 0
    for seed in range(10):
        sizes = seated(0.5, 60.0, 4000, seed)
        people = np.repeat(np.arange(len(sizes)), sizes)
        drawn = np.unique(people[rng.permutation(4000)[:400]], return_counts=True)[1]
        found = population_uniqueness(Frequencies.of_sizes(drawn), 0.1, seed=seed, refits=40)
        held += found.low <= int((sizes == 1).sum()) <= found.high
    assert held >= 8  # 9.5 expected


def test_equal_seeds_give_equal_intervals():
    sample = Frequencies.of_sizes(np.repeat([1, 2, 3, 9], [40, 20, 9, 3]))
    one, other = (population_uniqueness(sample, 0.05, seed=4, refits=20) for _ in range(2))
    assert (one.low, one.high) == (other.low, other.high)
    assert one.low < one.uniques < one.high


@pytest.mark.parametrize("model", ["dankar", "pitman", "zayatz", "snb"])
def test_a_census_is_told_as_it_is(model):
    found = population_uniqueness(Frequencies.of_sizes(np.array([1, 1, 3])), 1.0, model=model)
    assert (found.uniques, found.low, found.high, found.population) == (2, 2, 2, 5)
    assert found.confirmed == 1


def test_without_sample_uniques_a_sample_only_rules_out_many():
    found = population_uniqueness(Frequencies.of_sizes(np.array([2, 3] * 50)), 0.5)
    assert (found.uniques, found.low, found.confirmed) == (0, 0, 0)
    assert 0.5**found.high == pytest.approx(0.05)  # so many would have been missed once in twenty


def test_with_nothing_but_uniques_everybody_may_be_one():
    found = population_uniqueness(Frequencies.of_sizes(np.ones(1000, dtype=np.int64)), 0.5)
    assert (found.uniques, found.high, found.share) == (2000, 2000, 1)
    pairs = (2000 - found.low) / 2
    assert 0.75**pairs == pytest.approx(0.05)


def test_columns_of_a_table_are_grouped_and_counts_minded():
    data = pa.table({"x": [1, 1, 2], "y": [1, 2, 2]})
    table = Table.from_arrow(data, {"x": "quasi", "y": "quasi"}, counts=[1, 1, 3])
    assert population_uniqueness(table, 1.0).sample_uniques == 2
    assert population_uniqueness(table, 1.0, known=["x"]).sample_uniques == 0
    with pytest.raises(InputError, match="no column 'z'"):
        population_uniqueness(table, 1.0, known=["z"])


@pytest.mark.parametrize("fraction", [0, -1, 1.1])
def test_a_fraction_is_a_share(fraction):
    with pytest.raises(InputError, match="sampling_fraction must be 1e-09 or more and at most 1"):
        population_uniqueness(Frequencies.of_sizes(np.array([1, 2])), fraction)


def test_a_model_asked_for_by_name_that_has_no_fit_says_so():
    sample = Frequencies.of_sizes(np.array([1, 1, 3, 3]))
    found = population_uniqueness(sample, 0.5, model="snb")
    assert np.isnan(found.uniques)
    assert found.estimates["snb"] is None
    with pytest.raises(InputError, match="no model 'pitmann'"):
        population_uniqueness(sample, 0.5, model="pitmann")
