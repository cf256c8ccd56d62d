"""The door pays for a release with a claim before anything is drawn, or refuses it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal import BudgetSpent, InputError, KAnonymity, Table
from shoal.dp import Ledger

OPTIONS = {"epsilon": 1.5, "beta": 0.7, "n0": 40, "allow_large_delta": True, "seed": 3}


@pytest.fixture
def table():
    cells = pa.table({"town": ["a"] * 30 + ["b"] * 10, "age": [40] * 30 + [50] * 10})
    return Table.from_arrow(cells, {"town": "quasi", "age": "quasi"})


def unseeded():
    return {name: value for name, value in OPTIONS.items() if name != "seed"}


def test_a_release_is_entered_with_what_it_claims(table):
    ledger = Ledger(2.0, 0.9)
    release = shoal.anonymize(
        table, KAnonymity(3), "safe-la", ledger=ledger, what="June", **unseeded()
    )
    (entry,) = ledger.entries
    (claim,) = release.claims
    assert (entry.what, entry.state) == ("June", "released")
    assert (entry.epsilon, entry.delta) == (claim.epsilon, claim.delta)


def test_nothing_is_drawn_once_the_budget_is_spent(table, monkeypatch):
    ledger = Ledger(2.0, 0.9)
    shoal.anonymize(table, KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    monkeypatch.setattr("shoal.dp.mechanisms.bernoulli", None)  # not to be reached
    with pytest.raises(BudgetSpent):
        shoal.anonymize(table, KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    assert len(ledger.entries) == 1


def test_a_search_that_fails_stays_paid_for(table, monkeypatch):
    def fails(*_):
        raise InputError("no luck")

    ledger = Ledger(2.0, 0.9)
    monkeypatch.setattr(shoal.SafeLA, "search", fails)
    with pytest.raises(InputError, match="no luck"):
        shoal.anonymize(table, KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    assert [entry.state for entry in ledger.entries] == ["failed"]


def test_claims_that_prove_nothing_are_not_counted(table):
    ledger = Ledger(2.0, 0.9)
    with pytest.raises(InputError, match="for testing only"):
        shoal.anonymize(table, KAnonymity(3), "safe-la", ledger=ledger, **OPTIONS)
    with pytest.raises(InputError, match="mondrian makes no claim"):
        shoal.anonymize(table, KAnonymity(3), "mondrian", ledger=ledger)
    assert ledger.entries == ()


@pytest.mark.parametrize(
    "recipe", [{"ordering": 2}, {"quantiles": [4, 2]}, {"random": 2}, {"mask": "right"}]
)
def test_hierarchies_made_from_the_table_are_refused_before_anything_is_paid(table, recipe):
    tree = {"role": "quasi", "hierarchy": recipe}
    told = Table.from_arrow(table.to_arrow(), {"town": "quasi", "age": tree})
    ledger = Ledger(2.0, 0.9)
    with pytest.raises(InputError, match="column 'age': its hierarchy is made from the table's"):
        shoal.anonymize(told, KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    assert not ledger.entries
    assert shoal.anonymize(told, KAnonymity(3), "flash").verify()
