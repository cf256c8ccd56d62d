"""What to expect: the live figures of the table as it is and of the release."""

from __future__ import annotations

from nicegui import ui

from shoal.web.project.project import Project
from shoal.web.screens.parts import figure, heading, notice
from shoal.web.text import protect as text


def expectations(project: Project) -> None:
    """Draw the live figures.

    Parameters:
        project: The state to draw.
    """
    groups, outlook = project.figures.groups, project.figures.outlook
    with ui.element("div").classes("s-stack") as part:
        part.props["role"] = "status"
        heading(3, text.NOW)
        if groups is None:
            ui.label(text.COUNTING).classes("s-small")
        else:
            with ui.element("div").classes("s-figures"):
                figure(f"{groups.smallest:,}", text.smallest(groups.smallest))
                figure(
                    f"{groups.at_risk:,}",
                    text.at_risk(groups.at_risk),
                    text.of_people(groups.people),
                )
        at_levels = project.figures.levels
        if at_levels is not None:
            heading(3, text.AT_LEVELS)
            with ui.element("div").classes("s-figures"):
                figure(f"{at_levels.smallest:,}", text.smallest(at_levels.smallest))
                figure(f"{at_levels.at_risk:,}", text.at_risk(at_levels.at_risk), text.LEFT_OUT_WHY)
        heading(3, text.AFTER)
        if outlook is None:
            ui.label(text.ESTIMATING).classes("s-small")
        elif outlook.problem:
            notice(outlook.problem, "warn")
        elif outlook.note:
            notice(outlook.note)
        else:
            with ui.element("div").classes("s-figures"):
                figure(f"{outlook.smallest:,}", text.smallest(outlook.smallest))
                rest = text.others(outlook.generalized, outlook.hidden)
                figure(text.percent(outlook.kept), text.KEPT, rest)
            said = text.exact if outlook.exact else text.estimate
            ui.label(said(outlook.rows)).classes("s-small")
