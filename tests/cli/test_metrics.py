"""`shoal metrics` on files from anywhere, and `shoal verify` where it reads them back too."""

import json

import pytest

ROLES = ("--quasi", "age,town")
ORIGINAL = "id,age,town,disease\n1,20,aa,flu\n2,24,ab,cold\n3,30,ba,flu\n4,40,ba,flu\n"
FOREIGN = "age,town,disease\n20-24,a*,flu\n20-24,a*,cold\n>=30,*,flu\n>=30,*,flu\n"
# each fits two people and no two are alike
FREEFORM = "id,age,town\n4,30-40,ba\n3,24-30,*\n2,20-24,a*\n1,20~40,aa|ba\n"


@pytest.fixture
def files(folder):
    (folder / "original.csv").write_text(ORIGINAL)
    (folder / "foreign.csv").write_text(FOREIGN)
    (folder / "freeform.csv").write_text(FREEFORM)


def parsed(outcome):
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_losses_of_a_foreign_file(shoal, files):
    found = parsed(shoal("metrics", "original.csv", "foreign.csv", *ROLES, "--json"))
    assert (found["records"], found["released"], found["classes"]) == (4, 4, 2)
    # ages lose 4, 4, 10, 10 of 20 years; towns 1, 1, 2, 2 of 2 further values
    assert found["metrics"]["pub"] == pytest.approx((1.4 / 4 + 0.75) / 2)
    # towns of the second class do not differ
    assert found["metrics"]["class"] == pytest.approx((1.4 / 4 + 0.25) / 2)
    assert "precision" in found["undefined"]


def test_metrics_can_be_chosen_and_shown_by_column(shoal, files):
    chosen = ("--metric", "pub", "--metric", "discernibility", "--by-attribute")
    found = parsed(shoal("metrics", "original.csv", "foreign.csv", *ROLES, *chosen, "--json"))
    assert list(found["metrics"]) == ["pub", "discernibility"]
    assert found["by_attribute"] == {"pub": pytest.approx({"age": 0.35, "town": 0.75})}
    assert found["undefined"] == {}
    shown = shoal("metrics", "original.csv", "foreign.csv", *ROLES, *chosen).out
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("pub")] == ["pub"] * 2
    assert "0.3500  0.7500" in shown


def test_raw_values_are_those_of_the_papers(shoal, files):
    chosen = ("--metric", "discernibility", "--metric", "average-class-size", "--raw", "-k", 2)
    found = parsed(shoal("metrics", "original.csv", "foreign.csv", *ROLES, *chosen, "--json"))
    assert found["metrics"] == {"discernibility": 8, "average-class-size": 1}
    shown = shoal("metrics", "original.csv", "foreign.csv", *ROLES, *chosen).out
    assert "records to records²" in shown


def test_a_target_needs_no_role_of_its_own(shoal, files):
    asked = (
        "metrics",
        "original.csv",
        "foreign.csv",
        *ROLES,
        "--metric",
        "classification",
        "--raw",
    )
    assert shoal(*asked).status == 2
    assert parsed(shoal(*asked, "--target", "disease", "--json"))["metrics"] == {
        "classification": 0.25
    }


def test_a_key_lines_up_rows_and_counts_those_left_out(shoal, files, folder):
    (folder / "some.csv").write_text(
        "id,age,town\n3,[30; 40],ba\n1,20,{aa, ab}\n".replace("{aa, ab}", '"{aa, ab}"')
    )
    asked = ("metrics", "original.csv", "some.csv", *ROLES)
    for more in ((), ("--key", "id")):  # without a key, by what the rows say
        outcome = shoal(*asked, *more, "--json")
        assert ("matched to the original by their values" in outcome.err) is not bool(more)
        found = json.loads(outcome.out)
        assert (found["released"], found["suppressed"]) == (2, 2)
        assert found["metrics"]["pub"] == pytest.approx(((0.5 + 2) / 4 + (0.5 + 2) / 4) / 2)


def test_labels_are_read_by_their_hierarchy(shoal, files, folder):
    (folder / "towns.csv").write_text("aa;north;*\nab;north;*\nba;south;*\n")
    (folder / "labels.csv").write_text("age,town\n20,north\n24,north\n30,south\n40,south\n")
    asked = ("metrics", "original.csv", "labels.csv", *ROLES)
    refused = shoal(*asked)
    assert refused.status == 2
    assert "labels.csv: column 'town': 4 cells, in 2 distinct forms" in refused.err
    assert "north" not in refused.err
    trees = ("--hierarchy", "town=towns.csv", "--hierarchy", "age=intervals: [5, 10]")
    found = parsed(shoal(*asked, *trees, "--json"))
    assert found["metrics"]["precision"] == pytest.approx((0 + 0.5) / 2)
    assert found["metrics"]["absolute-distance"] == pytest.approx(1 / 5)


def test_what_shoal_anonymized_it_measures(shoal, folder):
    roles = ("--quasi", "age,town", "--sensitive", "disease")
    said = shoal("anonymize", "people.csv", *roles, "-k", 5, "-o", "out.parquet", "--json")
    found = parsed(shoal("metrics", "people.csv", "out.parquet", *roles, "--json"))
    losses = json.loads(said.out)["loss"]
    assert losses["pub"] > 0
    assert {name: found["metrics"][name] for name in losses} == pytest.approx(losses)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("original.csv", "nowhere.csv", *ROLES), "nowhere.csv"),
        (("original.csv", "foreign.csv"), "no column has a role"),
        (("original.csv", "foreign.csv", *ROLES, "--metric", "x"), "no metric 'x'; there are ncp"),
        (("original.csv", "foreign.csv", *ROLES, "--key", "id"), "no column 'id'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(shoal, files, arguments, told):
    found = shoal("metrics", *arguments)
    assert (found.status, found.out) == (2, "")
    assert told in found.err
    assert len(found.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("model", "status"),
    [("freeform-anonymity(2)", 0), ("k-k-anonymity(2)", 0), ("freeform-anonymity(3)", 1)],
)
def test_verify_checks_who_may_be_whom_beside_the_original(shoal, files, model, status):
    asked = ("verify", "freeform.csv", *ROLES, "--model", model)
    found = shoal(*asked, "--original", "original.csv", "--key", "id", "--json")
    assert found.status == status
    told = json.loads(found.out)
    assert told["check"]["holds"] is (status == 0)
    assert told["reached"]["k"] == 1
    assert "name the original with --original" in shoal(*asked).err


VISITS = "id,age,ill\na,20,x\na,21,x\na,22,x\nb,23,y\nc,30,x\nc,31,y\nd,32,y\ne,90,x\n"
CLASSES = (
    "id,age\n" + "".join(f"{i},20-23\n" for i in "1234") + "".join(f"{i},30-32\n" for i in "567")
)


def test_rows_and_people_are_counted(shoal, folder):
    """e, of the eighth visit, is the only one without a released row."""
    numbered = VISITS.splitlines()
    lines = [f"visit,{numbered[0]}", *(f"{i},{row}" for i, row in enumerate(numbered[1:], 1))]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    (folder / "released.csv").write_text(CLASSES.replace("id,", "visit,"))
    asked = ("metrics", "visits.csv", "released.csv", "--quasi", "age", "--person", "id")
    asked += ("--key", "visit", "--metric", "ncp")
    found = parsed(shoal(*asked, "--json"))
    assert (found["records"], found["people"], found["households"]) == (8, 5, None)
    assert (found["released"], found["released_people"]) == (7, 4)
    assert (found["suppressed"], found["suppressed_people"]) == (1, 1)
    assert (found["smallest_class"], found["smallest_class_rows"]) == (2, 3)
    assert (found["average_class_people"], found["average_class_rows"]) == (2.0, 3.5)
    shown = shoal(*asked).out
    assert "released: 7 of 8 rows about 4 of 5 people, in 2 classes\n" in shown
    assert "suppressed: 1 row; 1 person lost all their rows\n" in shown
    assert "classes: at least 2 people and 3 rows; on average 2.0 people and 3.5 rows\n" in shown
