"""The levels at which a lattice search may begin, if the distinct tuples do not fit in memory.

Below the first of them no node can meet the model, so beginning there loses nothing; each of the
others is one level coarser in the attribute with the most values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.column import Column
from shoal.engines.dictionaries import Encoded
from shoal.privacy.model import Model
from shoal.support.arrays import Codes, Counts

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
