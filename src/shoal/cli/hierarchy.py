"""`shoal hierarchy`: make, check and show hierarchies.

`make` drafts one hierarchy, or with --all one for each quasi-identifier and a schema that names
them; `check` lists the values that a hierarchy lacks; `show` draws it as a tree.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import bars, emit, grid, note, notes, out
from shoal.cli.shared.options import Command, File, Force, Group, Json, names
from shoal.cli.shared.tables import Form, Roles, grouped, recipe_of
from shoal.errors import HierarchyError, InputError, OutputError, did_you_mean
from shoal.support.file_names import new_inside
from shoal.support.files import check_readable, check_writable, read_text, replace_files
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.table.column import Column
    from shoal.table.hierarchy import Hierarchy
    from shoal.table.table import Table


app = typer.Typer(cls=Group, help="Make, check and show hierarchies.", no_args_is_help=True)
Tree = Annotated[
    Path,
    typer.Argument(metavar="HIERARCHY", help="A hierarchy in CSV form: value;level 1;…;*"),
]


@app.command(cls=Command)
@grouped
def make(
    *,
    file: File,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The CSV file to write; with --all, the folder."
        ),
    ],
    column: Annotated[
        str | None, typer.Option("--column", "-c", metavar="COLUMN", help="The column it is for.")
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Write one for each quasi-identifier, and a schema."),
    ] = False,
    recipe: Annotated[
        str | None,
        typer.Option(
            metavar="RECIPE",
            help="Such as 'intervals: [5, 10, 20]' or 'mask: right'. Default: a suggestion.",
        ),
    ] = None,
    levels_from: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="Other columns of FILE as levels, finest first: county,state."
        ),
    ] = "",
    roles: Roles,
    force: Force = False,
    form: Form,
    json: Json = False,
) -> None:
    """Write a first draft of a hierarchy for a column of FILE.

    With --all, write a draft for each quasi-identifier into a folder, with a schema.yaml that names
    them. Quasi-identifiers are those of --schema or --quasi, or else those that `shoal inspect`
    suggests.
    """
    if every == (column is not None) or (every and (recipe or levels_from)):
        raise InputError("name a column with --column, or give --all without a recipe")
    if every:
        _make_all(file, output, roles, form, force=force, json=json)
        return
    if recipe is not None and levels_from:
        raise InputError("--recipe and --levels-from cannot be combined; give one of them")
    stated = {"from": names(levels_from)} if levels_from else recipe and _recipe(recipe)
    tree = _tree(file, str(column), stated or None, form)
    tree.write(output, force=force)
    data = {"output": str(output), **_measures(tree)}

    def show() -> None:
        levels = counted(tree.height, "level")
        out.print(f"{counted(len(tree), 'value')} and {levels} above them written to {output}")
        out.print("edit the file: one line per value, one column per level, the root at the end")

    emit(json, data, show)


def _make_all(
    file: Path, folder: Path, roles: Roles, form: Form, *, force: bool, json: bool
) -> None:

    trees = make_all(file, folder, roles, form, force=force)
    schema = folder / "schema.yaml"
    data = {
        "output": str(folder),
        "schema": str(schema),
        "columns": {name: _measures(tree) for name, tree in trees.items()},
    }

    def show() -> None:
        rows = grid("column", "values", "groups per level")
        for name, tree in trees.items():
            groups = ", ".join(f"{len(level):,}" for level in tree.levels[1:])
            rows.add_row(name, f"{len(tree):,}", groups)
        out.print(rows)
        out.print(
            f"\nhierarchies and schema written to {folder}: edit them, then run", soft_wrap=True
        )
        out.print(f"  shoal anonymize {file} --schema {schema} -k 5 -o out.csv", soft_wrap=True)

    emit(json, data, show)


@app.command(cls=Command)
@grouped
def check(
    *,
    hierarchy: Tree,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The table to check it with.")
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", "-c", metavar="COLUMN", help="The column it is for.")
    ] = None,
    most: Annotated[
        int, typer.Option(metavar="N", help="Maximum number of values to show per problem.", min=0)
    ] = 20,
    form: Form,
    json: Json = False,
) -> None:
    """Check a hierarchy, and show which values of a column of FILE it lacks.

    The exit status is 2 if the hierarchy does not fit.
    """
    from shoal.table.hierarchy import Hierarchy

    data: dict[str, Any] = {
        "hierarchy": str(hierarchy),
        "fits": True,
        "missing": [],
        "not_nested": [],
    }
    try:
        tree = Hierarchy.read(hierarchy)
        data |= _measures(tree)
        if file is not None:
            if column is None:
                raise InputError("name the column with --column")
            tree.aligned(_column(file, column, form))
    except HierarchyError as error:
        data |= {
            "fits": False,
            "problem": str(error),
            "missing": list(error.missing),
            "not_nested": [{"level": level, "label": label} for level, label in error.not_nested],
        }
    emit(json, data, lambda: _show_check(data, most))
    if not data["fits"]:
        raise typer.Exit(2)


@app.command(cls=Command)
def show(
    hierarchy: Tree,
    most: Annotated[
        int, typer.Option(metavar="N", help="Maximum number of children to show per group.", min=1)
    ] = 8,
    lines: Annotated[
        int, typer.Option(metavar="N", help="Maximum number of lines to draw.", min=1)
    ] = 200,
    json: Json = False,
) -> None:
    """Draw a hierarchy as a tree."""
    from shoal.table.hierarchy import Hierarchy

    tree = Hierarchy.read(hierarchy)
    emit(json, {**_measures(tree), "rows": tree.rows()}, lambda: _draw(tree, most, lines))


def _measures(tree: Hierarchy) -> dict[str, Any]:
    return {
        "values": len(tree),
        "height": tree.height,
        "groups": [len(level) for level in tree.levels],
    }


def _tree(file: Path, name: str, recipe: dict[str, Any] | None, form: Form) -> Hierarchy:
    """Return the hierarchy of a column by a recipe, or a suggested one."""
    from shoal.table.column import Column
    from shoal.table.recipes import build, suggest
    from shoal.table.trees import from_columns, source_columns

    data = _data(file, form, [name])
    column = Column.encode(name, _cells(data, name, file))
    sources = source_columns(recipe, name)
    if sources:
        return from_columns(column, {each: _cells(data, each, file) for each in sources})
    return suggest(column) if recipe is None else build(column, recipe)


def _column(file: Path, name: str, form: Form) -> Column:
    from shoal.table.column import Column

    return Column.encode(name, _cells(_data(file, form, [name]), name, file))


def _data(file: Path, form: Form, expected: Sequence[str] = ()) -> Any:
    from shoal.files.formats import Format
    from shoal.files.reading import read_arrow
    from shoal.files.requests import check_dates

    with notes():
        data = read_arrow(file, Format(**form.stated), expected=expected)
        check_dates(data, form.dates)
    return data


def _cells(data: Any, name: str, file: Path) -> Any:
    if name not in data.column_names:
        near = did_you_mean(name, data.column_names)  # listing all could show a person's cells
        raise InputError(f"{file}: no column {name!r}{near}; `shoal inspect` lists the columns")
    return data.column(name)


def _recipe(text: str) -> dict[str, Any]:
    read = recipe_of(text)
    if read is None:
        raise InputError("--recipe must have the form 'intervals: [5, 10, 20]'")
    return read


def _show_check(data: dict[str, Any], most: int) -> None:
    if data["fits"]:
        out.print(
            f"{data['hierarchy']}: fits ({counted(data['values'], 'value')}, groups per level: "
            f"{', '.join(map(str, data['groups']))})"
        )
        return
    out.print(data["problem"])
    if data["missing"]:
        rows = grid("values without an entry")
        for value in data["missing"][:most]:
            rows.add_row(value)
        out.print(rows)
    if data["not_nested"]:
        rows = grid("level", "label that is not nested")
        for split in data["not_nested"][:most]:
            rows.add_row(str(split["level"] - 1), split["label"])
        out.print(rows)


def _draw(tree: Hierarchy, most: int, lines: int) -> None:
    import numpy as np
    from rich.tree import Tree as Drawing

    left = lines - 1  # lines still to draw, after the root's

    def add(drawing: Drawing, text: str) -> Drawing:
        nonlocal left
        left -= 1
        return drawing.add(text) if left >= 0 else drawing

    def grow(drawing: Drawing, level: int, group: int) -> None:
        # once the lines are used up, deeper levels are not visited at all
        if level == 0 or left < 0:
            return
        children = np.flatnonzero(tree.parents[level - 1] == group).tolist()
        for child in children[:most]:
            label = tree.levels[level - 1].labels[child] or "missing"
            leaves = int(tree.levels[level - 1].leaves[child])
            text = f"{label}  ({leaves:,})" if level > 1 else label
            grow(add(drawing, text), level - 1, child)
        if len(children) > most:
            add(drawing, f"… {len(children) - most:,} more")

    root = Drawing(f"{tree.levels[-1].labels[0]}  ({len(tree):,})")
    grow(root, tree.height, 0)
    out.print(root)
    if left < 0:
        out.print("… the tree has more lines; raise --lines, or show fewer children with --most")


_SCHEMA = "schema.yaml"


def make_all(
    file: Path, folder: Path, roles: Roles, form: Form, *, force: bool
) -> dict[str, Hierarchy]:
    """Write the hierarchies of all quasi-identifiers and a schema into a folder, or nothing.

    Returns:
        The hierarchy of each column.
    """
    from shoal.inspection.recipes import name_files, suggest_hierarchies

    check_readable(file)
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; with --all, -o must name a folder")
    draft = _Suggested(file, roles, form) if roles.schema is None else _Stated(roles, form)
    with bars():
        table = _read(file, draft, roles)
        trees = suggest_hierarchies(table)
    files = name_files(trees)
    for name in (*files.values(), _SCHEMA):
        if folder.is_dir():
            check_writable(folder / name, force=force)
    with replace_files(folder) as made:
        for name, tree in trees.items():
            tree.write(new_inside(made, files[name]))
        text = draft.text(folder, files, trees)
        (made / _SCHEMA).write_text(text, encoding="utf-8")
    return trees


def _read(file: Path, draft: _Suggested | _Stated, roles: Roles) -> Table:
    from shoal.files.reading import read
    from shoal.files.schema import Schema
    from shoal.table.roles import UnassignedColumns

    schema = Schema.of(draft.data, roles.schema)
    with notes(unless=UnassignedColumns):
        table = read(file, schema, **roles.units)
    if not table.quasi:
        raise InputError(
            "no column is a quasi-identifier; name the columns that others know with --quasi"
        )
    return table


class _Suggested:
    """The schema that `shoal inspect` suggests, with the roles that options state."""

    def __init__(self, file: Path, roles: Roles, form: Form) -> None:
        from shoal.files.formats import Format, guesses_of
        from shoal.files.reading import read_arrow
        from shoal.inspection import describe

        with notes():
            data = read_arrow(file, Format(**form.stated))
        units = roles.units
        found = describe(data, names(roles.quasi), **units)
        stated = roles.stated
        for name in stated:
            if name not in data.column_names:
                raise InputError(f"{file}: no column {name!r}; `shoal inspect` lists the columns")
        kept = []
        for column in found["columns"]:
            column |= {"role": stated.get(column["name"], column["role"]), "hierarchy": None}
            if roles.quasi and column["role"] == "quasi" and column["name"] not in stated:
                note(f"column {column['name']!r} is not in --quasi and is left out of the schema")
            else:
                kept.append(column)
        self._described = {**found, "columns": kept}
        if roles.rows_are_people:
            self._described["person"] = []
        self._written = {**guesses_of(data), **form.stated}

    @property
    def data(self) -> Any:
        """The schema without hierarchies."""
        from shoal.files.schema import load_yaml
        from shoal.inspection import suggest_schema

        return load_yaml(suggest_schema(self._described, self._written))

    def text(self, folder: Path, files: dict[str, str], trees: dict[str, Hierarchy]) -> str:
        """Return the schema with its hierarchies as YAML."""
        from shoal.inspection import suggest_schema
        from shoal.inspection.recipes import schema_entry

        for column in self._described["columns"]:
            if column["name"] in files:
                entry = schema_entry(files[column["name"]], trees[column["name"]])
                column["hierarchy"] = entry
        return suggest_schema(self._described, self._written)


class _Stated:
    """The schema that --schema names, with the roles that options state."""

    def __init__(self, roles: Roles, form: Form) -> None:
        from shoal.files.schema import load_yaml

        assert roles.schema is not None
        roles.known  # noqa: B018  raises an error for a wrong schema
        self._folder = roles.schema.parent
        self.data: dict[str, Any] = load_yaml(read_text(roles.schema))
        for name, role in roles.stated.items():
            own = self.data["columns"].get(name) or {}
            spec = {"role": own} if isinstance(own, str) else own
            self.data["columns"][name] = {**spec, "role": role}
        for what in ("person", "household"):
            if roles.units[what]:
                self.data[what] = roles.units[what]
        if form.stated:
            self.data["file"] = {**(self.data.get("file") or {}), **form.stated}

    def text(self, folder: Path, files: dict[str, str], trees: dict[str, Hierarchy]) -> str:
        """Return the schema with its hierarchies as YAML."""
        from shoal.inspection.recipes import schema_entry
        from shoal.inspection.schemas import dump_schema

        columns = {}
        for name, stated in self.data["columns"].items():
            spec = {"role": stated} if isinstance(stated, str) else dict(stated)
            if name in files:
                spec["hierarchy"] = schema_entry(files[name], trees[name])
            elif "hierarchy" in spec:
                spec["hierarchy"] = self._moved(spec["hierarchy"], folder)
            columns[name] = spec
        return dump_schema({**self.data, "columns": columns})

    def _moved(self, hierarchy: Any, folder: Path) -> Any:
        """Return an entry with its file relative to another folder."""
        if isinstance(hierarchy, str):
            return os.path.relpath(self._folder / hierarchy, folder)
        if isinstance(hierarchy, dict) and "file" in hierarchy:
            return {**hierarchy, "file": os.path.relpath(self._folder / hierarchy["file"], folder)}
        return hierarchy
