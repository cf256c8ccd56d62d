"""t-closeness: what a class shows of a sensitive column is close to what the table shows.

Distances are earth mover's, by three ground distances, and need no class-by-value matrix.
Li, Li & Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.arrays import Bools, Floats
from shoal.core.classes import Classes
from shoal.core.column import Column
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import ROUNDING, Model, check_range


@dataclass(frozen=True)
class TCloseness(Model):
    """In each class the column is distributed within t of the whole table.

    A person counts once for each of her values, in the class and in the table.

    distance: how far apart two values are. `equal`: 1; `ordered`: the steps between them over the
        steps between the ends; `hierarchical`: the level at which they meet over the root's.
        By default ordered for a numeric or ordinal column, hierarchical for a nominal one with a
        hierarchy, equal otherwise.

    The reference distribution is the input table's, suppressed rows included.
    A missing value counts as a value: in order it is the far end, one step above the greatest; in
    a hierarchy that does not list it, it meets the others at the root.
    Monotone: the distance to a fixed distribution is convex, and a merged class's shares are a
    weighted mean of its parts' if nobody is in both, so it is at most as far off as the farther
    part.
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
        """Tell, class by class, whether it lies within t of the input."""
        return self._distances(classes) <= self.t + ROUNDING

    def level(self, classes: Classes) -> float:
        """Return the distance of the farthest class."""
        return float(self._distances(classes).max(initial=0.0))

    def check(self, table: Table) -> None:
        """Refuse a column that the distance makes no sense for."""
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
        """Say what a reader cannot do."""
        return (
            f"Anyone who finds a person's class learns little about {self.column}: its "
            f"distribution there is within {self.t:g} of the whole table's, on a scale from 0 to 1."
        )

    def _distances(self, classes: Classes) -> Floats:
        kind = self.distance or natural_distance(classes.table[self.column])
        return DISTANCES[kind](classes, self.column)


def natural_distance(column: Column) -> str:
    """Return the distance that suits a column's kind."""
    if column.ordered:
        return "ordered"
    return "equal" if column.hierarchy is None else "hierarchical"


def equal_distances(classes: Classes, name: str) -> Floats:
    """(classes,) half the sum of |q − p|: what has to move, wherever it goes."""
    histogram = classes.histogram(name)
    more = classes.distribution(name) - classes.reference_distribution(name)[histogram.codes]
    # as much lies above p as below, and above it lie only values that the class shows
    return np.add.reduceat(np.maximum(more, 0.0), histogram.indptr[:-1])


def ordered_distances(classes: Classes, name: str) -> Floats:
    """(classes,) the sum of |Q − P|, cumulated along the input's m values, over m − 1."""
    histogram = classes.histogram(name)
    reference = classes.reference_distribution(name)
    present = reference > 0
    present[histogram.codes] = True
    steps = int(present.sum()) - 1
    if steps < 1:
        return np.zeros(len(classes))
    below = np.cumsum(reference[present])  # (values,) P
    area = np.concatenate(([0.0], np.cumsum(below)))  # sum of P over the values before
    starts, ends = histogram.indptr[:-1], histogram.indptr[1:]

    # Q stays at `height` from each value of a class up to the next; P crosses it once at most
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
    """(classes,) the cost of moving shares through the hierarchy.

    The paper charges each node its height times what its children exchange, the lesser of their
    surplus and their want. Summed over the tree that is the mean, over the levels below the root,
    of the equal distance between their groups.
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
        more = np.maximum(shares - reference[nodes], 0.0)
        moved += _sums(owners, more, len(classes))
        entries, entry = np.unique(owners * len(above) + parents[nodes], return_inverse=True)
        owners, nodes = np.divmod(entries, len(above))
        shares = _sums(entry, shares, len(entries))
        reference = _sums(parents, reference, len(above))
    return moved / max(hierarchy.height, 1)


def _sums(groups: NDArray[np.integer], shares: Floats, size: int) -> Floats:
    """(size,) the shares of each group, added up."""
    sums: NDArray[Any] = np.bincount(groups, weights=shares, minlength=size)
    return sums


DISTANCES = {
    "equal": equal_distances,
    "ordered": ordered_distances,
    "hierarchical": hierarchical_distances,
}
