"""The door pays for a release with a claim before anything is drawn, or refuses it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal import BudgetSpent, InputError, KAnonymity, Table
from shoal.dp import Ledger

OPTIONS = {"epsilon": 1.5, "beta": 0.7, "n0": 40, "allow_large_delta": True, "seed": 3}

TOWN = {"role": "quasi", "type": "text", "values": ["a", "b"]}
AGE = {"role": "quasi", "type": "integer", "bounds": [0, 99]}


@pytest.fixture
def table():
    cells = pa.table({"town": ["a"] * 30 + ["b"] * 10, "age": [40] * 30 + [50] * 10})
    return Table.from_arrow(cells, {"town": TOWN, "age": AGE})


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
    with pytest.raises(InputError, match="mondrian makes no differential privacy claim"):
        shoal.anonymize(table, KAnonymity(3), "mondrian", ledger=ledger)
    assert ledger.entries == ()


def test_a_hierarchy_made_from_the_table_is_refused_before_anything_is_paid(table):
    tree = {**AGE, "hierarchy": {"quantiles": [4, 2]}}
    from_data = Table.from_arrow(table.to_arrow(), {"town": TOWN, "age": tree})
    ledger = Ledger(2.0, 0.9)
    with pytest.raises(InputError, match="column 'age': declare a hierarchy that is not made from"):
        shoal.anonymize(from_data, KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    assert not ledger.entries
    assert shoal.anonymize(from_data, KAnonymity(3), "flash").verify()


@pytest.mark.parametrize("recipe", [{"ordering": 2}, {"random": 2}, {"mask": "right"}])
def test_a_recipe_over_a_declared_domain_is_public(table, recipe):
    declared = Table.from_arrow(
        table.to_arrow(), {"town": TOWN, "age": {**AGE, "hierarchy": recipe}}
    )
    assert shoal.anonymize(declared, KAnonymity(3), "safe-la", **unseeded()).claims
    open_ended = {"role": "quasi", "type": "integer", "hierarchy": recipe}
    undeclared = Table.from_arrow(table.to_arrow(), {"town": TOWN, "age": open_ended})
    with pytest.raises(InputError, match="column 'age': declare its values or bounds"):
        shoal.anonymize(undeclared, KAnonymity(3), "safe-la", **unseeded())


def test_a_ledger_of_another_table_is_refused_until_its_schema_is_admitted(table):
    ledger = Ledger(9.0, 0.9, table="towns")
    shoal.anonymize(table, KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    fewer = Table.from_arrow(table.to_arrow(), {"town": TOWN})
    with pytest.raises(InputError, match=r"this ledger \(towns\) belongs to a table with another"):
        shoal.anonymize(fewer, KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    assert len(ledger.entries) == 1
    ledger.admit(fewer)
    shoal.anonymize(fewer, KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    assert len(ledger.entries) == 2


def test_other_records_of_the_same_schema_are_the_same_table(table):
    ledger = Ledger(9.0, 0.9)
    for rows in (range(40), range(5)):
        shoal.anonymize(table.take(rows), KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    assert len(ledger.book.schemas) == 1


def test_everything_undeclared_is_listed_in_one_error_before_anything_is_paid():
    cells = pa.table({"town": ["a"] * 9, "age": [40] * 9, "ill": ["flu"] * 9, "note": ["x"] * 9})
    roles = {"town": "quasi", "age": {"role": "quasi", "type": "integer"}, "ill": "sensitive"}
    table = Table.from_arrow(cells, {**roles, "note": "insensitive"})
    ledger = Ledger(2.0, 0.9)
    with pytest.raises(InputError, match="safe-la publishes only what is declared") as refused:
        shoal.anonymize(table, KAnonymity(3), "safe-la", ledger=ledger, **unseeded())
    assert not ledger.entries
    for gap in (
        "column 'town': declare its type",
        "column 'age': declare its values or bounds",
        "column 'ill': declare its type",
        "column 'note': declare its type and its values or bounds",
    ):
        assert gap in str(refused.value)
