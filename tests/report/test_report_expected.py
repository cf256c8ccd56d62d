"""How many people would be found, as the report tells it."""

import importlib

import pyarrow as pa
import pytest
from tests.cases import ready_for

import shoal
from shoal.errors import NotConverged
from shoal.report.document import contents
from shoal.report.masking import Mask
from shoal.report.page import page

module = importlib.import_module("shoal.report.document")


@pytest.fixture(scope="module")
def release():
    table = shoal.datasets.patients(300, seed=3)
    return shoal.anonymize(table, shoal.KAnonymity(4), "greedy", seed=1)


def test_the_figures_are_those_of_the_assessment(release):
    told = contents(release)["risk"]["expected"]
    found = shoal.risk.assess(release, half_width=0.05, seed=0)
    assert told["value"] == round(found.value, 1)
    assert told["low"] <= told["value"] <= told["high"]
    assert (told["people"], told["certain"], told["above_k"], told["k"]) == (300, 0, 0, 4)
    assert told["assumptions"] == list(found.assumptions)


def test_the_page_says_it_in_words(release):
    told = contents(release)
    shown = " ".join(page(told).split())
    assert f"{told['risk']['expected']['value']} of 300 people" in shown
    assert "No match is certain." in shown
    assert "Assumptions about the attacker" in shown


def test_few_people_are_not_counted_out():
    """Everybody is released as they are: all are certain to be found, and that there are few."""
    table = shoal.Table.from_arrow(pa.table({"age": [30, 31, 32]}), {"age": "quasi"})
    as_is = {"age": shoal.Recoding.identity(table["age"])}
    told = module.expected(shoal.Release(table, as_is, shoal.KAnonymity(2)), Mask(5))
    assert (told["value"], told["certain"], told["above_k"]) == (3.0, *["fewer than 5"] * 2)


def test_it_is_said_why_there_is_no_figure(release, monkeypatch):
    def unsettled(*_, **__):
        raise NotConverged("the walk did not settle")

    monkeypatch.setattr(module, "assess", unsettled)
    told = contents(release)
    assert told["risk"]["expected"] == {"reason": "the walk did not settle"}
    assert "Not counted: the walk did not settle." in page(told)
    monkeypatch.setattr(module, "_MAX_PEOPLE", 299)
    assert "more than 299 people" in contents(release)["risk"]["expected"]["reason"]


def test_nothing_of_it_stands_in_the_report_of_a_release_with_claims():
    table = ready_for("safe-la", shoal.datasets.patients(400, seed=1))
    model = shoal.KAnonymity(3)
    release = shoal.anonymize(table, model, "safe-la", epsilon=2.0, delta=1e-4, seed=1)
    assert release.withheld
    told = contents(release)
    assert "expected" not in told["risk"]
    assert "expected to re-identify" not in page(told)
