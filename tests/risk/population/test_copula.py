from itertools import product
from math import asin, pi

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError
from shoal.risk import individual_uniqueness
from shoal.risk.population.individual import Copula, _cells, _nearest, ranks
from shoal.table.people import group
from shoal.table.table import Table


def table_of(**columns):
    return Table.from_arrow(pa.table(columns), dict.fromkeys(columns, "quasi"))


def every(table):
    """All tuples of codes that the columns allow."""
    return np.array(list(product(*(range(c.domain) for c in table))), dtype=np.int32)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9])
def test_quadrants_of_a_normal_pair(rho):
    same = 1 / 4 + asin(rho) / (2 * pi)
    cells = _cells(np.zeros(1), np.zeros(1), rho)
    assert cells == pytest.approx(np.array([[same, 0.5 - same], [0.5 - same, same]]), abs=1e-9)


def correlated(rows=4000, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(rows)
    y = 0.8 * x + 0.6 * rng.standard_normal(rows)
    z = rng.integers(0, 3, rows)
    cut = [np.searchsorted([-1, 0, 1], v) for v in (x, y)]
    return table_of(x=cut[0], y=cut[1], z=z)


def test_correlations_are_found_again():
    model = Copula.fit(correlated())
    assert model.correlation[0, 1] == pytest.approx(0.8, abs=0.05)
    assert model.correlation[0, 2] == pytest.approx(0, abs=0.1)


def test_chances_sum_to_one_and_are_those_of_draws():
    table = correlated()
    model, tuples = Copula.fit(table), every(table)
    chances = model.chances(tuples)
    assert chances.sum() == pytest.approx(1, abs=5e-3)
    drawn = model.draw(60_000, seed=2)
    found = group([drawn[:, j].copy() for j in range(3)], [4, 4, 3])
    seen = dict(zip(map(tuple, drawn[found.first]), found.sizes() / 60_000, strict=True))
    for one, chance in zip(map(tuple, tuples), chances, strict=True):
        assert seen.get(one, 0) == pytest.approx(chance, abs=0.006)


def test_columns_apart_multiply():
    rng = np.random.default_rng(0)
    table = table_of(x=rng.integers(0, 3, 5000), y=rng.integers(0, 4, 5000))
    model = Copula.fit(table)
    product_of = np.outer(table.shares("x"), table.shares("y")).ravel()
    assert model.chances(every(table)) == pytest.approx(product_of, rel=0.15)


def test_a_column_of_one_value_changes_nothing():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 500)
    table = table_of(x=x, y=np.zeros(500))
    model = Copula.fit(table)
    assert model.correlation.tolist() == [[1, 0], [0, 1]]
    assert model.chances(every(table)) == pytest.approx(table.shares("x"), rel=1e-6)


def test_values_without_order_stand_beside_those_they_go_with():
    rng = np.random.default_rng(4)
    hidden = rng.integers(0, 6, 3000)
    names = np.array(["d", "a", "f", "b", "e", "c"])[hidden]  # in no order of their own
    table = table_of(age=hidden * 10 + rng.integers(0, 10, 3000), town=names)
    place = ranks([table["age"], table["town"]])[1]
    codes = {text: code for code, text in enumerate(table["town"].labels)}
    found = [int(place[codes[name]]) for name in "dafbec"]
    assert found in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0])
    assert ranks([table["age"]])[0].tolist() == list(range(table["age"].domain))


def test_correlations_that_contradict_each_other_are_mended():
    wrong = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    mended = _nearest(wrong)
    assert np.linalg.eigvalsh(mended).min() > 0
    assert np.diag(mended) == pytest.approx(1)


@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_samples_of_patients_tell_how_many_are_alone_within_a_fifth(fraction):
    table, columns = shoal.datasets.patients(30_000, 3), ["sex", "occupation", "admission_date"]
    chosen = [table[name] for name in columns]
    found = group([c.codes for c in chosen], [c.domain for c in chosen])
    alone = found.sizes()[found.ids] == 1
    rows = np.random.default_rng(1).permutation(len(table))[: round(fraction * len(table))]
    told = individual_uniqueness(table.take(rows), fraction, known=columns)
    assert told.share == pytest.approx(alone.mean(), rel=0.2)
    assert told.simulated == pytest.approx(alone.mean(), rel=0.3)
    # single records, better than the same chance for all
    spread = alone[rows].var()
    assert ((told.chances - alone[rows]) ** 2).mean() < 0.8 * spread
    assert ((told.given_sample - alone[rows]) ** 2).mean() < 0.8 * spread


def test_a_census_leaves_no_doubt_about_single_records():
    table = table_of(x=[1, 1, 2, 3], y=[1, 1, 1, 2])
    assert individual_uniqueness(table, 1.0).given_sample.tolist() == [0, 0, 1, 1]


def test_where_nobody_is_alone_nobody_is_said_to_be():
    told = individual_uniqueness(table_of(x=[1, 1] * 20, y=[1, 2] * 20), 0.5)
    assert told.given_sample.max() == 0
    assert told.sample_share == 0


def test_one_record_is_too_few():
    with pytest.raises(InputError, match="too few"):
        individual_uniqueness(table_of(x=[1]), 0.5)
