"""Parts of a page that are drawn again when the project changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from nicegui import ui

from shoal.web.project.project import Project
from shoal.web.project.topics import Topic


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
        part = ui.element("div").classes("s-live")

        def again() -> None:
            part.clear()
            with part:
                build()

        on_change(project, part, again, *topics)
        with part:
            build()
        return part

    return draw


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
        if part.is_deleted or part.client.id not in part.client.instances:
            stop()
        elif not topics or topic in topics:
            callback()

    stop = project.subscribe(changed)


class Work(Protocol):
    """Something that runs: a release or a job."""

    fraction: float | None
    text: str


def progress(project: Project, work: Work, words: str) -> None:
    """Draw how far work is; only the bar and its text change, so that buttons beside it stay.

    Parameters:
        project: The state.
        work: The release or job.
        words: What to say until the work reports something, and the name of the bar.
    """
    label = ui.label().classes("s-small")
    bar = ui.linear_progress(show_value=False, size="6px").props("rounded")
    bar.props["aria-label"] = words

    def update() -> None:
        label.text = work.text or words
        bar.value = work.fraction or 0.0
        bar.props["indeterminate"] = work.fraction is None

    on_change(project, bar, update, Topic.PROGRESS)
    update()
