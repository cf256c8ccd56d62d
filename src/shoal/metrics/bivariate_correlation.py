"""Bivariate correlation: how much the correlation of two attributes changes.

    numeric pair   Pearson's r over the moments of each box
    other pairs    Cramér's V from φ² of the contingency table, which is never stored: adjacent
                   values that no box separates form one atom, and all cells of a pair of atoms are
                   equal
    the metric     median over pairs of |before − after|

A release is estimated as in `divergence`: records are spread evenly over the tuples that they may
stand for. El Emam, Mosquera & Hoptroff, "Practical synthetic data generation", 2020; de Spoelberch,
"The limits of information loss metrics as measures for utility", 2020, section 2.2.12; Bergsma, "A
bias-correction for Cramér's V and Tschuprow's T", JKSS 42(3), 2013.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.metrics.divergence import Atoms, Boxes, original_boxes, released_boxes
from shoal.metrics.levels import places_on_extent
from shoal.metrics.metric import Metric, over_members, refuse, scaled, without_pairs
from shoal.release.release import Release
from shoal.support.arrays import Floats, weighted_sum
from shoal.table.column import Kind

if TYPE_CHECKING:
    from shoal.metrics._kernels import Side


_QUICK_WORK = 100_000_000  # cells, about a second; above it the metric runs only if named
_ROUNDING = 1e-12  # rounding error of φ²


class Correlations(NamedTuple):
    """Correlation of two attributes, in the original and in the release."""

    before: float
    after: float


def bivariate_correlation(release: Release, *, raw: bool = False, corrected: bool = False) -> float:
    """Return the median change of correlation over pairs of attributes, from 0 (best) to 1.

    Parameters:
        release: A release with at least two quasi-identifiers.
        raw: Return the median of |before − after|.
        corrected: Correct the bias of Cramér's V, which exceeds 0 by chance if there are many
            values.

    Returns:
        The loss.

    Raises:
        InputError: The release has fewer than two quasi-identifiers.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> round(bivariate_correlation(release), 3)
    0.423
    """
    reason = without_pairs(release)
    if reason:
        refuse("bivariate-correlation", reason)
    pairs = bivariate_correlation_by_pair(release, corrected=corrected).values()
    change = float(np.median([abs(pair.before - pair.after) for pair in pairs]))
    if raw:
        return change
    return scaled(change, 0.0, float(np.median([abs(pair.before) for pair in pairs])), release)


def bivariate_correlation_by_pair(
    release: Release, *, corrected: bool = False
) -> dict[tuple[str, str], Correlations]:
    """Return the correlation of each pair of attributes, in the original and in the release.

    Parameters:
        release: The release to measure.
        corrected: Correct the bias of Cramér's V, which exceeds 0 by chance if there are many
            values.

    Returns:
        The correlation of each pair, before and after.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> pair = bivariate_correlation_by_pair(release)["age", "sex"]
    >>> round(pair.before, 3), round(pair.after, 3)
    (1.0, 0.577)
    """
    names = list(release.recodings)
    cache: dict[str, tuple[list[_Dependence], ...]] = release.__dict__
    if "_dependences" not in cache:
        both = original_boxes(release), released_boxes(release)
        cache["_dependences"] = tuple(_dependences(boxes) for boxes in both)
    before, after = (
        [each.correlation(corrected=corrected) for each in dependences]
        for dependences in cache["_dependences"]
    )
    return {
        pair: Correlations(*both)
        for pair, *both in zip(combinations(names, 2), before, after, strict=True)
    }


def slow_correlation(release: Release) -> str | None:
    """Return why the correlation is undefined or slow to compute, None if neither."""
    boxes = released_boxes(release)
    if without_pairs(release) or work(boxes, _categorical(boxes)) <= _QUICK_WORK:
        return without_pairs(release)
    return f"slow to compute for {len(boxes):,} different boxes; name the metric to compute it"


def _categorical(boxes: Boxes) -> list[tuple[int, int]]:
    """Return the pairs of attributes that are not both numeric."""
    numeric = [column.kind is Kind.NUMERIC for column in boxes.columns]
    pairs = combinations(range(len(numeric)), 2)
    return [(i, j) for i, j in pairs if not (numeric[i] and numeric[j])]


class _Dependence(NamedTuple):
    """How two attributes depend on each other: r of two numeric ones, else φ² and its scale.

    values: the numbers of values of both attributes, None for r.
    """

    strength: float
    values: Floats | None = None
    records: int = 0

    def correlation(self, *, corrected: bool) -> float:
        """Return r, or Cramér's V."""
        if self.values is None:
            return self.strength
        return _cramer(self.strength, self.values, self.records if corrected else None)


def _dependences(boxes: Boxes) -> list[_Dependence]:
    """Return the dependence of each pair of attributes, in the order of combinations."""
    records, categorical = int(boxes.counts.sum()), set(_categorical(boxes))
    if not records:
        return [_Dependence(0.0) for _ in combinations(boxes.columns, 2)]
    sides = {j: side(boxes, j) for j in {j for pair in categorical for j in pair}}
    dependences = []
    for i, j in combinations(range(len(boxes.columns)), 2):
        if (i, j) not in categorical:
            dependences.append(_Dependence(_pearson(boxes, i, j)))
            continue
        phi = phi_squared(boxes, (i, j), (sides[i], sides[j]))
        values = np.array([_values(sides[i]), _values(sides[j])], dtype=np.float64)
        dependences.append(_Dependence(phi, values, records))
    return dependences


def _values(margin: Side) -> int:
    """Return the number of original values that any record may have."""
    return int(margin.lengths[margin.margin > 0].sum())


def _cramer(phi: float, values: Floats, records: int | None) -> float:
    """Return Cramér's V for φ²; with `records`, corrected for that sample size."""
    if phi < _ROUNDING:
        return 0.0
    if records is not None and records > 1:
        phi -= float((values - 1).prod()) / (records - 1)
        values = values - (values - 1) ** 2 / (records - 1)
    least = float(values.min()) - 1
    return float(np.sqrt(max(phi, 0.0) / least)) if least > _ROUNDING else 0.0


def _pearson(boxes: Boxes, i: int, j: int) -> float:
    """Return Pearson's r over the records where neither value is missing."""
    first, second = _Moments.of(boxes, i), _Moments.of(boxes, j)
    weights = boxes.counts * first.known * second.known
    total = float(weights.sum())
    if not total:
        return 0.0
    x, y = (weighted_sum(weights, part.mean) / total for part in (first, second))
    both = weighted_sum(weights, (first.mean - x) * (second.mean - y)) / total
    spread = [
        weighted_sum(weights, part.variance + (part.mean - middle) ** 2) / total
        for part, middle in ((first, x), (second, y))
    ]
    least = min(spread)
    return float(np.clip(both / np.sqrt(spread[0] * spread[1]), -1, 1)) if least > 1e-18 else 0.0


class _Moments(NamedTuple):
    """(boxes,) a numeric attribute inside each box: share of known values, their mean, variance."""

    known: Floats
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, boxes: Boxes, attribute: int) -> _Moments:
        column, subsets = boxes.columns[attribute], boxes.subsets[attribute]
        places = places_on_extent(column)
        known = over_members(subsets, (np.arange(column.domain) < column.known).astype(np.int64))
        mean = over_members(subsets, places) / np.maximum(known, 1)
        squares = over_members(subsets, places**2) / np.maximum(known, 1)
        entries = boxes.entries[attribute]
        variance = np.where(known > 1, np.maximum(squares - mean**2, 0.0), 0.0)
        share = known / np.maximum(subsets.sizes, 1)
        return cls(share[entries], mean[entries], variance[entries])


BIVARIATE_CORRELATION = Metric(
    "bivariate-correlation",
    bivariate_correlation,
    title="Bivariate correlation",
    meaning="how much correlations between columns changed",
    formula="median over pairs of attributes: |r or V before − after|",
    use="analyses of relations between columns",
    source="El Emam et al. 2020",
    published=partial(bivariate_correlation, raw=True),
    raw_range="0 to 2",
    requires="two quasi-identifiers or more",
    lacking=slow_correlation,
)


def work(boxes: Boxes, pairs: Iterable[tuple[int, int]]) -> int:
    """Return the number of cells that the boxes cover in the tables of these pairs."""
    touched = [
        Atoms.of(subsets).subsets.sizes[entries].astype(np.float64)
        for subsets, entries in zip(boxes.subsets, boxes.entries, strict=True)
    ]
    return int(sum(float((touched[i] * touched[j]).sum()) for i, j in pairs))


def side(boxes: Boxes, attribute: int) -> Side:
    """Return one attribute as a side of contingency tables, with its margin."""
    from shoal.metrics._kernels import Side, add_margin

    subsets = boxes.subsets[attribute]
    atoms = Atoms.of(subsets)
    made = Side(
        atoms.subsets.indptr,
        atoms.subsets.starts,
        atoms.subsets.stops,
        atoms.lengths,
        1 / subsets.sizes,
        np.zeros(len(atoms.lengths)),
    )
    add_margin(made, boxes.usage(attribute) / boxes.counts.sum())
    return made


def phi_squared(boxes: Boxes, pair: tuple[int, int], sides: tuple[Side, Side]) -> float:
    """Return φ² of two attributes, which is χ² / records."""
    from shoal.metrics._kernels import count_holders, list_holders, sum_of_ratios

    first, second = sides
    # for each atom of the first side, the entries that hold it: count, prefix sums, then fill
    counts = np.zeros(len(first.margin), dtype=np.int64)
    count_holders(first, counts)
    holders_of = np.concatenate(([0], np.cumsum(counts)))
    holders = np.empty(int(holders_of[-1]), dtype=np.int32)
    list_holders(first, holders_of[:-1].copy(), holders)
    # boxes sorted by their entry on the first side; those of entry e lie at at[e] … at[e + 1]
    mine, theirs = (boxes.entries[j] for j in pair)
    order = np.argsort(mine, kind="stable")
    at = np.bincount(mine, minlength=len(first.weights))
    room = len(second.margin)
    ratios = sum_of_ratios(
        first,
        second,
        holders_of,
        holders,
        np.concatenate(([0], np.cumsum(at))),
        theirs[order],
        boxes.counts[order] / boxes.counts.sum(),
        np.zeros(room),
        np.empty(room, dtype=np.int64),
    )
    return float(ratios) - 1.0
