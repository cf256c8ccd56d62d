"""Projects on the command line: a folder of tables in, a checked folder out."""

import os
import signal
import subprocess
import sys

import pytest

PROJECT = """
person: patients
tables:
  patients: {key: id, columns: {age: quasi}}
  visits: {key: visit, foreign: {id: patients}, columns: {ill: sensitive}}
"""


@pytest.fixture
def project(folder, shoal):
    (folder / "patients.csv").write_text("id,age\n1,30\n2,31\n3,40\n4,41\n")
    (folder / "visits.csv").write_text("visit,id,ill\na,1,QXZW\nb,1,cold\nc,3,QXZW\n")
    (folder / "project.yaml").write_text(PROJECT)
    shoal("keys", "new", "-o", "key.bin")
    return folder


def anonymize(shoal, *more):
    return shoal("anonymize", "project.yaml", "-k", 2, "--key-file", "key.bin", *more)


def test_a_project_is_released_to_a_folder_that_verify_checks(shoal, project):
    made = anonymize(shoal, "--domain", "a", "-o", "out")
    assert made.status == 0, made.err
    assert "verified on the released files" in made.out
    assert sorted(p.name for p in (project / "out").iterdir()) == [
        "patients.csv", "release.json", "visits.csv",
    ]  # fmt: skip
    assert shoal("verify", "out").status == 0
    assert shoal("verify", "out", "-k", 3).status == 1
    again = anonymize(shoal, "--domain", "a", "-o", "out")
    assert again.status == 2
    assert "exists already" in again.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-o", "out"), "needs a domain"),
        (("--domain", "a"), "name a new one with -o"),
        (
            ("--domain", "a", "-o", "out", "--quasi", "age"),
            "--quasi applies only to a single table",
        ),
        (("--domain", "a", "-o", "no/out"), "create no first"),
    ],
)
def test_what_a_project_lacks_or_cannot_take_is_named(shoal, project, options, said):
    made = anonymize(shoal, *options)
    assert made.status == 2
    assert said in made.err
    assert not (project / "out").exists()


def test_people_are_drawn_from_projects_only(shoal, project):
    assert anonymize(shoal, "--domain", "a", "--people", 2, "-o", "out").status == 0
    assert len((project / "out" / "patients.csv").read_text().splitlines()) == 3
    single = shoal("anonymize", "people.csv", "--quasi", "age", "-k", 2, "--people", 3)
    assert single.status == 2


def test_a_damaged_set_is_named_without_a_cell(shoal, project):
    anonymize(shoal, "--domain", "a", "-o", "out")
    (project / "out" / "visits.csv").write_text("other,QXZW\nx,QXZW\n")
    found = shoal("verify", "out")
    assert found.status == 2
    assert "QXZW" not in found.err
    (project / "out" / "release.json").write_text("{}")
    assert "out/release.json: format is missing" in shoal("verify", "out").err


def test_tables_stay_on_disk_within_a_stated_memory(shoal, project):
    assert anonymize(shoal, "--domain", "a", "-o", "out").status == 0
    made = anonymize(shoal, "--domain", "a", "-o", "disk", "--engine", "duckdb", "--memory", "1GB")
    assert made.status == 0, made.err
    assert "the rows stay on disk: duckdb works within 1 GB" in made.err
    for path in (project / "out").iterdir():
        assert path.read_bytes() == (project / "disk" / path.name).read_bytes()
    fitting = anonymize(shoal, "--domain", "a", "-o", "fitting", "--memory", "1GB")
    assert "the tables are read into memory: about 200 MB of 1 GB" in fitting.err
    assert shoal("verify", "disk", "--memory", "300MB").status == 0
    assert shoal("verify", "disk", "--memory", "300MB", "-k", 3).status == 1
    assert (
        "--engine applies only to a single file"
        in shoal("verify", "disk", "--engine", "duckdb").err
    )
    parts = anonymize(shoal, "--domain", "a", "-o", "new", "--partition-rows", 100)
    assert "--partition-rows applies only to a single table" in parts.err


PAUSED = """
import signal
from shoal.projects import releasing
from shoal.cli import main

real = releasing.write_published

def write(*arguments):
    real(*arguments)
    print("written", flush=True)
    signal.pause()

releasing.write_published = write
main()
"""


def test_a_process_killed_between_tables_leaves_no_half_set(shoal, project):
    command = ["anonymize", "project.yaml", "-k", "2", "--key-file", "key.bin", "--domain", "a"]
    started = subprocess.Popen(
        [sys.executable, "-c", PAUSED, *command, "-o", "out"],
        cwd=project, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert started.stdout.readline() == b"written\n"
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    started.stdout.close()
    assert not (project / "out").exists()
    assert anonymize(shoal, "--domain", "a", "-o", "out").status == 0
    assert not [path for path in project.iterdir() if path.name.startswith(".shoal")]
