"""The dialogs of the screen Group values, its table of values, and a button for a small file."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nicegui import ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from shoal.errors import ShoalError
from shoal.table.hierarchy import Hierarchy
from shoal.web.project.editors import BY_NAME, RecipeForm, recipe_of, suitable, texts_of
from shoal.web.project.grouping import Page
from shoal.web.project.hierarchies import HierarchyEditor
from shoal.web.screens import parts
from shoal.web.text import group as text
from shoal.web.text.common import sentence

Done = Callable[[], None]
_MAX_SHOWN = 12  # values that an import lacks


def ask_name(editor: HierarchyEditor, level: int, label: str, done: Done) -> None:
    """Ask for a new name of a group.

    Parameters:
        editor: The editor of the column.
        level: The level of the group.
        label: Its present name.
        done: Called after it was renamed.
    """
    with parts.dialog(text.RENAME_TITLE) as dialog:
        name = (
            ui.input(text.RENAME_LABEL, value=label).props("outlined autofocus").classes("w-full")
        )
        problem = _problem()

        def rename() -> None:
            try:
                editor.rename(level, label, str(name.value))
            except ShoalError as error:
                problem.set_text(_sentence(error))
                return
            dialog.close()
            done()

        name.on("keydown.enter", rename)
        _buttons(dialog, text.RENAME, rename)
    dialog.on("hide", dialog.delete)
    dialog.open()


def ask_recipe(editor: HierarchyEditor, done: Done) -> None:
    """Ask for a recipe, and replace the groups by its groups.

    Parameters:
        editor: The editor of the column.
        done: Called after the groups were replaced.
    """
    forms = {form.name: form for form in suitable(editor.column)}
    filled = texts_of(editor.sheet.recipe)
    first = filled[0] if filled and filled[0] in forms else next(iter(forms))
    fields: dict[str, Any] = {}
    with parts.dialog(text.BUILD_TITLE) as dialog:
        parts.why(text.BUILD_WHY)
        titles = {name: form.title for name, form in forms.items()}
        kind = ui.select(titles, value=first, label=text.RECIPE).props("outlined").classes("w-full")
        why = ui.label().classes("s-why")
        part = ui.element("div").classes("w-full s-stack")
        problem = _problem()

        def draw() -> None:
            form = BY_NAME[str(kind.value)]
            why.set_text(form.why)
            texts = filled[1] if filled and filled[0] == form.name else {}
            part.clear()
            fields.clear()
            with part:
                fields.update(_fields(form, texts))

        def build() -> None:
            form = BY_NAME[str(kind.value)]
            try:
                stated = {name: str(field.value or "") for name, field in fields.items()}
                editor.build(recipe_of(form, stated))
            except ShoalError as error:
                problem.set_text(_sentence(error))
                return
            dialog.close()
            done()

        kind.on_value_change(draw)
        draw()
        _buttons(dialog, text.BUILD_DO, build)
    dialog.on("hide", dialog.delete)
    dialog.open()


def _fields(form: RecipeForm, texts: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in form.fields:
        value = texts.get(field.name, field.default)
        made: Any
        if field.choices:
            made = ui.select(list(field.choices), value=value, label=field.label)
        elif field.lines:
            made = ui.textarea(field.label, value=value)
        else:
            made = ui.input(field.label, value=value)
        made.props("outlined bottom-slots").classes("w-full")
        if field.hint:
            made.props["hint"] = field.hint
        found[field.name] = made
    return found


def ask_file(editor: HierarchyEditor, done: Done) -> None:
    """Ask for a file with groups, show how it fits, and replace the groups by its groups.

    Parameters:
        editor: The editor of the column.
        done: Called after the groups were replaced.
    """
    read: list[Hierarchy] = []
    with parts.dialog(text.IMPORT_TITLE) as dialog:
        parts.why(text.IMPORT_WHY)

        def picked(name: str, content: bytes) -> None:
            read.clear()
            result.clear()
            with result:
                try:
                    read.append(_read(content))
                except ShoalError as error:
                    ui.label(_sentence(error)).classes("s-notice s-bad")
                else:
                    _show_fit(editor, read[0])
            replace.set_enabled(bool(read))

        def refused() -> None:
            result.clear()
            with result:
                ui.label(text.TOO_LARGE).classes("s-notice s-bad")

        FilePicker(text.IMPORT_FILE, picked, refused)
        result = ui.element("div").classes("w-full s-stack").props("role=status")
        ui.label(text.IMPORT_CLEAR).classes("s-small")

        def import_groups() -> None:
            if read:
                editor.import_groups(read[0])
                dialog.close()
                done()

        replace = _buttons(dialog, text.IMPORT_DO, import_groups)
        replace.disable()
    dialog.on("hide", dialog.delete)
    dialog.open()


def _read(content: bytes) -> Hierarchy:
    """Read a hierarchy through a private temporary file; messages do not name the file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "groups.csv")
        path.write_bytes(content)
        return Hierarchy.read(path)


def _show_fit(editor: HierarchyEditor, imported: Hierarchy) -> None:
    fit = editor.coverage(imported)
    kind = "s-good" if fit.complete else "s-warn"
    ui.label(text.fits(fit.covered, fit.values)).classes(f"s-notice {kind}")
    ui.label(text.import_levels(len(fit.groups))).classes("s-why")
    if fit.missing:
        ui.label(text.lacking(len(fit.missing))).classes("s-why")
        with ui.element("ul").classes("s-chips"):
            for value in fit.missing[:_MAX_SHOWN]:
                with ui.element("li"):
                    ui.label(value)
    if fit.further:
        ui.label(text.further(fit.further)).classes("s-why")


def _problem() -> ui.label:
    problem = ui.label().classes("s-problem")
    problem.props["role"] = "alert"
    return problem


def _buttons(dialog: ui.dialog, label: str, act: Callable[[], None]) -> ui.button:
    with ui.element("div").classes("s-row s-end"):
        ui.button(text.CANCEL, on_click=dialog.close).props("flat")
        return ui.button(label, on_click=act)


def _sentence(error: ShoalError) -> str:
    """Return a message without the technical words at its start."""
    message = str(error).rpartition("groups.csv: ")[2].removeprefix("hierarchy: ")
    return sentence(message)


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
