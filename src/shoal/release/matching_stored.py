"""A released file and its original, both larger than memory, as a release in memory for metrics.

Rows are matched by a key, by position or by their values, as in memory. The distinct pairs of an
original tuple and a published one become a weighted release. If these do not fit in memory, each
column is counted on its own; if rows could be matched by their values only, cells are then counted
without their originals. Cells of the release are read from their distinct texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, NotCovering
from shoal.files.requests import Request
from shoal.files.writing import unescape_formulas
from shoal.release.margins import MarginRelease, Margins
from shoal.release.provenance import Run
from shoal.release.reading_columns import ReleasedColumn, read_cells, read_texts, recoding
from shoal.release.release import Release
from shoal.release.released_files import MATCHED, Unclaimed, check_fit, line_up
from shoal.release.row_matching import match_weighted
from shoal.release.stored_margins import original_sizes
from shoal.release.verification import Guarantee
from shoal.rows.dictionaries import Encoded, Encoder, unit_of
from shoal.rows.duckdb_links import JoinedFiles
from shoal.rows.file_sources import Files
from shoal.rows.large_table import LargeTable
from shoal.rows.memory import Budget
from shoal.rows.packing import Packing
from shoal.rows.store import Dictionary, Tuples, Values
from shoal.support.arrays import Bools, Codes, Counts
from shoal.table.column import Column, Kind, Role
from shoal.table.encoding import texts, with_missing
from shoal.table.frames import with_dates_of
from shoal.table.pairs import Pairs
from shoal.table.recoding import Recoding
from shoal.table.table import Table

UNMATCHED = (
    "rows were not matched with the original, because too many of them differ for the memory: it "
    "was not checked that they cover their originals; name a column with unique values as the key"
)


@dataclass(frozen=True)
class JoinedRows:
    """The joined rows of an original and its release.

    columns: the released columns by their originals. matched: the column that says whether a row is
    released. roles: those of the original. target: a further column to measure.
    """

    table: JoinedTable
    columns: Mapping[str, str]
    matched: str
    roles: Mapping[str, Role]
    target: str | None

    def release(self, model: Guarantee | None) -> Release:
        """Return the release of all rows if their distinct pairs fit, or else of their counts."""
        table = self.table
        table.records  # noqa: B018  encodes the rows
        kept = _measured(table, self.roles, self.target)
        names = [*kept, *self.columns.values(), self.matched]
        found = _tuples(table, names, people=True)
        if isinstance(found, int):
            _refuse_people(table, found)
            return self._by_column(model)
        codes = {name: found.codes(name) for name in names}
        original = _weighted(table, self.roles, {name: codes[name] for name in kept}, found)
        there = np.flatnonzero(self._is_released(codes[self.matched]))
        texts = {name: (new, codes[new][there]) for name, new in self.columns.items()}
        lined_up = line_up(_cells(table, texts), original, there)
        check_fit(lined_up.misfits, found.counts[there])
        return lined_up.release(original, model)

    def _is_released(self, codes: Codes) -> Bools:
        known = np.array(self.table.encoded[self.matched].column.values.to_pylist())
        found: Bools = known.astype(np.bool_)[codes]
        return found

    def _by_column(self, model: Guarantee | None) -> MarginRelease:
        """Return the release of the counts of each column, and of the classes."""
        table, misfits, pairs, lost, entries = self.table, {}, {}, {}, {}
        quasi = [name for name in self.columns if self.roles[name] is Role.QUASI]
        places = {}
        for name, new in self.columns.items():
            found = _few(table, _tuples(table, [name, new, self.matched]), f"pairs of {name!r}")
            there = self._is_released(found.codes(self.matched))
            column = replace(table.encoded[name].column, codes=found.codes(name)[there])
            counts, released = found.counts[there], found.codes(new)[there]
            if name not in quasi:
                shown = _cells(table, {name: (new, released)})
                every = np.arange(len(column))
                misfits = line_up(shown, Table((column,), counts), every).misfits
                check_fit(misfits, counts)
                continue
            hidden = found.codes(name)[~there]
            lost[name] = _summed(hidden, found.counts[~there], column.domain)
            used, codes = np.unique(released, return_inverse=True)
            texts = tuple(table.encoded[new].column.values.take(pa.array(used)).to_pylist())
            cells = ReleasedColumn(texts, codes.astype(np.int32), column.codes)
            readings, missed = read_cells(column, cells)
            check_fit({name: missed}, counts)
            blank = np.zeros(len(column), dtype=np.bool_)
            entries[name] = recoding(column, cells, readings, np.arange(len(column)), blank)
            pairs[name] = Pairs(cells.codes, column.codes, counts)
            places[name] = np.searchsorted(used, np.arange(table.encoded[new].column.domain))
        names = [self.columns[name] for name in quasi]
        whole = _few(table, _tuples(table, [*names, self.matched]), "classes")
        kept = self._is_released(whole.codes(self.matched))
        shown_in = {
            name: places[name][whole.codes(self.columns[name])[kept]].astype(np.int32)
            for name in quasi
        }
        margins = Margins(whole.counts[kept], shown_in, pairs, lost)
        return _of_margins(table, self.roles, margins, entries, model)


def match_by_value(
    original: LargeTable, released: ReleasedTable, target: str | None, model: Guarantee | None
) -> Release:
    """Return the release whose rows are matched with the originals by their values.

    If there are too many different rows, cells and values are counted without being matched.
    """
    shared = [name for name in released.encoded if name in original.encoded]
    roles = original.roles
    kept = list(dict.fromkeys([*_measured(original, roles, target), *shared]))
    mine = _tuples(original, kept, people=True)
    if isinstance(mine, int):
        _refuse_people(original, mine)
        return _unmatched(original, released, model)
    theirs = _tuples(released, shared)
    if isinstance(theirs, int):
        return _unmatched(original, released, model)
    rows = _weighted(original, roles, {name: mine.codes(name) for name in kept}, mine)
    data = _cells(released, {name: (name, theirs.codes(name)) for name in shared})
    found = match_weighted(data, theirs.counts, rows)
    matched = replace(rows.take(found.originals), counts=found.counts)
    there = np.flatnonzero(found.released >= 0)
    data = data.take(pa.array(found.released[there]))
    lined_up = line_up(data, matched, there)
    check_fit(lined_up.misfits, found.counts[there])
    return lined_up.release(matched, model, () if found.certain else (MATCHED,))


def _unmatched(
    original: LargeTable, released: ReleasedTable, model: Guarantee | None
) -> MarginRelease:
    """Return the release of cells and original values that are counted without being matched."""
    quasi = original.names(Role.QUASI)
    pairs, lost, entries = {}, {}, {}
    for name in quasi:
        shown, column = released.encoded[name], original.encoded[name].column
        texts = tuple(shown.column.values.to_pylist())
        entries[name] = read_texts(column, texts)
        pairs[name], lost[name] = Pairs.unmatched(shown.counts, original.encoded[name].counts)
    whole = _few(released, _tuples(released, list(quasi)), "classes")
    cells = {name: whole.codes(name) for name in quasi}
    margins = Margins(whole.counts, cells, pairs, lost)
    found = _of_margins(original, original.roles, margins, entries, model)
    return replace(found, matched=False, run=replace(found.run, notes=(UNMATCHED,)))


@dataclass(frozen=True, eq=False)
class _Distinct:
    """Distinct tuples of some columns."""

    packing: Packing
    found: Tuples

    @property
    def counts(self) -> Counts:
        return self.found.counts

    def codes(self, name: str) -> Codes:
        return self.packing.unpack(self.found.words, name)


def _tuples(table: LargeTable, names: Sequence[str], *, people: bool = False) -> _Distinct | int:
    """Return the distinct tuples of some columns, or their number if they do not fit.

    people: by person and household, if the table has them.
    """
    several = people and bool(table.units["person"] or table.units["household"])
    packing = Packing.of({name: table.encoded[name].column.domain for name in names})
    found = table.engine.tuples(packing, [{}], table.most_tuples(len(names)), several)
    return found if isinstance(found, int) else _Distinct(packing, found)


def _few(table: LargeTable, found: _Distinct | int, what: str) -> _Distinct:
    if isinstance(found, int):
        raise InputError(
            f"{table.files.name}: has about {found:,} {what}, too many for {table.budget} of "
            "memory; state a larger memory"
        )
    return found


def _refuse_people(table: LargeTable, tuples: int) -> None:
    if table.units["person"] or table.units["household"]:
        raise InputError(
            f"{table.files.name}: has about {tuples:,} pairs of a person and a tuple, too many for "
            f"{table.budget} of memory; state a larger memory, or leave out the person to count "
            "rows"
        )


def _measured(table: LargeTable, roles: Mapping[str, Role], target: str | None) -> list[str]:
    """Return the columns that metrics may need."""
    return [
        name
        for name in table.encoded
        if roles.get(name) in (Role.QUASI, Role.SENSITIVE) or name == target
    ]


def _weighted(
    table: LargeTable, roles: Mapping[str, Role], codes: Mapping[str, Codes], found: _Distinct
) -> Table:
    units = table.units
    return replace(
        _stand_ins(table, roles, codes, found.counts),
        person=unit_of(units["person"], found.found.person),
        household=unit_of(units["household"], found.found.household),
    )


def _stand_ins(
    table: LargeTable, roles: Mapping[str, Role], codes: Mapping[str, Codes], counts: Counts
) -> Table:
    """Return weighted rows, with a stand-in for each column that they do not have."""
    columns = []
    for name in table.roles:
        if name in codes:
            columns.append(replace(table.encoded[name].column, codes=codes[name]))
        elif name in roles and roles[name] is not Role.WEIGHT:
            blank = np.zeros(len(counts), dtype=np.int32)
            columns.append(Column(name, roles[name], Kind.NOMINAL, blank, pa.array([""])))
    stated = bool(table.units["rows_are_people"])
    return Table(tuple(columns), counts, table.unassigned, rows_are_people=stated)


def _cells(table: LargeTable, codes: Mapping[str, tuple[str, Codes]]) -> Any:
    """Return released cells as Arrow text, by the name of the original column."""
    return pa.table(
        {
            name: table.encoded[new].column.values.take(pa.array(each))
            for name, (new, each) in codes.items()
        }
    )


def _of_margins(
    table: LargeTable,
    roles: Mapping[str, Role],
    margins: Margins,
    entries: Mapping[str, Recoding],
    model: Guarantee | None,
) -> MarginRelease:
    rows = margins.rows()
    original = _stand_ins(table, roles, rows.codes, rows.counts)
    claim = Unclaimed() if model is None else model
    made = Release(original, {}, claim, run=Run(method="read from a file"))
    sizes = original_sizes(table, tuple(margins.cells))
    found = margins.release(made, original, entries, rows)
    return replace(found, before=sizes, released_before=sizes)


def _summed(codes: Codes, counts: Counts, domain: int) -> Counts:
    return np.bincount(codes, counts, domain).astype(np.int64)


_FIRST_ROWS = 1_000  # that show whether rows may be matched by position
_NOBODY: Mapping[str, Any] = {"person": (), "household": (), "rows_are_people": True}
_TEXT = {"role": "quasi", "kind": "nominal", "type": "text"}


@dataclass(frozen=True)
class Pair:
    """An original and its release.

    request: roles, hierarchies and format of the original. settings: the format of the release.
    target: a further column of the original that is measured.
    """

    original: Files
    released: Files
    request: Request
    settings: Mapping[str, Any]
    budget: Budget
    target: str | None = None

    def read(self, key: str | None = None, model: Guarantee | None = None) -> Release:
        """Return the release in memory, as weighted rows.

        Parameters:
            key: A column of both files with unique values; None to match by position or values.
            model: The guarantee that the release claims.

        Raises:
            NotCovering: Rows do not cover their originals, or cannot be matched.
            InputError: There is too much to count for the memory.
        """
        with ExitStack() as stack:
            if key is not None:
                return self._joined(stack, key).release(model)
            original = stack.enter_context(LargeTable(self.original, self.request, self.budget))
            original.records  # noqa: B018  encodes the rows
            released = self._released(original)
            stack.callback(released.close)
            if released.records == original.records:
                found = self._by_position(stack, original, released, model)
                if found is not None:
                    return found
            return match_by_value(original, released, self.target, model)

    def _by_position(
        self,
        stack: ExitStack,
        original: LargeTable,
        released: ReleasedTable,
        model: Guarantee | None,
    ) -> Release | None:
        """Return the release if every row covers the original at its position, else None."""
        known = original.encoded, released.encoded
        for table in (original, released):
            table.engine.rest()
        try:
            for first in (_FIRST_ROWS, None):
                joined = self._joined(stack, None, known, first)
                found = joined.release(model)
                joined.table.close()
        except NotCovering:  # the rows are in another order
            return None
        return found

    def _shared(self, names: Sequence[str], roles: Mapping[str, Role]) -> list[str]:
        """Return which columns of the original the release has."""
        form = Request({}, {}, _NOBODY, dict(self.settings)).form
        with self.released.scan(form, set()) as scan:
            there = scan.names
        for name in names:
            if roles[name] is Role.QUASI and there.count(name) != 1:
                raise InputError(
                    f"{self.released.name}: has no column {name!r}, or several; the original has it"
                )
        return [name for name in names if there.count(name) == 1]

    def _released(self, original: LargeTable) -> ReleasedTable:
        """Return the released file, with the columns that it shares with the original."""
        shared = self._shared(list(original.encoded), original.roles)
        request = Request(dict.fromkeys(shared, _TEXT), {}, _NOBODY, dict(self.settings))
        table = ReleasedTable(self.released, request, self.budget)
        empty = np.zeros(0, dtype=np.int64)
        table.original = Table(tuple(original.encoded[n].column.take(empty) for n in shared))
        return table

    def _joined(
        self,
        stack: ExitStack,
        key: str | None,
        known: tuple[Mapping[str, Encoded], Mapping[str, Encoded]] | None = None,
        first: int | None = None,
    ) -> JoinedRows:
        """Return both files joined.

        known: the columns of both files, if they are encoded already. first: how many rows to join.
        """
        specs, units = self.request.specs, self.request.units
        roles = {name: Role(spec["role"]) for name, spec in specs.items()}
        measured = [n for n in specs if roles[n] in (Role.QUASI, Role.SENSITIVE)]
        shared = self._shared(measured, roles)
        prefix = "released "
        while any(f"{prefix}{name}" in specs for name in (*shared, "row")):
            prefix = f"the {prefix}"
        columns, matched = {name: f"{prefix}{name}" for name in shared}, f"{prefix}row"
        form = Request(dict.fromkeys(columns.values(), _TEXT), {}, _NOBODY, dict(self.settings))
        own = frozenset((*specs, *units["person"], *units["household"]))
        if key is not None and key not in own:
            raise InputError(f"key {key!r}: the original has no such column")
        files = JoinedFiles(
            self.original, self.released, form.form, columns, matched, own, key, first
        )
        both = {**specs, **form.specs, matched: {"role": "quasi", "kind": "nominal"}}
        table = JoinedTable(files, replace(self.request, specs=both), self.budget)
        stack.callback(table.close)
        table.released = {new: name for name, new in columns.items()}
        table.form = form
        if known is not None:
            theirs = {new: known[1][name] for name, new in columns.items()}
            table.known = {**known[0], **theirs}
        return JoinedRows(table, columns, matched, roles, self.target)


def encode_texts(
    found: Mapping[str, Values], encoder: Encoder, original: Table, names: Mapping[str, str]
) -> dict[str, Encoded]:
    """Return released columns as text.

    Parameters:
        found: The distinct values of each column.
        encoder: Reads the cells of the released file.
        original: The columns of the original, without rows.
        names: The name of each column in the original.
    """
    cells = {name: encoder.cells(name, values.values) for name, values in found.items()}
    longest = max(map(len, cells.values()), default=0)
    data = pa.table({names[name]: _padded(each, longest) for name, each in cells.items()})
    data = with_dates_of(original, unescape_formulas(data, original))
    encoded = {}
    for name, values in found.items():
        plain = with_missing(data.column(names[name]).slice(0, len(values.values)), name)
        coded = pa.array(texts(plain), pa.string()).dictionary_encode(null_encoding="encode")
        codes: Codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
        domain = len(coded.dictionary)
        text = Column(name, Role.QUASI, Kind.NOMINAL, codes, coded.dictionary)
        counts = np.bincount(codes, values.counts, domain).astype(np.int64)
        encoded[name] = Encoded(text, Dictionary(values.values, codes, domain), counts)
    return encoded


def _padded(cells: Any, length: int) -> Any:
    """Return cells with nulls at the end, so that columns have one length."""
    plain = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    return pa.concat_arrays([plain, pa.nulls(length - len(plain), plain.type)])


class ReleasedTable(LargeTable):
    """A released file on disk, whose cells are text."""

    original: Table  # the columns of the original, without rows

    def encode_values(self, found: Mapping[str, Values]) -> Mapping[str, Encoded]:
        """Return columns of text from their distinct values."""
        encoder = Encoder(self._request, self.types, self.files.name)
        return encode_texts(found, encoder, self.original, {name: name for name in found})


class JoinedTable(LargeTable):
    """An original on disk joined with its release.

    released: the original column of each released one. form: the format of the release, with a
    specification of each of its columns. known: columns that are encoded already.
    """

    released: Mapping[str, str]
    form: Request
    known: Mapping[str, Encoded] | None = None

    @cached_property
    def encoded(self) -> Mapping[str, Encoded]:
        """The columns of both files."""
        if self.known is None:
            return super().encoded
        rest = [name for name in self.published if name not in self.known]
        found = self.engine.statistics(dict.fromkeys(rest, 2))
        values = {name: each for name, each in found.items() if isinstance(each, Values)}
        return {**self.known, **super().encode_values(values)}

    def encode_values(self, found: Mapping[str, Values]) -> Mapping[str, Encoded]:
        """Return the columns of both files from their distinct values."""
        theirs = {name: values for name, values in found.items() if name in self.released}
        encoded = dict(super().encode_values({n: v for n, v in found.items() if n not in theirs}))
        empty = np.zeros(0, dtype=np.int64)
        original = Table(tuple(each.column.take(empty) for each in encoded.values()))
        encoder = Encoder(self.form, self.types, self.files.name)
        return encoded | encode_texts(theirs, encoder, original, self.released)
