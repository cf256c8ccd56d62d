"""The tables of an attack in the same terms: original, control group and release.

    read_sources        the original and the control group are encoded together, so that equal
                        values have equal codes; nothing requires that the release covers the
                        original
    read_cells          released cells as sets of these values, whatever made them: a value, a
                        range, a set, a mask, a label or `*`, a number that the original lacks
                        (after noise, or in a synthetic table), or a text that cannot be read, which
                        fits nobody
    leave_out_control   a control group that was drawn from the original is left out of it

Everything later works on codes and positions; no attack reads a table again.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, UnknownColumn, did_you_mean
from shoal.files.formats import Format
from shoal.files.reading import read, read_arrow
from shoal.files.schema import Schema
from shoal.files.writing import unescape_formulas
from shoal.release.reading_cells import Forms, Runs, merged
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.wording import counted, option
from shoal.table import encoding
from shoal.table.column import Column, Kind, Role
from shoal.table.frames import from_frame, with_dates_of
from shoal.table.hierarchy import Hierarchy
from shoal.table.people import Grouping, group
from shoal.table.recipes import with_rare_values
from shoal.table.roles import UnassignedColumns, as_names
from shoal.table.table import Table
from shoal.table.trees import source_columns


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
    known = _read_schema(schema)
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
    # levels: columns of coarser values from which hierarchies are made
    wanted = list(dict.fromkeys([*specs, *identifying, *levels]))
    bare = {name: _without(spec, "hierarchy") for name, spec in specs.items()}
    bare = {**{name: {"role": Role.INSENSITIVE} for name in levels}, **bare}
    declared = replace(known, columns=bare, person=(), household=())
    tables = [
        _arrow(source, declared, identifying, wanted, what)
        for source, what in ((original, "the original"), (control, "the control group"))
        if source is not None
    ]
    joined = _joined(tables, wanted)
    people = Table.from_arrow(
        joined,
        {name: _covering(_encoding(spec), joined.column(name)) for name, spec in specs.items()},
        person=identifying,
        rows_are_people=not identifying,
    )
    people, originals, notes = leave_out_control(people, tables[0].num_rows)
    return _with_release(people, originals, released, notes)


def _read_schema(schema: Any) -> Schema:
    if schema is None:
        return Schema()
    if isinstance(schema, Schema):
        return schema
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
    fits_more = isinstance(recipe, dict) and "frequency" not in recipe  # groups need the counts
    return recipe if fits_more else tree


def _covering(spec: dict[str, Any], cells: Any) -> dict[str, Any]:
    """Return a specification whose hierarchy by frequency has all values of these cells.

    Values of the control group that the table lacks are rare in it.
    """
    tree = spec.get("hierarchy")
    if not isinstance(tree, Hierarchy) or "frequency" not in str(tree.source):
        return spec
    texts = [text for text in encoding.texts(cells.unique()) if text]
    absent = sorted(set(texts) - set(tree.values))
    return {**spec, "hierarchy": with_rare_values(tree, absent)} if absent else spec


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


_MAX_READINGS = 9  # of one text
_PLAIN_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"
_MAX_EXACT = 2.0**53  # whole numbers above are read exactly, text by text
_EDGES = (0.05, 0.95)  # quantiles: a few extreme numbers do not make all others look alike


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one released column, in terms of the values of the original.

    column: the values of the original and the control group.
    codes: (released rows,) the entry of each cell.
    indptr, starts, stops: runs of codes of the values that each entry stands for.
    low, high: (entries,) for columns with an order, the ends as positions; NaN if the entry stands
        for no position.
    unread: number of cells that stand for no value and no number.
    entries: (entries,) the distinct released cells as Arrow.
    """

    column: Column
    codes: Codes
    indptr: Counts
    starts: Codes
    stops: Codes
    low: Floats
    high: Floats
    unread: int
    entries: Any

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def sizes(self) -> Counts:
        """(entries,) number of values that each entry stands for."""
        ends = np.concatenate(([0], np.cumsum(self.stops - self.starts, dtype=np.int64)))
        return np.diff(ends[self.indptr])

    @cached_property
    def run_entry(self) -> Codes:
        """(runs,) the entry of each run."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.indptr))

    def holding(self, code: int) -> Codes:
        """Return the entries that stand for a value."""
        return self.run_entry[(self.starts <= code) & (code < self.stops)]

    @cached_property
    def listed(self) -> tuple[Counts, Codes]:
        """The values that each entry writes out: itself, or the members of a set.

        In compressed row form: row starts and members.
        """
        numbers, forms = _plain_numbers(self.entries, self.column), Forms(self.column)
        first, stop = _codes_of(numbers, self.column)
        texts = encoding.texts(self.entries)
        members = [
            np.arange(first[entry], stop[entry], dtype=np.int32)
            if not np.isnan(number)
            else np.array(forms.listed(texts[entry]), dtype=np.int32)
            for entry, number in enumerate(numbers.tolist())
        ]
        indptr = np.concatenate(([0], np.cumsum([len(each) for each in members], dtype=np.int64)))
        return indptr, np.concatenate([np.zeros(0, dtype=np.int32), *members])

    @property
    def whole(self) -> Bools:
        """(entries,) whether the entry stands for every value: the cell is suppressed."""
        hides: Bools = self.sizes == self.column.domain
        return hides if self.column.domain > 1 else np.zeros(len(self), dtype=np.bool_)

    @cached_property
    def unit(self) -> float:
        """The range of the values, which is a distance of 1; a few extreme values do not count.

        It is 1 if the column has no order.
        """
        if not self.column.ordered:
            return 1.0
        positions = self.column.positions[self.column.codes]
        known = positions[~np.isnan(positions)]
        if not len(known):
            return 1.0
        least, greatest = np.quantile(known, _EDGES)
        return float(greatest - least) or float(known.max() - known.min()) or 1.0

    @property
    def breadth(self) -> Floats:
        """(entries,) how many values an entry stands for, from 0 (at most one) to 1 (all)."""
        return np.maximum(self.sizes - 1, 0) / max(self.column.domain - 1, 1)


def read_cells(cells: Any, column: Column) -> Cells:
    """Read the cells of a released column.

    Parameters:
        cells: The released column as Arrow, of any type.
        column: The values of the original.
    """
    plain = encoding.with_missing(cells, column.name)
    encoded = plain.dictionary_encode(null_encoding="encode")
    codes: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    values = encoded.dictionary
    numbers = _plain_numbers(values, column)
    first, stop = _codes_of(numbers, column)
    runs: dict[int, Runs] = {}
    low, high = numbers.copy(), numbers.copy()
    texts = encoding.texts(values.filter(pa.array(np.isnan(numbers))))
    forms = Forms(column)
    for entry, text in zip(np.flatnonzero(np.isnan(numbers)).tolist(), texts, strict=True):
        runs[entry], low[entry], high[entry] = _read_text(text, forms)
    # plain numbers have at most one run, which is one code; texts have the runs that were read
    lengths = np.where(stop > first, 1, 0)
    for entry, each in runs.items():
        lengths[entry] = len(each)
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    starts, stops = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32)
    single = stop > first
    starts[indptr[:-1][single]], stops[indptr[:-1][single]] = first[single], stop[single]
    for entry, each in runs.items():
        for place, (begin, end) in enumerate(each, int(indptr[entry])):
            starts[place], stops[place] = begin, end
    unread = (lengths == 0) & np.isnan(low)
    return Cells(column, codes, indptr, starts, stops, low, high, int(unread[codes].sum()), values)


def _plain_numbers(values: Any, column: Column) -> Floats:
    """(entries,) the position of each entry that is a plain number, NaN for others."""
    kind = column.values.type
    nothing = np.full(len(values), np.nan)
    if column.kind is not Kind.NUMERIC or pa.types.is_temporal(kind) or not column.ruler.plain:
        return nothing
    if encoding.is_text(values.type):
        number = pc.fill_null(pc.match_substring_regex(values, _PLAIN_NUMBER), False)
        values = pc.if_else(number, values, None)
    elif not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return nothing
    numbers: Floats = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.where(np.abs(numbers) < _MAX_EXACT, numbers, np.nan)


def _codes_of(numbers: Floats, column: Column) -> tuple[Codes, Codes]:
    """(entries,) the run of codes with exactly this position; empty if there is none."""
    known = column.positions[: column.known]
    first = np.searchsorted(known, numbers, side="left").astype(np.int32)
    stop = np.searchsorted(known, numbers, side="right").astype(np.int32)
    return first, np.where(np.isnan(numbers), first, stop)


def _read_text(text: str | None, forms: Forms) -> tuple[Runs, float, float]:
    """Return the runs of codes and the ends of a text, NaN if it states no position."""
    column = forms.column
    nowhere = ((), np.nan, np.nan)
    if encoding.is_text(column.values.type) and not column.ordered and text is not None:
        # a text may have several meanings, such as a value that looks like a mask
        ways = islice(forms.readings(text), _MAX_READINGS)
        return merged(run for way in ways for run in way.runs), np.nan, np.nan
    reading = next((way for way in forms.readings(text) if way.runs), None)
    if reading is None:
        ends = None if text is None else forms.stated_bounds(text)
        return nowhere if ends is None else ((), *ends)
    if not np.isnan(reading.low):
        return reading.runs, reading.low, reading.high
    if sum(stop - start for start, stop in reading.runs) == column.domain > 1:
        return reading.runs, -np.inf, np.inf
    last = max((min(stop, column.known) for start, stop in reading.runs if start < column.known),
               default=0)  # fmt: skip
    if not last or not column.ordered:
        return reading.runs, np.nan, np.nan
    positions = column.positions
    return reading.runs, float(positions[reading.runs[0][0]]), float(positions[last - 1])


def leave_out_control(people: Table, originals: int) -> tuple[Table, int, list[str]]:
    """Leave the control group out of the original if it was drawn from it.

    It was if all its people, or without identified people all its rows, are in the original.

    Raises:
        InputError: Only some people of the control group are in the original.
    """
    if originals == len(people):
        return people, originals, []
    held = _held_people if people.person is not None else _held_rows
    dropped = held(people, originals)
    if not dropped.any():
        return people, originals, []
    if dropped.all():
        raise InputError("the control group is the whole original; hold back only some people")
    kept = np.flatnonzero(np.concatenate((~dropped, np.ones(len(people) - originals, np.bool_))))
    note = (
        f"the control group is part of the original, so {counted(int(dropped.sum()), 'row')} of "
        "the original are not attacked"
    )
    return people.take(kept), originals - int(dropped.sum()), [note]


def _held_people(people: Table, originals: int) -> Bools:
    """(original rows,) whether the row belongs to a person of the control group."""
    assert people.person is not None
    original, control = np.split(people.person.ids, [originals])
    both, all_of_them = np.intersect1d(original, control), np.unique(control)
    if 0 < len(both) < len(all_of_them):
        raise InputError(
            f"{counted(len(both), 'person', 'people')} of the control group are in the original, "
            f"and {len(all_of_them) - len(both):,} are not; it must consist of people who were not "
            "released"
        )
    held: Bools = np.isin(original, both)
    return held


def _held_rows(people: Table, originals: int) -> Bools:
    """(original rows,) as many rows of each kind as the control group has, if it has no others."""
    alike = group([column.codes for column in people], [column.domain for column in people])
    original, control = np.split(alike.ids, [originals])
    wanted = np.bincount(control, minlength=len(alike))
    held = np.zeros(originals, dtype=np.bool_)
    if (wanted > np.bincount(original, minlength=len(alike))).any():
        return held
    order = np.argsort(original, kind="stable")
    starts = np.searchsorted(original[order], original[order], side="left")
    held[order] = np.arange(originals) - starts < wanted[original[order]]
    return held
