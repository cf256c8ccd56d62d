"""Parts of the studies of a release: a running study with Cancel, tables of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nicegui import ui

from shoal.web.project.project import Project
from shoal.web.project.runs import Run
from shoal.web.project.study_runs import Study
from shoal.web.project.topics import Topic
from shoal.web.screens.live import on_change
from shoal.web.screens.parts import named, notice
from shoal.web.text import release as text
from shoal.web.text.common import sentence


def study_folder(project: Project, run: Run) -> Path:
    """Return the private folder for studies of a release.

    Parameters:
        project: The state.
        run: The release.
    """
    return project.workspace / "studies" / run.folder.name


def watch(project: Project, kind: str, run: Run, draw: Callable[[Study | None], None]) -> None:
    """Draw a study: its progress with Cancel while it runs, and then its result.

    Progress moves in place; only a study that begins or ends is drawn again.

    Parameters:
        project: The state.
        kind: What is studied.
        run: The release.
        draw: Draws a study that is not running; None if there is none.
    """
    part = ui.element("div").classes("w-full s-stack")
    drawn: list[Any] = []
    move: list[Callable[[], None]] = []

    def refresh() -> None:
        study = project.studies[kind, run.name]
        seen = [study, None if study is None else study.state]
        if drawn == seen:
            for each in move:
                each()
            return
        drawn[:] = seen
        move.clear()
        part.clear()
        with part:
            if study is not None and study.state == "running":
                move.append(_running(study))
            else:
                _ended(project, study)
                draw(study)

    on_change(project, part, refresh, Topic.STUDIES)
    refresh()


def _running(study: Study) -> Callable[[], None]:
    """Draw a running study; the returned function moves its progress."""
    with ui.element("div").classes("s-running").props("role=status"):
        with ui.element("div").classes("s-grow"):
            said = ui.label().classes("s-small")
            bar = named(ui.linear_progress(0, show_value=False, size="6px"), text.WORKING)
        ui.button(text.CANCEL, on_click=study.job.cancel).props("outline dense no-caps")

    def move() -> None:
        doing = study.job.text
        said.set_text(doing[:1].upper() + doing[1:] or text.WORKING)
        share = study.job.fraction
        bar.props("rounded indeterminate" if share is None else "rounded")
        if share is not None:
            bar.props(remove="indeterminate")
            bar.set_value(share)

    move()
    return move


def _ended(project: Project, study: Study | None) -> None:
    """Draw why a study has no result."""
    if study is None or study.state == "done":
        return
    if study.state == "cancelled":
        notice(text.CANCELLED_WORK)
    else:
        notice(sentence(project.shown(study.job.error)), "bad")


def table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str | Callable[[], Any]]],
    *,
    hide_caption: bool = True,
    numbers: Sequence[int] = (),
) -> ui.element:
    """Draw a table of texts; a cell may be a function that draws its content.

    Parameters:
        caption: What the table shows.
        heads: The titles of the columns.
        rows: The cells; the first cell of a row is its head.
        hide_caption: Whether only screen readers get the caption.
        numbers: Positions of columns that are aligned to the right.
    """
    box = ui.element("div").classes("s-plain").props("role=region tabindex=0")
    named(box, caption)
    with box, ui.element("table"):
        with ui.element("caption").classes("s-hidden" if hide_caption else "s-small"):
            ui.label(caption)
        with ui.element("thead"), ui.element("tr"):
            for place, head in enumerate(heads):
                with ui.element("th").props("scope=col") as cell:
                    cell.classes("s-num" if place in numbers else "")
                    ui.label(head)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for place, content in enumerate(row):
                        tag = ui.element("th" if place == 0 else "td")
                        tag.classes("s-num" if place in numbers else "")
                        if place == 0:
                            tag.props("scope=row")
                        with tag:
                            content() if callable(content) else ui.label(content)
    return box
