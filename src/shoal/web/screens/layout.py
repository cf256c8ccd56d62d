"""The frame around the five screens: header with Save, steps, content, and Back and Next."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.project import saving
from shoal.web.project.project import Project
from shoal.web.project.runs import Run
from shoal.web.project.topics import Step, Topic
from shoal.web.screens import describe, group, open, protect, release
from shoal.web.screens.parts import dialog, icon, live, named, progress, why
from shoal.web.text import common as text

SCREENS: dict[Step, Callable[[Project], Any]] = {
    Step.OPEN: open.build,
    Step.DESCRIBE: describe.build,
    Step.GROUP: group.build,
    Step.PROTECT: protect.build,
    Step.RELEASE: release.build,
}
_STEPS = list(Step)
_SHOWN_ICONS = {None: "brightness_auto", False: "light_mode", True: "dark_mode"}
_FOLLOWING = {None: False, False: True, True: None}  # the order of the button


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


def _page(project: Project) -> None:
    apply()
    live(project, Topic.THEME)(partial(_follow_theme, project))
    ui.link(text.SKIP, "#content").classes("s-skip")
    routes = {f"/{step}": partial(_screen, project, step) for step in Step}
    ui.sub_pages({"/": routes[f"/{Step.OPEN}"], **routes}).classes("w-full")


def _follow_theme(project: Project) -> None:
    ui.dark_mode(project.dark)


def _screen(project: Project, step: Step) -> None:
    """Draw the whole page of a step; without what it needs, the first step that is missing."""
    # an address of a later screen may be opened before its step is ready
    while not project.is_ready(step):
        step = _STEPS[_STEPS.index(step) - 1]
    ui.page_title(text.page_title(step))
    _head(project, step)
    with ui.element("main").classes("s-main") as main:
        main.props["id"] = "content"
        main.props["tabindex"] = -1
        SCREENS[step](project)
    with ui.element("footer").classes("s-foot"), ui.element("div").classes("s-foot-in"):
        if step is not Step.OPEN:
            before = _STEPS[_STEPS.index(step) - 1]
            ui.button(text.BACK, on_click=lambda: go(before)).props("flat no-caps")
        ui.element("div").classes("s-grow")
        live(project, Topic.SOURCE, Topic.COLUMNS, Topic.RUNS)(lambda: _onward(project, step))


def _head(project: Project, step: Step) -> None:
    with ui.element("header").classes("s-head"), ui.element("div").classes("s-head-in"):
        with ui.element("div").classes("s-brand"):
            icon("waves", "24px").classes("s-accent")
            ui.label(text.PRODUCT)
        with ui.element("div").classes("s-local"):
            icon("lock", "16px")
            ui.label(text.LOCAL)
        ui.element("div").classes("s-grow")
        live(project, Topic.SOURCE, Topic.SAVED, Topic.THEME)(lambda: _tools(project))
        live(project, Topic.SOURCE, Topic.COLUMNS, Topic.RUNS)(lambda: _steps(project, step))


def _tools(project: Project) -> None:
    with ui.element("div").classes("s-tools"):
        if project.source is not None:
            _save_button(project)

        def change() -> None:
            project.dark = _FOLLOWING[project.dark]
            project.touch(Topic.THEME)

        button = ui.button(icon=_SHOWN_ICONS[project.dark], on_click=change)
        named(button.props("flat round dense"), text.THEMES[project.dark])
        button.tooltip(text.THEMES[project.dark])


def _save_button(project: Project) -> None:
    """Draw the button that saves the project; the first time it asks where."""
    with dialog(text.SAVE_TITLE) as window:
        why(text.SAVE_LEAD)
        stem = project.source.stem if project.source is not None else "project"
        folder = ui.input(text.FOLDER, value=str(project.folder or saving.home() / stem))
        folder.props("outlined dense").classes("w-full")
        data = ui.switch(text.WITH_DATA)
        why(text.WITH_DATA_WHY)

        def save() -> None:
            try:
                path = Path(folder.value or "").expanduser()
                saving.save(project, path, with_data=bool(data.value))
            except ShoalError as error:
                ui.notify(str(error), type="negative", multi_line=True)
                return
            window.close()
            ui.notify(text.saved(path.name), type="positive")

        with ui.element("div").classes("s-row s-end"):
            ui.button(text.CANCEL, on_click=window.close).props("flat no-caps")
            ui.button(text.SAVE, on_click=save).props("no-caps unelevated")
    label = text.SAVE if project.folder is None else text.saved(project.folder.name)
    ui.button(label, on_click=window.open).props("flat no-caps icon=save")


def _steps(project: Project, current: Step) -> None:
    with ui.element("nav").classes("w-full") as steps:
        steps.props["aria-label"] = text.STEPS_LABEL
        with ui.element("ol").classes("s-steps"):
            for number, step in enumerate(Step, start=1):
                _step(project, number, step, current)


def _step(project: Project, number: int, step: Step, current: Step) -> None:
    name, purpose = text.STEPS[step]
    with ui.element("li").classes("s-step"), ui.element("button").classes("s-step-link") as link:
        link.props["type"] = "button"
        link.props["aria-label"] = text.step_label(number, step)
        if step is current:
            link.props["aria-current"] = "step"
        if project.is_ready(step):
            link.on("click", lambda: go(step))
        else:
            link.props["aria-disabled"] = "true"
        done = _STEPS.index(step) < _STEPS.index(current)
        with ui.element("span").classes("s-step-no" + (" s-done" if done else "")):
            ui.label(str(number))
        with ui.element("span").classes("s-step-words"):
            ui.label(name).classes("s-step-name")
            ui.label(purpose).classes("s-step-for")


def _onward(project: Project, step: Step) -> None:
    """Draw the button that leads on, and why it does not, if it does not."""
    with ui.element("div").classes("s-onward"):
        if step is Step.RELEASE:
            return
        if step is Step.PROTECT:
            _create(project)
            return
        following = _STEPS[_STEPS.index(step) + 1]
        obstacle = project.obstacle(following)
        if obstacle:
            ui.label(obstacle).classes("s-small")
        button = ui.button(text.NEXT, on_click=lambda: go(following))
        button.props("no-caps unelevated icon-right=arrow_forward")
        button.set_enabled(not obstacle)


def _create(project: Project) -> None:
    running = next((run for run in project.runs if run.state == "running"), None)
    if running is not None:
        _progress(project, running)
        return
    obstacle = project.obstacle(Step.PROTECT)
    if obstacle:
        ui.label(obstacle).classes("s-small")
    if project.runs:
        ui.button(text.RELEASES, on_click=lambda: go(Step.RELEASE)).props("flat no-caps")

    def create() -> None:
        try:
            project.start_run(project.run_name)
            project.run_name = ""
        except ShoalError as error:
            ui.notify(project.shown(str(error)), type="negative", multi_line=True)

    button = ui.button(text.CREATE, on_click=create)
    button.props("no-caps unelevated icon-right=arrow_forward")
    button.set_enabled(not obstacle)


def _progress(project: Project, run: Run) -> None:
    """Draw how far a release is, and the button that cancels it."""
    with ui.element("div").classes("s-progress") as part:
        part.props["role"] = "status"
        progress(project, run, text.CREATING)
    cancel = run.job.cancel if run.job is not None else lambda: None
    ui.button(text.CANCEL, on_click=cancel).props("outline no-caps")


ACCENT = "#0b6684"
STYLES = sorted(Path(__file__).parent.glob("*.css"), key=lambda path: path.stem != "shoal")
_SCRIPTS = [
    Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("page.js", "points.js")
]


def apply() -> None:
    """Add the colours and styles to the current page."""
    ui.colors(primary=ACCENT, dark="#141c28", dark_page="#0d131c")
    for style in STYLES:
        ui.add_css(style)
    for script in _SCRIPTS:
        ui.add_head_html(f"<script>{script}</script>")
