"""The expected risk in a comparison."""

import importlib
import math

import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError, NotConverged

module = importlib.import_module("shoal.comparison.bench")


@pytest.fixture(scope="module")
def table():
    ages = pa.table({"age": [20, 21, 22, 30, 31, 32, 33, 50, 51, 60]})
    return shoal.Table.from_arrow(ages, {"age": "quasi"})


def test_it_is_the_share_that_an_assessment_finds(table):
    found = shoal.compare(table, k=3, methods=["mondrian"], metrics=["ncp"], risk=True)
    release = shoal.anonymize(table, shoal.KAnonymity(3), "mondrian", seed=0)
    (row,) = found.rows
    assert row["expected risk"] == pytest.approx(shoal.risk.assess(release).share)
    assert found.front(risk="expected risk") == [row]
    assert "expected risk" not in shoal.compare(table, k=3, methods=["mondrian"]).rows[0]


def test_a_walk_that_does_not_settle_gives_no_figure(table, monkeypatch):
    def unsettled(*_, **__):
        raise NotConverged("the walk did not settle")

    monkeypatch.setattr(module, "assess", unsettled)
    release = shoal.anonymize(table, shoal.KAnonymity(3), "mondrian", seed=0)
    assert math.isnan(module.expected_risk(release))


def test_a_measure_of_its_name_is_refused(table):
    with pytest.raises(InputError, match="`risk` adds a measure of this name"):
        shoal.compare(table, k=3, risk=True, measures={"expected risk": module.expected_risk})
