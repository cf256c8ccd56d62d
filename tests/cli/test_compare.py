"""`shoal compare`, as a user meets it."""

import json

import pytest
from tests.cli.conftest import SECRET

pytestmark = pytest.mark.slow

ASKED = (
    "compare", "people.csv", "--quasi", "age,town", "--sensitive", "disease",
    "--identifier", "name", "--processes", "2",
)  # fmt: skip


@pytest.fixture
def compared(shoal, folder):
    return shoal(
        *ASKED, "-k", "5", "--method", "mondrian", "--method", "doka-greedy", "--metric", "ncp",
        "--metric", "pub", "--folder", "runs", "--picture", "runs.svg", "-o", "runs.csv",
    )  # fmt: skip


def test_runs_are_shown_written_drawn_and_taken_up_again(compared, shoal, folder):
    assert compared.status == 0
    original, _, head, first = compared.out.splitlines()[:4]
    assert original == "original: 12 records"
    assert " ".join(head.split()) == "method k risk loss smallest suppressed time"
    assert first.split()[:3] == ["*", "mondrian", "5"]
    assert "1 of 2 runs produced no release" in compared.out
    assert "doka-greedy, k-anonymity(k=5): unfit" in compared.out
    assert compared.out.endswith("\nwritten to runs.csv\npicture written to runs.svg\n")
    assert (folder / "runs.csv").read_text().startswith("method,options,model,k,")
    assert (folder / "runs.svg").read_text().startswith("<svg")
    assert len(list((folder / "runs").iterdir())) == 2
    said = [compared.out, compared.err, *(p.read_text() for p in (folder / "runs").iterdir())]
    assert SECRET not in "".join([*said, (folder / "runs.svg").read_text()])

    (folder / "runs.csv").unlink()
    again = shoal(
        *ASKED, "-k", "5", "--method", "mondrian", "--method", "doka-greedy", "--metric", "ncp",
        "--metric", "pub", "--folder", "runs", "--json",
    )  # fmt: skip
    data = json.loads(again.out)
    assert [run["status"] for run in data["runs"]] == ["done", "unfit"]
    assert data["front"] == [0]
    assert data["runs"][0]["pub"] > 0


def test_where_no_run_gives_a_release_the_status_is_1(shoal, folder):
    found = shoal(
        *ASKED, "--model", "t-closeness(0.1, age)", "--method", "mondrian:hierarchies=false",
        "--picture", "runs.svg",
    )  # fmt: skip
    assert found.status == 1
    assert "mondrian:hierarchies=False, t-closeness(t=0.1, column=age): unfit" in found.out
    assert not (folder / "runs.svg").exists()
    assert "picture written" not in found.out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "no guarantee is requested"),
        (("-k", "3,five"), "-k must be whole numbers separated by commas"),
        (("-k", "3", "--method", "mondriaan"), "no method 'mondriaan'"),
        (("-k", "3", "--method", "flash:speed=3"), "flash has no option 'speed'"),
        (("-k", "3", "--method", "flash:speed"), "must be written name=value"),
        (("-k", "3", "--metric", "nice"), "no metric 'nice'"),
        (("-k", "3", "--time-limit", "0"), "time_limit must be"),
        (("-k", "3", "-o", "runs.xlsx"), "end the name in"),
        (("-k", "3", "--picture", "runs.pdf"), "the name of a picture must end in"),
        (("-k", "3", "-o", "people.csv", "--force"), "people.csv: is read by this command"),
    ],
)
def test_what_is_asked_wrongly_is_said_in_one_line(shoal, more, told):
    found = shoal(*ASKED, *more)
    assert (found.status, found.out) == (2, "")
    assert told in found.err
    assert found.err.count("\n") == 1


def test_options_of_a_method_may_be_lists():
    from shoal.cli.compare import _method

    assert _method("flash: max_suppression=0.1, objective=precision") == (
        "flash",
        {"max_suppression": 0.1, "objective": "precision"},
    )
    assert _method("some:order=[b, a],deep=true") == ("some", {"order": ["b", "a"], "deep": True})
    assert _method("mondrian") == ("mondrian", {})


def test_runs_on_a_table_with_several_rows_a_person_count_people(shoal, folder):
    rows = [f"{i},{20 + i // 4},flu\n" * 3 for i in range(8)]  # eight people, two ages
    (folder / "visits.csv").write_text("id,age,disease\n" + "".join(rows))
    asked = (
        "compare", "visits.csv", "--quasi", "age", "--sensitive", "disease", "--person", "id",
        "-k", "4", "--method", "mondrian", "--metric", "ncp", "--processes", "1",
    )  # fmt: skip
    data = json.loads(shoal(*asked, "--json").out)
    assert data["original"] == {"records": 24, "people": 8, "households": None}
    run = data["runs"][0]
    assert (run["smallest class"], run["smallest class rows"]) == (4, 12)
    assert (run["released people"], run["suppressed"], run["ncp"]) == (8, 0, 0)
    lines = shoal(*asked).out.splitlines()
    assert lines[0] == "original: 8 people in 24 rows (id)"
    assert " ".join(lines[2].split()) == "method k risk loss smallest people suppressed time"
    assert lines[3].split()[5:8] == ["4", "8", "0"]


def test_methods_with_and_without_hierarchies_are_ranked_by_one_named_loss(shoal, folder):
    towns = ["Kiel", "Ulm", "Bremen", "Hof"] * 3
    (folder / "towns.csv").write_text("town\n" + "\n".join(towns) + "\n")
    (folder / "t.csv").write_text("Kiel;north;*\nBremen;north;*\nUlm;south;*\nHof;south;*\n")
    asked = (
        "compare", "towns.csv", "--quasi", "town", "--hierarchy", "town=t.csv", "-k", "4",
        "--method", "flash", "--method", "sorted", "--processes", "1",
    )  # fmt: skip
    shown = shoal(*asked).out
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[2] == "method k hierarchies risk loss smallest suppressed time"
    assert any(line.startswith("* flash 4 used") for line in lines)
    assert any(line.startswith("sorted 4 not used") for line in lines)
    assert "loss: hierarchy-ncp, uncertainty of a published cell" in shown
    flash, ranges = json.loads(shoal(*asked, "--json").out)["runs"]
    assert flash["hierarchy-ncp"] <= ranges["hierarchy-ncp"]
