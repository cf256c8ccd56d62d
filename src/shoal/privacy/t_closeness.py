"""t-closeness: the distribution of a sensitive column in each class is close to the table's.

Earth mover's distance, with three distances between values. All work on histograms, which have an
entry for each value that occurs in a class: a class-by-value matrix would not fit in memory.
Li, Li & Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.privacy.model import ROUNDING, Model, at_least, largest_parts, removed_by_caps
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.options import check_range
from shoal.table.classes import Classes
from shoal.table.column import Column
from shoal.table.table import Table

_MAX_CELLS = 1 << 21  # of a matrix of classes and groups of values


@dataclass(frozen=True)
class TCloseness(Model):
    """In each class the distribution of the column is within t of the whole table's.

    A person counts once for each of their values, in the class and in the table. The reference
    distribution is that of the input table, including suppressed rows.
    A missing value counts as a value. With ordered distance it is one step above the greatest
    value; in a hierarchy that does not list it, it joins the others at the root.
    Monotone: the distance to a fixed distribution is convex, and the shares of a merged class are a
    weighted mean of the shares of its parts if no person is in both, so its distance is at most the
    larger of theirs.

    Parameters:
        t: Maximum distance of a class, from 0 to 1.
        column: The sensitive column.
        distance: Distance between two values. `equal`: 1. `ordered`: the number of steps between
            them divided by the number of steps from the least to the greatest value.
            `hierarchical`: the level of their lowest common label divided by the level of the
            root. By default `ordered` for a numeric or ordinal column, `hierarchical` for a nominal
            one with a hierarchy, otherwise `equal`.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ill = ["flu", "flu", "gout", "gout", "flu", "flu", "flu", "gout"]
    >>> rows = pa.table({"age": ["30-39"] * 4 + ["40-49"] * 4, "disease": ill})
    >>> shoal.check(rows, TCloseness(0.2, "disease"), quasi="age").levels
    {'t-closeness(t=0.2, column=disease)': 0.125}
    """

    name: ClassVar[str] = "t-closeness"
    monotone: ClassVar[bool] = True
    t: float
    column: str
    distance: str | None = None

    def __post_init__(self) -> None:
        check_range("t", self.t, 0, 1)
        if self.distance is not None and self.distance not in DISTANCES:
            raise InputError(f"distance must be one of {', '.join(DISTANCES)}")

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether its distance from the input is at most t."""
        return self._distances(classes) <= self.t + ROUNDING

    def level(self, classes: Classes) -> float:
        """Return the distance of the farthest class."""
        return float(self._distances(classes).max(initial=0.0))

    def _removed_if_broken(self, classes: Classes, broken: Bools) -> Counts:
        """Return a lower bound of the records to remove from each class.

        Equal distance, 1 − Σ min(q, p): a part of N records has no more of any value than the
        class, so it is within t only if Σ min(count, p · N) ≥ (1 − t) · N. Hierarchical distance is
        the mean of the equal distances between the groups of each level below the root, so the
        mean of these sums must be so large. Ordered distance: see `_removed_by_convexity`.
        """
        kind = self.distance or natural_distance(classes.table[self.column])
        if kind == "ordered":
            return self._removed_by_convexity(classes)
        reference, share = classes.reference_distribution(self.column), 1 - self.t - ROUNDING
        if kind == "equal":
            return removed_by_caps(classes, self.column, reference, share)
        together, levels = _groups(classes.table[self.column])
        histogram, caps = classes.histogram(self.column), together @ reference
        removed = np.ones(len(classes), dtype=np.int64)
        chosen, step = np.flatnonzero(broken), max(_MAX_CELLS // max(together.shape), 1)
        for some in (chosen[i : i + step] for i in range(0, len(chosen), step)):
            counts = histogram.dense_rows(len(reference), some) @ together.T
            records = classes.rows[some].astype(np.float64)
            starts, all_caps = np.arange(len(some)) * len(together), np.tile(caps, len(some))
            largest = largest_parts(counts.ravel(), all_caps, starts, records, levels * share)
            removed[some] = at_least(records - largest, classes.rows[some])
        return removed

    def _removed_by_convexity(self, classes: Classes) -> Counts:
        """Return a lower bound of the records to remove from each class, for ordered distance.

        Let a class of n records have distance d, and a part of N of them be within t. Distance is
        convex and each other record is at most m from the input, so n·d ≤ N·t + (n − N)·m, and at
        least n·(d − t) / (m − t) records must leave; m is the largest distance of a value alone.
        """
        histogram = classes.histogram(self.column)
        column = classes.table[self.column]
        values = np.arange(column.domain, dtype=np.int32)
        single = Classes.of(Table((replace(column, codes=values),)), values, classes.origin)
        alone = ordered_distances(single, self.column)[histogram.codes]
        farthest = np.maximum.reduceat(alone, histogram.indptr[:-1])
        beyond = np.maximum(self._distances(classes) - self.t - ROUNDING, 0.0)
        room = np.maximum(farthest - self.t - ROUNDING, beyond)
        share = np.divide(beyond, room, out=np.zeros(len(room)), where=room > 0)
        return at_least(share * classes.rows, classes.rows)

    def check(self, table: Table) -> None:
        """Reject a column that the distance does not apply to."""
        super().check(table)
        column = table[self.column]
        if self.distance == "ordered" and not column.ordered:
            raise InputError(
                f"{self}: column {self.column!r} is nominal; give it an order, "
                "or choose another distance"
            )
        if self.distance == "hierarchical" and column.hierarchy is None:
            raise InputError(
                f"{self}: column {self.column!r} has no hierarchy; give it one, "
                "or choose another distance"
            )

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Anyone who finds a person's class learns little about {self.column}: its "
            f"distribution there is within {self.t:g} of the whole table's, on a scale from 0 to 1."
        )

    def _distances(self, classes: Classes) -> Floats:
        kind = self.distance or natural_distance(classes.table[self.column])
        return DISTANCES[kind](classes, self.column)


def natural_distance(column: Column) -> str:
    """Return the default distance for the kind of a column."""
    if column.ordered:
        return "ordered"
    return "equal" if column.hierarchy is None else "hierarchical"


def equal_distances(classes: Classes, name: str) -> Floats:
    """(classes,) half the sum of |q − p|: the share that has to move, whatever the distance."""
    histogram = classes.histogram(name)
    surplus = classes.distribution(name) - classes.reference_distribution(name)[histogram.codes]
    # surplus and deficit are equal, and only values of the class have a surplus over p
    return np.add.reduceat(np.maximum(surplus, 0.0), histogram.indptr[:-1])


def ordered_distances(classes: Classes, name: str) -> Floats:
    """(classes,) sum of |Q − P| over the m values, divided by m − 1; Q and P are cumulative."""
    histogram = classes.histogram(name)
    reference = classes.reference_distribution(name)
    present = reference > 0
    present[histogram.codes] = True
    steps = int(present.sum()) - 1
    if steps < 1:
        return np.zeros(len(classes))
    # Values are numbered 0 to steps among those present. P and Q are step functions over them; the
    # distance is the area between the two, summed over intervals on which Q is constant.
    below = np.cumsum(reference[present])  # (values,) P
    area = np.concatenate(([0.0], np.cumsum(below)))  # sum of P over the values before
    starts, ends = histogram.indptr[:-1], histogram.indptr[1:]

    # Q is `height` from a value of the class to the next; P, which increases, crosses it once
    first = (np.cumsum(present) - 1)[histogram.codes]
    last = np.roll(first, -1)
    last[ends - 1] = steps + 1
    so_far = np.cumsum(histogram.counts)
    widths = ends - starts
    before = np.repeat(so_far[starts] - histogram.counts[starts], widths)
    height = (so_far - before) / np.repeat(classes.shown(name), widths)
    crossing = np.clip(np.searchsorted(below, height, side="right"), first, last)
    under = height * (crossing - first) - (area[crossing] - area[first])
    over = (area[last] - area[crossing]) - height * (last - crossing)
    moved: Floats = area[first[starts]] + np.add.reduceat(under + over, starts)
    return np.clip(moved / steps, 0.0, 1.0)


def hierarchical_distances(classes: Classes, name: str) -> Floats:
    """(classes,) cost of moving shares through the hierarchy.

    The paper charges each node its height times the share that its children exchange, which is the
    smaller of their surplus and their deficit. The sum over the tree equals the mean, over the
    levels below the root, of the equal distance between the groups of the level.
    """
    hierarchy = classes.table[name].hierarchy
    if hierarchy is None:
        raise InputError(f"column {name!r} has no hierarchy; choose another distance")
    histogram = classes.histogram(name)
    owners = np.repeat(np.arange(len(classes)), np.diff(histogram.indptr))
    groups = hierarchy.levels[0].groups
    reference = _sums(groups, classes.reference_distribution(name), len(groups))
    nodes, shares = groups[histogram.codes], classes.distribution(name)
    moved = np.zeros(len(classes))
    for parents, above in zip(hierarchy.parents, hierarchy.levels[1:], strict=True):
        surplus = np.maximum(shares - reference[nodes], 0.0)
        moved += _sums(owners, surplus, len(classes))
        # one level up: entries of a class with the same parent become one
        entries, entry = np.unique(owners * len(above) + parents[nodes], return_inverse=True)
        owners, nodes = np.divmod(entries, len(above))
        shares = _sums(entry, shares, len(entries))
        reference = _sums(parents, reference, len(above))
    return moved / max(hierarchy.height, 1)


def _sums(groups: NDArray[np.integer], shares: Floats, size: int) -> Floats:
    """(size,) sum of the shares of each group."""
    sums: NDArray[Any] = np.bincount(groups, weights=shares, minlength=size)
    return sums


def _groups(column: Column) -> tuple[Floats, int]:
    """Return (groups, domain) members of each group below the root, and the number of levels."""
    assert column.hierarchy is not None
    levels = column.hierarchy.levels[:-1] or column.hierarchy.levels
    members = [np.arange(len(level))[:, None] == level.groups for level in levels]
    return np.concatenate(members).astype(np.float64), len(levels)


DISTANCES = {
    "equal": equal_distances,
    "ordered": ordered_distances,
    "hierarchical": hierarchical_distances,
}
