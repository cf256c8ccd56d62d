"""The tables of an attack: original, control group and release, in the same terms.

The original and the control group are encoded together, so equal values have equal codes. Released
cells are read as sets of these values. Nothing requires that the release covers the original.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column, Kind, Role
from shoal.core.grouping import Grouping, group
from shoal.core.hierarchies.column_trees import source_columns
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.publishing.formulas import unescape_formulas
from shoal.core.publishing.frames import from_frame
from shoal.core.roles import UnassignedColumns, as_names
from shoal.core.table import Table
from shoal.core.values import encoding
from shoal.core.values.midnights import with_dates_of
from shoal.errors import InputError, UnknownColumn, did_you_mean
from shoal.reading import Format, Schema, read, read_arrow
from shoal.risk.release_attacks.cells import Cells, read_cells
from shoal.risk.release_attacks.held_out import leave_out_control
from shoal.support.arrays import Codes, Counts
from shoal.support.wording import counted, option


@dataclass(frozen=True, eq=False)
class Sources:
    """What the attacks compare.

    people: the rows of the original, followed by those of the control group.
    originals: number of rows of the original.
    quasi: the released quasi-identifiers.
    sensitive: the released sensitive columns.
    notes: what the reader of the figures should know.
    """

    people: Table
    originals: int
    quasi: Mapping[str, Cells]
    sensitive: Mapping[str, Cells]
    notes: tuple[str, ...] = ()

    @property
    def controls(self) -> int:
        """Number of rows of the control group."""
        return len(self.people) - self.originals

    @cached_property
    def who(self) -> Codes:
        """(people's rows,) the person of each row."""
        unit = self.people.person
        return np.arange(len(self.people), dtype=np.int32) if unit is None else unit.ids

    @cached_property
    def distinct(self) -> Grouping:
        """The distinct combinations of released quasi-identifiers."""
        return group(
            [cells.codes for cells in self.quasi.values()],
            [len(cells) for cells in self.quasi.values()],
        )

    @cached_property
    def people_counts(self) -> tuple[int, int]:
        """The number of people in the original and in the control group."""
        if self.people.person is None:
            return self.originals, self.controls
        original, control = np.split(self.who, [self.originals])
        return int((np.bincount(original) > 0).sum()), int((np.bincount(control) > 0).sum())

    def draw(self, count: int, rng: np.random.Generator, *, control: bool) -> Counts:
        """Return rows of randomly drawn people, one row each."""
        start, stop = (self.originals, len(self.people)) if control else (0, self.originals)
        shuffled = start + rng.permutation(stop - start)
        if self.people.person is None:
            return shuffled[:count]
        _, first = np.unique(self.who[shuffled], return_index=True)
        return shuffled[np.sort(first)[:count]]


def read_sources(
    original: Any,
    released: Any,
    control: Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    schema: Any = None,
) -> Sources:
    """Read the tables; columns that the release lacks are left out, with a note.

    Raises:
        InputError: A table cannot be read, or no quasi-identifier is released.
    """
    known = schema if isinstance(schema, Schema) else _schema(schema)
    specs = _specs(original, known, as_names(quasi), as_names(sensitive))
    for name, tree in (hierarchies or {}).items():
        if name in specs:
            is_file = isinstance(tree, (str, Path))
            specs[name]["hierarchy"] = Hierarchy.read(tree) if is_file else tree
    identifying = tuple(as_names(person) or known.person)
    if isinstance(original, Table) and original.person is not None:
        identifying = identifying or original.person.columns
    levels = {
        n for name, spec in specs.items() for n in source_columns(spec.get("hierarchy"), name)
    }
    wanted = list(dict.fromkeys([*specs, *identifying, *levels]))
    bare = {name: _without(spec, "hierarchy") for name, spec in specs.items()}
    bare = {**{name: {"role": Role.INSENSITIVE} for name in levels}, **bare}
    declared = replace(known, columns=bare, person=(), household=())
    tables = [
        _arrow(source, declared, identifying, wanted, what)
        for source, what in ((original, "the original"), (control, "the control group"))
        if source is not None
    ]
    people = Table.from_arrow(
        _joined(tables, wanted),
        {name: _encoding(spec) for name, spec in specs.items()},
        person=identifying,
        rows_are_people=not identifying,
    )
    people, originals, notes = leave_out_control(people, tables[0].num_rows)
    return _with_release(people, originals, released, notes)


def _schema(schema: Any) -> Schema:
    if schema is None:
        return Schema()
    return Schema.of(schema) if isinstance(schema, Mapping) else Schema.read(schema)


def _without(spec: Mapping[str, Any], *options: str) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in options}


def _specs(
    original: Any, known: Schema, quasi: Sequence[str], sensitive: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the columns to attack with their specifications."""
    specs = {name: dict(spec) for name, spec in known.columns.items()}
    if isinstance(original, Table):
        for column in original:
            specs.setdefault(column.name, _spec_of(column))
    both = set(quasi) & set(sensitive)
    if both:
        raise InputError(f"column {min(both)!r} is both quasi and sensitive; choose one")
    for names, role in ((quasi, Role.QUASI), (sensitive, Role.SENSITIVE)):
        if names:  # they replace those of the schema or the table
            specs = {n: s for n, s in specs.items() if n in names or Role(s["role"]) is not role}
        specs |= {name: {**specs.get(name, {}), "role": role} for name in names}
    attacked = (Role.QUASI, Role.SENSITIVE)
    specs = {name: spec for name, spec in specs.items() if Role(spec["role"]) in attacked}
    if not any(Role(spec["role"]) is Role.QUASI for spec in specs.values()):
        raise InputError(f"no column that an attacker knows; name some: {option('quasi')}")
    return specs


def _spec_of(column: Column) -> dict[str, Any]:
    """Return the specification of a column of a table."""
    spec: dict[str, Any] = {"role": column.role}
    if column.kind is Kind.ORDINAL:
        spec |= {"kind": column.kind, "order": column.values.to_pylist()[: column.known]}
    return spec if column.hierarchy is None else {**spec, "hierarchy": _recipe(column.hierarchy)}


def _recipe(tree: Hierarchy) -> Any:
    """Return the recipe of a hierarchy, which also fits values of the control group, if any."""
    if not isinstance(tree.source, str):
        return tree.source or tree
    recipe = json.loads(tree.source)
    return recipe if isinstance(recipe, dict) else tree


def _encoding(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a specification for cells that are read already, in their declared type."""
    if spec.get("kind") == Kind.ORDINAL and "values" in spec:
        spec = {"order": spec["values"], **spec}
    return _without(spec, "type", "values", "missing", "bounds", "weight")


def _arrow(
    source: Any, declared: Schema, identifying: Sequence[str], wanted: Sequence[str], what: str
) -> Any:
    """Return the wanted columns of a file, frame or table."""
    if not isinstance(source, Table):
        with warnings.catch_warnings(action="ignore", category=UnassignedColumns):
            source = read(source, declared, person=identifying, rows_are_people=not identifying)
    if source.counts is not None:
        raise InputError(f"{what} is weighted; read it without weights")
    for name in wanted:
        if name not in source:
            near = did_you_mean(name, [column.name for column in source])
            raise UnknownColumn(f"{what} has no column {name!r}{near}")
    if not len(source):
        raise InputError(f"{what} has no rows")
    return pa.table({name: _cells_of(source[name]) for name in wanted})


def _cells_of(column: Column) -> Any:
    """Return the cells of a column; distinct values and their codes if texts or numbers repeat."""
    kind = column.values.type
    plain = encoding.is_text(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not plain or column.role not in (Role.QUASI, Role.SENSITIVE):
        return column.to_arrow()
    return pa.DictionaryArray.from_arrays(pa.array(column.codes), column.values)


def _joined(parts: Sequence[Any], wanted: Sequence[str]) -> Any:
    """Return tables one below the other; columns of different types become text."""
    columns = {}
    for name in wanted:
        cells = [part.column(name).combine_chunks() for part in parts]
        coded = all(isinstance(piece, pa.DictionaryArray) for piece in cells)
        pieces = [encoding.combined(piece.dictionary if coded else piece, name) for piece in cells]
        kinds = {piece.type for piece in pieces if not pa.types.is_null(piece.type)}
        numbers = all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)
        if len(kinds) > 1 and numbers:
            pieces = [piece.cast(pa.float64()) for piece in pieces]
        elif len(kinds) > 1:
            pieces = [pa.array(encoding.texts(piece), pa.string()) for piece in pieces]
        elif kinds:
            (kind,) = kinds
            pieces = [pa.nulls(len(p), kind) if p.type != kind else p for p in pieces]
        columns[name] = pa.concat_arrays(pieces)
        if coded:
            columns[name] = pa.DictionaryArray.from_arrays(_indices(cells), columns[name])
    return pa.table(columns)


def _indices(parts: Sequence[Any]) -> Codes:
    """Return the indices of dictionary arrays after their dictionaries are joined."""
    starts = np.cumsum([0, *(len(part.dictionary) for part in parts[:-1])], dtype=np.int32)
    indices = (part.indices.to_numpy(zero_copy_only=False) for part in parts)
    return np.concatenate([each + start for each, start in zip(indices, starts, strict=True)])


def _with_release(people: Table, originals: int, released: Any, notes: list[str]) -> Sources:
    names = [column.name for column in people if column.role is not Role.IDENTIFIER]
    if isinstance(released, (str, Path)):
        data = read_arrow(Path(released), Format(), names, expected=names, may_be_empty=True)
    else:
        data = from_frame(released)
    if not data.num_rows:
        raise InputError("the release has no rows: nothing is published that could be attacked")
    data = with_dates_of(people, unescape_formulas(data, people))
    cells: dict[Role, dict[str, Cells]] = {Role.QUASI: {}, Role.SENSITIVE: {}}
    for column in people:
        if column.role is Role.IDENTIFIER:
            continue
        if data.column_names.count(column.name) != 1:
            notes.append(f"{column.name} is not released, so no attack uses it")
            continue
        read_column = read_cells(data.column(column.name), column)
        cells[column.role][column.name] = read_column
        notes += _unread_note(read_column, column)
    if not cells[Role.QUASI]:
        raise InputError("the release has none of the quasi-identifiers")
    return Sources(people, originals, cells[Role.QUASI], cells[Role.SENSITIVE], tuple(notes))


def _unread_note(cells: Cells, column: Column) -> list[str]:
    if not cells.unread:
        return []
    return [
        f"{counted(cells.unread, 'cell')} of {column.name} cannot be read as values of the "
        "original and count as different from all; give the hierarchy if they are labels"
    ]
