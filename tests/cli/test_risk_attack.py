"""`shoal risk attack`."""

import json

import pytest

SECRET = "QXZW"


def rows(start):
    numbers = ((i * 7 + start, i * 13 + start, i * i + start) for i in range(120))
    lines = [f"{20 + a % 50},{SECRET}{t % 97},{SECRET} {d % 5}\n" for a, t, d in numbers]
    return "age,town,disease\n" + "".join(lines)


@pytest.fixture
def files(folder):
    for name, start in (("original", 0), ("control", 31), ("synthetic", 17)):
        (folder / f"{name}.csv").write_text(rows(start))


ROLES = ("--quasi", "age,town", "--sensitive", "disease")


def test_json_has_three_attacks_with_risk_interval_and_baseline(shoal, files):
    asked = ("risk", "attack", "original.csv", "original.csv", *ROLES, "--control", "control.csv")
    outcome = shoal(*asked, "--json")
    assert outcome.status == 0
    found = json.loads(outcome.out)
    for name in ("singling_out", "linkability", "inference"):
        figures = found[name]
        assert 0 <= figures["low"] <= figures["risk"] <= figures["high"] <= 1
        assert 0 <= figures["baseline"] <= 1
    assert found["singling_out"]["flagged"]
    assert (found["people"], found["control"]) == (120, 120)
    assert [way["way"] for way in found["inference"]["ways"]] == ["disease"]
    assert SECRET not in outcome.out + outcome.err


def test_the_table_has_sentences_and_no_cell(shoal, files):
    asked = ("risk", "attack", "original.csv", "synthetic.csv", *ROLES)
    outcome = shoal(*asked, "--control", "control.csv")
    assert outcome.status == 0
    for part in ("singling out", "linkability", "inference", "95 % interval", "control group"):
        assert part in outcome.out
    assert SECRET not in outcome.out + outcome.err


def test_without_a_control_group_a_note_recommends_one(shoal, files):
    outcome = shoal("risk", "attack", "original.csv", "synthetic.csv", *ROLES)
    assert outcome.status == 0
    assert "--control" in outcome.err
    assert "no control group" in outcome.out


def test_a_schema_with_hierarchies_reads_the_labels_of_a_release(shoal, folder):
    for name, seed in (("patients", "0"), ("others", "1")):
        shoal("datasets", "patients", "200", "--seed", seed, "-o", f"{name}.csv")
    roles = ("--schema", "patients.yaml")
    shoal("anonymize", "patients.csv", *roles, "-k", "5", "-o", "anonymous.csv")
    asked = ("risk", "attack", "patients.csv", "anonymous.csv", *roles, "--control", "others.csv")
    outcome = shoal(*asked, "--json")
    assert (outcome.status, outcome.err.count("cannot be read")) == (0, 0)
    assert not json.loads(outcome.out)["singling_out"]["flagged"]


def test_swapped_files_and_households_are_refused(shoal, files, folder):
    (folder / "released.csv").write_text("age,town\n" + '"[20, 45]",*\n"[46, 69]",*\n' * 5)
    found = shoal("risk", "attack", "released.csv", "original.csv", "--quasi", "age,town")
    assert (found.status, "swap the two files" in found.err) == (2, True)
    found = shoal("risk", "attack", "original.csv", "synthetic.csv", *ROLES, "--household", "age")
    assert (found.status, "use --person" in found.err) == (2, True)
