"""Errors on every screen name files as their owner knows them, never by their temporary path."""

from __future__ import annotations

import asyncio

import pytest

from shoal.web.project.feedback import Figures, Outlook
from shoal.web.project.guarantee import Guarantee
from shoal.web.project.opening import Source
from shoal.web.project.runs import Run
from shoal.web.project.topics import Step

pytest.importorskip("nicegui")

from nicegui import ui
from nicegui.testing import user_simulation
from tests.web.conftest import finished
from tests.web.test_screens import until

from shoal.web.screens import layout
from shoal.web.screens.parts import watch
from shoal.web.text import group

NAME = "patients of 2024.csv"


def uploaded(project, content):
    """Store a file as an upload is stored: under a random name in the workspace."""
    project.workspace.mkdir(exist_ok=True)
    path = project.workspace / "0123456789abcdef.csv"
    path.write_bytes(content)
    return path


def break_off(path):
    """Make a line of a file unreadable."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:200], b"one field too few\n", *lines[200:]]))


def texts(user):
    """Return all that a page shows."""
    shown = []
    for element in user.current_layout.descendants():
        shown += [str(getattr(element, part, "")) for part in ("text", "content", "value")]
        shown += map(str, element.props.values())
    return "\n".join([*shown, *map(str, user.notify.messages)])


def test_no_screen_shows_the_path_of_an_upload(project, patients):
    async def body():
        path = uploaded(project, patients.read_bytes())
        async with user_simulation() as user:
            layout.register(project)
            await project.open(path, name=NAME, uploaded=True)
            await until(lambda: project.figures.outlook is not None)
            break_off(path)
            project.editors.clear()
            await user.open("/group")
            await user.should_see(group.FAILED)
            await user.should_see(NAME)
            project.promise(k=7)
            await until(lambda: bool(project.figures.outlook.problem))
            assert NAME in project.figures.outlook.problem
            project.promise(method="flash", options={"levels": {}, "max_suppression": 0.1})
            shown = []
            for step in (Step.OPEN, Step.DESCRIBE, Step.GROUP, Step.PROTECT):
                await user.open(f"/{step}" if step is not Step.OPEN else "/")
                await asyncio.sleep(0.5)
                shown.append(texts(user))
            project.start_run()
            done = await finished(project)
            assert (done.state, NAME in done.text) == ("failed", True)
            await user.open("/release")
            await user.should_see(NAME)
            shown.append(texts(user))
            await project.correct(delimiter=";")
            shown += [texts(user), project.problem]
            assert str(project.workspace) not in "\n".join(shown)
            assert path.name not in "\n".join(shown)

    asyncio.run(body())


def test_a_file_that_cannot_be_opened_has_its_own_name(project):
    path = uploaded(project, b"age,sex\n31,f\n47\n")
    asyncio.run(project.open(path, name=NAME, uploaded=True))
    assert project.problem.startswith(f"{NAME}: line 3")


@pytest.mark.parametrize("inside", ["", "/a/b.csv", "/job-1/x.parquet"])
def test_any_file_of_the_workspace_is_called_temporary(project, inside):
    message = f"{project.workspace}{inside}: the disk is full"
    assert project.shown(message) == "the temporary file: the disk is full"
    assert project.shown("/home/clerk/a.csv: is empty") == "/home/clerk/a.csv: is empty"


def test_the_reason_why_there_are_no_figures_shows_no_path(project):
    path = uploaded(project, b"age,sex\n31,f\n47,m\n")
    project.source = Source(path, NAME, uploaded=True)
    project._live._show(Figures(outlook=Outlook(problem=f"{path}: is damaged")))
    assert project.figures.outlook.problem == f"{NAME}: is damaged"


def test_a_study_that_fails_shows_no_path(project):
    class Failed:
        state, error, on_change = "failed", f"{project.workspace}/a.csv: is damaged", None

    async def body():
        async with user_simulation() as user:

            @ui.page("/")
            def page():
                watch(project, "risk", Run("Release 1", Guarantee(), project.workspace), str)

            project.start_job = lambda *_: Failed()
            project.studies.begin("risk", "Release 1", len)
            await user.open("/")
            await user.should_see("The temporary file: is damaged.")

    asyncio.run(body())
