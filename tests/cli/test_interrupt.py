"""A run that is cut short leaves the old file or none."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

DRIVER = """
import os, signal, sys
from shoal.files import writing

opened = writing.open_writer

def cut_short(path, schema):
    writer = opened(path, schema)
    writing_rows = writer.write_table
    def write_table(rows):
        writing_rows(rows)
        os.kill(os.getpid(), signal.{signal})
        writing_rows(rows)
    writer.write_table = write_table
    return writer

writing.open_writer = cut_short
from shoal.cli import main
main()
"""


@pytest.fixture
def cut_short(folder):
    def run(name, *more):
        program = [sys.executable, "-c", DRIVER.format(signal=name), "anonymize", "people.csv"]
        options = ["--quasi", "age,town", "--sensitive", "disease", "-k", "3", "-o", "out.csv"]
        return subprocess.run(
            [*program, *options, "--identifier", "name", *more],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    return run


def test_an_interrupt_while_writing_leaves_nothing(cut_short, folder):
    found = cut_short("SIGINT")
    assert (found.returncode, found.stdout) == (130, "")
    assert found.stderr.splitlines()[-1] == "shoal: interrupted"
    assert [p.name for p in folder.iterdir()] == ["people.csv"]


def test_an_interrupt_while_writing_leaves_the_old_file(cut_short, folder):
    (folder / "out.csv").write_text("old")
    found = cut_short("SIGINT", "--force")
    assert found.returncode == 130
    assert (folder / "out.csv").read_text() == "old"
    assert sorted(p.name for p in folder.iterdir()) == ["out.csv", "people.csv"]


def test_a_kill_while_writing_leaves_the_old_file_or_none(cut_short, folder):
    assert cut_short("SIGKILL").returncode == -signal.SIGKILL
    assert not (folder / "out.csv").exists()
    (folder / "out.csv").write_text("old")
    assert cut_short("SIGKILL", "--force").returncode == -signal.SIGKILL
    assert (folder / "out.csv").read_text() == "old"
    left = [p.name for p in folder.iterdir() if p.name not in ("out.csv", "people.csv")]
    assert len(left) == 1  # the second run removed what the first left
    assert left[0].startswith(".")  # hidden, never taken for a release
    cut_short("SIGINT", "--force")
    assert sorted(p.name for p in folder.iterdir()) == ["out.csv", "people.csv"]
