"""Parts of the studies of a release: a running study with Cancel, tables of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nicegui import ui

from shoal.web.project.project import Project
from shoal.web.project.runs import Run
from shoal.web.project.study_runs import Study
from shoal.web.screens.parts import named, notice
from shoal.web.text import release as text


def study_folder(project: Project, run: Run) -> Path:
    """Return the private folder for studies of a release.

    Parameters:
        project: The state.
        run: The release.
    """
    return project.workspace / "studies" / run.folder.name


def running(study: Study) -> None:
    """Draw a running study: what it does, how far it is, and Cancel.

    Parameters:
        study: The study.
    """
    with ui.element("div").classes("s-running").props("role=status"):
        with ui.element("div").classes("s-grow"):
            ui.label(study.job.text or text.WORKING).classes("s-small")
            share = study.job.fraction
            bar = ui.linear_progress(share or 0, show_value=False, size="6px")
            bar.props("rounded" if share is not None else "rounded indeterminate")
            named(bar, text.WORKING)
        ui.button(text.CANCEL, on_click=study.job.cancel).props("outline dense")


def ended(study: Study | None) -> bool:
    """Draw why a study has no result; return whether there was something to draw.

    Parameters:
        study: The study, None if there is none.
    """
    if study is None or study.state in ("done", "running"):
        return False
    if study.state == "cancelled":
        notice(text.CANCELLED_WORK)
    else:
        notice(_sentence(study.job.error), "bad")
    return True


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
                    cell.classes("s-number" if place in numbers else "")
                    ui.label(head)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for place, content in enumerate(row):
                        tag = ui.element("th" if place == 0 else "td")
                        tag.classes("s-number" if place in numbers else "")
                        if place == 0:
                            tag.props("scope=row")
                        with tag:
                            content() if callable(content) else ui.label(content)
    return box


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]
