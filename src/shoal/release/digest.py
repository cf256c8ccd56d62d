"""A release on disk as a weighted release in memory, for reports and metrics.

Its rows are the distinct tuples of quasi-identifiers and sensitive columns. If these are too many,
rows with the same counts stand for them (`stored_margins`); if people have several rows, quasi-
identifiers are then at the level at which the release publishes them.

`base_nodes` lists the levels at which a lattice search may begin, if the distinct tuples do not fit
in memory. Below the first of them no node can meet the model, so beginning there loses nothing;
each of the others is one level coarser in the attribute with the most values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.privacy.model import Model
from shoal.release.publishing import is_one_node, quasi_cells
from shoal.release.release import Release
from shoal.release.stored_margins import Shown, margins_of
from shoal.rows.dictionaries import Encoded, weighted_table
from shoal.rows.packing import Packing
from shoal.rows.store import LINKED, Tuples
from shoal.support.arrays import Bools, Codes, Counts
from shoal.table.column import Column, Kind, Role
from shoal.table.linked import Replaced
from shoal.table.pairs import Pairs
from shoal.table.recoding import Recoding
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.release.large_release import LargeRelease


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
    kept = release.kept_rows
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


_ROLLS = ("ola", "flash")


@dataclass(frozen=True, eq=False)
class Base:
    """Levels to begin at, by attribute, and the map of each code to one code of its group."""

    levels: Mapping[str, int]
    maps: Mapping[str, Codes]


def base_nodes(
    quasi: Sequence[Column],
    encoded: Mapping[str, Encoded],
    model: Model,
    algorithm: Any,
    records: int,
) -> list[Base]:
    """Return where a search may begin, finest first; only the finest if the method needs it.

    A method with `levels` of its own evaluates that node alone, so it begins there.
    """
    columns = [
        c if c.hierarchy is not None else c.with_hierarchy({"suppression": None}) for c in quasi
    ]
    if getattr(algorithm, "levels", None) is not None:
        heights = {c.name: c.hierarchy.height for c in columns if c.hierarchy is not None}
        stated = {n: min(level, heights.get(n, 0)) for n, level in algorithm.levels.items()}
        return [base_at(columns, stated, encoded)]
    nodes = [Base({}, {})]
    if not _may_roll(algorithm):
        return nodes
    levels = [0] * len(columns)
    while True:
        finer = [j for j, c in enumerate(columns) if levels[j] < c.hierarchy.height]  # type: ignore[union-attr]
        if not finer:
            return nodes
        worst = max(finer, key=lambda j: _groups(columns[j], levels[j]))
        levels[worst] += 1
        nodes.append(_base(columns, levels, encoded))


def _may_roll(algorithm: Any) -> bool:
    """Return whether a method searches a lattice from a corner, with costs by group."""
    entropy = getattr(algorithm, "objective", "") == "entropy"
    return (
        getattr(algorithm, "name", "") in _ROLLS
        and not getattr(algorithm, "local", False)
        and not entropy
    )


def _groups(column: Column, level: int) -> int:
    assert column.hierarchy is not None
    return len(column.hierarchy.levels[level])


def base_at(
    columns: Sequence[Column], levels: Mapping[str, int], encoded: Mapping[str, Encoded]
) -> Base:
    """Return the base at these levels of columns with hierarchies, 0 if a column is not named."""
    return _base(columns, [levels.get(column.name, 0) for column in columns], encoded)


def _base(columns: Sequence[Column], levels: list[int], encoded: Mapping[str, Encoded]) -> Base:
    maps = {}
    for column, level in zip(columns, levels, strict=True):
        if level:
            assert column.hierarchy is not None
            groups = column.hierarchy.levels[level].groups
            maps[column.name] = _representatives(groups, encoded[column.name].counts)
    named = {c.name: level for c, level in zip(columns, levels, strict=True) if level}
    return Base(named, maps)


def _representatives(groups: Codes, counts: Counts) -> Codes:
    """(codes,) for each code the first code of its group that occurs, or the first of all."""
    first = np.full(int(groups.max(initial=0)) + 1, -1, dtype=np.int64)
    for codes in (np.arange(len(groups)), np.flatnonzero(counts)):
        first[groups[codes[::-1]]] = codes[::-1]
    found: Codes = first[groups].astype(np.int32)
    return found
