"""Distributions of a release that any tool made, compared with those of the original.

Works without matching rows, so the release may have noise, swapped values, averages of groups or
synthetic rows. A released cell is spread evenly over the values that it may stand for; a number
that nobody has counts where it lies, and a text that cannot be read counts as another value.
Numbers are compared in up to 20 ranges that hold equally many original values.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from shoal.risk.release_attacks.attacked_tables import Cells, Sources, read_sources
from shoal.support.arrays import Floats
from shoal.table.column import Kind

_BINS = 20
_MAX_SPREAD = 0.05  # share of cells with several values up to which correlations are compared


@dataclass(frozen=True)
class Distributions:
    """Result of `compare_distributions`.

    Attributes:
        hellinger: For each column the Hellinger distance of its distributions, from 0 (equal) to 1.
        correlations: For each pair of numeric columns Pearson's r before and after.
        not_compared: Columns without correlations: not numeric, or with cells of several values.
        unread: For each column the share of cells that cannot be read, such as labels.
        notes: What to know about the release.
    """

    hellinger: dict[str, float]
    correlations: dict[tuple[str, str], tuple[float, float]]
    not_compared: tuple[str, ...]
    unread: dict[str, float]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        changes = [abs(before - after) for before, after in self.correlations.values()]
        return {
            "hellinger": {
                "median": float(np.median(list(self.hellinger.values()))),
                "columns": self.hellinger,
            },
            "correlation": {
                "median_change": float(np.median(changes)) if changes else None,
                "pairs": [
                    {"columns": list(pair), "before": before, "after": after}
                    for pair, (before, after) in self.correlations.items()
                ],
                "not_compared": list(self.not_compared),
            },
        }


def compare_distributions(original: Any, released: Any, **options: Any) -> Distributions:
    """Compare the distributions of quasi-identifiers and sensitive columns.

    Parameters:
        original: The original table: a file, a frame or a `Table`.
        released: The release: a file or a frame.
        options: Roles as for `shoal.risk.attack`: `quasi`, `sensitive`, `schema`, `hierarchies`.

    Returns:
        Distances of the distributions of single columns, and correlations of pairs.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"]})
    >>> noisy = pa.table({"age": [21.5, 29.0, 41.0, 49.5], "sex": ["f", "m", "f", "f"]})
    >>> found = compare_distributions(people, noisy, quasi=["age", "sex"])
    >>> {name: round(distance, 2) for name, distance in found.hellinger.items()}
    {'age': 0.5, 'sex': 0.18}
    """
    sources = read_sources(original, released, None, **options)
    columns = {**sources.quasi, **sources.sensitive}
    numeric = {name: cells for name, cells in columns.items() if _is_exact(cells)}
    return Distributions(
        {name: _hellinger(cells, sources) for name, cells in columns.items()},
        {
            (one, other): (
                _pearson(*(_originals(numeric[n], sources) for n in (one, other))),
                _pearson(*(_middles(numeric[n])[numeric[n].codes] for n in (one, other))),
            )
            for one, other in combinations(numeric, 2)
        },
        tuple(name for name in columns if name not in numeric),
        {name: cells.unread / len(cells.codes) for name, cells in columns.items()},
        sources.notes,
    )


def _originals(cells: Cells, sources: Sources) -> Floats:
    """(original rows,) positions, NaN if missing."""
    return cells.column.positions[cells.column.codes[: sources.originals]]


def _middles(cells: Cells) -> Floats:
    """(entries,) the middle of each entry, NaN if it states no position."""
    with np.errstate(invalid="ignore"):
        return (cells.low + cells.high) / 2


def _is_exact(cells: Cells) -> bool:
    """Return whether a column is numeric and nearly all cells state one number."""
    if cells.column.kind is not Kind.NUMERIC:
        return False
    several = (cells.low != cells.high) & ~np.isnan(cells.low)
    return float(several[cells.codes].mean()) <= _MAX_SPREAD


def _hellinger(cells: Cells, sources: Sources) -> float:
    """Return the Hellinger distance of one column, over its values or ranges of numbers."""
    column = cells.column
    group = np.arange(column.domain)  # of each value: its bin
    edges = np.zeros(0)
    if column.kind is Kind.NUMERIC:
        known = _originals(cells, sources)
        known = known[~np.isnan(known)]
        if len(known):
            edges = np.unique(np.quantile(known, np.linspace(0, 1, _BINS + 1)[1:-1]))
        group = np.searchsorted(edges, column.positions, side="left")
        group[np.isnan(column.positions)] = len(edges) + 1  # missing
    bins = int(group.max(initial=0)) + 2  # the last: values that the original does not have
    before = np.bincount(group[column.codes[: sources.originals]], minlength=bins)
    after = np.zeros(bins)
    times = np.bincount(cells.codes, minlength=len(cells))
    middles = _middles(cells)
    # a cell counts evenly for the values that it covers; a number that nobody has, in its range; a
    # text that cannot be read, as another value
    for entry in np.flatnonzero(times).tolist():
        runs = range(int(cells.indptr[entry]), int(cells.indptr[entry + 1]))
        codes = np.concatenate(
            [np.zeros(0, np.int64), *(np.arange(cells.starts[r], cells.stops[r]) for r in runs)]
        )
        if len(codes):
            np.add.at(after, group[codes], times[entry] / len(codes))
        elif len(edges) and np.isfinite(middles[entry]):
            after[np.searchsorted(edges, middles[entry], side="left")] += times[entry]
        else:
            after[-1] += times[entry]
    p, q = before / max(before.sum(), 1), after / max(after.sum(), 1)
    return float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))


def _pearson(one: Floats, other: Floats) -> float:
    """Return the correlation over rows that have both numbers, 0 if a column is constant."""
    both = np.isfinite(one) & np.isfinite(other)
    one, other = one[both], other[both]
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
