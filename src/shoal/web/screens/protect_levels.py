"""Levels chosen by hand on the Protect screen: one level of its hierarchy for each column."""

from __future__ import annotations

from typing import Any

from nicegui import background_tasks, ui

from shoal.errors import ShoalError
from shoal.web.project.levels import METHOD, ColumnLevels, offer_levels, stated_levels, with_level
from shoal.web.project.project import Project
from shoal.web.project.topics import Topic
from shoal.web.screens.live import on_change
from shoal.web.screens.parts import card, named, notice, why
from shoal.web.text import protect as text

_SHARE = 0.05  # of the rows that may be left out, at first


def by_hand(project: Project) -> None:
    """Draw the switch and, if levels are chosen by hand, a choice for each column.

    Parameters:
        project: The state to draw.
    """
    with card(text.BY_HAND, text.BY_HAND_WHY):
        chosen = ui.switch(text.BY_HAND_SWITCH, value=stated_levels(project.guarantee) is not None)
        body = ui.element("div").classes("s-stack")
        drawn: list[Any] = [None]

        async def changed() -> None:
            if chosen.value and stated_levels(project.guarantee) is None:
                await _begin(project, body)
            elif not chosen.value and stated_levels(project.guarantee) is not None:
                project.promise(method="mondrian", options={})

        async def draw() -> None:
            stated = stated_levels(project.guarantee)
            drawn[0] = None if stated is None else sorted(stated)
            chosen.value = stated is not None
            body.clear()
            if stated is not None:
                await _choices(project, body)

        async def follow() -> None:
            stated = stated_levels(project.guarantee)
            if drawn[0] != (None if stated is None else sorted(stated)):
                await draw()

        chosen.on_value_change(changed)

        def promised() -> None:
            background_tasks.create(follow())

        on_change(project, body, promised, Topic.GUARANTEE)
        background_tasks.create(draw())


async def _offer(project: Project) -> Any:
    wanted = project.guarantee
    share = float(wanted.options.get("max_suppression", _SHARE))
    return await project.ask(offer_levels, project.table, str(wanted.model), share)


async def _begin(project: Project, body: ui.element) -> None:
    """Begin with levels that keep the promise."""
    with body:
        why(text.BY_HAND_WAIT)
    try:
        found = await _offer(project)
    except ShoalError as error:
        body.clear()
        with body:
            notice(str(error), "warn")
        return
    options = {"levels": dict(found.start), "max_suppression": _SHARE}
    project.promise(method=METHOD, options=options)


async def _choices(project: Project, body: ui.element) -> None:
    try:
        found = await _offer(project)
    except ShoalError as error:
        with body:
            notice(str(error), "warn")
        return
    stated = stated_levels(project.guarantee)
    if body.is_deleted or stated is None:
        return
    with body:
        why(text.BY_HAND_HINT)
        for column in found.columns:
            _column(project, column, min(stated.get(column.column, 0), column.height))


def _column(project: Project, column: ColumnLevels, level: int) -> None:
    with ui.element("div").classes("s-line"):
        ui.label(column.column).classes("s-name")
        words = {
            number: text.level(number, column.height, example)
            for number, example in enumerate(column.examples)
        }

        def changed(event: Any) -> None:
            options = with_level(project.guarantee.options, column.column, event.value)
            project.promise(options=options)

        select = ui.select(words, value=level, on_change=changed)
        select.props("outlined dense options-dense").classes("s-grow")
        named(select, f"{text.BY_HAND}: {column.column}")
