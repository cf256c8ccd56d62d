"""Tables, and jobs that run in a thread, for the tests of the web app."""

from __future__ import annotations

import asyncio
import sys
import threading
from functools import partialmethod
from importlib.util import find_spec

import pyarrow.csv
import pytest

import shoal
from shoal.errors import ShoalError
from shoal.web.project.analyst import Analyst
from shoal.web.project.project import Project

_RETRIES = 600  # a tenth of a second apart


class ThreadJob:
    """A job as `shoal.web.jobs` starts it, but in a thread of this process."""

    def __init__(self, task, *arguments):
        self.state, self.fraction, self.text = "running", None, ""
        self.result, self.error, self.on_change = None, "", None
        self._loop = asyncio.get_running_loop()
        self._cancelled = False
        threading.Thread(target=self._run, args=(task, arguments), daemon=True).start()

    def _run(self, task, arguments):
        try:
            result = task(self._report, *arguments)
            self._loop.call_soon_threadsafe(self._set, "done", 1.0, "", result)
        except InterruptedError:
            self._loop.call_soon_threadsafe(self._set, "cancelled", None, "")
        except ShoalError as error:
            self.error = str(error)
            self._loop.call_soon_threadsafe(self._set, "failed", None, "")

    def _report(self, fraction, text):
        if self._cancelled:
            raise InterruptedError
        self._loop.call_soon_threadsafe(self._set, "running", fraction, text)

    def _set(self, state, fraction, text, result=None):
        if self.state == "running":
            self.state, self.fraction, self.text, self.result = state, fraction, text, result
            if self.on_change is not None:
                self.on_change()

    def cancel(self):
        self._cancelled = True


@pytest.fixture(autouse=True)
def modules_stay_imported():
    """NiceGUI's simulation forgets the modules of pages and their parents: restore them."""
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "shoal"}
    yield
    sys.modules.update(before)


@pytest.fixture(scope="session", autouse=True)
def patient_user():
    """Let simulated users wait for what a busy machine shows late; NiceGUI waits 0.3 seconds."""
    if find_spec("nicegui") is None:
        yield
        return
    from nicegui.testing import User

    with pytest.MonkeyPatch.context() as patch:
        for name in ("should_see", "should_not_see"):
            patch.setattr(User, name, partialmethod(getattr(User, name), retries=_RETRIES))
        yield


@pytest.fixture(scope="session")
def patients(tmp_path_factory):
    """A CSV file of invented patients."""
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    pyarrow.csv.write_csv(shoal.datasets.patients(400).to_arrow(), path)
    return path


@pytest.fixture(scope="session")
def analyst():
    """One analyst for all tests, because its process takes a second to start."""
    with Analyst() as shared:
        yield shared


@pytest.fixture
def new_project(tmp_path, analyst):
    """Returns empty projects, whose jobs run in threads."""

    def make(name="workspace"):
        made = Project(tmp_path / name, ThreadJob)
        made.analyst = analyst
        return made

    return make


@pytest.fixture
def project(new_project):
    """An empty project, whose jobs run in threads."""
    return new_project()


async def finished(project):
    """Wait for the last release of a project."""
    for _ in range(1200):
        if project.runs[-1].state != "running":
            return project.runs[-1]
        await asyncio.sleep(0.05)
    raise AssertionError("the release takes too long")
