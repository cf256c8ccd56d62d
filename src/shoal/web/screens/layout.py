"""The frame around the five screens: header, steps, content, and Back and Next."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from shoal.web.project.project import Project, Step, Topic
from shoal.web.screens import describe, group, open, protect, release, theme
from shoal.web.text import common as text

SCREENS: dict[Step, Callable[[Project], Any]] = {
    Step.OPEN: open.build,
    Step.DESCRIBE: describe.build,
    Step.GROUP: group.build,
    Step.PROTECT: protect.build,
    Step.RELEASE: release.build,
}
_WHY_NOT = {
    Step.DESCRIBE: text.NO_FILE,
    Step.GROUP: text.NO_QUASI,
    Step.PROTECT: text.NO_QUASI,
    Step.RELEASE: text.NO_RUN,
}


def register(project: Project) -> None:
    """Register the pages of the app: `/`, and one address for each step.

    Parameters:
        project: The state that all pages share.
    """

    def page() -> None:
        _page(project)

    for path in ("/", *(f"/{step}" for step in Step)):
        ui.page(path, title=text.PRODUCT)(page)


def go(step: Step) -> None:
    """Show a screen in this tab.

    Parameters:
        step: The screen.
    """
    ui.navigate.to(f"/{step}")


def live(project: Project, *topics: Topic) -> Callable[[Callable[[], None]], ui.element]:
    """Draw a part of a screen, and draw it again whenever one of the topics changes.

    What has the keyboard focus must not be inside such a part: it would lose the focus.

    Parameters:
        project: The state.
        topics: The changes that the part depends on.

    Returns:
        A decorator, which draws the part and returns its element.
    """

    def draw(build: Callable[[], None]) -> ui.element:
        part = ui.element("div").classes("w-full")
        on_change(project, part, build_again(part, build), *topics)
        with part:
            build()
        return part

    return draw


def build_again(part: ui.element, build: Callable[[], None]) -> Callable[[], None]:
    """Return a function that clears an element and draws its content again."""

    def again() -> None:
        part.clear()
        with part:
            build()

    return again


def on_change(
    project: Project, part: ui.element, callback: Callable[[], None], *topics: Topic
) -> None:
    """Call a function after changes of a project, as long as an element is on the page.

    Parameters:
        project: The state.
        part: The element.
        callback: The function.
        topics: The changes to report; by default all.
    """

    def changed(topic: Topic) -> None:
        if part.is_deleted or part.client._deleted:
            stop()
        elif not topics or topic in topics:
            callback()

    stop = project.subscribe(changed)


def _page(project: Project) -> None:
    theme.apply()
    ui.dark_mode(None)
    ui.link(text.SKIP, "#content").classes("s-skip")
    routes = {f"/{step}": partial(_screen, project, step) for step in Step}
    ui.sub_pages({"/": routes[f"/{Step.OPEN}"], **routes}).classes("w-full")


def _screen(project: Project, step: Step) -> None:
    """Draw the whole page of a step; without what it needs, the first step that is missing."""
    while not project.is_ready(step):
        step = list(Step)[list(Step).index(step) - 1]
    ui.page_title(text.page_title(step))
    live(project, Topic.SOURCE, Topic.COLUMNS, Topic.RUNS)(lambda: _head(project, step))
    with ui.element("main").classes("s-main") as main:
        main.props["id"] = "content"
        main.props["tabindex"] = -1
        SCREENS[step](project)
    live(project, Topic.SOURCE, Topic.COLUMNS, Topic.RUNS)(lambda: _foot(project, step))


def _head(project: Project, step: Step) -> None:
    with ui.element("header").classes("s-head"), ui.element("div").classes("s-head-in"):
        with ui.element("div").classes("s-brand"):
            ui.label(text.PRODUCT)
        with ui.element("div").classes("s-local"):
            ui.icon("lock", size="16px").props("aria-hidden=true")
            ui.label(text.LOCAL)
        with ui.element("nav").classes("w-full") as steps:
            steps.props["aria-label"] = text.STEPS_LABEL
            with ui.element("ol").classes("s-steps"):
                for number, each in enumerate(Step, start=1):
                    _step(project, number, each, step)


def _step(project: Project, number: int, step: Step, current: Step) -> None:
    ready = project.is_ready(step)
    name, purpose = text.STEPS[step]
    with ui.element("li").classes("s-step"), ui.element("button").classes("s-step-link") as link:
        link.props["type"] = "button"
        link.props["aria-label"] = text.step_label(number, step)
        if step is current:
            link.props["aria-current"] = "step"
        if ready:
            link.on("click", lambda: go(step))
        else:
            link.props["aria-disabled"] = "true"
        done = list(Step).index(step) < list(Step).index(current)
        with ui.element("span").classes("s-step-no" + (" s-done" if done else "")):
            ui.label(str(number))
        with ui.element("span"):
            ui.label(name).classes("s-step-name")
            ui.label(purpose).classes("s-step-for")


def _foot(project: Project, step: Step) -> None:
    steps = list(Step)
    place = steps.index(step)
    with ui.element("footer").classes("s-foot"), ui.element("div").classes("s-foot-in"):
        if place:
            ui.button(text.BACK, on_click=lambda: go(steps[place - 1])).props("flat")
        ui.element("div").classes("s-grow")
        if place + 1 < len(steps):
            following = steps[place + 1]
            button = ui.button(text.NEXT, on_click=lambda: go(following))
            if not project.is_ready(following):
                button.disable()
                ui.label(_WHY_NOT[following]).classes("s-small")
