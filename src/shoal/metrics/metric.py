"""What a metric is, and the sums over cells, requirements and scale that metrics share.

Every metric is 0 for the original table and 1 for the fully suppressed one (`scaled`); if it cannot
be computed for a release, it is undefined, with a reason, and never guessed.

    Metric              name, function and description; its `undefined` states what a release lacks
    Price               the cost of each dictionary entry, and of a suppressed cell
    loss                entries × their usage, summed over attributes / the same if all is
                        suppressed
    loss_by_attribute   one attribute alone
    loss_by_record      (rows,) the cells of each record
    without_…           the requirements
    scaled              from a raw value to 0–1

Costs belong to dictionary entries, so a column is read once to count how often each entry is used.
de Spoelberch, "The limits of information loss metrics as measures for utility", 2020, section 3.5,
divides by the value of the fully suppressed table; here the original table is also scaled to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.release.release import Release, Scope
from shoal.support.arrays import Codes, Floats, weighted_sum
from shoal.table import encoding
from shoal.table.classes import Histogram
from shoal.table.column import Column, Role
from shoal.table.recoding import NO_LEVEL, Recoding
from shoal.table.subsets import Subsets

Reason = Callable[[Release], str | None]
_TOO_MANY = "there are too many distinct tuples for the memory"
COARSER = f"values were read at a coarser level: {_TOO_MANY}"
APART = f"needs all values of a record together: {_TOO_MANY}"
UNMATCHED = f"needs the original value of each cell: {_TOO_MANY}"


@dataclass(frozen=True)
class Metric:
    """An information-loss metric; `METRICS` has all by name.

    Attributes:
        name: Name on the command line and in `evaluate`.
        function: Loss of a release, from 0 (the original table) to 1 (the fully suppressed table).
        title: Name in words.
        meaning: What it counts, in a phrase.
        formula: How it is computed, in a sentence.
        use: When to use it.
        source: The paper.
        published: The value on the scale of its paper; None if that is the same.
        raw_range: The scale of the paper.
        raw_best: Which end of that scale is good.
        requires: What it needs from a release beyond its cells, in words.
        lacking: Returns why a release lacks it. Such a metric is omitted unless it is named.
        takes_target: Whether it takes a target column.
        by_attribute: The loss of each attribute.
        by_record: (rows,) the loss of each record.
        by_cell: Whether it depends on published cells alone, not on the values behind them.
        scope: What of the original it needs: each column, the values of each column beside their
            cells, the values inside each class, or all values of a record together.

    >>> import shoal
    >>> shoal.metrics.METRICS["ncp"].formula
    'mean over cells: width of a range / extent, or (values − 1) / domain'
    """

    name: str
    function: Callable[..., float]
    title: str
    meaning: str
    formula: str
    use: str
    source: str
    published: Callable[..., float] | None = None
    raw_range: str = "0 to 1"
    raw_best: Literal["low", "high"] = "low"
    requires: str = ""
    lacking: Reason | None = None
    takes_target: bool = False
    by_attribute: Callable[[Release], dict[str, float]] | None = None
    by_record: Callable[[Release], Floats] | None = None
    by_cell: bool = False
    scope: Scope = "tuple"

    def __call__(self, release: Release) -> float:
        """Return the loss, from 0 (best) to 1."""
        return self.function(release)

    def scaled(self, release: Release, target: str | None = None) -> float:
        """Return the loss, from 0 (best) to 1."""
        return self.function(release, **self._options(target))

    def raw(self, release: Release, target: str | None = None) -> float:
        """Return the value on the scale of its paper."""
        return (self.published or self.function)(release, **self._options(target))

    def undefined(self, release: Release, target: str | None = None) -> str | None:
        """Return why the metric is undefined for the release, None if it is defined."""
        if not self.by_cell and any(c.floor for c in release.original.quasi_columns):
            return COARSER
        if not release.knows(self.scope):
            return APART if release.knows("column") else UNMATCHED
        if self.lacking is None or (self.takes_target and target is not None):
            return None
        return self.lacking(release)

    def _options(self, target: str | None) -> dict[str, Any]:
        return {"target": target} if self.takes_target else {}


def class_width(column: Column, values: Histogram) -> Floats:
    """(classes,) range of the values in each class divided by the column's extent, 0 to 1."""
    first = values.codes[values.indptr[:-1]]
    last = values.codes[values.indptr[1:] - 1]
    width = column.share_of_extent(column.positions[last] - column.positions[first])
    if column.missing is not None:
        width[(last == column.missing) & (first < last)] = 1.0
    return width


def set_share(sizes: Floats, domain: int) -> Floats:
    """Return (values − 1) / (domain − 1): 0 for one value, 1 for all."""
    return (sizes - 1) / (domain - 1) if domain > 1 else np.zeros(len(sizes))


def over_members(subsets: Subsets, values: NDArray[Any], combine: np.ufunc = np.add) -> Any:
    """(subsets,) the values of each subset's members, summed or combined with another function.

    Parameters:
        values: (domain,) one number for each code.
    """
    if not len(subsets):
        return np.zeros(0, dtype=values.dtype)
    if combine is np.add and np.issubdtype(values.dtype, np.integer):
        # prefix sums are exact for integers, and as fast for wide runs as for narrow ones
        upto = np.concatenate(([0], np.cumsum(values)))
        by_run = upto[subsets.stops] - upto[subsets.starts]
    else:
        # reduceat on start, stop, start, stop, … : every other result is a run, the rest are gaps
        ends = np.stack([subsets.starts, subsets.stops], axis=1).ravel()
        padded = np.append(values, values[:1])  # a run may end behind the last code
        by_run = combine.reduceat(padded, ends)[::2] if len(padded) else np.zeros(len(subsets))
    return combine.reduceat(by_run, subsets.indptr[:-1])


def mean_over_records(release: Release, name: str, price: Price) -> float:
    """Average the costs of a column's dictionary entries over all records."""
    counts = release.original.counts
    usage = release.recodings[name].usage(counts).astype(np.float64)
    lost = 0.0
    if release.suppressed is not None:
        hidden = release.suppressed
        weights = None if counts is None else counts[hidden].astype(np.float64)
        codes = release.recodings[name].codes[hidden]
        usage -= np.bincount(codes, weights, minlength=len(usage))
        lost = float(hidden.sum() if counts is None else counts[hidden].sum())
    cost = weighted_sum(usage, price.entries) + lost * price.suppressed
    return cost / max(release.original.records, 1)


class Price(NamedTuple):
    """Cost of the cells of one attribute.

    entries: (entries,) cost of a released cell, by its dictionary entry.
    suppressed: cost of a cell of a suppressed record, which is the maximum.
    """

    entries: Floats
    suppressed: float


Pricing = Callable[[Release, Recoding], Price]


class Paid(NamedTuple):
    """Mean cost of a record, and its cost if it were suppressed."""

    mean: float
    suppressed: float


def paid_by_attribute(release: Release, pricing: Pricing) -> dict[str, Paid]:
    """Return the cost of the cells of each attribute."""
    costs = {}
    for name, recoding in release.recodings.items():
        price = pricing(release, recoding)
        costs[name] = Paid(mean_over_records(release, name, price), price.suppressed)
    return costs


def paid(release: Release, pricing: Pricing) -> Paid:
    """Return the total cost of the cells of a record."""
    costs = paid_by_attribute(release, pricing).values()
    return Paid(sum(cost.mean for cost in costs), sum(cost.suppressed for cost in costs))


def loss(release: Release, pricing: Pricing, *, raw: bool = False) -> float:
    """Return the cost of all cells divided by their cost if suppressed, or the sum if raw."""
    cost = paid(release, pricing)
    if raw:
        return cost.mean * release.original.records
    return scaled(cost.mean, 0.0, cost.suppressed, release)


def loss_by_attribute(release: Release, pricing: Pricing, *, raw: bool = False) -> dict[str, float]:
    """Return the loss of each attribute, as if it were the only one."""
    costs = paid_by_attribute(release, pricing)
    if raw:
        return {name: cost.mean * release.original.records for name, cost in costs.items()}
    return {name: scaled(c.mean, 0.0, c.suppressed, release) for name, c in costs.items()}


def loss_by_record(
    release: Release, pricing: Pricing, weights: Mapping[str, float] | None = None
) -> Floats:
    """(rows,) cost of each record divided by its cost if it were suppressed.

    Parameters:
        weights: Weight of each attribute.
    """
    total, most = np.zeros(len(release.original)), 0.0
    for name, recoding in release.recodings.items():
        price = pricing(release, recoding)
        weight = 1.0 if weights is None else weights[name]
        total += weight * price.entries[recoding.codes]
        most += weight * price.suppressed
    return with_suppressed(release, total / most if most else np.zeros(len(total)))


def with_suppressed(release: Release, losses: Floats) -> Floats:
    """Return the losses of all rows, 1 for suppressed rows."""
    return losses if release.suppressed is None else np.where(release.suppressed, 1.0, losses)


_PASSED_ON = (Role.SENSITIVE, Role.INSENSITIVE)


def refuse(metric: str, reason: str) -> NoReturn:
    """Raise an error that states why a metric is undefined."""
    raise InputError(f"metric {metric}: {reason}")


def require(metric: str, lacking: Reason, release: Release) -> None:
    """Raise an error if a release lacks what a metric requires."""
    reason = lacking(release)
    if reason:
        refuse(metric, reason)


def without_levels(release: Release) -> str | None:
    """Return why hierarchy levels are not known for every released cell, None if they are."""
    for name, recoding in release.recodings.items():
        if recoding.column.hierarchy is None:
            return f"column {name!r} has no hierarchy"
        if (_used_levels(release, recoding) == NO_LEVEL).any():
            return f"column {name!r} has cells that are not labels of its hierarchy"
    return None


def known_levels(recoding: Recoding) -> Floats:
    """(entries,) hierarchy level of each entry, 0 for an unused entry without a level."""
    if recoding.levels is None:
        return np.zeros(len(recoding.labels))
    return np.maximum(recoding.levels, 0).astype(np.float64)


def without_one_level(release: Release) -> str | None:
    """Return why columns are not published at one level each, None if they are."""
    for name, recoding in release.recodings.items():
        if len(np.unique(_used_levels(release, recoding))) > 1:
            return f"column {name!r} is published at several levels; use precision instead"
    return without_levels(release)


def _used_levels(release: Release, recoding: Recoding) -> Codes:
    """Return the levels of the entries that released records use."""
    codes = recoding.codes if release.suppressed is None else recoding.codes[~release.suppressed]
    used = np.flatnonzero(np.bincount(codes, minlength=len(recoding.labels)))
    if recoding.levels is None:
        return np.full(len(used), NO_LEVEL, dtype=np.int32)
    return recoding.levels[used]


def without_pairs(release: Release) -> str | None:
    """Return why there are no two columns to compare, None if there are."""
    return None if len(release.recodings) > 1 else "needs at least two quasi-identifiers"


def without_target(release: Release) -> str | None:
    """Return why there is no default target, None if exactly one column is sensitive."""
    if len(release.original.sensitive) == 1:
        return None
    names = [c.name for c in release.original.columns if c.role in _PASSED_ON]
    if not names:
        return "needs a sensitive or insensitive column as its target; the release has none"
    return f"needs a target; choose one of {', '.join(names)}"


def target_column(release: Release, target: str | None) -> Column:
    """Return the column to predict, with one code for equal values."""
    if target is None:
        reason = without_target(release)
        if reason:
            refuse("classification", reason)
        target = release.original.sensitive[0]
    column = release.original[target]
    if column.role not in _PASSED_ON:
        refuse(
            "classification",
            f"column {target!r} is {column.role}; the target must be sensitive or insensitive",
        )
    if column.role is Role.SENSITIVE:
        return column
    codes, values = encoding.encode(column.to_arrow(), target)
    return Column(target, Role.INSENSITIVE, column.kind, codes, values)


_MIN_SPAN = 1e-9  # a scale whose ends are closer has no width


def scaled(value: float, best: float, worst: float, release: Release) -> float:
    """Return the position of a value between the original and the fully suppressed table, 0 to 1.

    Higher is worse. A value beyond an end is clipped to it. If both ends are equal, only records
    can be lost: the share of suppressed records is returned.
    """
    span = worst - best
    if span > _MIN_SPAN:
        return min(max((value - best) / span, 0.0), 1.0)
    return 1.0 if value - best > _MIN_SPAN else suppressed_share(release)


def suppressed_share(release: Release) -> float:
    """Return the share of suppressed records."""
    return release.classes.suppressed / max(release.original.records, 1)
