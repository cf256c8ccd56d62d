"""Differential privacy as a sentence: its numbers, and what must be declared for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.web.project.column_roles import ColumnInfo
from shoal.web.project.feedback import STARTS, bounds_of, undeclared_columns, values_of
from shoal.web.project.guarantee import PRIVATE
from shoal.web.project.project import Project
from shoal.web.project.topics import Topic
from shoal.web.screens.parts import card, heading, live, named, notice, on_change, why
from shoal.web.text import protect as text


def differential_privacy(project: Project) -> None:
    """Draw the card that adds differential privacy to the promise.

    Parameters:
        project: The state to draw.
    """
    with card(text.DRAW_TITLE, text.DRAW_LEAD):
        chosen = ui.switch(text.SWITCH, value=project.guarantee.method == PRIVATE)

        def changed() -> None:
            if chosen.value and project.guarantee.method != PRIVATE:
                project.promise(method=PRIVATE, options=dict(STARTS))
            elif not chosen.value and project.guarantee.method == PRIVATE:
                project.promise(method="mondrian", options={}, public_groups=False)

        chosen.on_value_change(changed)
        body = ui.element("div").classes("s-stack")
        drawn = [False]

        def draw() -> None:
            drawn[0] = project.guarantee.method == PRIVATE
            body.clear()
            if drawn[0]:
                with body:
                    _numbers(project)
                    live(project, Topic.COLUMNS)(lambda: _declarations(project))

        def follow() -> None:  # the method may be chosen under Advanced, too
            if drawn[0] != (project.guarantee.method == PRIVATE):
                chosen.value = project.guarantee.method == PRIVATE
                draw()

        on_change(project, body, follow, Topic.GUARANTEE)
        draw()


def _numbers(project: Project) -> None:
    for name, (before, after, label, reason) in text.NUMBERS.items():
        with ui.element("div").classes("s-promise"):
            with ui.element("div").classes("s-sentence"):
                ui.label(before)
                value = project.guarantee.options.get(name, STARTS[name])
                field = ui.number(value=value, min=0).classes("s-number s-wide")
                named(field.props("outlined dense debounce=300"), label)
                ui.label(after)
                field.on_value_change(_setter(project, name))
            why(reason)


def _setter(project: Project, name: str) -> Callable[[Any], None]:
    def changed(event: Any) -> None:
        if event.value:
            project.promise(options={**project.guarantee.options, name: event.value})

    return changed


def _declarations(project: Project) -> None:
    heading(3, text.DECLARE)
    why(text.DECLARE_WHY)
    for column in undeclared_columns(project):
        with ui.element("div").classes("s-line"):
            ui.label(column.name).classes("s-name")
            _bounds(project, column) if column.kind == "numeric" else _values(project, column)
    if not undeclared_columns(project):
        notice(text.DECLARED, "good")
    ui.switch(
        text.GROUPS,
        value=project.guarantee.public_groups,
        on_change=lambda event: project.promise(public_groups=event.value),
    )
    why(text.GROUPS_WHY)


def _bounds(project: Project, column: ColumnInfo) -> None:
    with ui.element("div").classes("s-row"):
        low = ui.input(text.LEAST).props("outlined dense").classes("s-wide")
        high = ui.input(text.GREATEST).props("outlined dense").classes("s-wide")
    named(low, f"{text.LEAST}: {column.name}")
    named(high, f"{text.GREATEST}: {column.name}")

    def state() -> None:
        stated = bounds_of(column, low.value or "", high.value or "")
        if stated is None:
            ui.notify(text.NOT_BOUNDS, type="warning")
        else:
            project.change_columns([column.name], declared=stated)

    button = ui.button(text.STATE, on_click=state).props("outline dense no-caps")
    named(button, f"{text.STATE}: {column.name}")


def _values(project: Project, column: ColumnInfo) -> None:
    listed = ui.input(text.VALUES).props("outlined dense").classes("w-full")
    named(listed, f"{text.VALUES}: {column.name}")

    def state() -> None:
        stated = values_of(listed.value or "")
        if stated is None:
            ui.notify(text.NO_VALUES, type="warning")
        else:
            project.change_columns([column.name], declared=stated)

    button = ui.button(text.STATE, on_click=state).props("outline dense no-caps")
    named(button, f"{text.STATE}: {column.name}")
