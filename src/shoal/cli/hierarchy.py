"""`shoal hierarchy`: make, check and show hierarchies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import (
    Delimiter,
    Encoding,
    File,
    Json,
    Missing,
    emit,
    grid,
    notes,
    out,
)
from shoal.errors import HierarchyError, InputError

if TYPE_CHECKING:
    from shoal.core.column import Column
    from shoal.core.hierarchy import Hierarchy

app = typer.Typer(help="Make, check and show hierarchies.", no_args_is_help=True)
ColumnName = Annotated[str, typer.Option("--column", "-c", help="The column it is for.")]
Tree = Annotated[Path, typer.Argument(help="A hierarchy in CSV form: value;level 1;…;*")]


@app.command()
def make(
    file: File,
    column: ColumnName,
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")],
    recipe: Annotated[
        str | None,
        typer.Option(help="Such as 'intervals: [5, 10, 20]' or 'mask: right'. Default: a guess."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    json: Json = False,
) -> None:
    """Write a starting hierarchy for a column of FILE, to edit."""
    from shoal.core.recipes import build, suggest

    found = _column(file, column, delimiter, encoding, missing)
    tree = suggest(found) if recipe is None else build(found, _recipe(recipe))
    tree.write(output, force=force)
    data = {"output": str(output), **_measures(tree)}

    def show() -> None:
        out.print(f"{len(tree):,} values, {tree.height} levels above them, in {output}")
        out.print("edit it freely: one line a value, one column a level, one root at the end")

    emit(json, data, show)


@app.command()
def check(
    hierarchy: Tree,
    file: Annotated[Path | None, typer.Argument(help="The table it is to fit.")] = None,
    column: Annotated[
        str | None, typer.Option("--column", "-c", help="The column it is for.")
    ] = None,
    most: Annotated[int, typer.Option(help="How many values to show of each fault.")] = 20,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    json: Json = False,
) -> None:
    """Check a hierarchy, and whether it covers a column; show its owner which values do not fit.

    Exit status 2 if it does not fit.
    """
    from shoal.core.hierarchy import Hierarchy

    data: dict[str, Any] = {"hierarchy": str(hierarchy), "fits": True, "missing": [], "torn": []}
    try:
        tree = Hierarchy.read(hierarchy)
        data |= _measures(tree)
        if file is not None:
            if column is None:
                raise InputError("name the column with --column")
            tree.aligned(_column(file, column, delimiter, encoding, missing))
    except HierarchyError as error:
        data |= {
            "fits": False,
            "problem": str(error),
            "missing": list(error.missing),
            "torn": [{"level": level, "label": label} for level, label in error.torn],
        }
    emit(json, data, lambda: _show_check(data, most))
    if not data["fits"]:
        raise typer.Exit(2)


@app.command()
def show(
    hierarchy: Tree,
    most: Annotated[int, typer.Option(help="How many children of a group to show.")] = 8,
    json: Json = False,
) -> None:
    """Draw a hierarchy as a tree."""
    from shoal.core.hierarchy import Hierarchy

    tree = Hierarchy.read(hierarchy)
    emit(json, {**_measures(tree), "rows": tree.rows()}, lambda: _draw(tree, most))


def _measures(tree: Hierarchy) -> dict[str, Any]:
    return {
        "values": len(tree),
        "height": tree.height,
        "groups": [len(level) for level in tree.levels],
    }


def _column(
    file: Path, name: str, delimiter: str | None, encoding: str | None, missing: list[str] | None
) -> Column:
    from shoal.core.column import Column
    from shoal.reading.files import Format, read_arrow

    with notes():
        data = read_arrow(file, Format(delimiter, encoding=encoding, missing=tuple(missing or ())))
    if name not in data.column_names:
        raise InputError(f"{file}: no column {name!r}; there are {', '.join(data.column_names)}")
    return Column.encode(name, data.column(name))


def _recipe(text: str) -> dict[str, Any]:
    import yaml

    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError:
        read = None
    if isinstance(read, str):
        read = {read: None}
    if not isinstance(read, dict):
        raise InputError("the recipe must read like  intervals: [5, 10, 20]")
    return read


def _show_check(data: dict[str, Any], most: int) -> None:
    if data["fits"]:
        out.print(
            f"{data['hierarchy']}: fits ({data['values']:,} values, groups per level: "
            f"{', '.join(map(str, data['groups']))})"
        )
        return
    out.print(data["problem"])
    if data["missing"]:
        rows = grid("values without an entry")
        for value in data["missing"][:most]:
            rows.add_row(value)
        out.print(rows)
    if data["torn"]:
        rows = grid("level", "label that is torn above it")
        for torn in data["torn"][:most]:
            rows.add_row(str(torn["level"] - 1), torn["label"])
        out.print(rows)


def _draw(tree: Hierarchy, most: int) -> None:
    from rich.text import Text
    from rich.tree import Tree as Drawing

    def grow(drawing: Drawing, level: int, group: int) -> None:
        if level == 0:
            return
        children = [g for g, up in enumerate(tree.parents[level - 1]) if up == group]
        for child in children[:most]:
            label = tree.levels[level - 1].labels[child]
            leaves = int(tree.levels[level - 1].leaves[child])
            text = f"{label or 'missing'}" + (f"  ({leaves:,})" if level > 1 else "")
            grow(drawing.add(Text(text)), level - 1, child)
        if len(children) > most:
            drawing.add(Text(f"… {len(children) - most:,} more"))

    root = Drawing(Text(f"{tree.levels[-1].labels[0]}  ({len(tree):,})"))
    grow(root, tree.height, 0)
    out.print(root)
