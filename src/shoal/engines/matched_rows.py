"""Releases in memory from the rows of an original and of its release, matched on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column, Kind, Role
from shoal.core.margins import MarginRelease, Margins, Pairs
from shoal.core.provenance import Run
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.core.verification import Guarantee
from shoal.engines.engine import Tuples
from shoal.engines.large_table import LargeTable
from shoal.engines.margins import original_sizes
from shoal.engines.packing import Packing
from shoal.engines.people import unit_of
from shoal.engines.released_texts import JoinedTable, ReleasedTable
from shoal.errors import InputError
from shoal.reading.released import MATCHED, Unclaimed, check_fit, line_up
from shoal.reading.released_columns import (
    ReleasedColumn,
    read_cells,
    read_texts,
    recoding,
)
from shoal.reading.row_matching import match_weighted
from shoal.support.arrays import Bools, Codes, Counts

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
