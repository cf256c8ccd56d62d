"""What a guarantee that holds does not cover is said wherever the guarantee is."""

import json
import re

import pytest

from shoal.cli.shared.console import verdict

ROLES = ("--quasi", "age", "--sensitive", "diagnosis,place")
PLACES = "place is published unchanged and singles out 40 of 40 people (100 %)"
ALIKE = "in 2 of 4 classes, with 20 of 40 people (50 %), everyone has the same diagnosis"


@pytest.fixture
def places(folder):
    """Ten people of each age; places are all different, and two ages have one diagnosis."""
    rows = [f"{i // 10},{'flu' if i < 20 or i % 2 else 'cold'},{i}.25" for i in range(40)]
    (folder / "places.csv").write_text("\n".join(["age,diagnosis,place", *rows]) + "\n")


def plain(text):
    return " ".join(text.split())


def test_only_a_guarantee_without_warnings_is_green():
    colours = [
        str(verdict("model", *told).spans[-1].style)
        for told in ((True, "holds"), (True, "holds", ["but"]), (False, "does not", ["but"]))
    ]
    assert colours == ["green", "yellow", "red"]


def test_anonymize_warns_below_the_verdict(shoal, places):
    shown = plain(shoal("anonymize", "places.csv", *ROLES, "-k", 2, "-o", "out.csv").out)
    assert "k-anonymity(k=2) verified on the released values, with 2 warnings" in shown
    assert f"warning: {PLACES}" in shown
    assert f"warning: {ALIKE}" in shown
    assert "round columns that single people out, leave them out, or make them" in shown


def test_verify_says_the_same_of_the_file(shoal, places):
    shoal("anonymize", "places.csv", *ROLES, "-k", 2, "-o", "out.csv")
    shown = plain(shoal("verify", "out.csv", *ROLES, "-k", 2).out)
    assert "k-anonymity(k=2) holds, with 2 warnings" in shown
    assert f"warning: {PLACES}" in shown
    assert f"warning: {ALIKE}" in shown
    assert f"warning: {PLACES}" in plain(shoal("verify", "out.csv", *ROLES).out)


def test_verify_counts_insensitive_columns_of_a_schema(shoal, places, folder):
    (folder / "s.yaml").write_text(
        "columns:\n  age: quasi\n  place: insensitive\n  gone: insensitive\n"
    )
    data = json.loads(shoal("verify", "places.csv", "--schema", "s.yaml", "--json").out)
    assert data["singling_out"]["columns"][0]["alone"] == 40
    assert data["warnings"][0].startswith("place is published unchanged")


def test_summaries_as_json_hold_the_counts(shoal, places):
    data = json.loads(shoal("anonymize", "places.csv", *ROLES, "-k", 2, "--json").out)
    found = {each["columns"][0]: each for each in data["singling_out"]["columns"]}
    assert (found["place"]["alone"], found["place"]["alone_share"]) == (40, 1.0)
    assert (found["diagnosis"]["alone"], found["diagnosis"]["with_quasi"]) == (0, 0)
    assert data["singling_out"]["together"]["alone"] == 40
    assert len(data["warnings"]) == 2


def test_inspect_warns_before_anything_is_published(shoal, places):
    shown = plain(shoal("inspect", "places.csv", *ROLES).out)
    assert "are published unchanged; round those that single people out" in shown
    assert f"warning: {PLACES}" in shown
    data = json.loads(shoal("inspect", "places.csv", "--quasi", "age,place", "--json").out)
    assert [each["columns"] for each in data["singling_out"]["columns"]] == [["diagnosis"]]


def test_the_headline_of_the_report_is_not_a_tick(shoal, places, folder):
    shoal("anonymize", "places.csv", *ROLES, "-k", 5, "-o", "out.csv", "--report", "r.html")
    page = (folder / "r.html").read_text(encoding="utf-8")
    headline = re.search(r'<p class="verdict(.*?)</p>', page, re.DOTALL)[1]
    assert headline.startswith(" caution")
    assert "✓" not in headline
    assert "it holds on the quasi-identifiers, but place is published unchanged" in headline
    assert "everyone has the same diagnosis" in headline
    assert "Columns published unchanged: released people with a value that no one else has" in page


def test_a_column_that_is_gone_is_named_in_the_summary_and_the_report(shoal, folder):
    rows = [f"{i // 10},town {i}" for i in range(40)]
    (folder / "towns.csv").write_text("\n".join(["age,town", *rows]) + "\n")
    options = ("--quasi", "age,town", "-k", 5, "--method", "flash", "--report", "r.html")
    found = shoal("anonymize", "towns.csv", *options, "-o", "out.csv")
    lines = [" ".join(line.split()) for line in found.out.splitlines()]
    assert "cells kept exactly generalized hidden" in lines
    assert "age 100.0 % 0.0 % 0.0 %" in lines
    assert "town everywhere" in lines
    assert "all columns 50.0 % 0.0 % 50.0 %" in lines
    page = " ".join((folder / "r.html").read_text(encoding="utf-8").split())
    assert "<dt>Cells kept exactly</dt><dd>50.0 %</dd>" in page
    assert "0.0 % generalized, 50.0 % hidden; hidden everywhere: town" in page
    assert "Detail lost" not in page


def test_the_report_hides_counts_of_few_people(shoal, folder):
    rows = [f"{i // 10},{min(i, 37)}" for i in range(40)]  # 37 values of one person, one of three
    (folder / "few.csv").write_text("\n".join(["age,place", *rows]) + "\n")
    options = ("--quasi", "age", "--sensitive", "place", "-k", 5, "--report", "r.json")
    shoal("anonymize", "few.csv", *options, "-o", "out.csv")
    told = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    column = told["singling_out"]["columns"][0]
    assert (column["alone"], column["alone_share"]) == ("more than 35", None)
    assert "more than 35 of 40 people: nobody else has their value" in told["verdict"]


def test_a_harmless_release_is_still_a_tick(shoal, folder):
    rows = [f"{i // 10},{'flu' if i % 2 else 'cold'}" for i in range(40)]
    (folder / "fine.csv").write_text("\n".join(["age,diagnosis", *rows]) + "\n")
    options = ("--quasi", "age", "--sensitive", "diagnosis", "-k", 5, "--report", "r.html")
    found = shoal("anonymize", "fine.csv", *options, "-o", "out.csv")
    assert "warning" not in found.out
    assert '<p class="verdict"><span class="mark" aria-hidden="true">✓' in (
        folder / "r.html"
    ).read_text(encoding="utf-8")
