"""Objectives of lattice searches: the cost of a node, from 0 (nothing lost) to 1.

A suppressed record always counts as fully lost (for entropy: all information of its values);
attributes count by their weights. The geometric loss averages log(1 + loss) over attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from shoal.methods.lattice.lattice import Lattice, Measures, View
from shoal.support.arrays import Counts, Floats, weighted_sum
from shoal.table.column import Column
from shoal.table.recoding import Recoding
from shoal.table.table import Table

Objective = Literal[
    "loss",
    "geometric-loss",
    "precision",
    "height",
    "ncp",
    "entropy",
    "discernibility",
    "class-size",
]
_BY_LEVEL = ("precision", "height")  # all records cost the same: the pass gives the exact cost
_ROUNDING = 1e-14  # of the cost of a level


class Costs:
    """An objective on the nodes of one lattice.

    bound: lower bound of the exact value, for all nodes at once.
    exact: the value at one node, after suppression by the model.
    """

    def __init__(self, lattice: Lattice, objective: Objective) -> None:
        self._lattice, self._objective = lattice, objective
        weights = np.array([c.weight for c in lattice.columns], dtype=np.float64)
        if objective == "height":
            weights = np.array(lattice.heights, dtype=np.float64)
        total = weights.sum()
        self.weights = weights / total if total else np.full(len(weights), 1 / len(weights))
        self._by_level = [
            _LEVEL_COSTS[objective](c, lattice.table.shares(c.name)) for c in lattice.columns
        ]

    def bound(self, measures: Measures) -> Floats:
        """Return a lower bound of every node's cost under any model with these class sizes."""
        records = max(self._lattice.table.records, 1)
        lost = measures.suppressed / records
        if self._objective == "discernibility":
            return measures.squares / records**2 + lost
        if self._objective == "class-size":
            return lost
        kept = self.levels_alone()
        return kept * (1 - lost) + lost if self._objective in _BY_LEVEL else kept

    def by_pass(self, measures: Measures) -> Floats | None:
        """Return the exact cost of every node if the model only requires classes of at least k."""
        if self._objective == "class-size":
            lost = measures.suppressed / max(self._lattice.table.records, 1)
            return (1 - lost) ** 2 / np.maximum(measures.kept, 1) + lost
        exact = self._objective in _BY_LEVEL or self._objective == "discernibility"
        return self.bound(measures) if exact else None

    def levels_alone(self) -> Floats:
        """Return the mean cost of all records by level, as if none were suppressed."""
        cube = np.zeros(self._lattice.shape)
        for axis, means in enumerate(self.means):
            shape = [1] * cube.ndim
            shape[axis] = -1
            cube = cube + self.weights[axis] * np.reshape(self.scaled(np.array(means)), shape)
        return np.asarray(self.unscaled(cube), dtype=np.float64)

    @property
    def geometric(self) -> bool:
        """Whether attributes are averaged geometrically."""
        return self._objective == "geometric-loss"

    @property
    def rises(self) -> bool:
        """Whether branch and bound applies: levels cost more the higher they are.

        Suppression must then add less, and only the group of a record may matter.
        """
        if self.by_classes:
            return False
        most = np.inf if self._objective == "entropy" else 1.0
        return all(
            (coarse >= fine - _ROUNDING).all() and (coarse <= most + _ROUNDING).all()
            for levels in self._by_level
            for fine, coarse in pairwise(levels)
        )

    @property
    def bounded(self) -> bool:
        """Whether levels cost more the higher they are, and a suppressed record costs 1."""
        return self.rises and self._objective != "entropy"

    @property
    def by_level(self) -> bool:
        """Whether the levels and the number of suppressed records determine the cost."""
        return self._objective in _BY_LEVEL

    @property
    def by_classes(self) -> bool:
        """Whether only the sizes of classes determine the cost."""
        return self._objective in ("discernibility", "class-size")

    def at(self, node: Sequence[int], suppressed: int) -> float:
        """Return the cost of a node, if the levels and the suppressed records determine it."""
        lost = suppressed / max(self._lattice.table.records, 1)
        kept = 0.0
        for weight, means, level in zip(self.weights, self.means, node, strict=True):
            kept += weight * means[level]
        return float(kept * (1 - lost) + lost)

    def between(self, cost: float, limit: int, corner: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the nodes above a corner that may have a cost, if it depends on levels as in `at`.

        limit: the most suppressed records.
        """
        most, rounding = limit / max(self._lattice.table.records, 1), 1e-9
        alone = self.levels_alone()[tuple(slice(least, None) for least in corner)]
        fits = (alone <= cost + rounding) & (alone * (1 - most) + most >= cost - rounding)
        return [tuple(map(int, node)) for node in np.argwhere(fits) + np.array(corner)]

    @cached_property
    def means(self) -> list[list[float]]:
        """For each attribute and level, the mean cost of all records if none is suppressed."""
        return [
            [weighted_sum(self._lattice.table.shares(column.name), costs) for costs in levels]
            for column, levels in zip(self._lattice.columns, self._by_level, strict=True)
        ]

    def gains(self) -> list[list[Floats]]:
        """Return, for each attribute and level, what suppression adds to the cost of each value.

        It is the same for all values of a group that occur; 0 for values that do not.
        """
        gains = []
        for column, levels in zip(self._lattice.columns, self._by_level, strict=True):
            occurs = self._lattice.table.shares(column.name) > 0
            at_root = levels[-1] if self._objective == "entropy" else np.ones(column.domain)
            gains.append([np.where(occurs, at_root - costs, 0.0) for costs in levels])
        return gains

    def scaled(self, losses: Any) -> Any:
        """Return the losses of attributes on the scale on which they are averaged."""
        return np.log1p(losses) if self.geometric else losses

    def unscaled(self, mean: Any) -> Any:
        """Return a mean of scaled losses as a loss."""
        return np.expm1(mean) if self.geometric else mean

    def at_least(self, corner: Sequence[int]) -> float:
        """Return a lower bound for all nodes above a corner: coarser groups never cost less."""
        means = [
            weighted_sum(self._lattice.table.shares(column.name), self._by_level[axis][level])
            for axis, (column, level) in enumerate(zip(self._lattice.columns, corner, strict=True))
        ]
        return self._mean(means)

    def _mean(self, losses: Sequence[float]) -> float:
        """Return the weighted mean of the losses of attributes."""
        return float(self.unscaled(weighted_sum(self.scaled(np.array(losses)), self.weights)))

    def exact(self, node: Sequence[int], view: View) -> float:
        """Return the cost of a node after suppression by the model."""
        records = max(self._lattice.table.records, 1)
        lost = view.suppressed / records
        if self._objective == "discernibility":
            return float((view.rows.astype(np.float64) ** 2).sum()) / records**2 + lost
        if self._objective == "class-size":
            return (1 - lost) ** 2 / max(len(view.rows), 1) + lost
        tuples = view.tuples
        counts = np.ones(len(tuples), np.int64) if tuples.counts is None else tuples.counts
        losses = []
        for axis, column in enumerate(self._lattice.columns):
            codes, by_level = tuples[column.name].codes, self._by_level[axis]
            paid = weighted_sum(by_level[node[axis]][codes[view.kept]], counts[view.kept])
            if self._objective == "entropy":  # a suppressed record loses all information
                paid += weighted_sum(by_level[-1][codes[~view.kept]], counts[~view.kept])
            else:
                paid += view.suppressed
            losses.append(paid / records)
        return self._mean(losses)

    def of_rows(self, table: Table, levels: Counts) -> float:
        """Return the cost of rows at different levels.

        table: the rows. levels: (rows, attributes) the level of each cell, −1 if it is suppressed.
        """
        counts = np.ones(len(table)) if table.counts is None else table.counts
        losses = []
        for axis, column in enumerate(self._lattice.columns):
            codes, by_level = table[column.name].codes, np.stack(self._by_level[axis])
            at_root = by_level[-1][codes] if self._objective == "entropy" else 1.0
            out = levels[:, axis] < 0
            paid = np.where(out, at_root, by_level[np.maximum(levels[:, axis], 0), codes])
            losses.append(weighted_sum(paid, counts) / max(table.records, 1))
        return self._mean(losses)


class LevelCosts(Costs):
    """The cost of a node's levels alone, for records that are published at other nodes if not here.

    Suppression costs nothing; all else is as in `Costs`.
    """

    def bound(self, measures: Measures) -> Floats:
        """Return the cost of every node."""
        return self.levels_alone()

    def by_pass(self, measures: Measures) -> Floats | None:
        """Return the cost of every node."""
        return self.levels_alone()

    @property
    def by_classes(self) -> bool:
        """Whether only the sizes of classes determine the cost: never."""
        return False

    def gains(self) -> list[list[Floats]]:
        """Return what suppression adds to the cost of each value: nothing."""
        return [[np.zeros_like(costs) for costs in levels] for levels in super().gains()]

    def exact(self, node: Sequence[int], view: View) -> float:
        """Return the cost of a node."""
        levels = [means[level] for means, level in zip(self.means, node, strict=True)]
        return self._mean(levels)


def _by_height(column: Column, shares: Floats) -> list[Floats]:
    """Return level / height, the same for every value."""
    assert column.hierarchy is not None
    height = column.hierarchy.height
    return [np.full(column.domain, level / max(height, 1)) for level in range(height + 1)]


def _by_leaves(column: Column, shares: Floats) -> list[Floats]:
    """Return the share of the hierarchy's other leaves that are in the group of a value."""
    assert column.hierarchy is not None
    total = max(int(column.hierarchy.levels[-1].leaves.max()) - 1, 1)
    return [(level.leaves[level.groups] - 1) / total for level in column.hierarchy.levels]


def _by_width(column: Column, shares: Floats) -> list[Floats]:
    """Return the normalized certainty penalty of the published group."""
    assert column.hierarchy is not None
    costs = []
    for height, level in enumerate(column.hierarchy.levels):
        published = Recoding.at_level(column, height)
        alone = (published.subsets.sizes - 1) / column.domain
        cost = published.widths() if column.ordered else alone
        costs.append(cost[level.groups])
    return costs


def _by_entropy(column: Column, shares: Floats) -> list[Floats]:
    """Return the information that a value loses, relative to the mean of the original values."""
    assert column.hierarchy is not None
    used = np.where(shares > 0, shares, 1.0)
    entropy = float(-(shares * np.log(used)).sum())
    costs = []
    for level in column.hierarchy.levels:
        together = np.bincount(level.groups, shares, minlength=len(level))[level.groups]
        hidden = np.log(np.where(shares > 0, together, 1.0) / used)
        costs.append(hidden / entropy if entropy else np.zeros(column.domain))
    return costs


def _nothing(column: Column, shares: Floats) -> list[Floats]:
    """Return 0: only the sizes of classes count."""
    assert column.hierarchy is not None
    return [np.zeros(column.domain) for _ in column.hierarchy.levels]


# for each level, the cost of each value
_LEVEL_COSTS: dict[str, Callable[[Column, Floats], list[Floats]]] = {
    "loss": _by_leaves,
    "geometric-loss": _by_leaves,
    "precision": _by_height,
    "height": _by_height,
    "ncp": _by_width,
    "entropy": _by_entropy,
    "discernibility": _nothing,
    "class-size": _nothing,
}
