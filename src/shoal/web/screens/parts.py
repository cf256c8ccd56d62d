"""Parts that several screens use: cards, notices, headings, tables and messages.

Data never becomes markup here: it is set as text or as a property, not formatted into one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from shoal.web.project.source import Preview

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


def shown_error(action: Callable[[], Any]) -> Callable[[], None]:
    """Return an action that shows errors of the project as a message instead of failing.

    Parameters:
        action: What to do.
    """
    from shoal.errors import ShoalError

    def run() -> None:
        try:
            action()
        except ShoalError as error:
            ui.notify(str(error), type="negative", multi_line=True)

    return run
