"""The screen Group values: for each column, levels of groups that make its values coarser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.errors import ShoalError
from shoal.web.project.editors import find_values
from shoal.web.project.hierarchies import HierarchyEditor
from shoal.web.project.project import Project
from shoal.web.project.topics import Topic
from shoal.web.screens import group_dialogs
from shoal.web.screens.expectations import expectations
from shoal.web.screens.group_dialogs import Arguments, GroupTable
from shoal.web.screens.parts import card, heading, intro, live, notice, on_change
from shoal.web.text import group as text

_MAX_NAMES = 200  # of groups that the name field offers
_FEW_VALUES = 5  # that are as well shown or hidden as grouped


def build(project: Project) -> None:
    """Draw the screen.

    Parameters:
        project: The state to draw.
    """
    intro(text.TITLE, text.LEAD)
    screen = _Screen(project)
    with ui.element("div").classes("s-two"):
        screen.list_columns()
        screen.body = ui.element("div").classes("s-card s-editor")
        with card(text.FIGURES) as figures:
            figures.classes("s-effect")
            live(project, Topic.FIGURES)(lambda: expectations(project))
    on_change(project, screen.body, screen.changed, Topic.HIERARCHIES, Topic.COLUMNS)
    screen.open(screen.first())
    if project.editors.missing(project.columns.specs, project.columns.quasi):
        ui.timer(0, screen.load, once=True)


class _Screen:
    """The elements of the screen in one tab; the groups themselves are in the project."""

    body: ui.element

    def __init__(self, project: Project) -> None:
        self.project = project
        self.name: str | None = None
        self.view: _EditorView | None = None
        self.buttons: dict[str, tuple[ui.element, ui.label]] = {}

    async def load(self) -> None:
        """Ask for the values of all columns; the screen is drawn again when they are here."""
        project = self.project
        specs = project.columns.specs
        names = project.editors.missing(specs, project.columns.quasi)
        try:
            values = await project.ask(find_values, project.table, names)
            project.editors.add(values, specs, project.hierarchies)
        except ShoalError as error:
            self.body.clear()
            with self.body:
                notice(_capital(f"{text.FAILED} {error}"), "bad")
            return
        project.touch(Topic.HIERARCHIES)

    def first(self) -> str | None:
        """Return the column to begin with: the first that has values without a group."""
        names, editors = self.project.columns.quasi, self.project.editors
        unfinished = [name for name in names if name in editors and _is_unfinished(editors[name])]
        return next(iter([*unfinished, *names]), None)

    def list_columns(self) -> None:
        """Draw the list of columns: a list, and on a narrow screen a choice."""
        names = self.project.columns.quasi
        with ui.element("nav").classes("s-columns") as nav:
            nav.props["aria-label"] = text.COLUMNS
            with ui.element("ul"):
                for name in names:
                    with ui.element("li"), ui.element("button").classes("s-column") as button:
                        button.props["type"] = "button"
                        button.on("click", lambda name=name: self.open(name))
                        ui.label(name).classes("s-column-name")
                        status = ui.label().classes("s-column-status")
                        self.buttons[name] = (button, status)

    def open(self, name: str | None) -> None:
        """Show the editor of a column."""
        self.name, self.view = name, None
        self.body.clear()
        with self.body:
            if name is None:
                ui.label(text.NO_VALUES).classes("s-why")
            elif name not in self.project.editors:
                ui.label(text.LOADING).classes("s-why").props("role=status")
            elif not self.project.editors[name].values:
                heading(2, name)
                ui.label(text.NO_VALUES).classes("s-why")
            else:
                self.view = _EditorView(self.project, self.project.editors[name])
        self.mark()

    def mark(self) -> None:
        """Show the state of each column in the list."""
        for name, (button, status) in self.buttons.items():
            if name == self.name:
                button.props["aria-current"] = "true"
            else:
                button.props.pop("aria-current", None)
            button.update()
            if name in self.project.editors:
                editor = self.project.editors[name]
                some = _is_unfinished(editor)
                status.set_text(editor.ungrouped_text if some else text.levels(editor.height))
                status.classes(add="s-open" if some else "", remove="" if some else "s-open")

    def changed(self) -> None:
        """Draw what another tab, or this one, has changed."""
        # another tab has changed roles: this list is out of date until the page is opened again
        if set(self.buttons) != set(self.project.columns.quasi):
            return
        self.mark()
        editors = self.project.editors
        same = self.view is not None and self.name in editors
        if self.view is not None and same and self.view.editor is editors[str(self.name)]:
            self.view.refresh()
        else:
            self.open(self.name)


class _EditorView:
    """The editor of one column in one tab."""

    def __init__(self, project: Project, editor: HierarchyEditor) -> None:
        self.project, self.editor = project, editor
        self.number = 0
        self._head()
        self._coverage()
        self._filters()
        self._group_bar()
        self.table = GroupTable(
            {
                "tick": self._tick,
                "rename": self._rename,
                "remove-level": lambda a: self._try(editor.remove_level, int(a.get("level", 0))),
                "add-level": lambda _: self._try(editor.add_level),
                "undo": lambda _: self._try(editor.undo),
                "redo": lambda _: self._try(editor.redo),
            }
        )
        self._pager()
        self.refresh()

    def _head(self) -> None:
        with ui.element("div").classes("s-row s-editor-head"):
            with ui.element("div").classes("s-grow"):
                heading(2, self.editor.column.name)
                self.origin = ui.label().classes("s-small")
            self.undo = _icon_button("undo", text.UNDO, lambda: self._try(self.editor.undo))
            self.redo = _icon_button("redo", text.REDO, lambda: self._try(self.editor.redo))
            ask = group_dialogs
            ui.button(text.BUILD, on_click=lambda: ask.ask_recipe(self.editor, self._edited)).props(
                "outline"
            )
            ui.button(text.IMPORT, on_click=lambda: ask.ask_file(self.editor, self._edited)).props(
                "outline"
            )
            ui.button(text.EXPORT, on_click=self._export).props("outline")
            self.automatic = ui.button(text.AUTOMATIC, on_click=self._reset).props("flat")

    def _coverage(self) -> None:
        self.notice = ui.element("div").classes("s-notice s-coverage")
        self.notice.props["role"] = "status"
        with self.notice:
            self.icon = ui.icon("check_circle", size="20px").props("aria-hidden=true")
            with ui.element("div").classes("s-grow"):
                self.covered = ui.label().classes("s-strong")
                self.covered_why = ui.label().classes("s-small")
            self.show = ui.button(text.SHOW_UNGROUPED, on_click=self._show_ungrouped)
            self.show.props("flat dense")

    def _filters(self) -> None:
        with ui.element("div").classes("s-row s-filters"):
            self.find = ui.input(text.FILTER, on_change=self._filtered).props(
                "outlined dense clearable debounce=200"
            )
            self.find.classes("s-find")
            self.order = ui.select(
                text.ORDERS, value="value", label=text.ORDER, on_change=self._filtered
            )
            self.order.props("outlined dense").classes("s-order")
            self.only = ui.checkbox(text.ONLY_UNGROUPED, on_change=self._filtered)

    def _pager(self) -> None:
        with ui.element("div").classes("s-row s-pager"):
            self.previous = _icon_button("chevron_left", text.PREVIOUS, lambda: self._turn(-1))
            self.place = ui.label().classes("s-small").props("role=status")
            self.following = _icon_button("chevron_right", text.FOLLOWING, lambda: self._turn(1))
            ui.element("div").classes("s-grow")
            self.ticked = ui.label().classes("s-small").props("role=status")
            ui.button(text.TICK_FOUND, on_click=self._tick_found).props("flat dense")
            self.clear = ui.button(text.CLEAR, on_click=self._clear).props("flat dense")

    def _group_bar(self) -> None:
        with ui.element("div").classes("s-group-bar").props("role=group") as bar:
            bar.props["aria-label"] = text.GROUP
            self.group_name = ui.input(text.NAME, placeholder=text.NAME_HINT)
            self.group_name.props("outlined dense").classes("s-find")
            self.level = ui.select({1: text.level_title(1)}, value=1, label=text.LEVEL)
            self.level.props("outlined dense").classes("s-order")
            self.group_name.on("keydown.enter", self._group)
            ui.button(text.GROUP, on_click=self._group).props("icon=folder")
            ui.button(text.UNGROUP, on_click=self._ungroup).props("outline")
            ui.label(text.GROUP_WHY).classes("s-small w-full")
            self.problem = ui.label().classes("s-problem")
            self.problem.props["role"] = "alert"
            self.said = ui.label().classes("s-hidden").props("role=status")

    def refresh(self) -> None:
        """Draw the present groups."""
        editor = self.editor
        page = editor.page(
            self.number,
            text=str(self.find.value or ""),
            only_ungrouped=bool(self.only.value),
            order=str(self.order.value),
        )
        self.number = page.number
        self.table.show(editor, page, self.project.guarantee.k)
        self.origin.set_text(text.origin(editor.sheet.made, editor.sheet.recipe))
        many = len(editor.grouping.ungrouped)
        few = bool(many) and not _is_unfinished(editor)
        self.covered.set_text(text.FEW if few else _capital(editor.ungrouped_text))
        self.covered_why.set_text(text.UNGROUPED_WHY if many else text.GROUPED_WHY)
        kind = "" if few else "s-warn" if many else "s-good"
        self.notice.classes(add=kind, remove=" ".join({"s-warn", "s-good"} - {kind}))
        self.automatic.set_visibility(editor.sheet.made != "automatic")
        self.icon.set_name("info" if many else "check_circle")
        self.show.set_visibility(bool(many) and not self.only.value)
        _offer(self.undo, text.UNDO, editor.undo_text)
        _offer(self.redo, text.REDO, editor.redo_text)
        self.place.set_text(text.page(page.number, page.pages, page.found))
        self.previous.set_enabled(page.number > 0)
        self.following.set_enabled(page.number + 1 < page.pages)
        ticks = int(editor.ticked.sum())
        self.ticked.set_text(text.ticked(ticks))
        self.clear.set_enabled(ticks > 0)
        levels = {n: text.level_title(n) for n in range(1, editor.height + 1)}
        levels[editor.height + 1] = text.new_level(editor.height + 1)
        chosen = self.level.value if self.level.value in levels else 1
        if self.level.options != levels:
            self.level.set_options(levels, value=chosen)
        self.group_name.set_autocomplete(self._names(int(chosen)))

    def _names(self, level: int) -> list[str]:
        """Return names of groups that can be joined at a level."""
        if level > self.editor.height:
            return []
        groups = self.editor.groups(level)
        return [label for label, values, _ in groups if values > 1][:_MAX_NAMES]

    def _tick(self, arguments: Arguments) -> None:
        many = len(self.editor.grouping.domain)
        rows = [int(row) for row in arguments.get("rows", ()) if 0 <= int(row) < many]
        self.editor.tick(rows, bool(arguments.get("on")))
        ticks = int(self.editor.ticked.sum())
        self.ticked.set_text(text.ticked(ticks))
        self.clear.set_enabled(ticks > 0)

    def _rename(self, arguments: Arguments) -> None:
        level, label = int(arguments.get("level", 0)), str(arguments.get("label", ""))
        group_dialogs.ask_name(self.editor, level, label, self._edited)

    def _group(self) -> None:
        level = int(self.level.value or 1)
        ticks = int(self.editor.ticked.sum())
        if self._try(self.editor.group, str(self.group_name.value or ""), level):
            self.group_name.set_value("")
            self.said.set_text(text.grouped(ticks, level, self.editor.ungrouped_text))

    def _reset(self) -> None:
        self._try(self.editor.reset)

    def _ungroup(self) -> None:
        self._try(self.editor.ungroup, min(int(self.level.value or 1), self.editor.height))

    def _try(self, edit: Callable[..., Any], *arguments: Any) -> bool:
        """Make an edit; return whether it was made, and show why not."""
        try:
            edit(*arguments)
        except ShoalError as error:
            self.problem.set_text(_capital(f"{error}."))
            return False
        self._edited()
        return True

    def _edited(self) -> None:
        self.problem.set_text(_capital(f"{self.editor.notice}.") if self.editor.notice else "")
        made = None if self.editor.sheet.made == "automatic" else self.editor.hierarchy()
        self.project.set_hierarchy(self.editor.column.name, made)

    def _filtered(self) -> None:
        self.number = 0
        self.refresh()

    def _turn(self, step: int) -> None:
        self.number += step
        self.refresh()

    def _show_ungrouped(self) -> None:
        self.only.set_value(True)

    def _tick_found(self) -> None:
        self.editor.tick_found(str(self.find.value or ""), only_ungrouped=bool(self.only.value))
        self.refresh()

    def _clear(self) -> None:
        self.editor.clear_ticks()
        self.refresh()

    def _export(self) -> None:
        name = f"{self.editor.column.name}.csv"
        ui.download.content(self.editor.hierarchy().to_csv(), name, "text/csv")


def _is_unfinished(editor: HierarchyEditor) -> bool:
    """Return whether values wait for a group; a few values need none."""
    many = len(editor.grouping.ungrouped)
    return bool(many) and (editor.height > 0 or many > _FEW_VALUES)


def _icon_button(icon: str, label: str, act: Callable[[], Any]) -> ui.button:
    button = ui.button(icon=icon, on_click=act).props("flat round dense")
    button.props["aria-label"] = label
    return button


def _offer(button: ui.button, label: str, what: str | None) -> None:
    """Enable a button if there is something to do, and name it."""
    button.set_enabled(what is not None)
    button.props["aria-label"] = label if what is None else f"{label}: {what}"
    button.props["title"] = button.props["aria-label"]
    button.update()


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
