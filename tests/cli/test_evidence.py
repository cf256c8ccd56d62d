"""`shoal anonymize --evidence`: the pack lies beside the release, and wrong options end early."""

import json

import pytest
from tests.cli.conftest import SECRET

from shoal.evidence import verify

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
        (["-o", "r.csv", "--evidence", "people.csv"], "is not a folder"),
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
