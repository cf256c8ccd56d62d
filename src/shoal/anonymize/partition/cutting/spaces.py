"""The layout of a table for the Mondrian kernels: codes of each row, and costs of each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.column import Column
from shoal.core.table import Table
from shoal.support.arrays import Codes, Counts, Floats


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows of codes with their multiplicities.

    codes: (rows, columns) int32; in a column with a hierarchy the codes of a branch are adjacent.
    space: the columns for the kernels.
    """

    codes: Codes
    weight: Counts
    space: Any


def lay_out(table: Table, k: int, *, use_hierarchies: bool) -> Layout:
    """Return the quasi-identifiers of a table in the layout of the kernels."""
    from shoal.anonymize.partition.cutting._nodes import NOMINAL, ORDERED, TREE, Space

    columns = table.quasi_columns
    trees = [use_hierarchies and c.hierarchy is not None and c.domain > 1 for c in columns]
    total = sum(c.weight for c in columns) or 1.0
    kinds = [
        TREE if tree else ORDERED if c.ordered else NOMINAL
        for c, tree in zip(columns, trees, strict=True)
    ]
    places, groups, costs, units, codes = [], [], [], [], []
    for column, tree in zip(columns, trees, strict=True):
        weight = column.weight * len(columns) / total
        order = branch_order(column) if tree else np.arange(column.domain)
        place = np.empty(column.domain, dtype=np.int32)
        place[order] = np.arange(column.domain, dtype=np.int32)
        codes.append(place[column.codes])
        position, extent = positions(column)
        places.append(position)
        grouped, cost = _levels(column, order) if tree else (place[:0], position[:0])
        groups.append(grouped)
        costs.append(cost)
        nominal = 1 / (column.domain - 1) if column.domain > 1 else 0.0
        units.append(weight * (1.0 if tree else extent if column.ordered else nominal))
    domain = np.array([c.domain for c in columns], dtype=np.int64)
    heights = [c.hierarchy.height if t and c.hierarchy else 0 for c, t in zip(columns, trees)]  # noqa: B905
    space = Space(
        k,
        np.array(kinds, dtype=np.int64),
        domain,
        np.array(units, dtype=np.float64),
        np.concatenate(([0], np.cumsum(domain)))[:-1],
        np.concatenate(places),
        np.concatenate(([0], np.cumsum([len(g) for g in groups])))[:-1],
        np.array(heights, dtype=np.int64),
        np.concatenate(groups).astype(np.int32),
        np.concatenate(costs),
    )
    counts = np.ones(len(table), np.int64) if table.counts is None else table.counts
    return Layout(np.ascontiguousarray(np.stack(codes, axis=1)), counts.copy(), space)


def positions(column: Column) -> tuple[Floats, float]:
    """Return positions, with missing one extent above the last value, and 1 / extent."""
    low, high = column.extent
    extent = high - low if high > low else 1.0
    position = column.positions.copy()
    position[column.known :] = high + extent
    return np.nan_to_num(position), 1.0 / extent


def branch_order(column: Column) -> Counts:
    """Return the codes in an order that keeps every branch of the hierarchy together."""
    assert column.hierarchy is not None
    return np.lexsort([level.groups for level in column.hierarchy.levels])


def _levels(column: Column, order: Counts) -> tuple[Codes, Floats]:
    """Return, for each level in the new order, the group of each code and its cost."""
    from shoal.core.recoding import Recoding

    assert column.hierarchy is not None
    groups, costs = [], []
    for height, level in enumerate(column.hierarchy.levels):
        published = Recoding.at_level(column, height)
        if column.ordered:
            cost = published.widths()
        else:
            cost = (published.subsets.sizes - 1) / (column.domain - 1)
        groups.append(level.groups[order])
        costs.append(cost[level.groups[order]])
    return np.concatenate(groups), np.concatenate(costs).astype(np.float64)
