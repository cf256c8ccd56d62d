"""`shoal anonymize --evidence`: the pack lies beside the release, and wrong options end early."""

import errno
import json

import pytest
from tests.cli.conftest import SECRET

from shoal.evidence import pack, verify

ASKED = ("--quasi", "age,town", "--sensitive", "disease", "--identifier", "name", "-k", "3")


def test_a_pack_is_written_and_verifies(shoal, folder, capsys):
    (folder / "context.yaml").write_text("recipient: a university\n")
    done = shoal(
        "anonymize", "people.csv", *ASKED, "-o", "r.csv", "--evidence", "pack",
        "--questionnaire", "context.yaml",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert "evidence written to pack" in done.out
    assert verify.digest(folder / "pack" / "manifest.json") in done.out
    evidence = json.loads((folder / "pack" / "evidence.json").read_bytes())
    assert evidence["release"]["path"] == "../r.csv"
    assert evidence["context"]["recipient"] == "a university"
    assert "--evidence pack" in evidence["run"]["command"]
    assert evidence["title"] == "Release of people.csv"
    assert verify.main([str(folder / "pack")]) == 0
    assert "verified" in capsys.readouterr().out
    page = (folder / "pack" / "index.html").read_text(encoding="utf-8")
    assert SECRET not in page + json.dumps(evidence)
    assert str(folder) not in page


def test_the_json_output_has_the_digest_of_the_manifest(shoal, folder):
    done = shoal(
        "anonymize", "people.csv", *ASKED, "-o", "r.csv", "--evidence", "pack",
        "--report", "report.json", "--json",
    )  # fmt: skip
    data = json.loads(done.out)
    digest = verify.digest(folder / "pack" / "manifest.json")
    assert data["evidence"] == {"folder": "pack", "sha256": digest, "signed": False}
    assert data["report"]["format"]["name"] == "shoal-report"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--evidence", "pack"], "--evidence needs an output file"),
        (["-o", "r.csv", "--questionnaire", "q.yaml"], "--questionnaire needs --evidence"),
        (["-o", "r.csv", "--sign-key", "key.pem"], "--sign-key needs --evidence"),
        (["-o", "r.csv", "--evidence", "old"], "exists already"),
        (["-o", "r.csv", "--evidence", "old", "--force"], "contains other files"),
        (["-o", "old/r.csv", "--evidence", "old"], "exists already"),
        (["-o", "r.csv", "--evidence", "people.csv"], "not a folder"),
        (["-o", "r.csv", "--evidence", "none/pack"], "its folder does not exist"),
        (["-o", "r.csv", "--evidence", "pack", "--questionnaire", "none.yaml"], "no such file"),
        (["-o", "r.csv", "--report", "x.html", "--evidence", "x.html"], "same file name"),
    ],
)
def test_wrong_options_end_before_anything_is_written(shoal, folder, options, message):
    (folder / "old").mkdir()
    (folder / "old" / "thesis.txt").write_text("ten years of work")
    before = sorted(folder.rglob("*"))
    done = shoal("anonymize", "people.csv", *ASKED, *options)
    assert (done.status, message in done.err) == (2, True), done.err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("output", ["r.csv", "r.parquet", "parts/"])
@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb")])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_disk_that_is_full_during_the_evidence_leaves_nothing(
    shoal, folder, monkeypatch, output, engine, force
):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    asked = ("anonymize", "people.csv", *ASKED, "-o", output, *engine)
    if force:
        assert shoal(*asked, "--report", "r.json").status == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    monkeypatch.setattr(pack, "_write", full)
    options = ("--evidence", "pack", "--report", "r.json", "--picture", "r.svg")
    done = shoal(*asked, *options, "--method", "flash", *force)
    assert done.status == 2
    assert "pack: cannot be written (No space left on device)" in done.err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_nothing_is_written_if_the_evidence_does_not_verify(shoal, folder, monkeypatch):
    def fail(*arguments):
        raise verify.PackError("the digest differs")

    monkeypatch.setattr(verify, "check_figures", fail)
    before = sorted(folder.rglob("*"))
    asked = ("-o", "r.csv", "--evidence", "pack", "--control", "20%")
    done = shoal("anonymize", "people.csv", *ASKED, *asked)
    assert done.status == 1
    assert "none was written" in done.err
    assert sorted(folder.rglob("*")) == before


def test_a_file_of_any_tool_gets_a_pack(shoal, folder, capsys):
    shoal("anonymize", "people.csv", *ASKED, "-o", "r.csv")
    done = shoal("evidence", "people.csv", "r.csv", *ASKED, "-o", "pack", "--json")
    assert done.status == 0, done.err
    digest = verify.digest(folder / "pack" / "manifest.json")
    assert json.loads(done.out) == {"folder": "pack", "sha256": digest, "signed": False}
    assert verify.main([str(folder / "pack")]) == 0
    evidence = json.loads((folder / "pack" / "evidence.json").read_bytes())
    assert evidence["measured"]["classes"]["smallest"] >= 3
    assert "verified" in capsys.readouterr().out


def test_the_limits_name_the_order_of_rows_of_such_a_file(shoal, folder):
    for name, options in (("sorted", ()), ("kept", ("--keep-order",))):
        shoal("anonymize", "people.csv", *ASKED, "-o", f"{name}.csv", *options)
        shoal("evidence", "people.csv", f"{name}.csv", *ASKED, "-o", name)
        evidence = json.loads((folder / name / "evidence.json").read_bytes())
        titles = [limit["title"] for limit in evidence["limits"]]
        assert ("Row order" in titles) is (name == "kept")


def test_a_file_that_breaks_the_guarantee_gets_no_pack(shoal, folder):
    shoal("anonymize", "people.csv", *ASKED, "-o", "r.csv")
    done = shoal("evidence", "people.csv", "r.csv", *ASKED[:-1], "7", "-o", "pack")
    assert (done.status, "does not hold" in done.err) == (1, True)
    assert not (folder / "pack").exists()


def test_people_that_cannot_be_counted_are_refused(shoal, folder):
    (folder / "visits.csv").write_text(
        "id,age,ill\np0,30,a\np0,31,b\np1,31,a\np1,30,b\np2,32,a\np2,31,b\n"
    )
    (folder / "v.csv").write_text(
        'age,ill\n"[30, 31]",b\n"[30, 31]",a\n"[30, 31]",b\n'
        '"[30, 32]",a\n"[30, 32]",b\n"[30, 32]",a\n'
    )  # the rows of each class may be those of several sets of people
    asked = ("--quasi", "age", "--sensitive", "ill", "--person", "id", "-k", "2")
    done = shoal("evidence", "visits.csv", "v.csv", *asked, "-o", "pack")
    assert (done.status, "people cannot be counted" in done.err) == (2, True), done.err
    assert not (folder / "pack").exists()
