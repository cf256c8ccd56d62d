"""`shoal dp ledger`: a budget granted, spent and shown, and held to."""

import json

import pytest


@pytest.fixture
def granted(shoal):
    assert shoal("dp", "ledger", "grant", "book", "--epsilon", 1, "--delta", 1e-5).status == 0
    return shoal


def write_towns(folder):
    (folder / "towns.csv").write_text("town\n" + "a\n" * 30 + "b\n" * 30)
    town = "{role: quasi, type: text, values: [a, b]}"
    (folder / "towns.yaml").write_text(f"columns:\n  town: {town}\n")


def spend(shoal, epsilon, *more):
    return shoal("dp", "ledger", "spend", "book", "--epsilon", epsilon, "--what", "ages", *more)


def shown(shoal, *more):
    return json.loads(shoal("dp", "ledger", "show", "book", "--json", *more).out)


def test_what_is_spent_is_shown(granted):
    spend(granted, 0.25, "--delta", 1e-6, "--when", "June")
    outcome = granted("dp", "ledger", "show", "book")
    assert [line.split() for line in outcome.out.splitlines()[1:6] if line.strip()] == [
        ["granted", "1", "1.00e-05"],
        ["spent", "0.25", "1.00e-06"],
        ["left", "0.75", "9.00e-06"],
        ["release", "epsilon", "delta"],
    ]
    assert "ages (June)" in outcome.out
    assert shown(granted)["left"] == {"epsilon": 0.75, "delta": 9e-6}
    assert shown(granted)["entries"][0]["state"] == "reserved"


def test_too_much_is_refused_with_status_1(granted):
    spend(granted, 0.75)
    outcome = spend(granted, 0.5)
    assert outcome.status == 1
    assert outcome.err.startswith("shoal: this release costs ε = 0.5, but only")
    assert len(shown(granted)["entries"]) == 1


def test_a_grant_is_changed_on_request_only(granted):
    again = granted("dp", "ledger", "grant", "book", "--epsilon", 2)
    assert again.status == 2
    assert shown(granted)["grant"]["epsilon"] == 1
    changed = granted("dp", "ledger", "grant", "book", "--epsilon", 2, "--change")
    assert changed.status == 0
    assert shown(granted)["grant"]["epsilon"] == 2


def test_a_slack_cannot_be_changed(granted):
    outcome = granted("dp", "ledger", "grant", "book", "--epsilon", 2, "--slack", 1e-6, "--change")
    assert outcome.status == 2
    assert shown(granted)["grant"]["slack"] == 0


def test_a_key_seals_the_ledger(shoal, folder):
    (folder / "key").write_bytes(b"of the owner")
    start = ("dp", "ledger", "grant", "book", "--epsilon", 1, "--key-file", "key")
    assert shoal(*start).status == 0
    assert shoal("dp", "ledger", "show", "book").status == 2
    assert shown(shoal, "--key-file", "key")["entries"] == []


def test_a_ledger_that_is_not_there_is_said_so(shoal):
    outcome = shoal("dp", "ledger", "show", "nothing")
    assert outcome.status == 2
    assert "no such file" in outcome.err


def test_the_rule_of_many_small_releases_is_named(shoal):
    grant = ("dp", "ledger", "grant", "book", "--epsilon", 1, "--delta", 1e-5, "--slack", 1e-6)
    assert shoal(*grant, "--table", "patients").status == 0
    outcome = spend(shoal, 0.1)
    assert "composition: basic; delta of 1.00e-06 is reserved" in outcome.out
    assert "table: patients" in outcome.out


def test_anonymize_pays_out_of_a_ledger(shoal, folder):
    write_towns(folder)
    assert shoal("dp", "ledger", "grant", "book", "--epsilon", 2, "--delta", 0.5).status == 0
    told = ("--schema", "towns.yaml", "-k", 3, "--method", "safe-la", "--ledger", "book")
    refused = shoal("anonymize", "towns.csv", *told, "-o", "one.csv")
    assert (refused.status, "allow_large_delta" in refused.err) == (2, True)
    assert shown(shoal)["entries"] == []
    told = (*told, "-O", "allow_large_delta=true")
    assert shoal("anonymize", "towns.csv", *told, "-o", "one.csv").status == 0
    refused = shoal("anonymize", "towns.csv", *told, "-o", "two.csv")
    assert refused.status == 1
    assert not (folder / "two.csv").exists()
    (entry,) = shown(shoal)["entries"]
    assert (entry["what"], entry["state"]) == ("anonymize: one.csv", "released")


@pytest.mark.parametrize("where", [(), ("--engine", "duckdb")], ids=["memory", "disk"])
def test_a_ledger_of_another_schema_is_refused_unless_it_is_stated_to_be_new(shoal, folder, where):
    write_towns(folder)
    assert shoal("dp", "ledger", "grant", "book", "--epsilon", 9, "--delta", 0.9).status == 0
    told = ("-k", 60, "--method", "safe-la", "--ledger", "book", "-O", "delta=0.1")
    told = (*told, "-O", "allow_large_delta=true", *where)
    first = shoal("anonymize", "towns.csv", "--schema", "towns.yaml", *told, "-o", "one.csv")
    assert first.status == 0
    other = (folder / "towns.yaml").read_text().replace("[a, b]", "[a, b, c]")
    (folder / "other.yaml").write_text(other)
    again = ("anonymize", "towns.csv", "--schema", "other.yaml", *told, "-o", "two.csv")
    refused = shoal(*again)
    assert (refused.status, "belongs to a table with another schema" in refused.err) == (2, True)
    assert shoal(*again, "--new-schema").status == 0
    assert len(shown(shoal)["schemas"]) == 2


def test_earlier_grants_are_shown(granted):
    granted("dp", "ledger", "grant", "book", "--epsilon", 2, "--change", "--when", "June")
    outcome = granted("dp", "ledger", "grant", "book", "--epsilon", 3, "--change")
    assert "earlier grant 1: ε = 1, δ = 1e-05" in outcome.out
    assert "earlier grant 2: ε = 2 (June)" in outcome.out
    assert [grant["epsilon"] for grant in shown(granted)["grants"]] == [1, 2, 3]


@pytest.mark.parametrize(
    "more",
    [
        ("--picture", "lattice.svg"),
        ("--report", "report.html", "--target", "town"),
        ("--keep-order",),
    ],
)
def test_what_must_not_be_told_is_refused_before_it_is_paid_for(shoal, folder, more):
    write_towns(folder)
    assert shoal("dp", "ledger", "grant", "book", "--epsilon", 2, "--delta", 0.5).status == 0
    told = ("--schema", "towns.yaml", "-k", 3, "--method", "safe-la", "--ledger", "book", *more)
    refused = shoal("anonymize", "towns.csv", *told, "-o", "one.csv")
    assert (refused.status, "cannot be used with safe-la" in refused.err) == (2, True)
    assert not (folder / "one.csv").exists()
    assert shown(shoal)["entries"] == []


@pytest.mark.parametrize("path", ["/", ".", ".."])
def test_a_folder_is_no_ledger(shoal, path):
    outcome = shoal("dp", "ledger", "grant", path, "--epsilon", 1)
    assert outcome.status == 2
    assert "is a directory; name a file" in outcome.err
