"""The workspace: private, removed at the end, and swept after a crash."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys

import pytest

from shoal.errors import OutputError
from shoal.web.uploads import Workspace, open_workspace

KILLED = """
import os, signal, sys
from pathlib import Path
from shoal.web.uploads import open_workspace

with open_workspace(Path(sys.argv[1])) as workspace:
    (workspace.new_folder() / "table.csv").write_text("QXZW")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_may_open_it(tmp_path):
    with open_workspace(tmp_path) as workspace:
        path, descriptor = workspace.new_file(".csv")
        os.close(descriptor)
        folder = workspace.new_folder()
        assert [mode(each) for each in (workspace.path, path, folder)] == [0o700, 0o600, 0o700]
    assert list(tmp_path.iterdir()) == []


def test_names_are_random_and_suffixes_plain(tmp_path):
    workspace = Workspace(tmp_path)
    names = {workspace.new_path(".CSV").name for _ in range(100)}
    assert len(names) == 100
    assert {name[32:] for name in names} == {".csv"}
    assert workspace.new_path("/../../etc").parent == tmp_path
    assert len(workspace.new_path(".c/sv").name) == 32
    assert workspace.new_path(".csv.gz").name.endswith(".csv.gz")


def test_what_a_killed_app_left_is_removed_and_a_running_one_is_kept(tmp_path):
    with open_workspace(tmp_path) as running:
        done = subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False)
        assert done.returncode == -signal.SIGKILL
        assert len(list(tmp_path.iterdir())) == 2
        with open_workspace(tmp_path) as new:
            assert set(tmp_path.iterdir()) == {running.path, new.path}
    assert list(tmp_path.iterdir()) == []


def test_an_error_inside_removes_it_and_passes(tmp_path):
    with pytest.raises(ZeroDivisionError), open_workspace(tmp_path):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_missing_is_reported(tmp_path):
    with pytest.raises(OutputError, match="set TMPDIR"), open_workspace(tmp_path / "none"):
        pass
