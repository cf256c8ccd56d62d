"""The Describe screen: the role of each column and its reason, and whom they single out."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from nicegui import events, ui

from shoal.errors import ShoalError
from shoal.web.project.column_roles import KEYED, ColumnInfo
from shoal.web.project.project import Project
from shoal.web.project.saving import home
from shoal.web.project.topics import Topic
from shoal.web.screens.parts import card, intro, live, named, notice, on_change, preview_table, why
from shoal.web.text import open as text

_EXAMPLES = 3
_OPTIONS = "".join(  # our own words, escaped all the same
    f'<option value="{escape(role)}">{escape(label)}</option>' for role, label in text.ROLES.items()
)
_ROLE_CELL = f"""
<q-td :props="props"><select class="s-select" :class="'s-role-' + props.row.role.replace(' ', '-')"
  :aria-label="'{text.ROLE}: ' + props.row.name" :value="props.row.role"
  @change="event => $parent.$emit('role', {{name: props.row.name, value: event.target.value}})">
  {_OPTIONS}</select></q-td>
"""
_KIND_CELL = f"""
<q-td :props="props"><select class="s-select" v-if="props.row.kinds.length > 1"
  :aria-label="'{text.KIND}: ' + props.row.name" :value="props.row.kind"
  @change="event => $parent.$emit('kind', {{name: props.row.name, value: event.target.value}})">
  <option v-for="kind in props.row.kinds" :value="kind.value">{{{{ kind.label }}}}</option>
  </select><span v-else>{{{{ props.row.kinds[0].label }}}}</span></q-td>
"""
_TICK = """
<q-checkbox v-model="props.selected" dense :aria-label="'Select ' + props.row.name"></q-checkbox>
"""
_TICK_ALL = """
<q-checkbox v-model="props.selected" dense aria-label="Select all columns"></q-checkbox>
"""


def build(project: Project) -> None:
    """Draw the screen.

    Parameters:
        project: The state to draw.
    """
    intro(text.DESCRIBE_TITLE, text.DESCRIBE_LEAD)
    live(project, Topic.FIGURES)(lambda: _banner(project))
    _columns(project)
    live(project, Topic.COLUMNS)(lambda: _identifiers(project))
    _rows(project)


def _banner(project: Project) -> None:
    width, groups = len(project.columns.quasi), project.figures.groups
    if not width:
        notice(text.NO_QUASI, "bad")
    elif groups is None:
        notice(project.figures.outlook.problem if project.figures.outlook else "…")
    elif groups.unique:
        notice(text.banner(width, groups.unique, groups.people), "warn")
    else:
        notice(text.nobody(width), "good")


def _columns(project: Project) -> None:
    with card():
        with ui.element("div").classes("s-row"):
            sought = ui.input(text.FILTER).props("outlined dense clearable").classes("s-search")
            shown = ui.select({"": text.ALL_ROLES, **text.ROLES}, value="", label=text.SHOW).props(
                "outlined dense options-dense"
            )
            ui.element("div").classes("s-grow")
            count = ui.label(text.selected(0)).classes("s-small")
            count.props["role"] = "status"
            several = ui.select(text.ROLES, label=text.SET_ROLE).props(
                "outlined dense options-dense"
            )
            several.classes("s-several")
        table = _table(project)
        sought.bind_value_to(table, "filter", forward=lambda words: words or "")

        def redraw() -> None:
            chosen = shown.value
            table.rows[:] = [_row(project, c) for c in project.columns if chosen in ("", c.role)]
            table.update()

        def change_several(event: events.ValueChangeEventArguments[Any]) -> None:
            ticked = [row["name"] for row in table.selected]
            if event.value and ticked:
                project.set_role(ticked, event.value)
                table.selected.clear()
                count.text = text.selected(0)
                table.update()
            several.value = None

        shown.on_value_change(redraw)
        several.on_value_change(change_several)
        table.on_select(lambda: count.set_text(text.selected(len(table.selected))))
        on_change(project, table, redraw, Topic.COLUMNS)


def _table(project: Project) -> ui.table:
    labels = {
        "name": text.COLUMN,
        "role": text.ROLE,
        "reason": text.REASON,
        "kind": text.KIND,
        "values": text.DISTINCT,
        "examples": text.EXAMPLES,
    }
    columns = [{"name": n, "field": n, "label": t, "align": "left"} for n, t in labels.items()]
    rows = [_row(project, column) for column in project.columns]
    table = ui.table(columns=columns, rows=rows, row_key="name", selection="multiple")
    table.classes("s-table s-roles w-full")
    table.props("flat virtual-scroll hide-pagination hide-selected-banner")
    table.props(":rows-per-page-options=[0]")
    table.props["aria-label"] = text.TABLE
    table.add_slot("body-cell-role", _ROLE_CELL)
    table.add_slot("body-cell-kind", _KIND_CELL)
    table.add_slot("body-selection", _TICK)
    table.add_slot("header-selection", _TICK_ALL)
    table.on("role", lambda event: project.set_role([event.args["name"]], event.args["value"]))
    table.on(
        "kind",
        lambda event: project.change_columns([event.args["name"]], kind=event.args["value"]),
    )
    return table


def _row(project: Project, column: ColumnInfo) -> dict[str, Any]:
    kinds = ["nominal"] if column.type == "text" else ["numeric", "nominal"]
    kinds = ["ordinal", "nominal"] if column.order is not None else kinds
    kinds = kinds if column.kind in kinds else [column.kind, *kinds]
    return {
        "name": column.name,
        "role": column.role,
        "reason": column.reason,
        "kind": column.kind,
        "kinds": [{"value": kind, "label": text.KINDS[kind]} for kind in kinds],
        "values": text.column_values(
            column.distinct, column.missing, approximate=column.approximate
        ),
        "examples": _examples(project, column.name),
    }


def _examples(project: Project, name: str) -> str:
    """Return a few values of a column, for its owner."""
    source = project.source
    if source is None or name not in source.preview.names:
        return ""
    place = source.preview.names.index(name)
    cells = dict.fromkeys(row[place] for row in source.preview.rows[:50] if row[place])
    return ", ".join(list(cells)[:_EXAMPLES])


def _identifiers(project: Project) -> None:
    names = project.columns.names("identifier")
    if not names:
        return
    with card(text.IDENTIFIERS, text.IDENTIFIERS_LEAD):
        keyed = False
        for name in names:
            stated = next(iter(project.columns[name].replace or {"drop": {}}))
            keyed = keyed or stated in KEYED
            with ui.element("div").classes("s-line"):
                ui.label(name).classes("s-name")
                select = ui.select(
                    text.REPLACEMENTS,
                    value=stated,
                    on_change=lambda event, name=name: _replace(project, name, event.value),
                ).props("outlined dense options-dense")
                named(select, f"{text.REPLACEMENT}: {name}")
                why(text.REPLACEMENT_WHY[stated])
        if keyed:
            _key(project)


def _replace(project: Project, name: str, chosen: str) -> None:
    project.change_columns([name], replace=None if chosen == "drop" else {chosen: {}})


def _key(project: Project) -> None:
    with ui.element("div").classes("s-grid"):
        with ui.element("div"):
            domain = ui.input(text.DOMAIN, value=project.domain).props("outlined dense")
            domain.on("blur", lambda: project.set_secret(domain=(domain.value or "").strip()))
            why(text.DOMAIN_WHY)
        with ui.element("div"):
            path = ui.input(text.KEY, value=str(project.key_file or "")).props("outlined dense")
            path.on("blur", lambda: _use_key(project, path.value or ""))
            why(text.KEY_WHY)
            if project.key_file is None:
                ui.button(text.NEW_KEY, on_click=lambda: _new_key(project)).props("flat no-caps")


def _use_key(project: Project, typed: str) -> None:
    path = Path(typed.strip()).expanduser() if typed.strip() else None
    if path == project.key_file:
        return
    try:
        project.set_secret(key_file=path)
    except ShoalError as error:
        ui.notify(str(error), type="negative", multi_line=True)


def _new_key(project: Project) -> None:
    from shoal.identifiers.keys import Key

    folder = home()
    folder.mkdir(mode=0o700, exist_ok=True)
    path, number = folder / "key.bin", 1
    while path.exists():
        number += 1
        path = folder / f"key-{number}.bin"
    Key.new().write(path)
    project.set_secret(key_file=path)
    ui.notify(text.KEY_CREATED, type="positive")


def _rows(project: Project) -> None:
    source = project.source
    if source is not None:
        with card(text.PREVIEW, text.PREVIEW_LEAD):
            preview_table(source.preview, text.PREVIEW)
