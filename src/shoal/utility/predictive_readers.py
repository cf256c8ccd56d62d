"""Two readers that guess a raw record's label from a release by counting, without fitting.

One adds up the evidence of each column separately, the other uses the nearest released records.
Neither uses other rows of the same person, and the second does not use the record itself either.
Their skill is 0 for guessing by the shares of the labels and 1 for certainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.release import Release
from shoal.support.arrays import Bools, Counts, Floats
from shoal.utility.grouped_splits import owners
from shoal.utility.predictive_cells import (
    SpreadColumn,
    columns_of,
    records,
    released,
    rows_of_same_person,
    sample,
)
from shoal.utility.scoring import Predictions, auroc

_MAX_RECORDS = 20_000  # that the first reader is tested on
_MAX_RECORDS_NEAR = 1_000  # the same for the second reader, which compares each with all classes
_NEIGHBOURS = 5
_SMOOTHING = 2.0  # pseudo-records with the overall shares that smooth the evidence of a value
_DECIMALS = 9  # further digits of the evidence are rounding errors


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels to guess.

    codes: (rows,) the label of each row; known: (rows,) whether it has one; count: number of
        labels.
    """

    codes: Counts
    known: Bools
    count: int


def skill(release: Release, labels: Labels, columns: Sequence[str]) -> float:
    """Return the mean skill of both readers on these columns, at least 0."""
    all_cells = columns_of(release, [release.recodings[name] for name in columns])
    training = released(release) & labels.known
    weights = records(release)
    totals = np.bincount(labels.codes[training], weights[training], minlength=labels.count)
    if totals.sum() <= 1:
        return 0.0
    tested = np.where(labels.known, weights, 0.0)
    by_column = _by_column(
        release, all_cells, labels, weights * training, sample(tested, _MAX_RECORDS)
    )
    nearest = _nearest(
        release, all_cells, labels, weights * training, sample(tested, _MAX_RECORDS_NEAR)
    )
    return max((by_column + nearest) / 2, 0.0)


def _by_column(
    release: Release,
    all_cells: Sequence[SpreadColumn],
    labels: Labels,
    weights: Floats,
    rows: Counts,
) -> float:
    """Return 2 · AUROC − 1 of evidence added up over columns.

    A record's own row counts: without it, every tie would be decided against the record's label,
    and its weight among all records that may have a value is small. Other rows of its person do not
    count.
    """
    further = _further_rows(release, weights, rows)
    totals = np.bincount(labels.codes, weights, minlength=labels.count)
    usual = totals / totals.sum()
    evidence = np.tile(np.log(np.maximum(totals, 0.5)), (len(rows), 1))
    for cells in all_cells:
        seen = _seen(cells, labels, weights)[cells.slots[rows]]  # (tests, labels)
        seen = np.maximum(seen - _repeated(cells, labels, rows, further), 0.0)
        among = seen.sum(axis=1, keepdims=True) + _SMOOTHING
        ratio = np.ones_like(seen)
        np.divide(seen + _SMOOTHING * usual, usual * among, out=ratio, where=usual > 0)
        evidence += np.log(ratio)
    odds = np.round(_odds(evidence), _DECIMALS)
    area = auroc(Predictions(labels.codes[rows], None, odds))
    return 0.0 if area is None else 2 * area - 1


_Further = tuple[Counts, Counts, Floats]


def _further_rows(release: Release, weights: Floats, rows: Counts) -> _Further:
    """Return each tested row, another row of its person and its weight, one of each for every pair.

    A row of a weighted table that stands for several records of one person is paired with itself.
    """
    tests, others = rows_of_same_person(release.original, rows, weights > 0)
    if owners(release.original) is None:
        weight = np.zeros(len(others))
    else:
        weight = weights[others] - (others == rows[tests])
    kept = weight > 0
    return tests[kept], others[kept], weight[kept]


def _repeated(cells: SpreadColumn, labels: Labels, rows: Counts, further: _Further) -> Floats:
    """Return (tests, labels) the evidence of other rows of the same person at the raw value."""
    tests, others, weight = further
    share = weight * cells.shares[cells.entries[others], cells.slots[rows[tests]]]
    index = tests * labels.count + labels.codes[others]
    evidence = np.bincount(index, share, minlength=len(rows) * labels.count)
    return evidence.astype(np.float64).reshape(-1, labels.count)


def _seen(cells: SpreadColumn, labels: Labels, weights: Floats) -> Floats:
    """Return (slots, labels) the number of records that may have each value, by label."""
    index = cells.entries * labels.count + labels.codes
    counts = np.bincount(index, weights, minlength=len(cells.shares) * labels.count)
    return cells.spread(counts.astype(np.float64).reshape(-1, labels.count))


def _odds(evidence: Floats) -> Floats:
    """Return (rows, labels) logarithms of a label's share relative to all others together."""
    rows = np.arange(len(evidence))
    best = evidence.argmax(axis=1)
    others = evidence.copy()
    others[rows, best] = -np.inf
    second = others.max(axis=1, keepdims=True)
    rest = second[:, 0] + np.log(np.exp(others - second).sum(axis=1))
    top = evidence[rows, best][:, None]
    shares = np.exp(evidence - top)
    shares[rows, best] = 0.0  # set below
    odds = evidence - top - np.log(1 + shares.sum(axis=1, keepdims=True) - shares)
    odds[rows, best] = top[:, 0] - rest
    return np.asarray(odds)


def _nearest(
    release: Release,
    all_cells: Sequence[SpreadColumn],
    labels: Labels,
    weights: Floats,
    rows: Counts,
) -> float:
    """Return the share of a record's label among its neighbours, relative to chance.

    Distances are those between flags: a wide cell is far from every record.
    """
    from shoal.utility._nearest import nearest_votes

    ids = np.where(weights > 0, release.classes.ids, -1)
    training = np.flatnonzero(ids >= 0)
    used, first, dense = np.unique(ids[training], return_index=True, return_inverse=True)
    cell = dense * labels.count + labels.codes[training]
    members = np.bincount(cell, weights[training], minlength=len(used) * labels.count)
    class_of = np.full(len(ids), -1, dtype=np.int64)
    class_of[training] = dense
    tests, own = rows_of_same_person(release.original, rows, weights > 0)
    single = owners(release.original) is None  # then a weighted row stands for several people
    flags = [cells.shares > 0 for cells in all_cells]
    steps = [(f.sum(axis=1)[None, :] + 1 - 2 * f.T).astype(np.int32) for f in flags]
    starts = np.cumsum([0, *(step.size for step in steps)])
    begins = [
        start + cells.slots[rows] * step.shape[1]
        for start, cells, step in zip(starts[:-1], all_cells, steps, strict=True)
    ]
    votes = np.zeros((len(rows), labels.count))
    nearest_votes(
        np.concatenate([step.ravel() for step in steps]),
        np.stack(begins, axis=1),
        np.stack([cells.entries[training[first]] for cells in all_cells]),
        members.astype(np.float64).reshape(-1, labels.count),
        np.searchsorted(tests, np.arange(len(rows) + 1)),
        class_of[own],
        labels.codes[own],
        np.ones(len(own)) if single else weights[own],
        _NEIGHBOURS,
        np.zeros(len(used), dtype=np.int64),
        votes,
    )
    usual = np.bincount(labels.codes, weights, minlength=labels.count) / weights.sum()
    shares = votes + usual / 2
    shares /= shares.sum(axis=1, keepdims=True)
    chance = float((usual**2).sum())
    if chance >= 1:
        return 0.0
    return (float(shares[np.arange(len(rows)), labels.codes[rows]].mean()) - chance) / (1 - chance)
