"""`shoal risk suda`, and sampling weights on the command line."""

import json

import pytest

ROWS = """age,job,ill,w
31,nurse,qxa,10
31,nurse,qxb,30
47,miner,qxc,25
48,baker,qxa,5
"""


@pytest.fixture
def rows(folder):
    (folder / "rows.csv").write_text(ROWS)


def parsed(outcome):
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_suda_reports_sets_and_columns_but_no_cell(shoal, rows):
    asked = ("risk", "suda", "rows.csv", "--quasi", "age,job,ill")
    found = parsed(shoal(*asked, "--sampling-fraction", "0.1", "--json"))
    assert (found["people"], found["at_risk"], found["uniques"], found["pairs"]) == (4, 4, 4, 0)
    assert found["by_size"] == [6, 2, 0]
    assert found["dis"] == 1  # no pairs: every match with a unique is taken to be correct
    shown = shoal(*asked).out
    assert "minimal sample uniques" in shown
    assert "state --sampling-fraction or --weight" in shown
    for cell in ("qx", "nurse", "miner", "baker", "47", "48"):
        assert cell not in shown


def test_suda_takes_the_fraction_from_the_weights(shoal, rows):
    asked = ("risk", "suda", "rows.csv", "--quasi", "job", "--weight", "w")
    found = parsed(shoal(*asked, "--most", "1", "--json"))
    assert found["sampling_fraction"] == 4 / 70
    assert found["dis"] == pytest.approx(2 * 4 / 70 / (2 * 4 / 70 + 2 * 66 / 70))
    assert "DIS-SUDA score" in shoal(*asked).out


def test_records_have_an_individual_risk_by_weights(shoal, rows):
    asked = ("risk", "records", "rows.csv", "--quasi", "job", "--weight", "w")
    found = parsed(shoal(*asked, "--json"))["individual"]
    assert found["represented"] == 70
    assert found["highest"] == pytest.approx(0.402359, abs=1e-6)  # a baker, weight 5: ln 5 / 4
    assert found["at_risk"] == 1
    shown = shoal(*asked).out
    assert "expected re-identifications" in shown
    assert "baker" not in shown


def test_a_weight_that_is_not_there_is_an_error(shoal, rows):
    outcome = shoal("risk", "records", "rows.csv", "--quasi", "job", "--weight", "nothing")
    assert outcome.status != 0
    assert "no column 'nothing' with the sampling weight" in outcome.err


def test_a_weight_is_left_out_of_a_release_and_named(shoal, rows, folder):
    asked = ("anonymize", "rows.csv", "--quasi", "age,job", "--sensitive", "ill", "--weight", "w")
    outcome = shoal(*asked, "-k", "2", "-o", "out.csv")
    assert outcome.status == 0
    assert "left out, sampling weight" in outcome.out
    assert (folder / "out.csv").read_text().splitlines()[0] == "age,job,ill"


def test_inspect_suggests_a_sampling_weight(shoal, folder):
    lines = [f"{30 + i % 9},{100 + i},{60 + i}" for i in range(40)]
    (folder / "survey.csv").write_text("\n".join(["age,sampling_weight,weight", *lines]))
    found = parsed(shoal("inspect", "survey.csv", "--json"))
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert roles["sampling_weight"] == "weight"
    assert roles["weight"] == "leave out"  # of a body, exact to each person


def test_a_population_file_is_compared_with_the_release(shoal, folder):
    (folder / "sample.csv").write_text("age\n" + "\n".join(str(30 + i % 5) for i in range(20)))
    (folder / "everyone.csv").write_text("age\n" + "\n".join(str(30 + i % 9) for i in range(90)))
    model = ("--model", "k-map(9)", "--population", "everyone.csv")
    made = shoal("anonymize", "sample.csv", "--quasi", "age", *model, "-o", "out.csv", "--json")
    assert parsed(made)["levels"]["k-map(k=9)"] >= 9
    assert shoal("verify", "out.csv", "--quasi", "age", *model).status == 0
    fewer = ("--model", "delta-presence(0, 0.01)", "--population", "everyone.csv")
    assert shoal("verify", "out.csv", "--quasi", "age", *fewer).status == 1
    outcome = shoal("verify", "out.csv", "--quasi", "age", "--model", "k-map(9)")
    assert outcome.status != 1
    assert "needs a population" in outcome.err


@pytest.fixture
def register(folder):
    """Twelve people, each listed ten times, and six of them."""
    listed = "".join(f"{who},{who // 2},{20 + who}\n" for who in range(12) for _ in range(10))
    (folder / "everyone.csv").write_text("id,home,age\n" + listed)
    some = "".join(f"{who},{who // 2},{20 + who}\n" for who in range(6))
    (folder / "sample.csv").write_text("id,home,age\n" + some)
    (folder / "s.yaml").write_text("person: id\ncolumns:\n  age: {role: quasi}\n")
    return ("--population", "everyone.csv", "--model", "k-map(3)")


def test_people_of_a_population_file_count_once(shoal, folder, register):
    by_schema = shoal("anonymize", "sample.csv", "--schema", "s.yaml", *register, "--json")
    assert json.loads(by_schema.out)["levels"]["k-map(k=3)"] == 3
    options = ("sample.csv", "--quasi", "age", *register, "-o", "out.csv", "--json")
    made = shoal("anonymize", *options, "--person", "id")
    assert json.loads(made.out)["levels"]["k-map(k=3)"] == 3
    raw = ("verify", "sample.csv", "--quasi", "age", "--population", "everyone.csv")
    own = ("--person", "id", "--unlinked")
    assert shoal(*raw, "--model", "k-map(2)", *own).status == 1
    assert shoal(*raw, "--model", "k-map(2)", "--rows-are-people").status == 0
    assert shoal("verify", "out.csv", "--schema", "s.yaml", *register).status == 0
    assert shoal("verify", "out.csv", "--schema", "s.yaml", *register[:3], "k-map(4)").status == 1


def test_an_identifier_that_repeats_in_a_population_file_is_refused(shoal, register):
    for command in ("anonymize", "verify"):
        asked = (command, "sample.csv", "--quasi", "age", "--identifier", "id", *register)
        outcome = shoal(*asked)
        assert outcome.status == 2
        assert "everyone.csv: column 'id' has 12 distinct values in 120 rows" in outcome.err
        assert "--person id" in outcome.err
    assert shoal(*asked, "--rows-are-people").status == 0


def test_households_of_a_population_file_are_counted(shoal, folder, register):
    units = ("--person", "id", "--household", "home")
    made = shoal("anonymize", "sample.csv", "--quasi", "age", *units, *register, "--json")
    assert json.loads(made.out)["levels"]["k-map(k=3)"] == 6  # of 12 people
    (folder / "everyone.csv").write_text("id,age\n1,20\n2,21\n3,22\n4,23\n")
    outcome = shoal("anonymize", "sample.csv", "--quasi", "age", *units, *register)
    assert outcome.status == 2
    assert "the population does not name them; add the columns home to it" in outcome.err


def test_a_population_without_the_person_column_is_noted(shoal, folder, register):
    (folder / "everyone.csv").write_text("age\n" + "".join(f"{20 + i % 9}\n" for i in range(90)))
    made = shoal("anonymize", "sample.csv", "--quasi", "age", "--person", "id", *register)
    assert made.status == 0
    assert "everyone.csv: has no column 'id', so each of its rows counts as a person" in made.err


def test_a_maximum_risk_is_asked_for(shoal, folder):
    (folder / "sample.csv").write_text("age\n" + "\n".join(str(30 + i % 9) for i in range(36)))
    asked = ("anonymize", "sample.csv", "--quasi", "age", "--model", "risk(0.09)")
    made = parsed(shoal(*asked, "-o", "out.csv", "--json"))
    assert made["smallest_class"] >= 12
    assert shoal("verify", "out.csv", "--quasi", "age", "--model", "risk(0.09)").status == 0
    assert shoal("verify", "out.csv", "--quasi", "age", "--model", "risk(0.05)").status == 1


def test_metrics_count_each_row_with_its_weight(shoal, rows, folder):
    (folder / "released.csv").write_text("age\n31\n31\n47-48\n47-48\n")
    asked = ("metrics", "rows.csv", "released.csv", "--quasi", "age", "--metric", "ncp")
    assert "population" not in parsed(shoal(*asked, "--json"))
    found = parsed(shoal(*asked, "--weight", "w", "--json"))
    assert found["metrics"]["ncp"] == pytest.approx(2 / 4 / 17)
    assert found["population"]["losses"] == {"ncp": pytest.approx(30 / 70 / 17)}
    assert found["population"]["estimate_errors"] == {"age": pytest.approx(10 / 70)}
    assert "for the population" in shoal(*asked, "--weight", "w").out


def test_metrics_measure_no_population_if_rows_match_several_originals(shoal, rows, folder):
    (folder / "released.csv").write_text("age\n47-48\n31-47\n31\n31-48\n")
    asked = ("metrics", "rows.csv", "released.csv", "--quasi", "age", "--weight", "w")
    assert json.loads(shoal(*asked, "--json").out)["population"] is None
    assert "population: not measured" in shoal(*asked).out
