"""`shoal risk link`, `shoal risk records`, `shoal risk columns`, and what inspect tells of them."""

import json

import pytest

VOTERS = "id,name,age,sex,town\n" + "".join(
    f"{i},QXZ{i},{20 + i},{'mf'[i % 2]},{'QXA' if i < 4 else 'QXB'}\n" for i in range(8)
)
RAW = "id,age,sex,disease\n" + "".join(f"{i},{20 + i},{'mf'[i % 2]},QX\n" for i in range(8))
RELEASED = "id,age,sex,disease\n" + "".join(
    f"{i},{'20-23' if i < 4 else '24-27'},*,QX\n" for i in reversed(range(8))
)


@pytest.fixture
def files(folder):
    for name, text in (("voters", VOTERS), ("raw", RAW), ("released", RELEASED)):
        (folder / f"{name}.csv").write_text(text)


def parsed(outcome):
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_a_raw_file_gives_everybody_away(shoal, files):
    asked = ("risk", "link", "voters.csv", "raw.csv", "--known", "age,sex", "--key", "id")
    found = parsed(shoal(*asked, "--json"))
    assert (found["columns"], found["people"], found["records"]) == (["age", "sex"], 8, 8)
    assert (found["certain"], found["lost"], found["links"], found["exact"]) == (8, 0, 8, True)
    assert (found["success"]["hits"], found["success"]["present"]) == (8, 8)
    assert found["success"]["precision"]["value"] == 1
    shown = shoal(*asked).out
    for part in ("searched for 8 people among 8 records, by age, sex", "precision", "by guessing"):
        assert part in shown
    assert "QX" not in shown


def test_a_release_hides_people_among_those_alike(shoal, files):
    asked = ("risk", "link", "voters.csv", "released.csv", "--known", "age,sex", "--key", "id")
    found = parsed(shoal(*asked, "--json"))
    assert (found["certain"], found["pairs"], found["links"]) == (0, 32, 8)
    assert found["success"]["expected"] == pytest.approx(2)  # two classes
    assert found["success"]["guess"]["value"] == pytest.approx(2)


def test_cells_that_cannot_be_read_are_refused_not_counted_as_fitting_nobody(shoal, files, folder):
    (folder / "odd.csv").write_text("age,sex\nQXyoung,m\n24-27,f\n")
    found = shoal("risk", "link", "voters.csv", "odd.csv", "--known", "age,sex")
    assert (found.status, found.out) == (2, "")
    assert "column 'age': 1 cell, in 1 distinct form, cannot be read" in found.err
    assert "QX" not in found.err


def test_values_that_nobody_looked_for_has_are_counted(shoal, files, folder):
    (folder / "others.csv").write_text("age,sex\n80-99,m\n20-23,x\n20-23,m\n")
    asked = ("risk", "link", "voters.csv", "others.csv", "--known", "age,sex")
    assert parsed(shoal(*asked, "--json"))["fit_nobody"] == {"age": 1, "sex": 1}
    assert "cells that match no one" in shoal(*asked).out


def test_labels_that_nothing_explains_are_refused(shoal, files, folder):
    (folder / "labels.csv").write_text("town\nQXnorth\nQXsouth\n")
    found = shoal("risk", "link", "voters.csv", "labels.csv", "--known", "town")
    assert found.status == 2
    assert "column 'town': 2 cells, in 2 distinct forms, cannot be read" in found.err


def test_without_a_key_nobody_knows_who_is_whom(shoal, files):
    asked = ("risk", "link", "voters.csv", "released.csv", "--known", "age")
    assert parsed(shoal(*asked, "--json"))["success"] is None
    assert "name a column to check with --key" in shoal(*asked).out


def test_a_schema_names_the_columns_and_how_labels_are_read(shoal, files, folder):
    (folder / "coarse.csv").write_text("age,town\nyoung,QXA\nold,QXB\n")
    tree = "{tree: {young: [20, 21, 22, 23], old: [24, 25, 26, 27]}}"
    (folder / "s.yaml").write_text(
        f"columns:\n  age: {{role: quasi, hierarchy: {tree}}}\n  town: {{role: quasi}}\n"
        "  disease: {role: sensitive}\n"
    )
    asked = ("risk", "link", "voters.csv", "coarse.csv", "--schema", "s.yaml", "--json")
    found = parsed(shoal(*asked))
    assert (found["columns"], found["pairs"], found["links"]) == (["age", "town"], 8, 2)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "name columns of both files with --known"),
        (("--known", "agee"), "no column 'agee' (did you mean 'age'?)"),
        (("--known", "town"), "has no column 'town'"),
        (("--known", "age", "--key", "name"), "no such column"),
    ],
)
def test_what_cannot_be_linked_is_said_in_one_line(shoal, files, options, told):
    found = shoal("risk", "link", "voters.csv", "released.csv", *options)
    assert (found.status, found.out) == (2, "")
    assert told in found.err
    assert "QX" not in found.err


def test_records_are_told_to_three_attackers(shoal, files):
    asked = ("risk", "records", "released.csv", "--quasi", "age,sex")
    found = parsed(shoal(*asked, "--json"))
    (prosecutor,) = found["attackers"]
    assert (prosecutor["highest"], prosecutor["at_risk"]) == (1 / 4, 8)
    assert found["marketer"]["average"] == 1 / 4
    assert found["uniqueness"]["sample_uniques"] == 0
    shown = shoal(*asked).out
    for part in ("prosecutor", "marketer", "unique in the file: 0 people"):
        assert part in shown


def test_texts_that_mean_missing_still_tell_people_apart(shoal, folder):
    """To whoever reads the file `n/a` and `unknown` are two values."""
    (folder / "shown.csv").write_text("town\nn/a\nn/a\nunknown\n")
    more = ("--quasi", "town", "--missing", "n/a", "--missing", "unknown", "--json")
    found = parsed(shoal("risk", "records", "shown.csv", *more))
    assert found["uniqueness"]["sample_uniques"] == 1
    assert found["attackers"][0]["highest"] == 1
    found = parsed(shoal("risk", "intersect", "shown.csv", "shown.csv", *more, "--same-order"))
    assert found["together"]["classes"] == 2


def test_a_population_is_read_beside_the_released_cells(shoal, files, folder):
    (folder / "all.csv").write_text(VOTERS + "9,QXZ9,22,m,QXB\n")
    asked = ("risk", "records", "released.csv", "--quasi", "age,sex", "--population", "all.csv")
    found = parsed(shoal(*asked, "--json"))
    assert [each["attacker"] for each in found["attackers"]] == ["prosecutor", "journalist"]
    assert found["k_map"]["k"] == 4
    assert found["marketer"]["average"] == pytest.approx((4 / 5 + 4 / 4) / 8)
    assert "journalist" in shoal(*asked).out


def test_a_fraction_asks_for_the_population(shoal, files):
    asked = ("risk", "records", "voters.csv", "--quasi", "town,sex", "--sampling-fraction", "0.5")
    found = parsed(shoal(*asked, "--json"))
    assert (found["uniqueness"]["population"], found["uniqueness"]["uniques"]) == (16, 0)
    assert "unique in a population of about 16" in shoal(*asked).out
    both = shoal(*asked, "--population", "voters.csv")
    assert "not both" in both.err


def test_a_population_that_lacks_people_is_said_so(shoal, files, folder):
    (folder / "few.csv").write_text("age,sex\n22,m\n")
    found = shoal("risk", "records", "raw.csv", "--quasi", "age,sex", "--population", "few.csv")
    assert "7 people have a record that matches fewer people" in found.out
    (folder / "none.csv").write_text("age\n22\n")
    found = shoal("risk", "records", "raw.csv", "--quasi", "age,sex", "--population", "none.csv")
    assert (found.status, "none.csv: has no column 'sex'" in found.err) == (2, True)


def test_columns_that_identify_are_found(shoal, files):
    found = parsed(shoal("risk", "columns", "voters.csv", "--most", 2, "--json"))
    keys = [key["columns"] for key in found["keys"]]
    assert keys == [["id"], ["name"], ["age"]]
    assert found["skipped"] == 9
    among = ("risk", "columns", "voters.csv", "--among", "sex,town", "--distinction", "0.5")
    shown = shoal(*among).out
    assert "sex, town" in shown
    assert "near-keys" in shown
    assert "QX" not in shown


def test_inspect_names_near_keys_and_estimates_the_population(shoal, files):
    asked = ("inspect", "voters.csv", "--quasi", "age,sex")
    found = parsed(shoal(*asked, "--json"))
    assert [key["columns"] for key in found["near_keys"]] == [["age"]]
    assert found["uniqueness"] is None
    assert "these columns identify nearly everyone: age" in shoal(*asked).out
    wider = (*asked, "--sampling-fraction", "0.5")
    assert parsed(shoal(*wider, "--json"))["uniqueness"]["uniques"] == 16
    assert "unique in a population of about 16: 16 people" in shoal(*wider).out


def test_the_attack_is_rehearsed_on_a_table_of_ones_own(shoal, folder):
    rows = "".join(f"QXZ{i},{i % 40},{i % 7},QX\n" for i in range(60))
    (folder / "own.csv").write_text("name,age,town,disease\n" + rows)
    roles = ("--quasi", "age,town", "--sensitive", "disease")
    asked = ("risk", "rehearse", "own.csv", *roles, "-k", 5, "--both", 1)
    found = parsed(shoal(*asked, "--json"))
    assert (found["method"], found["model"]) == ("mondrian", "k-anonymity(k=5)")
    assert (found["raw"]["people"], found["raw"]["records"]) == (60, 60)
    assert (found["raw"]["certain"], found["raw"]["success"]["hits"]) == (60, 60)
    assert found["released"]["certain"] == 0
    assert found["released"]["success"]["recall"]["value"] <= 0.4
    shown = shoal(*asked, "--known", "age")
    assert "searched for 60 people among 60 records, by age" in shown.out
    assert "recall" in shown.out
    assert "QX" not in shown.out + shown.err


def test_a_rehearsal_needs_a_model_and_a_known_method(shoal, folder):
    roles = ("--quasi", "age,town")
    assert "no guarantee is requested" in shoal("risk", "rehearse", "people.csv", *roles).err
    wrong = shoal("risk", "rehearse", "people.csv", *roles, "-k", 2, "--method", "mondrain")
    assert "did you mean 'mondrian'?" in wrong.err
