"""The tasks of CONTRIBUTING.md, each carried out in a copy of the checkout, succeed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contributing import ROOT, TASKS

pytestmark = pytest.mark.slow

COPIED = ("src", "tests", "docs", "studies", "benchmarks", "pyproject.toml", "CONTRIBUTING.md")
PROGRAMS = {
    "python": [sys.executable],
    "shoal": [sys.executable, "-m", "shoal"],
    "ruff": [sys.executable, "-m", "ruff"],
}


@pytest.fixture
def checkout(tmp_path):
    """A copy of the checkout, with its compiled kernels."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("results"))
        else:
            shutil.copy2(ROOT / name, tmp_path / name)
    return tmp_path


def run(checkout, program, *arguments):
    """Run a command in a checkout; a failure shows its output."""
    if arguments[:2] == ("-m", "pytest"):
        arguments += ("-p", "no:randomly", "-p", "no:cacheprovider")
    found = subprocess.run(
        [*PROGRAMS[program], *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return found.returncode, found.stdout + found.stderr


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_task_that_is_carried_out_succeeds(task, checkout):
    if "web" in task.name:
        pytest.importorskip("nicegui")
    task.carry_out(checkout)
    paths = {path for path, _ in task.changes} | set(task.files)
    linted = ["ruff", "check", *sorted(path for path in paths if Path(path).suffix == ".py")]
    has_linter = importlib.util.find_spec("ruff") is not None
    for command in [*([linted] if has_linter else []), *task.commands]:
        status, shown = run(checkout, *command)
        assert status == 0, shown
