"""The columns of a source, encoded from their distinct values by the rules of a table in memory.

names, types ── check_names ──▶ what is asked fits the source, before any row is read
distinct values ── Encoder ───▶ `Encoded`: a column with one row for each value, and its codes
tuples ── weighted_table ─────▶ a table of distinct tuples with their numbers, people, households
weights ── WeightValues ──────▶ sampling weights, checked by distinct value and by person
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, RepeatedIdentifier
from shoal.files.formats import typed, with_dates_checked
from shoal.files.reading import advice_on_names
from shoal.files.requests import Request, as_declared, check_dates, check_kinds, is_declared
from shoal.rows.packing import Packing
from shoal.rows.store import Dictionary, Engine, Filled, Plan, Scanned, Tuples, Values
from shoal.support.arrays import Codes, Counts, Floats
from shoal.table import encoding
from shoal.table.column import Column, Kind, Role
from shoal.table.encoding import is_numeric, is_text, without_codes
from shoal.table.people import TEXT_WORDS, Deciding, Unit, deciding_of, group_keys
from shoal.table.recipes import weighted_frequency, weighted_quantiles
from shoal.table.roles import encoding_options, without_missing
from shoal.table.table import Table
from shoal.table.trees import source_columns
from shoal.table.types import Misfits
from shoal.table.weights import Weights

if TYPE_CHECKING:
    from shoal.rows.large_table import LargeTable


_BY_ROWS = ("from",)  # recipes that depend on rows, not on the values and their numbers


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column of distinct values, and the code of each value of the source.

    column: has one row for each distinct value of the source.
    counts: (domain,) rows with each value.
    """

    column: Column
    dictionary: Dictionary
    counts: Any


def check_type(name: str, kind: Any) -> None:
    """Reject a type that DuckDB and Arrow may represent differently."""
    plain = kind.value_type if pa.types.is_dictionary(kind) and not kind.ordered else kind
    zoned = pa.types.is_timestamp(plain) and plain.tz is not None
    simple = (
        is_text(plain)
        or pa.types.is_integer(plain)
        or pa.types.is_float32(plain)
        or pa.types.is_float64(plain)
        or pa.types.is_boolean(plain)
        or pa.types.is_date32(plain)
        or pa.types.is_decimal128(plain)
        or (pa.types.is_timestamp(plain) and not zoned)
    )
    if not simple:
        raise InputError(
            f"column {name!r}: values of type {kind} need the table in memory; state a larger "
            "memory, leave the column out, or store it as text or numbers"
        )


def as_source(values: Any, kind: Any | None) -> Any:
    """Return values of DuckDB in the Arrow type of the file."""
    if kind is None:
        return values.cast(pa.string())
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return values.cast(plain)


class Encoder:
    """Encodes the columns of one source.

    request: roles, hierarchies and the file format.
    types: the Arrow type of each column, None for a column of text files or if all are.
    path: the source in messages.
    """

    def __init__(self, request: Request, types: Mapping[str, Any] | None, path: Path) -> None:
        self._request, self._types, self._path = request, types, path
        self._texts: dict[str, Any] = {}

    def encode(self, name: str, found: Values) -> Encoded:
        """Return the column of these distinct values; errors name the file, never a value."""
        try:
            return self._encode(name, found)
        except Misfits as error:
            wrong = int(found.counts[~error.fits.to_numpy(zero_copy_only=False)].sum())
            raise InputError(
                f"{self._path}: column {name!r}: {wrong:,} of {int(found.counts.sum()):,} cells "
                f"are {error.what}; {error.advice}"
            ) from None
        except InputError as error:
            error.args = (f"{self._path}: {error}", *error.args[1:])
            raise

    def _encode(self, name: str, found: Values) -> Encoded:
        spec, form = dict(self._request.specs[name]), self._request.form
        if "replace" in spec:
            return self._coarser(name, spec, found)
        tree = self._request.trees.get(name, spec.get("hierarchy"))
        _check_recipe(name, tree)
        data = pa.table({name: self.cells(name, found.values)})
        data = without_missing(data, {name: spec})
        if not is_numeric(data.column(0).type) and not is_declared(spec):
            _check_numeric(name, spec, data)
        check_kinds(data, {name: spec})
        data = as_declared(data, {name: spec}, form.notation)
        trees = {name: self._request.trees[name]} if name in self._request.trees else None
        by_count = _BY_COUNT.keys() & tree if isinstance(tree, Mapping) else ()
        if by_count:
            trees, spec = None, {key: each for key, each in spec.items() if key != "hierarchy"}
        column = Table.from_arrow(data, {name: spec}, trees, rows_are_people=True).columns[0]
        if column.role is Role.INSENSITIVE:
            column = _with_domain(column)
        counts = np.bincount(column.codes, found.counts, minlength=column.domain).astype(np.int64)
        if by_count:
            column = _with_counted(column, tree, counts)
        return Encoded(column, Dictionary(found.values, column.codes, column.domain), counts)

    def _coarser(self, name: str, spec: Mapping[str, Any], found: Values) -> Encoded:
        """Return an identifier as its coarser cells."""
        cells = without_missing(pa.table({name: self.cells(name, found.values)}), {name: spec})
        coarse = spec["replace"].coarsen(name, encoding.combined(cells.column(0), name))
        column = Column.encode(name, coarse, Role.QUASI)
        counts = np.bincount(column.codes, found.counts, minlength=column.domain).astype(np.int64)
        return Encoded(column, Dictionary(found.values, column.codes, column.domain), counts)

    def cells(self, name: str, values: Any) -> Any:
        """Return distinct values as the reader of the file returns its cells."""
        form = self._request.form
        kind = None if self._types is None else self._types[name]
        if kind is None:
            cells = without_codes(values.cast(pa.string()), form.missing_in.get(name, ()))
            self._texts[name] = cells
            return cells if name in self._request.text else typed(cells, notation=form.notation)
        cells = without_codes(as_source(values, kind), form.missing_of(name))
        if is_text(cells.type):
            self._texts[name] = cells
        return cells

    def identifiers(self, name: str, values: Any) -> Any:
        """Return cells of an identifier as the reader of the file returns them."""
        spec = self._request.specs.get(name, {})
        data = without_missing(pa.table({name: self.cells(name, values)}), {name: spec})
        return as_declared(data, {name: spec}, self._request.form.notation).column(0)

    def check_dates(self) -> None:
        """Reject a stated format of dates that no encoded column has."""
        specs, dates = self._request.specs, self._request.form.dates
        if any(str(spec.get("type")).startswith("date") for spec in specs.values()):
            return
        check_dates(with_dates_checked(pa.table({"cells": [0]}), dates, self._texts), dates)


# recipes whose groups depend on the number of rows of each value: their argument and function
_BY_COUNT = {
    "quantiles": ("groups", weighted_quantiles),
    "frequency": ("shares", weighted_frequency),
}


def _with_counted(column: Column, recipe: Mapping[str, Any], counts: Counts) -> Column:
    """Return a column with a hierarchy that depends on the number of rows of each value."""
    name = next(name for name in _BY_COUNT if name in recipe)
    argument, build = _BY_COUNT[name]
    stated = recipe[name]
    if isinstance(stated, Mapping) and set(stated) == {argument}:
        stated = stated[argument]
    if set(recipe) != {name} or isinstance(stated, Mapping):
        raise InputError(f"column {column.name!r}: hierarchy {name!r} has invalid arguments")
    built = build(column, stated, counts)
    named = replace(built, source=json.dumps(recipe, sort_keys=True, default=str))
    return column.with_hierarchy(named)


def _check_recipe(name: str, tree: Any) -> None:
    source_columns(tree, name)  # a wrong recipe is an error of its own
    if isinstance(tree, Mapping) and set(tree) & set(_BY_ROWS):
        recipe = next(each for each in _BY_ROWS if each in tree)
        raise InputError(
            f"column {name!r}: a hierarchy by {recipe!r} needs the rows in memory; write it to a "
            "file with `shoal hierarchy make`, or state a larger memory"
        )


def _check_numeric(name: str, spec: Mapping[str, Any], data: Any) -> None:
    if spec.get("kind") == Kind.NUMERIC and is_text(data.column(0).type):
        raise InputError(
            f"column {name!r}: kind numeric, but some cells are not numbers or dates; write them "
            "like 1234.50 or 2024-03-09, state decimal or dates, list the text that means missing "
            "under missing, or make the column nominal"
        )


def _with_domain(column: Column) -> Column:
    """Return an unchanged column with codes into its distinct values."""
    codes, values = encoding.encode_unchanged(column.values, column.name)
    name, role, kind = column.name, column.role, column.kind
    return Column(name, role, kind, codes, values, type=column.type, declared=column.declared)


def check_names(scan: Scanned, request: Request, path: Path) -> None:
    """Reject a source without the asked columns, or with types that engines do not read.

    Parameters:
        scan: How the rows are read.
        request: The roles of columns, and who the people are.
        path: The source in messages.
    """
    names, wanted, units = scan.names, request.specs, request.units
    if not set(wanted) & set(names):
        raise InputError(
            f"{path}: has none of the columns {', '.join(wanted)}; {advice_on_names(wanted, names)}"
        )
    absent = [name for name in sorted(request.expected) if name not in names]
    if absent:
        raise InputError(f"{path}: has no column {absent[0]!r}; there are {', '.join(names)}")
    for what in ("person", "household"):
        for name in units[what]:
            role = Role(wanted.get(name, {}).get("role", Role.IDENTIFIER))
            if role is not Role.IDENTIFIER:
                raise InputError(
                    f"{path}: column {name!r} identifies the {what}, so it cannot be {role}; "
                    "give it the role identifier"
                )
    known = {*wanted, *units["person"], *units["household"]}
    for name, kind in (scan.types or {}).items():
        if name in known and kind is not None:
            check_type(name, kind)


def refuse_repeated(engine: Engine, names: Sequence[str], file: Path) -> None:
    """Reject identifiers that repeat, if no column identifies people.

    names: the identifiers.
    """
    found = deciding_of(names, lambda name: count_identifier(engine, name))
    if found is not None and found.repeats:
        error = RepeatedIdentifier(found.column, found.distinct, found.filled)
        error.args = (f"{file}: {error}",)
        raise error


def count_identifier(engine: Engine, name: str) -> Deciding | None:
    """Count the values of an identifier; None if it is free text, which decides nothing."""
    found = engine.statistics({}, [name])[name]
    assert isinstance(found, Filled)
    return None if found.words >= TEXT_WORDS else Deciding(name, found.distinct, found.rows)


def unit_of(columns: tuple[str, ...], ids: Counts | None) -> Unit | None:
    """Return the units of tuples, numbered without gaps."""
    if ids is None or not columns:
        return None
    found = group_keys(ids)
    return Unit(tuple(columns), found.ids, len(found))


def weighted_table(source: LargeTable, columns: Sequence[Column], found: Tuples) -> Table:
    """Return distinct tuples of a table as a weighted table, with their people and households."""
    units = source.units
    return Table(
        tuple(columns),
        found.counts,
        source.unassigned,
        unit_of(units["person"], found.person),
        unit_of(units["household"], found.household),
        units["rows_are_people"],
        source.guessed,
    )


def stand_in(source: LargeTable, packing: Packing, found: Tuples) -> Table:
    """Return tuples of all published columns as a weighted table.

    Each identifier has a stand-in without cells.
    """
    columns, rows = [], len(found)
    for name, role in source.roles.items():
        if name in source.encoded:
            column = source.encoded[name].column
            codes = packing.unpack(found.words, name) if rows else np.zeros(0, dtype=np.int32)
            columns.append(replace(column, codes=codes))
        else:
            columns.append(_declared_column(source, name, role, rows))
    return weighted_table(source, columns, found)


def _declared_column(source: LargeTable, name: str, role: Role, rows: int) -> Column:
    """Return a column without its cells, as it is declared."""
    spec = encoding_options(source.specs.get(name, {"role": role}))
    spec.pop("hierarchy", None)
    try:
        declared = Column.encode(name, pa.array([], pa.string()), **{**spec, "role": role})
    except (InputError, pa.ArrowInvalid):  # a declaration that needs cells of another type
        declared = Column(name, role, Kind.NOMINAL, np.zeros(0, np.int32), pa.array([""]))
    return replace(declared, codes=np.zeros(rows, np.int32), values=pa.array([""]))


@dataclass(frozen=True, eq=False)
class WeightValues:
    """The distinct weights.

    values: (codes,) the weight of each code. dictionary: the code of each value of the source.
    """

    column: str
    values: Floats
    dictionary: Dictionary

    @classmethod
    def of(cls, name: str, encoder: Encoder, found: Values) -> WeightValues:
        """Return the weights of distinct values; wrong ones are an error that counts their rows."""
        weights = Weights.of(name, encoder.cells(name, found.values), found.counts)
        codes = np.arange(len(found.values), dtype=np.int32)
        return cls(name, weights.values, Dictionary(found.values, codes, len(codes)))

    @property
    def domain(self) -> int:
        """Number of codes."""
        return len(self.values)

    def of_rows(self, codes: Codes) -> Weights:
        """Return the weights of rows with these codes."""
        return Weights(self.column, self.values[codes])

    def check_people(self, engine: Engine, file: Path) -> None:
        """Reject people whose rows have different weights.

        Values of the source that are the same number have one code here.
        """
        _, same = np.unique(self.values, return_inverse=True)
        packing = Packing.of({self.column: int(same.max()) + 2})
        rows = engine.release(Plan(packing, {self.column: same.astype(np.int32)}))
        counted = rows.count_classes()
        assert counted.people is not None
        if int(counted.people.sum()) != rows.total.people:
            raise InputError(
                f"{file}: column {self.column!r} is the sampling weight, but some people have rows "
                "with different weights; a weight belongs to a person, so give all rows of a "
                "person the same one"
            )


def column_of_weights(names: Sequence[str], specs: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the column of the sampling weights, None if there is none.

    Parameters:
        names: The columns with the role weight.
        specs: The options of each column.
    """
    if not names:
        return None
    if len(names) > 1:
        raise InputError(f"{', '.join(names)} have the role weight; a table has one such column")
    if specs[names[0]].get("publish"):
        raise InputError(
            f"column {names[0]!r}: a weight is published only in memory; leave out publish, or "
            "state a larger memory"
        )
    return names[0]
