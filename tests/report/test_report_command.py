"""`shoal anonymize --report`: the report beside the release, written after it and never over it."""

import hashlib
import json
import shlex
import sys

import pytest

from shoal.cli import main
from shoal.cli.shared import console

PEOPLE = "name,age,town,disease\n" + "".join(
    f"Quentin {i},{30 + i % 4},{'Ulm' if i % 2 else 'Kiel'},{'flu' if i % 3 else 'cold'}\n"
    for i in range(24)
)
ROLES = ("--quasi", "age,town", "--sensitive", "disease", "--identifier", "name")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "note_compilation", lambda: None)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "people.csv").write_text(PEOPLE)
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    def shoal(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        shown = capsys.readouterr()
        return caught.value.code or 0, shown.out, shown.err

    return shoal


def test_the_report_tells_of_the_file_beside_it(run, folder):
    status, out, _ = run(
        *("anonymize", "deep/people.csv", *ROLES, "-k", 3, "-o", "deep/out.csv"),
        *("--report", "report.html"),
    )
    assert status == 0
    assert "report written to report.html" in out
    text = (folder / "report.html").read_text()
    assert hashlib.sha256((folder / "deep/out.csv").read_bytes()).hexdigest() in text
    assert "Release of people.csv" in text
    assert "deep" not in text
    assert "Quentin" not in text


def test_the_command_in_the_report_makes_the_same_file(run, folder, monkeypatch):
    (folder / "deep" / "town.csv").write_text("Ulm;south;*\nKiel;north;*\n")
    typed = ("anonymize", "deep/people.csv", *ROLES, "-k", 3, "--hierarchy", "town=deep/town.csv")
    typed += ("-O", "effort=high", "--model", "l-diversity(2, disease)", "--seed", 5)
    run(*typed, "-o", "deep/out.csv", "--report", "deep/report.json")
    again = json.loads((folder / "deep/report.json").read_text())["repeat"]
    first = (folder / "deep" / "out.csv").read_bytes()
    monkeypatch.chdir(folder / "deep")
    assert again["command"].startswith("shoal anonymize people.csv ")
    assert run(*shlex.split(again["command"])[1:], "--force")[0] == 0
    assert (folder / "deep" / "out.csv").read_bytes() == first
    assert again["seed"] == 5


def test_a_kept_order_is_reported(run, folder):
    run(
        *("anonymize", "deep/people.csv", *ROLES, "-k", 3, "-o", "out.csv", "--keep-order"),
        *("--report", "report.html"),
    )
    text = (folder / "report.html").read_text()
    assert "as in the original table" in text
    assert "--keep-order" in text


def test_json_holds_what_the_report_says(run, folder):
    arguments = ("anonymize", "deep/people.csv", *ROLES, "-k", 3, "--json")
    _, out, err = run(*arguments, "--report", "report.json")
    assert json.loads(out)["report"] == json.loads((folder / "report.json").read_text())
    assert err == "note: no release was written; name an output file with -o\n"
    assert "report" not in json.loads(run(*arguments)[1])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("there.html", "exists already"),
        ("report.txt", "must end in"),
        ("no/r.html", "does not exist"),
    ],
)
def test_a_report_that_cannot_be_written_stops_everything(run, folder, name, told):
    (folder / "there.html").write_text("mine")
    status, out, err = run(
        *("anonymize", "deep/people.csv", *ROLES, "-k", 3, "-o", "out.csv", "--report", name)
    )
    assert (status, out) == (2, "")
    assert told in err
    assert not (folder / "out.csv").exists()
    assert (folder / "there.html").read_text() == "mine"


def test_force_overwrites(run, folder):
    (folder / "there.html").write_text("mine")
    arguments = ("anonymize", "deep/people.csv", *ROLES, "-k", 3, "--report", "there.html")
    assert run(*arguments, "--force")[0] == 0
    assert (folder / "there.html").read_text().startswith("<!doctype html>")


def test_without_a_release_there_is_no_report(run, folder):
    status, _, _ = run(
        *("anonymize", "deep/people.csv", *ROLES, "-k", 3, "--model", "l-diversity(3, disease)"),
        *("-o", "out.csv", "--report", "report.html"),
    )
    assert status == 1
    assert {path.name for path in folder.iterdir()} == {"deep"}


def test_the_demo_leaves_a_report(run, folder):
    status, out, _ = run("demo", "--rows", 200, "--out", "tried")
    assert status == 0
    assert "report written to tried/report.html" in out
    text = (folder / "tried" / "report.html").read_text()
    assert hashlib.sha256((folder / "tried/anonymous.csv").read_bytes()).hexdigest() in text
