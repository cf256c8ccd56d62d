"""Why a step is not open yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.web.text import obstacles as text

if TYPE_CHECKING:
    from shoal.web.project.project import Project


def obstacle_to(project: Project, step: str) -> str:
    """Return why a screen is not open yet, in one sentence; empty if it is.

    Open is always open; the others need a file, Group values and Protect also a quasi-identifier,
    and Release a release.

    Parameters:
        project: The project.
        step: The screen.
    """
    if step == "open":
        return ""
    if project.source is None or not len(project.columns):
        if project.busy:
            return text.READING
        return text.NOT_READ if project.source is not None else text.NO_FILE
    if project.source.asks_for_person:
        return text.NO_PERSON
    if step == "describe":
        return ""
    if step == "release" and not project.runs:
        return text.NO_RUN
    if not project.columns.quasi:
        return text.NO_QUASI
    if project.columns.need_key and not (project.key_file and project.domain):
        return text.NO_KEY
    return ""
