"""The screen of the step `group`."""

from __future__ import annotations

from nicegui import ui

from shoal.web.project.project import Project
from shoal.web.text import common


def build(project: Project) -> None:
    """Draw the screen.

    Parameters:
        project: The state to draw.
    """
    ui.label(common.STEPS["group"][1])
