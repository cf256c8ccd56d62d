"""Predictive loss: the share of the information in the raw table that a release no longer conveys.

An estimate of learning utility from counts, without training; a census takes a second or two.

    with a target      two readers guess the labels of raw records: one adds up the evidence of each
                       column, the other uses the nearest released records (`_nearest.py`). Neither
                       uses other rows of the same person, the second not the record itself either.
                       Their skill is 0 for guessing by the shares of the labels and 1 for certainty
    without a target   the gains of all pairs of columns: the log-likelihood of raw records under
                       the released joint distribution minus that under its marginals, which is the
                       mutual information of the columns if nothing was changed

Cells are spread evenly over the values that they may stand for, numbers with many values in 20
bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shoal.errors import InputError
from shoal.release.release import Release
from shoal.support.arrays import Bools, Counts, Floats
from shoal.table.column import Role
from shoal.table.recoding import Recoding
from shoal.table.table import Table
from shoal.utility.encodings import Scale
from shoal.utility.results import Predictions, auroc
from shoal.utility.targets import Target, owners

_MAX_RECORDS = 20_000  # that the gain of a pair is averaged over
_SMOOTHING = 2.0  # pseudo-records of independent columns that smooth the joint distribution
_QUANTILES = 5  # groups in which numbers are guessed


def predictive(release: Release, target: str | None = None) -> float:
    """Return the loss of predictive information, from 0 (as in the raw table) to 1 (none left).

    If the raw table has no predictive information, the loss is 0.

    Parameters:
        release: The release.
        target: The column to predict, as in `evaluate`; by default all pairs of quasi-identifiers
            and sensitive columns count, by how much they predict each other.

    Returns:
        The loss.

    Raises:
        InputError: There are too few columns, or the target cannot be predicted.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48] * 5, "ill": ["no", "no", "yes", "yes"] * 5})
    >>> release = shoal.anonymize(rows, k=6, quasi="age", sensitive="ill")
    >>> predictive(release, "ill")
    0.0
    """
    if not release.original.records:
        return 0.0
    if target is None:
        others = [
            Recoding.identity(column)
            for column in release.original.columns
            if column.role is Role.SENSITIVE
        ]
        if len(release.recodings) + len(others) < 2:
            raise InputError("predictive needs at least two columns or a target; name a target")
        return _lost(
            float(_gains(release, others).sum()), float(_gains(untouched(release), others).sum())
        )
    labels = _labels(release, target)
    columns = [name for name in release.recodings if name != target]
    if not columns:
        raise InputError("there are no columns to learn from besides the target")
    return _lost(skill(release, labels, columns), skill(untouched(release), labels, columns))


def _lost(kept: float, available: float) -> float:
    if available <= 0:
        return 0.0
    return float(np.clip(1 - kept / available, 0.0, 1.0))


def _labels(release: Release, name: str) -> Labels:
    """Return the classes of a target; numbers are grouped into fifths."""
    goal = Target.of(release, name, None)
    codes = goal.column.codes.astype(np.int64)
    if not goal.regressed:
        return Labels(np.where(goal.known, codes, 0), goal.known, goal.classes)
    counts = np.bincount(
        codes[goal.known], records(release)[goal.known], minlength=goal.column.known
    )
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    fifth = np.minimum((middle * _QUANTILES).astype(np.int64), _QUANTILES - 1)
    _, dense = np.unique(fifth, return_inverse=True)
    return Labels(dense[np.where(goal.known, codes, 0)], goal.known, int(dense.max()) + 1)


def _gains(release: Release, unchanged: Sequence[Recoding]) -> Floats:
    """Return (pairs,) the gain of each pair of columns in nats per record, at least 0.

    unchanged: columns published unchanged, in addition to the quasi-identifiers.
    """
    columns = columns_of(release, [*release.recodings.values(), *unchanged])
    weights = records(release)
    rows = sample(weights, _MAX_RECORDS)
    weights = weights * released(release)
    pairs = [(a, b) for i, a in enumerate(columns) for b in columns[:i]]
    if weights.sum() <= 1:
        return np.zeros(len(pairs))
    return np.array([max(_gain(a, b, weights, rows), 0.0) for a, b in pairs])


def _gain(first: SpreadColumn, second: SpreadColumn, weights: Floats, rows: Counts) -> float:
    total = weights.sum()
    # counts if the columns were independent, also the prior that smooths the joint counts
    alone = _spread(first, weights)[:, None] * _spread(second, weights) / total
    joint = _joint(first, second, weights) + _SMOOTHING / total * alone
    ratio = np.ones_like(joint)  # no gain for values that no record may have
    np.divide(joint, (1 + _SMOOTHING / total) * alone, out=ratio, where=alone > 0)
    return float(np.log(ratio)[first.slots[rows], second.slots[rows]].mean())


def _spread(cells: SpreadColumn, weights: Floats) -> Floats:
    """Return (slots,) the number of records that may have each value."""
    counts = np.bincount(cells.entries, weights, minlength=len(cells.shares))
    return cells.spread(counts.astype(np.float64))


def _joint(first: SpreadColumn, second: SpreadColumn, weights: Floats) -> Floats:
    """Return (slots, slots) the number of records that may have both values."""
    used, pair = np.unique(first.entries * len(second.shares) + second.entries, return_inverse=True)
    counts = np.bincount(pair, weights, minlength=len(used))
    entries, partners = np.divmod(used, len(second.shares))
    begins = np.flatnonzero(np.diff(entries, prepend=-1))
    spread = np.zeros((len(first.shares), second.shares.shape[1]))
    spread[entries[begins]] = np.add.reduceat(second.shares[partners] * counts[:, None], begins)
    return first.spread(spread)


_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


@dataclass(frozen=True, eq=False)
class SpreadColumn:
    """One column of a release together with the raw values.

    entries: (rows,) the published entry; slots: (rows,) the slot of the raw value.
    shares: (entries, slots) one record of each entry, spread evenly over the slots it covers.
    """

    entries: Counts
    slots: Counts
    shares: Floats

    @classmethod
    def of(cls, recoding: Recoding, rows: Counts) -> SpreadColumn:
        """Return a column as published in these released rows."""
        scale = Scale.fit(recoding, rows, "weights")
        slot_of = scale.of_values(recoding.column).argmax(axis=1)
        return cls(
            recoding.codes.astype(np.int64),
            slot_of[recoding.column.codes].astype(np.int64),
            scale.of_cells(recoding).astype(np.float64),
        )

    def spread(self, counts: Floats) -> Floats:
        """Return (slots, …) the records of all entries, spread over slots; counts: (entries, …)."""
        parts = [
            (self.shares * column[:, None]).sum(axis=0)  # no BLAS: its sums depend on the machine
            for column in counts.reshape(len(counts), -1).T
        ]
        return np.stack(parts, axis=-1).reshape(self.shares.shape[1], *counts.shape[1:])


def columns_of(release: Release, recodings: Sequence[Recoding]) -> list[SpreadColumn]:
    """Return columns as published in the released rows."""
    rows = np.flatnonzero(released(release))
    return [SpreadColumn.of(each, rows) for each in recodings]


def released(release: Release) -> Bools:
    """Return (rows,) whether the row is published."""
    if release.suppressed is None:
        return np.ones(len(release.original), dtype=np.bool_)
    return ~release.suppressed


def records(release: Release) -> Floats:
    """Return (rows,) the number of records that each row stands for."""
    counts = release.original.counts
    return np.ones(len(release.original)) if counts is None else counts.astype(np.float64)


def untouched(release: Release) -> Release:
    """Return the release that changes nothing."""
    same = {name: Recoding.identity(each.column) for name, each in release.recodings.items()}
    return replace(release, recodings=same, suppressed=None, node=None)


def rows_of_same_person(table: Table, rows: Counts, training: Bools) -> tuple[Counts, Counts]:
    """Return pairs of a row, by its index in `rows`, and a training row of the same person.

    training: (table rows,) whether the row is a training row. A row is also paired with itself.
    """
    known, groups = np.flatnonzero(training), owners(table)
    if groups is None:
        indices = np.flatnonzero(training[rows])
        return indices, rows[indices]
    known = known[np.argsort(groups[known], kind="stable")]
    starts, stops = (np.searchsorted(groups[known], groups[rows], side) for side in _SIDES)
    lengths = stops - starts
    indices = np.repeat(np.arange(len(rows)), lengths)
    within = np.arange(len(indices)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return indices, known[np.repeat(starts, lengths) + within]


def sample(weights: Floats, limit: int) -> Counts:
    """Return the row of each record, or of a random sample of `limit` records if there are more.

    The sample depends only on the number of records.
    """
    ends = np.cumsum(weights)
    total = int(ends[-1]) if len(ends) else 0
    if total > limit:
        drawn = np.sort(np.random.default_rng(total).choice(total, limit, replace=False))
    else:
        drawn = np.arange(total)
    return np.searchsorted(ends, drawn, side="right")


_MAX_RECORDS_NEAR = 1_000  # the same for the second reader, which compares each with all classes
_NEIGHBOURS = 5
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
    # naive Bayes: log shares of the labels, plus for each column how much likelier each label is
    # among the records that may have the raw value
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
    # relative to the best label, so that exponentials neither overflow nor vanish
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
    # Hamming distance between the flags of a cell and the single flag of a raw value: the flags
    # that the cell covers, plus one, less two if it covers the value's own
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
