"""Two elements of the screen Group values: the table of values, and a button for a small file."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from shoal.web.project.hierarchies import HierarchyEditor
from shoal.web.project.value_pages import Page
from shoal.web.text import group as text

MAX_FILE = 2_500_000  # bytes of an imported hierarchy

Arguments = dict[str, Any]


class GroupTable(Element, component="group_table.js"):
    """Values as rows and levels as columns.

    Parameters:
        on: A function for each event: `tick`, `rename`, `remove-level`, `add-level`, `undo`,
            `redo`. It takes the arguments of the event.
    """

    def __init__(self, on: dict[str, Callable[[Arguments], object]]) -> None:
        super().__init__()
        self._props["rows"] = []
        self._props["levels"] = []
        self._props["words"] = dict(text.TABLE)
        for event, handler in on.items():
            self.on(event, _with_arguments(handler))

    def show(self, editor: HierarchyEditor, page: Page, least: int) -> None:
        """Show a page of values.

        Parameters:
            editor: The editor of the column.
            page: The page.
            least: Groups with fewer rows are marked.
        """
        self._props["rows"] = [
            {
                "row": row.row,
                "value": row.value,
                "count": text.rows(row.rows),
                "labels": list(row.labels),
                "grouped": list(row.grouped),
                "ticked": row.ticked,
                "own": row.own,
            }
            for row in page.rows
        ]
        self._props["levels"] = [
            {
                "title": text.level_title(level.level),
                "groups": text.groups(level.level, level.groups),
                "smallest": text.smallest(level.smallest),
                "low": level.smallest < least,
                "remove": text.remove_level(level.level),
            }
            for level in editor.levels()
        ]
        self.update()


class FilePicker(Element, component="file_picker.js"):
    """A button that reads one small file.

    Parameters:
        label: The text of the button.
        on_file: Takes the name and the bytes of the file.
        on_refused: Called if the file is too large.
    """

    def __init__(
        self,
        label: str,
        on_file: Callable[[str, bytes], None],
        on_refused: Callable[[], None],
        accept: str = ".csv,.txt",
    ) -> None:
        super().__init__()
        self._props["label"] = label
        self._props["accept"] = accept
        self._props["limit"] = MAX_FILE

        def picked(arguments: Arguments) -> None:
            try:
                content = base64.b64decode(str(arguments.get("content", "")), validate=True)
            except (binascii.Error, ValueError):
                content = b""
            if len(content) > MAX_FILE:
                on_refused()
            else:
                on_file(str(arguments.get("name", "")), content)

        self.on("picked", _with_arguments(picked))
        self.on("refused", lambda _: on_refused())


def _with_arguments(
    handler: Callable[[Arguments], object],
) -> Callable[[GenericEventArguments], None]:
    def handle(event: GenericEventArguments) -> None:
        handler(event.args if isinstance(event.args, dict) else {})

    return handle
