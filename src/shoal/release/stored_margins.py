"""A release on disk as weighted rows with the same counts, if its distinct tuples do not fit.

The engine counts classes, pairs of a published cell and an original value, and values inside
classes. People with several rows cannot be counted this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.release.margins import MarginRelease, Margins, Rows, Sizes
from shoal.release.release import Release
from shoal.rows.packing import Packing
from shoal.rows.queries import Released
from shoal.rows.store import Plan, histograms_of, order_of
from shoal.support.arrays import Codes, Counts
from shoal.table.classes import Histogram
from shoal.table.column import Column, Kind, Role
from shoal.table.pairs import Pairs
from shoal.table.recoding import Recoding
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.rows.large_table import LargeTable

_BYTES_PER_VALUE = 60  # of a value inside a class, while it is counted and measured
_SHARE = 0.4  # of the budget, for the values inside classes


@dataclass(frozen=True, eq=False)
class Shown:
    """The released rows of an engine, and what their cells stand for.

    cells: the number of published cells of each quasi-identifier.
    recoding: returns the recoding of a column, whose entries are its cells in order and whose rows
        do not matter, given the pairs of cells and original values.
    """

    rows: Released
    cells: Mapping[str, int]
    recoding: Callable[[str, Pairs], Recoding]


def margins_of(release: Release, source: LargeTable, shown: Shown) -> MarginRelease:
    """Return weighted rows with the counts of a release whose rows stay on disk.

    Raises:
        InputError: People have several rows, or the values inside classes do not fit in memory.
    """
    if source.units["person"] or source.units["household"]:
        raise InputError(
            f"{source.files.name}: the people of all classes do not fit in {source.budget} of "
            "memory, so there are no figures about them; state a larger memory"
        )
    whole = shown.rows.count_classes()
    order = order_of(whole)
    packing = Packing.of({name: count + 1 for name, count in shown.cells.items()})
    words = [word[order] for word in whole.words]
    cells = {name: packing.unpack(words, name) for name in shown.cells}
    pairs = {name: shown.rows.count_cells(name) for name in shown.cells}
    counted = _inside_classes(source, shown.rows, whole.rows[order], cells, pairs)
    released = {name: found.by_value(_domain(source, name)) for name, found in pairs.items()}
    others = {
        name: np.bincount(each.codes, each.counts, _domain(source, name)).astype(np.int64)
        for name, (_, each) in counted.items()
        if name not in pairs
    }
    lost = {name: source.encoded[name].counts - n for name, n in (released | others).items()}
    margins = Margins(whole.rows[order], cells, pairs, lost, others)
    rows = margins.rows()
    recodings = {name: shown.recoding(name, found) for name, found in pairs.items()}
    found = margins.release(release, _table(release, source, rows), recodings, rows)
    return replace(
        found,
        counted=counted,
        before=original_sizes(source, tuple(cells)),
        released_before=shown.rows.sizes(_packing(source, tuple(cells))),
    )


def original_sizes(source: LargeTable, names: tuple[str, ...]) -> Sizes:
    """Return the numbers of rows of the original tuples, and how many tuples have each."""
    maps = {name: np.arange(_domain(source, name), dtype=np.int32) for name in names}
    packing = Packing.of({name: _domain(source, name) + 1 for name in names})
    return source.engine.release(Plan(packing, maps)).sizes(_packing(source, names))


def _packing(source: LargeTable, names: tuple[str, ...]) -> Packing:
    return Packing.of({name: _domain(source, name) for name in names})


def _domain(source: LargeTable, name: str) -> int:
    return source.encoded[name].column.domain


def _inside_classes(
    source: LargeTable,
    rows: Released,
    sizes: Counts,
    cells: Mapping[str, Codes],
    pairs: Mapping[str, Pairs],
) -> dict[str, tuple[Any, Histogram]]:
    """Count the values of sensitive columns inside classes, and of quasi-identifiers if they fit.

    A histogram comes with the values of its codes.
    """
    room = source.budget.share(_SHARE) // _BYTES_PER_VALUE
    found = {}

    def count(name: str) -> tuple[Any, Histogram]:
        return source.encoded[name].column.values, histograms_of(rows.count_classes(name), None)[1]

    for name in source.names(Role.SENSITIVE):
        if name in cells:
            continue
        room -= int(np.minimum(sizes, _domain(source, name)).sum())
        if room < 0:
            raise InputError(
                f"{source.files.name}: the values of column {name!r} in {len(sizes):,} classes do "
                f"not fit in {source.budget} of memory; state a larger memory"
            )
        found[name] = count(name)
    for name, each in pairs.items():
        values = np.bincount(each.cells, minlength=int(cells[name].max(initial=0)) + 1)
        room -= int(np.minimum(sizes, values[cells[name]]).sum())
    return found | ({name: count(name) for name in cells} if room >= 0 else {})


def _table(release: Release, source: LargeTable, rows: Rows) -> Table:
    """Return the rows with a stand-in for each column that they do not have."""
    blank = np.zeros(len(rows.counts), dtype=np.int32)
    columns = []
    for name, role in source.roles.items():
        if name in rows.codes:
            columns.append(replace(source.encoded[name].column, codes=rows.codes[name]))
        elif role is not Role.WEIGHT:
            columns.append(Column(name, role, Kind.NOMINAL, blank, pa.array([""])))
    guessed = release.original.guessed
    stated = source.units["rows_are_people"]
    return Table(
        tuple(columns), rows.counts, source.unassigned, rows_are_people=stated, guessed=guessed
    )
