"""`shoal utility` on files."""

import json

import pytest


def rows(count, shift=0):
    yield "id,age,town,ill,note"
    for i in range(count):
        age = 20 + (i * 37 + shift) % 50
        yield f"{i},{age},{'ab'[i % 2]},{'QXZW' if age > 45 else 'fine'},n{i % 3}"


@pytest.fixture
def files(folder, shoal):
    (folder / "original.csv").write_text("\n".join(rows(80)) + "\n")
    (folder / "test.csv").write_text("\n".join(rows(30, 5)) + "\n")
    done = shoal(
        "anonymize", "original.csv", *("--quasi", "age,town", "--sensitive", "ill", "-k", 4),
        *("-O", "hierarchies=false", "-o", "released.csv"),
    )  # fmt: skip
    assert done.status == 0


ASKED = ("utility", "original.csv", "released.csv", "--quasi", "age,town", "--target", "ill")


def parsed(outcome):
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_what_is_learned_from_a_released_file(shoal, files):
    found = parsed(shoal(*ASKED, "--models", "logistic-regression", "--folds", 2, "--json"))
    assert (found["trained"], found["tested"], found["folds"]) == (80, 80, 2)
    accuracy = found["scores"][0]
    assert accuracy["majority"] < accuracy["value"] <= 1
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]


def test_a_table_for_people(shoal, files):
    shown = shoal(*ASKED, "--models", "gradient-boosting", "--features", "midpoints")
    assert shown.status == 0
    assert "ill: trained on 80 released records, tested on 80 raw records, 5 folds" in shown.out
    assert "gradient-boosting  accuracy" in shown.out
    assert "QXZW" not in shown.out


def test_a_test_file(shoal, files):
    some = ("--models", "ridge", "--task", "regression", "--test", "test.csv", "--json")
    asked = ("utility", "original.csv", "released.csv", "--quasi", "age,town", "--target", "id")
    found = parsed(shoal(*asked, *some))
    assert (found["tested"], found["folds"]) == (30, None)
    assert [score["score"] for score in found["scores"]] == ["r2", "mae"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--models", "tree"), "no model for classification 'tree'"),
        (("--features", "bits"), "encoding must be one of"),
        (("--test", "nowhere.csv"), "nowhere.csv"),
        (("--also", "age"), ""),
    ],
)
def test_what_is_asked_wrongly(shoal, files, options, message):
    outcome = shoal(*ASKED, *options, *(("--models", "tree") if "--also" in options else ()))
    assert outcome.status == 2
    assert message in outcome.err
    assert "QXZW" not in outcome.err


@pytest.mark.parametrize("person", [(), ("--person", "person")])
def test_classes_of_one_row_cause_no_warning_of_scikit_learn(shoal, folder, person):
    lines = ["age,ill,person"]
    lines += [f"{20 + i * 37 % 50},{f'x{i}' if i < 60 else 'fine'},{i // 2}" for i in range(80)]
    (folder / "original.csv").write_text("\n".join(lines) + "\n")
    roles = ("--quasi", "age")
    made = shoal(
        "anonymize", "original.csv", *roles, "--sensitive", "ill", *person, "-k", 4, "-o", "r.csv"
    )
    assert made.status == 0, made.err
    asked = ("utility", "original.csv", "r.csv", *roles, *person, "--target", "ill", "--folds", 2)
    for model in ("logistic-regression", "random-forest", "k-nearest-neighbours"):
        found = parsed(shoal(*asked, "--models", model, "--json"))
        assert found["trained"] == 80


@pytest.mark.slow
def test_a_comparison_shows_what_is_lost(shoal, files):
    outcome = shoal(
        "compare", "original.csv", "--quasi", "age,town", "-k", 4, "--method", "mondrian",
        *("--metric", "ncp", "--utility", "ill"),
    )  # fmt: skip
    assert outcome.status == 0
    assert "utility loss" in outcome.out


def test_a_report_with_a_target(shoal, files, folder):
    base = ("anonymize", "original.csv", "--quasi", "age,town", "--sensitive", "ill", "-k", 4)
    assert shoal(*base, "--report", "r.html", "--target", "ill").status == 0
    assert "Predictive utility" in (folder / "r.html").read_text()
    assert "needs --report" in shoal(*base, "--target", "ill").err
    assert "needs --report" in shoal(*base, "--title", "Ill people").err
    assert "has the role quasi" in shoal(*base, "--report", "q.html", "--target", "age").err


def test_what_misleads_keeps_none_and_what_cannot_be_told_a_dash():
    from shoal.cli.utility import _kept

    assert _kept({"kept": -14.0, "meaningful": True}) == "none"
    assert _kept({"kept": -14.0, "meaningful": False}) == "–"
    assert _kept({"kept": 0.25, "meaningful": True}) == "0.25"


def visits(first, people):
    rows = (f"p{p},{20 + 3 * p},{'yes' if p % 2 else 'no'}" for p in range(first, first + people))
    return "id,age,ill\n" + "".join(f"{row}\n" * 3 for row in rows)


def test_people_of_the_original_are_left_out_of_a_test_file(shoal, folder):
    (folder / "visits.csv").write_text(visits(0, 20))
    (folder / "later.csv").write_text(visits(18, 10))  # two of ten people are in the original
    roles = ("--quasi", "age", "--person", "id")
    made = shoal("anonymize", "visits.csv", *roles, "--sensitive", "ill", "-k", 2, "-o", "out.csv")
    assert made.status == 0
    asked = ("utility", "visits.csv", "out.csv", *roles, "--target", "ill", "--test", "later.csv")
    shown = shoal(*asked, "--models", "gradient-boosting").out
    head = "ill: trained on 60 released rows about 20 people, tested on 24 raw rows about 8 people"
    assert shown.startswith(f"{head}, a test table\n")
    assert "left out of the test table: 6 rows about people in ORIGINAL" in shown


def test_too_few_people_for_the_folds_is_said(shoal, folder):
    (folder / "visits.csv").write_text(visits(0, 8))
    (folder / "out.csv").write_text(visits(0, 8))
    roles = ("--quasi", "age", "--person", "id")
    found = shoal("utility", "visits.csv", "out.csv", *roles, "--target", "ill")
    assert found.status == 2
    assert "8 people have a label; 5 folds need at least 10" in found.err
