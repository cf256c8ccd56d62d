"""`shoal hierarchy`: make, check and show hierarchies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import emit, grid, notes, out
from shoal.cli.shared.options import Command, File, Force, Group, Json, names
from shoal.cli.shared.sources import Form, Roles, grouped, recipe_of
from shoal.errors import HierarchyError, InputError, did_you_mean
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.core.column import Column
    from shoal.core.hierarchies.hierarchy import Hierarchy

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
    from shoal.cli.hierarchy.make_all import make_all

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
    from shoal.core.hierarchies.hierarchy import Hierarchy

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
    from shoal.core.hierarchies.hierarchy import Hierarchy

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
    from shoal.core.column import Column
    from shoal.core.hierarchies.column_trees import from_columns, source_columns
    from shoal.core.hierarchies.recipes import build, suggest

    data = _data(file, form, [name])
    column = Column.encode(name, _cells(data, name, file))
    sources = source_columns(recipe, name)
    if sources:
        return from_columns(column, {each: _cells(data, each, file) for each in sources})
    return suggest(column) if recipe is None else build(column, recipe)


def _column(file: Path, name: str, form: Form) -> Column:
    from shoal.core.column import Column

    return Column.encode(name, _cells(_data(file, form, [name]), name, file))


def _data(file: Path, form: Form, expected: Sequence[str] = ()) -> Any:
    from shoal.reading.checks import check_dates
    from shoal.reading.files import read_arrow
    from shoal.reading.formats import Format

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
        out.print("… more: show fewer children with --most, or more lines with --lines")
