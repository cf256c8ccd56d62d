"""From a release of distinct tuples to the plan of all rows, and the cells that they publish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Role
from shoal.core.publishing.row_order import rank_values
from shoal.core.release import Release
from shoal.engines.engine import LINKED, Joined, Plan
from shoal.engines.packing import Packing
from shoal.support.arrays import Codes, Counts

if TYPE_CHECKING:
    from shoal.engines.large_table import LargeTable


@dataclass(frozen=True, eq=False)
class Cells:
    """The published cells of a column in the order of their text.

    values: Arrow array. ranks: (entries,) the place there of each entry before it was sorted.
    """

    values: Any
    ranks: Codes

    @classmethod
    def of(cls, entries: Any) -> Cells:
        """Sort cells; those with the same text are one."""
        if not len(entries):
            return cls(entries, np.zeros(0, dtype=np.int32))
        ranks = rank_values(entries)
        if np.array_equal(ranks, np.arange(len(ranks), dtype=np.int32)):
            return cls(entries, ranks.astype(np.int32))
        _, first, places = np.unique(ranks, return_index=True, return_inverse=True)
        return cls(entries.take(pa.array(first)), places.astype(np.int32))


def quasi_cells(
    release: Release, kept: Counts, *, spelled: bool
) -> Mapping[str, tuple[Any, Cells]]:
    """Return, for each quasi-identifier, the published entry of each kept tuple, and the cells."""
    found = {}
    data = release.published_cells(kept, spelled=spelled)
    for name in release.recodings:
        encoded = data.column(name)
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        indices = encoded.indices.to_numpy(zero_copy_only=False)
        found[name] = (indices, Cells.of(encoded.dictionary))
    return found


def plan_of(
    release: Release,
    found: Mapping[str, tuple[Any, Cells]],
    kept: Counts,
    linked: Counts | None = None,
) -> Plan:
    """Return which rows are released and how: by level maps if one node recodes all rows.

    linked: (tuples,) the set of linked rows of each tuple; all rows of a set are in one class.
    """
    domains = {name: len(cells.values) + 1 for name, (_, cells) in found.items()}
    classes = Packing.of(domains)
    if not is_one_node(release) and linked is not None:
        words = classes.pack({name: cells.ranks[index] for name, (index, cells) in found.items()})
        sets = linked[kept]
        packing = Packing.of({LINKED: int(sets.max(initial=0)) + 1})
        return Plan(classes, {}, None, _once(Joined(packing, packing.pack({LINKED: sets}), words)))
    if not is_one_node(release):
        words = classes.pack({name: cells.ranks[index] for name, (index, cells) in found.items()})
        columns = {c.name: c for c in release.original.columns}
        packing = Packing.of({name: column.domain for name, column in columns.items()})
        codes = {name: column.codes[kept] for name, column in columns.items()}
        return Plan(classes, {}, None, _once(Joined(packing, packing.pack(codes), words)))
    maps = {name: _map(release, name, index, cells, kept) for name, (index, cells) in found.items()}
    out = release.suppressed
    if out is None:
        return Plan(classes, maps)
    lost = np.flatnonzero(out)
    codes = {name: maps[name][release.original[name].codes[lost]] for name in maps}
    return Plan(classes, maps, _distinct(classes.pack(codes)))


def is_one_node(release: Release) -> bool:
    """Return whether every kept row is published at the levels of the node."""
    if release.node is None:
        return False
    kept = slice(None) if release.suppressed is None else ~release.suppressed
    return all(
        recoding.levels is not None
        and bool((recoding.levels[recoding.codes[kept]] == release.node[name]).all())
        for name, recoding in release.recodings.items()
    )


def _map(release: Release, name: str, index: Codes, cells: Cells, kept: Counts) -> Codes:
    """(domain,) the place of each value's cell; one beyond the last if it is not published."""
    assert release.node is not None
    column = release.recodings[name].column
    assert column.hierarchy is not None
    groups = column.hierarchy.levels[release.node[name]].groups
    places = np.full(int(groups.max(initial=0)) + 1, len(cells.values), dtype=np.int32)
    places[groups[release.original[name].codes[kept]]] = cells.ranks[index]
    found: Codes = places[groups]
    return found


def _distinct(words: list[Counts]) -> list[Counts]:
    if not len(words[0]):
        return words
    found = np.unique(np.stack(words), axis=1)
    return [np.ascontiguousarray(word) for word in found]


def _once(joined: Joined) -> Joined:
    """Return one result for each tuple, if people have the same tuple several times."""
    stacked = np.stack(joined.words)
    _, first = np.unique(stacked, axis=1, return_index=True)
    if len(first) == stacked.shape[1]:
        return joined
    return Joined(
        joined.tuples, [w[first] for w in joined.words], [w[first] for w in joined.classes]
    )


def unchanged_cells(source: LargeTable, name: str, used: Codes, *, spelled: bool) -> Any:
    """Return the published cells of the used codes of a column that is not generalized."""
    from shoal.core.values.spelled import fitted

    column = source.encoded[name].column
    values = column.values.take(pa.array(used))
    if column.role is Role.INSENSITIVE or column.spelling is None:
        return values
    texts = pa.array(column.labels, pa.string()).take(pa.array(used))
    return texts if spelled else fitted(values, texts)
