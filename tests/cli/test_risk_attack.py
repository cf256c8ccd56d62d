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


def test_people_are_held_back_from_a_release_and_attacked_as_its_control_group(shoal, folder):
    shoal("datasets", "patients", "400", "-o", "patients.csv")
    roles = ("--schema", "patients.yaml")
    asked = ("anonymize", "patients.csv", *roles, "-k", "5", "-o", "r.csv", "--control", "25%")
    made = shoal(*asked)
    assert made.status == 0
    assert "control group of 100 people written to r.control.csv; it is not anonymized" in made.out
    lines = [len((folder / name).read_text().splitlines()) for name in ("r.csv", "r.control.csv")]
    assert lines == [301, 101]
    attack = ("risk", "attack", "patients.csv", "r.csv", *roles, "--control", "r.control.csv")
    outcome = shoal(*attack, "--json")
    found = json.loads(outcome.out)
    assert (found["people"], found["control"]) == (300, 100)
    assert "100 rows of the original are not attacked" in outcome.err
    again = shoal(*asked)
    assert (again.status, "--force" in again.err) == (2, True)


def test_all_rows_of_a_person_are_held_back_together(shoal, folder):
    lines = "".join(f"{i // 3},{20 + i % 7},{SECRET}\n" for i in range(300))
    (folder / "visits.csv").write_text("who,age,disease\n" + lines)
    roles = ("--quasi", "age", "--sensitive", "disease", "--person", "who")
    made = shoal("anonymize", "visits.csv", *roles, "-k", "5", "-o", "r.csv", "--control", "0.1",
                 "--json")  # fmt: skip
    assert json.loads(made.out)["control"] == {"file": "r.control.csv", "people": 10}
    assert len((folder / "r.control.csv").read_text().splitlines()) == 31


@pytest.mark.parametrize("share", ["0", "100%", "ten", "-5%", "nan"])
def test_a_control_group_is_a_share_of_the_people(shoal, files, share):
    asked = ("anonymize", "original.csv", *ROLES, "-k", "5", "-o", "r.csv", f"--control={share}")
    found = shoal(*asked)
    assert (found.status, "--control must be more than 0" in found.err) == (2, True)


def test_a_control_group_needs_an_output(shoal, files):
    found = shoal("anonymize", "original.csv", *ROLES, "-k", "5", "--control", "10%")
    assert (found.status, "give -o" in found.err) == (2, True)


def test_columns_that_list_values_of_single_people_are_named(shoal, folder):
    rows = "".join(f"person {i:03},{30 + i % 5},{'ab'[i % 2]}\n" for i in range(60))
    (folder / "names.csv").write_text(f"name,age,ill\n{rows}")
    roles = ("--quasi", "name,age", "--sensitive", "ill")
    words = ("-o", "out.csv", "--report", "r.html", "--list-values")
    made = shoal("anonymize", "names.csv", *roles, "-k", "5", *words)
    assert made.status == 0, made.err
    found = shoal("risk", "attack", "names.csv", "out.csv", *roles)
    assert found.status == 0, found.err
    assert "listed members: name lists 60 of 60 people (100 %)" in found.out
    (row,) = [line.split() for line in found.out.splitlines() if line.startswith("name  ")]
    assert row == ["name", "60", "60", "60"]
    data = json.loads(shoal("risk", "attack", "names.csv", "out.csv", *roles, "--json").out)
    assert data["listing"] == ["name"]
    assert "person 0" not in found.out + found.err + json.dumps(data)
    assert "Released cells of name write out values" in (folder / "r.html").read_text("utf-8")
