"""A release on disk as a weighted release in memory, for reports and metrics.

Its rows are the distinct tuples of quasi-identifiers and sensitive columns. If these are too many,
rows with the same counts stand for them; if people have several rows, quasi-identifiers are then at
the level at which the release publishes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column, Kind, Role
from shoal.core.margins import Pairs
from shoal.core.publishing.replaced import Replaced
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.engines.engine import LINKED, Tuples
from shoal.engines.margins import Shown, margins_of
from shoal.engines.packing import Packing
from shoal.engines.people import weighted_table
from shoal.engines.published import is_one_node, quasi_cells
from shoal.engines.rolling import Base, base_at
from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts

if TYPE_CHECKING:
    from shoal.engines.large_release import LargeRelease


def digest_of(release: LargeRelease) -> Release:
    """Return the weighted release of the distinct tuples, with all sensitive columns.

    If there are too many of them, or the search began at a coarser level, its rows have the same
    counts only.

    Raises:
        InputError: There is too much to count for the memory.
    """
    source = release.source
    several = bool(source.units["person"] or source.units["household"] or source.linking)
    if release.floor and not several:
        return margins_of(release, source, _shown(release))
    sensitive = [n for n in source.names(Role.SENSITIVE) if n not in release.quasi]
    columns = {n: source.encoded[n].column for n in (*release.quasi, *sensitive)}
    columns |= {c.name: c for c in release.original.columns}
    weights = source.weights
    domains = {name: column.domain for name, column in columns.items()}
    if weights is not None:
        domains[weights.column] = weights.domain
    packing = Packing.of(domains)
    bases = _bases(release)[: None if several else 1]
    most = source.most_tuples(len(columns))
    found = source.engine.tuples(packing, [base.maps for base in bases], most, several)
    if isinstance(found, int) and not several:
        return margins_of(release, source, _shown(release))
    if isinstance(found, int):
        raise InputError(
            f"{source.files.name}: a report needs the distinct tuples with all sensitive columns, "
            f"about {found:,}, too many for {source.budget} of memory; state a larger memory"
        )
    codes = {name: packing.unpack(found.words, name) for name in columns}
    levels = bases[found.node].levels
    held = {
        name: replace(column, codes=codes[name], floor=levels.get(name, 0))
        for name, column in columns.items()
    }
    if len(bases) > 1:
        entries, suppressed = _by_node(release, held)
    else:
        entries, suppressed = _by_tuple(release, held, found.linked)
    recodings = {
        name: replace(each, column=replace(each.column, codes=codes[name]), codes=entries[name])
        for name, each in release.recodings.items()
    }
    table = _table(release, held, found)
    if weights is not None:
        of_rows = weights.of_rows(packing.unpack(found.words, weights.column))
        table = replace(table, weights=of_rows)
    return Release(
        table,
        recodings,
        release.model,
        suppressed,
        release.run,
        release.node,
        release.candidates,
        release.evaluated,
        release.proof,
        replaced=_replaced(release, found),
    )


def _replaced(release: LargeRelease, found: Tuples) -> dict[str, Replaced]:
    """Return the replaced identifiers, with numbers of sets in the place of cells that link."""
    none = pa.nulls(len(found), pa.int64())
    sets = none if found.linked is None else pa.array(found.linked)
    linking = release.source.linking
    return {
        name: replace(each, cells=sets if name in linking else none)
        for name, each in release.replaced.items()
    }


def _shown(release: LargeRelease) -> Shown:
    """Return the released rows with the recodings of their cells."""
    kept = release.kept_tuples
    known = quasi_cells(release, kept, spelled=False)
    cells, rows = release.published_rows(text=False)

    def recoding(name: str, pairs: Pairs) -> Recoding:
        found = release.recodings[name]
        index, sorted_cells = known[name]
        entry_of = np.zeros(len(sorted_cells.values), dtype=np.int64)
        entry_of[sorted_cells.ranks[index]] = found.codes[kept]
        column = replace(found.column, codes=pairs.codes, floor=0)
        made = found.at_entries(column, entry_of, pairs.cells)
        if not made.covers():
            raise InputError(
                f"column {name!r}: two cells have the same text but different values, so they "
                "cannot be counted on disk; state a larger memory"
            )
        return made

    return Shown(rows, {name: len(each.values) for name, each in cells.items()}, recoding)


def _bases(release: LargeRelease) -> list[Base]:
    """Return the levels of the tuples that may be read: those of the search, then the published."""
    quasi = [release.recodings[name].column for name in release.quasi]
    encoded = release.source.encoded
    bases = [base_at(quasi, release.floor, encoded)]
    if release.node is not None and is_one_node(release):
        bases.append(base_at(quasi, release.node, encoded))
    return bases


Published = tuple[dict[str, Codes], Bools | None]  # the entries by column, and what is suppressed


def _by_tuple(
    release: LargeRelease, held: Mapping[str, Column], linked: Counts | None
) -> Published:
    """Return how tuples are published that are those of the search, with further columns.

    linked: (tuples,) the set of linked rows of each tuple, if rows are linked.
    """
    table = release.original
    names = [column.name for column in table.columns]
    domains = {name: held[name].domain for name in names}
    known: dict[str, Any] = {name: table[name].codes for name in names}
    asked: dict[str, Any] = {name: held[name].codes for name in names}
    if linked is not None and release.linked is not None:
        domains[LINKED] = int(linked.max(initial=0)) + 1
        known[LINKED], asked[LINKED] = release.linked, linked
    packing = Packing.of(domains)
    at = _places(packing.pack(known), packing.pack(asked))
    if (at < 0).any():
        raise InputError(f"{release.source.files.name}: was changed while it was read; start again")
    entries = {name: each.codes[at] for name, each in release.recodings.items()}
    return entries, None if release.suppressed is None else release.suppressed[at]


def _by_node(release: LargeRelease, held: Mapping[str, Column]) -> Published:
    """Return how tuples at any level up to the node are published."""
    assert release.node is not None
    kept = slice(None) if release.suppressed is None else ~release.suppressed
    entries, known, asked, domains = {}, {}, {}, {}
    for name, each in release.recodings.items():
        assert each.column.hierarchy is not None
        groups = each.column.hierarchy.levels[release.node[name]].groups
        known[name] = groups[release.original[name].codes[kept]]
        asked[name] = groups[held[name].codes]
        domains[name] = int(groups.max(initial=0)) + 1
        entry = np.zeros(domains[name], dtype=np.int32)
        entry[known[name]] = each.codes[kept]
        entries[name] = entry[asked[name]]
    packing = Packing.of(domains)
    lost: Bools = _places(packing.pack(known), packing.pack(asked)) < 0
    return entries, lost if lost.any() else None


def _places(known: list[Counts], asked: list[Counts]) -> Counts:
    """(asked,) a place of each asked tuple among the known ones, −1 if it is not there."""
    both = np.concatenate((np.stack(known), np.stack(asked)), axis=1)
    distinct, place = np.unique(both, axis=1, return_inverse=True)
    place = place.reshape(-1)
    count = len(known[0])
    first = np.full(distinct.shape[1], -1, dtype=np.int64)
    first[place[:count]] = np.arange(count)
    found: Counts = first[place[count:]]
    return found


def _table(release: LargeRelease, held: Mapping[str, Column], found: Tuples) -> Table:
    """Return the tuples with a stand-in for each column that they do not have."""
    source = release.source
    blank = np.zeros(len(found), dtype=np.int32)
    columns = []
    for name, role in source.roles.items():
        if name in held:
            columns.append(held[name])
        elif role is not Role.WEIGHT:
            columns.append(Column(name, role, Kind.NOMINAL, blank, pa.array([""])))
    return replace(weighted_table(source, columns, found), guessed=release.original.guessed)
