"""Parts that several screens use: cards, notices, tables, dialogs, progress and studies.

Data never becomes markup here: it is set as text or as a property, not formatted into one. `live`
draws a part again whenever a topic of the project changes; `on_change` updates it in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from nicegui import ui

from shoal.web.project.opening import Preview
from shoal.web.project.project import Project
from shoal.web.project.runs import Run
from shoal.web.project.studies import Study
from shoal.web.project.topics import Topic
from shoal.web.text import release as text
from shoal.web.text.common import sentence

_ICONS = {"": "info", "good": "check_circle", "warn": "warning", "bad": "error"}


def heading(level: int, text: str) -> ui.element:
    """Draw a heading.

    Parameters:
        level: 1 for the title of a screen, 2 for a card, 3 below it.
        text: The text.
    """
    element = ui.element(f"h{level}")
    with element:
        ui.label(text)
    return element


def intro(title: str, lead: str) -> None:
    """Draw the title of a screen and what it is for.

    Parameters:
        title: The title.
        lead: One or two sentences.
    """
    with ui.element("div").classes("s-intro"):
        heading(1, title)
        ui.label(lead).classes("s-lead")


def why(text: str) -> ui.label:
    """Draw the sentence that explains a choice.

    Parameters:
        text: The sentence.
    """
    return ui.label(text).classes("s-why")


@contextmanager
def card(title: str = "", lead: str = "") -> Iterator[ui.element]:
    """Draw a card around the content of the block.

    Parameters:
        title: Its heading.
        lead: A sentence below the heading.
    """
    with ui.element("section").classes("s-card") as element:
        if title:
            with ui.element("div").classes("s-card-head"):
                heading(2, title)
                if lead:
                    why(lead)
        if title:
            element.props["aria-label"] = title
        yield element


def notice(text: str, kind: str = "", action: str = "", on_action: Any = None) -> ui.element:
    """Draw a message with an icon, and a button if there is something to do.

    Parameters:
        text: The message.
        kind: Empty, `good`, `warn` or `bad`.
        action: The text of the button.
        on_action: What the button does.
    """
    with ui.element("div").classes(f"s-notice {f's-{kind}' if kind else ''}") as element:
        element.props["role"] = "alert" if kind == "bad" else "status"
        icon(_ICONS[kind])
        ui.label(text).classes("s-grow")
        if action:
            ui.button(action, on_click=on_action).props("flat dense no-caps")
    return element


def icon(name: str, size: str = "20px") -> ui.icon:
    """Draw an icon that screen readers ignore.

    Parameters:
        name: Its name.
        size: Its size.
    """
    return ui.icon(name, size=size).props("aria-hidden=true")


def named(element: Any, label: str) -> Any:
    """Give a control its accessible name.

    Parameters:
        element: The control.
        label: The name.

    Returns:
        The control.
    """
    element.props["aria-label"] = label
    return element


def figure(value: str, label: str, detail: str = "") -> None:
    """Draw one large figure with its meaning.

    Parameters:
        value: The figure.
        label: What it counts.
        detail: A remark below it.
    """
    with ui.element("div").classes("s-figure"):
        ui.label(value).classes("s-figure-value")
        ui.label(label).classes("s-figure-label")
        if detail:
            ui.label(detail).classes("s-small")


def preview_table(preview: Preview, label: str, rows: int | None = None) -> ui.table:
    """Draw the first rows of the file; many rows scroll without being drawn all at once.

    Parameters:
        preview: The rows.
        label: The accessible name of the table.
        rows: How many rows to show, by default all of the preview.
    """
    columns = [
        {"name": f"c{i}", "field": f"c{i}", "label": name, "align": "left"}
        for i, name in enumerate(preview.names)
    ]
    shown = [
        {"id": number, **{f"c{i}": cell for i, cell in enumerate(row)}}
        for number, row in enumerate(preview.rows[:rows])
    ]
    table = ui.table(columns=columns, rows=shown, row_key="id").classes("s-table w-full")
    table.props("flat dense virtual-scroll hide-pagination :rows-per-page-options=[0]")
    table.props["aria-label"] = label
    if rows is None:
        table.classes("s-table-tall")
    return table


@contextmanager
def dialog(title: str) -> Iterator[ui.dialog]:
    """Draw a dialog with a heading; `open` shows it.

    Parameters:
        title: Its heading and accessible name.
    """
    with ui.dialog() as element, ui.element("div").classes("s-card s-dialog"):
        element.props["aria-label"] = title
        heading(2, title)
        yield element


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
        # a tab that was closed leaves its elements behind: stop listening with the first change
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


def study_folder(project: Project, run: Run) -> Path:
    """Return the private folder for studies of a release.

    Parameters:
        project: The state.
        run: The release.
    """
    return project.workspace / "studies" / run.folder.name


def watch(project: Project, kind: str, run: Run, draw: Callable[[Study | None], None]) -> None:
    """Draw a study: its progress with Cancel while it runs, and then its result.

    Progress moves in place; only a study that begins or ends is drawn again.

    Parameters:
        project: The state.
        kind: What is studied.
        run: The release.
        draw: Draws a study that is not running; None if there is none.
    """
    part = ui.element("div").classes("w-full s-stack")
    drawn: list[Any] = []
    move: list[Callable[[], None]] = []

    def refresh() -> None:
        study = project.studies[kind, run.name]
        # what is drawn again loses the focus, so progress only moves the bar
        seen = [study, None if study is None else study.state]
        if drawn == seen:
            for each in move:
                each()
            return
        drawn[:] = seen
        move.clear()
        part.clear()
        with part:
            if study is not None and study.state == "running":
                move.append(_running(study))
            else:
                _ended(project, study)
                draw(study)

    on_change(project, part, refresh, Topic.STUDIES)
    refresh()


def _running(study: Study) -> Callable[[], None]:
    """Draw a running study; the returned function moves its progress."""
    with ui.element("div").classes("s-running").props("role=status"):
        with ui.element("div").classes("s-grow"):
            said = ui.label().classes("s-small")
            bar = named(ui.linear_progress(0, show_value=False, size="6px"), text.WORKING)
        ui.button(text.CANCEL, on_click=study.job.cancel).props("outline dense no-caps")

    def move() -> None:
        doing = study.job.text
        said.set_text(doing[:1].upper() + doing[1:] or text.WORKING)
        share = study.job.fraction
        bar.props("rounded indeterminate" if share is None else "rounded")
        if share is not None:
            bar.props(remove="indeterminate")
            bar.set_value(share)

    move()
    return move


def _ended(project: Project, study: Study | None) -> None:
    """Draw why a study has no result."""
    if study is None or study.state == "done":
        return
    if study.state == "cancelled":
        notice(text.CANCELLED_WORK)
    else:
        notice(sentence(project.shown(study.job.error)), "bad")


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
                    cell.classes("s-num" if place in numbers else "")
                    ui.label(head)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for place, content in enumerate(row):
                        tag = ui.element("th" if place == 0 else "td")
                        tag.classes("s-num" if place in numbers else "")
                        if place == 0:
                            tag.props("scope=row")
                        with tag:
                            content() if callable(content) else ui.label(content)
    return box
