"""Levels chosen by hand on the Protect screen: one level of its hierarchy for each column."""

from __future__ import annotations

from collections.abc import Callable
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
        drawn: list[list[str] | None] = [None]  # the columns whose choices are drawn

        async def changed() -> None:
            if chosen.value and stated_levels(project.guarantee) is None:
                await _begin(project, body, lambda: bool(chosen.value))
            elif not chosen.value and stated_levels(project.guarantee) is not None:
                project.promise(method="mondrian", options={})

        def follow() -> None:
            columns = _stated_columns(project)
            if drawn[0] == columns:
                return
            drawn[0] = columns
            chosen.value = columns is not None
            body.clear()
            if columns is not None:
                background_tasks.create(_choices(project, body, lambda: drawn[0] is columns))

        chosen.on_value_change(changed)
        on_change(project, body, follow, Topic.GUARANTEE)
        follow()


def _stated_columns(project: Project) -> list[str] | None:
    stated = stated_levels(project.guarantee)
    return None if stated is None else sorted(stated)


async def _offer(project: Project) -> Any:
    wanted = project.guarantee
    share = float(wanted.options.get("max_suppression", _SHARE))
    return await project.ask(offer_levels, project.table, str(wanted.model), share)


async def _begin(project: Project, body: ui.element, is_wanted: Callable[[], bool]) -> None:
    """Begin with levels that keep the promise, if they are still wanted once they are found."""
    with body:
        why(text.BY_HAND_WAIT)
    try:
        found = await _offer(project)
    except ShoalError as error:
        body.clear()
        with body:
            notice(str(error), "warn")
        return
    if is_wanted():
        options = {"levels": dict(found.start), "max_suppression": _SHARE}
        project.promise(method=METHOD, options=options)
    elif not body.is_deleted:
        body.clear()


async def _choices(project: Project, body: ui.element, is_wanted: Callable[[], bool]) -> None:
    """Draw a choice for each column, unless other choices have replaced these meanwhile."""
    try:
        found = await _offer(project)
    except ShoalError as error:
        if is_wanted() and not body.is_deleted:
            with body:
                notice(str(error), "warn")
        return
    stated = stated_levels(project.guarantee)
    if body.is_deleted or stated is None or not is_wanted():
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
