"""The hierarchy editors of a project, one for each quasi-identifier.

`Values` are the distinct values of a column, which an editor needs; `FORMS` are the recipes for
hierarchies as short forms, with fields in words, and `recipe_of` reads a recipe from their texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.support.arrays import Counts, frozen
from shoal.table.column import Column, Kind
from shoal.table.hierarchy import Hierarchy
from shoal.table.table import Table
from shoal.web.project.analyst import Desk, TableRequest
from shoal.web.project.grouping import EditError
from shoal.web.project.hierarchies import HierarchyEditor

_MAX_ROWS = 1_000_000  # rows that a column in the editor stands for; more are scaled down


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column, without the order of its rows.

    Parameters:
        column: The column with its rows sorted by value; fewer rows if there are very many.
        counts: (known,) rows that have each value.
    """

    column: Column
    counts: Counts

    @classmethod
    def of(cls, column: Column, weights: Counts | None = None) -> Values:
        """Return the values of a column.

        Parameters:
            column: The column.
            weights: (rows,) records behind each row of a weighted table.
        """
        counts = np.bincount(column.codes, weights, column.domain).astype(np.int64)
        known = counts[: column.known]
        scale = -(-int(known.sum()) // _MAX_ROWS) or 1
        shown = np.repeat(np.arange(column.known, dtype=np.int32), -(-known // scale))
        return cls(replace(column, codes=frozen(shown), hierarchy=None), frozen(known))


def values_of(table: Table) -> dict[str, Values]:
    """Return the values of each quasi-identifier.

    Parameters:
        table: The table.
    """
    return {column.name: Values.of(column, table.counts) for column in table.quasi_columns}


def find_values(desk: Desk, request: TableRequest, names: Sequence[str]) -> dict[str, Values]:
    """Return the values of some columns: a question to the analyst.

    Parameters:
        desk: The desk of the analyst.
        request: The table.
        names: The columns.
    """
    disk = desk.disk(request.file)
    if disk is not None:
        return {name: Values.of(*disk.column(request, name)) for name in names}
    table = desk.table(replace(request, hierarchies={}), ("quasi",))
    return {name: Values.of(table[name], table.counts) for name in names if name in table}


class Editors:
    """The editors of a project by column.

    >>> editors = Editors()
    >>> editors.add({"sex": Values.of(Column.encode("sex", ["F", "M", "F"]))})
    >>> list(editors), editors["sex"].ungrouped_text
    (['sex'], '2 values not grouped yet')
    """

    def __init__(self) -> None:
        self._editors: dict[str, HierarchyEditor] = {}
        self._specs: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._editors)

    def __len__(self) -> int:
        return len(self._editors)

    def __contains__(self, name: object) -> bool:
        return name in self._editors

    def __getitem__(self, name: str) -> HierarchyEditor:
        return self._editors[name]

    def add(
        self,
        values: Mapping[str, Values],
        specs: Mapping[str, Any] | None = None,
        saved: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an editor for each column.

        Parameters:
            values: The values of each column.
            specs: The schema entry that each column was read with.
            saved: Hierarchies of an earlier session, to go on with.
        """
        for name, each in values.items():
            editor = HierarchyEditor(each.column, counts=each.counts)
            if saved and name in saved:
                editor.reopen(saved[name])
            self._editors[name] = editor
            self._specs[name] = (specs or {}).get(name)

    def missing(self, specs: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the columns that have no editor, or one of values read otherwise.

        Parameters:
            specs: The schema entry of each column.
            names: The columns.
        """
        return tuple(
            name
            for name in names
            if name not in self._editors or self._specs[name] != specs.get(name)
        )

    def clear(self) -> None:
        """Forget all editors, after another file was opened or read in another way."""
        self._editors.clear()
        self._specs.clear()

    def hierarchies(self, names: Iterable[str]) -> dict[str, Hierarchy]:
        """Return the present hierarchy of each of the columns that has an editor."""
        return {name: self._editors[name].hierarchy() for name in names if name in self._editors}


@dataclass(frozen=True)
class Field:
    """One field of a form.

    Parameters:
        name: The argument of the recipe.
        label: What it is, in words.
        default: The text that is filled in.
        choices: The allowed texts, empty if any is allowed.
        hint: How to fill it in.
        several: Whether it is a list, its parts separated by commas.
        lines: Whether it has several lines.
    """

    name: str
    label: str
    default: str = ""
    choices: tuple[str, ...] = ()
    hint: str = ""
    several: bool = False
    lines: bool = False


@dataclass(frozen=True)
class RecipeForm:
    """A recipe as a form.

    Parameters:
        name: The name of the recipe.
        title: What it makes, in words.
        why: When to use it.
        fields: Its fields; the first is the argument of the recipe.
    """

    name: str
    title: str
    why: str
    fields: tuple[Field, ...] = ()


FORMS: tuple[RecipeForm, ...] = (
    RecipeForm(
        "intervals",
        "Intervals",
        "For numbers: ages in steps of 5, then 10, then 20 years. The ends do not depend on the "
        "data.",
        (
            Field("widths", "Widths", "5, 10, 20", hint="each a multiple of the one before",
                  several=True),
            Field("origin", "Intervals begin at", "0"),
        ),
    ),
    RecipeForm(
        "dates",
        "Dates",
        "For dates: months, then years, then decades.",
        (
            Field("units", "Units", "month, year, decade", several=True,
                  hint="fine to coarse: day, month, quarter, year, decade; or week, week-year"),
        ),
    ),
    RecipeForm(
        "mask",
        "Hide characters",
        "For codes such as post codes: one more character is hidden at each level.",
        (
            Field("side", "Hide first", "right", ("right", "left"),
                  hint="the side whose characters say least about the place"),
            Field("keep", "Show at most", "", hint="characters at the first level; empty for all"),
        ),
    ),
    RecipeForm(
        "quantiles",
        "Equal groups",
        "For numbers without natural steps: groups with about the same number of rows. Their ends "
        "come from the data and reveal something about it.",
        (
            Field("groups", "Number of groups", "16, 4", several=True,
                  hint="each a divisor of the one before"),
        ),
    ),
    RecipeForm(
        "frequency",
        "Rare values together",
        "For names and categories: frequent values stay, the others form one group. Which values "
        "are rare comes from the data and reveals something about it.",
        (
            Field("shares", "Shares of the rows", "0.01, 0.05", several=True,
                  hint="for each level, the share that a value must have to stay"),
        ),
    ),
    RecipeForm(
        "ordering",
        "Neighbours",
        "For ordered values: neighbours share a group, then groups of groups.",
        (Field("fanout", "Neighbours in a group", "2"),),
    ),
    RecipeForm(
        "tree",
        "Outline",
        "For categories: write or paste groups, with their values indented below.",
        (
            Field("nested", "Outline", "", lines=True,
                  hint="one name per line; indent values below their group"),
        ),
    ),
    RecipeForm(
        "suppression",
        "Show or hide",
        "No groups: each value is shown as it is, or hidden entirely.",
    ),
)  # fmt: skip
BY_NAME = {form.name: form for form in FORMS}


def suitable(column: Column) -> tuple[RecipeForm, ...]:
    """Return the forms that suit the values of a column.

    >>> [form.name for form in suitable(Column.encode("sex", ["F", "M"]))]
    ['mask', 'frequency', 'tree', 'suppression']
    """
    kind = column.values.type
    temporal = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    numeric = column.kind is Kind.NUMERIC and not pa.types.is_temporal(kind)
    fits = {
        "intervals": numeric,
        "dates": temporal,
        "mask": True,
        "quantiles": column.ordered,
        "ordering": column.ordered,
    }
    return tuple(form for form in FORMS if fits.get(form.name, True))


def recipe_of(form: RecipeForm, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the recipe that the fields of a form state.

    Parameters:
        form: The form.
        texts: The text of each field.

    Raises:
        EditError: A field has no value, or not the right kind of value.

    >>> recipe_of(BY_NAME["intervals"], {"widths": "5, 10", "origin": "0"})
    {'intervals': [5, 10]}
    """
    if form.name == "tree":
        return {"tree": read_outline(texts.get("nested", ""))}
    found: dict[str, Any] = {}
    for field in form.fields:
        text = texts.get(field.name, "").strip()
        if field.several:
            found[field.name] = [_value(part) for part in re.split(r"[,;\s]+", text) if part]
            if not found[field.name]:
                raise EditError(f"{field.label}: enter at least one")
        elif text:
            found[field.name] = _value(text)
    if not form.fields:
        return {form.name: True}
    first = form.fields[0]
    if first.name not in found:
        raise EditError(f"{first.label}: enter a value")
    further = {
        name: value
        for name, value in found.items()
        if name != first.name and not (name == "origin" and value == 0)
    }
    return {form.name: found[first.name], **further}


def texts_of(recipe: Mapping[str, Any] | None) -> tuple[str, dict[str, str]] | None:
    """Return the form and the texts of its fields for a recipe, None if no form states it.

    >>> texts_of({"intervals": [5, 10]})
    ('intervals', {'origin': '0', 'widths': '5, 10'})
    """
    name = next((each for each in recipe or {} if each in BY_NAME), None)
    if recipe is None or name is None or name == "tree":
        return None
    form = BY_NAME[name]
    texts = {field.name: field.default for field in form.fields if field.name == "origin"}
    for i, field in enumerate(form.fields):
        value = recipe[name] if i == 0 else recipe.get(field.name)
        if isinstance(value, (list, tuple)):
            texts[field.name] = ", ".join(str(part) for part in value)
        elif value is not None:
            texts[field.name] = str(value)
    return name, texts


def read_outline(text: str) -> list[Any]:
    r"""Return an indented outline as nested groups.

    Parameters:
        text: One name per line; a line that is indented more than the one before belongs to it.

    Raises:
        EditError: The outline is empty, or a line is indented less than any group above it.

    >>> read_outline("Europe\n  Malta\n  Italy\nAsia\n  Japan")
    [{'Europe': ['Malta', 'Italy']}, {'Asia': ['Japan']}]
    """
    lines = [line.expandtabs(4).rstrip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise EditError("the outline is empty")
    indents = [len(line) - len(line.lstrip()) for line in lines]
    names = [line.strip() for line in lines]
    nested, end = _outline(names, indents, 0, indents[0])
    if end < len(lines):
        raise EditError(f"line {end + 1} of the outline is indented less than the first line")
    return nested


def _outline(names: list[str], indents: list[int], at: int, indent: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while at < len(names) and indents[at] == indent:
        deeper = at + 1 < len(names) and indents[at + 1] > indent
        if deeper:
            below, end = _outline(names, indents, at + 1, indents[at + 1])
            found.append({names[at]: below})
            at = end
        else:
            found.append(names[at])
            at += 1
    if at < len(names) and indents[at] > indent:
        raise EditError(f"line {at + 1} of the outline is not indented like the lines above it")
    return found, at


def _value(text: str) -> Any:
    """Return a number if the text is one."""
    try:
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError):
        return text
    return int(exact) if exact.denominator == 1 and "." not in text else float(text)
