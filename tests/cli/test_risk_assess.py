"""`shoal risk assess`: figures checked by hand, words without a cell."""

import json

import pytest

ROLES = ("--quasi", "x,y", "--sensitive", "disease")
ORIGINAL = "id,x,y,disease\n1,1,1,qxa\n2,1,2,qxb\n3,2,1,qxc\n4,2,2,qxa\n"
RELEASED = "id,x,y,disease\n1,1,1-2,qxa\n2,1,1-2,qxb\n3,2,1-2,qxc\n4,1-2,2,qxa\n"


@pytest.fixture
def ask(shoal, folder):
    (folder / "original.csv").write_text(ORIGINAL)
    (folder / "released.csv").write_text(RELEASED)

    def asked(*more):
        return shoal("risk", "assess", "original.csv", "released.csv", *ROLES, *more)

    return asked


def parsed(outcome):
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_all_that_fits_is_matched(ask):
    """Person 3 fits record 3 only; so person 4 must have record 4, and 1 and 2 share the rest."""
    found = parsed(ask("--json"))
    assert found["known"] == ["x", "y"]
    assert (found["value"], found["method"], found["forced"]) == (3.0, "exact", 2)
    assert (found["people"], found["highest_risk"], found["k"], found["above"]) == (4, 1.0, 1, 0)
    assert found["mean_candidates"] == pytest.approx((2 + 3 + 1 + 2) / 4)
    assert found["mean_feasible"] == pytest.approx((2 + 2 + 1 + 1) / 4)


def test_who_knows_less_finds_fewer_here(ask):
    assert parsed(ask("--known", "y", "--json"))["value"] < 3
    assert parsed(ask("--known", "x,disease", "--json"))["known"] == ["x", "disease"]


def test_words_say_what_is_assumed_and_show_no_cell(ask):
    shown = ask("--search", "2", "-k", "2").out
    for part in (
        "3 of 4 people released are expected to be found",
        "people with a risk above 1/2",
        "knows x, y of everyone in the release",
        "known columns that expose the most",
        "Exact up to rounding.",
    ):
        assert part in " ".join(shown.split())
    assert "qx" not in shown


def test_doubts_and_absence_change_the_answer(ask):
    sure = parsed(ask("--json"))["value"]
    assert parsed(ask("--wrong", "x=0.25", "--json"))["value"] < sure
    told = parsed(ask("--absent", "--json", "--method", "exact"))
    assert "not which of them" in told["assumptions"][0]
    assert parsed(ask("--method", "fast", "--json"))["method"] in ("exact", "fast")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--known", "z"), "no attribute 'z'"),
        (("--wrong", "x"), "must have the form column=0.1"),
        (("--wrong", "x=0.9"), "at most 0.5"),
        (("--method", "quick"), "method must be one of"),
        (("--wrong", "x=0.1", "--absent"), "does not cover people outside"),
    ],
)
def test_wrong_questions_end_with_a_sentence(ask, more, told):
    outcome = ask(*more)
    assert outcome.status == 2
    assert told in outcome.err


def test_a_walk_has_an_interval(shoal, monkeypatch, folder):
    monkeypatch.setattr("shoal.risk.cracks._MAX_SECONDS", 0)
    rows = range(12)
    lines = [f"{i},{i}" for i in rows]
    (folder / "original.csv").write_text("id,x\n" + "\n".join(lines) + "\n")
    lines = [f"{i},{max(i - i % 3, 0)}-{i + 1 + i % 2}" for i in rows]
    (folder / "released.csv").write_text("id,x\n" + "\n".join(lines) + "\n")
    files = ("original.csv", "released.csv")
    shown = shoal("risk", "assess", *files, "--quasi", "x", "--half-width", "0.1").out
    assert "(95 % confidence interval" in shown
    assert "sampled matchings" in shown


def test_a_comparison_tells_the_expected_risk_where_asked(shoal, ask):
    asked = ("compare", "original.csv", *ROLES, "-k", "2", "--method", "mondrian")
    told = shoal(*asked, "--metric", "ncp", "--risk").out
    assert "expected risk" in told
    assert "0.5000" in told  # two classes that do not overlap, of four people


VISITS = (
    "id,home,x,disease\n1,h,1,qxa\n1,h,2,qxb\n2,h,1,qxc\n3,i,2,qxa\n4,i,1,qxa\n"  # 1 came twice
)
UNITS = ("--quasi", "x", "--sensitive", "disease", "--person", "id", "--household", "home")


@pytest.fixture
def visits(shoal, folder):
    (folder / "visits.csv").write_text(VISITS)

    def asked(*more):
        return shoal("risk", "assess", "visits.csv", "visits.csv", *UNITS, *more)

    return asked


def test_people_are_found_by_any_of_their_rows(visits):
    """Three rows of three people have x = 1, and two rows of two people x = 2."""
    found = parsed(visits("--json"))
    assert (found["people"], found["records"], found["k"]) == (4, 5, 2)
    first = 1 - 2 / 3 * 1 / 2
    assert found["value"] == pytest.approx(first + 1 / 3 + 1 / 2 + 1 / 3)
    assert found["links"] == pytest.approx(2)
    assert found["household"]["households"] == 2
    both = [1 - (1 - first) * (1 - 1 / 3), 1 - (1 - 1 / 2) * (1 - 1 / 3)]
    assert found["household"]["expected"] == pytest.approx(sum(both))
    assert [each["rows"] for each in found["known_rows"]] == [1, 2]
    assert found["known_rows"][1]["singled_out"] == 1


def test_words_name_people_records_and_households(visits):
    shown = " ".join(visits().out.split())
    for part in (
        "of 4 people released are expected to be found",
        "records released 5",
        "records linked to their person 2",
        "households released 2",
        "average risk of a household",
        "rows known",
        "at least one of their rows is matched with one of their records",
    ):
        assert part in shown
    assert "qx" not in shown
