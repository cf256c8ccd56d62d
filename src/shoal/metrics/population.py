"""Losses and estimates for the population behind a sample with weights."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shoal.core.classes import SUPPRESSED
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.errors import InputError, unknown
from shoal.metrics.registry import METRICS
from shoal.support.arrays import Floats, weighted_sum


def population_losses(release: Release, metrics: Iterable[str] | None = None) -> dict[str, float]:
    """Return losses averaged over the population: each record counts with its sampling weight.

    Parameters:
        release: A release of a table with sampling weights.
        metrics: Names of metrics that have a loss of each record. By default all of them that are
            defined for the release.

    Returns:
        The loss by name of the metric, from 0 (nothing lost) to 1.

    Raises:
        InputError: The table has no weights, or a metric has no loss of each record.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [20, 30, 50, 51], "w": [10, 10, 40, 40]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", weight="w")
    >>> round(shoal.metrics.ncp(release), 3), round(population_losses(release, ["ncp"])["ncp"], 3)
    (0.177, 0.09)
    """
    weights = _row_weights(release)
    by_record = {name: each for name, each in METRICS.items() if each.by_record is not None}
    names = [n for n, each in by_record.items() if each.undefined(release, None) is None]
    found = {}
    for name in names if metrics is None else metrics:
        if name not in by_record:
            raise unknown("no metric with a loss of each record", name, by_record)
        measure = by_record[name].by_record
        assert measure is not None
        found[name] = weighted_sum(measure(release), weights) / float(weights.sum())
    return found


def estimate_errors(release: Release) -> dict[str, float]:
    """Return how far population shares estimated from the release are off, for each column.

    The shares of the values of a quasi-identifier in the population are estimated with the sampling
    weights from the original, and from the released cells, each spread evenly over the values that
    it covers. The error is the share of the population that is put on a wrong value (total
    variation). Suppressed records are left out, as an analyst has to.

    Parameters:
        release: A release of a table with sampling weights.

    Returns:
        The error by column, from 0 (exact) to 1.

    Raises:
        InputError: The table has no sampling weights.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [20, 30, 50, 51], "w": [10, 30, 40, 40]})
    >>> release = shoal.anonymize(rows, k=2, quasi="age", weight="w")
    >>> {name: round(error, 3) for name, error in estimate_errors(release).items()}
    {'age': 0.083}
    """
    weights = _row_weights(release)
    kept = release.classes.ids != SUPPRESSED
    errors = {}
    for name, recoding in release.recodings.items():
        column = release.original[name]
        true = np.bincount(column.codes, weights, minlength=column.domain) / weights.sum()
        shown = _spread(recoding, np.where(kept, weights, 0.0))
        total = float(shown.sum())
        errors[name] = float(np.abs(true - shown / total).sum() / 2) if total else 1.0
    return errors


def _spread(recoding: Recoding, weights: Floats) -> Floats:
    """(domain,) the weight of each value if every cell is spread evenly over its values."""
    indptr, members = recoding.subsets.flat()
    entries = np.bincount(recoding.codes, weights, minlength=len(recoding.subsets))
    sizes = np.diff(indptr)
    return np.bincount(
        members, np.repeat(entries / sizes, sizes), minlength=recoding.column.domain
    ).astype(np.float64)


def _row_weights(release: Release) -> Floats:
    """(rows,) the people of the population that the records of each row stand for.

    The weight of a person with several rows is divided among them.
    """
    table = release.original
    if table.weights is None:
        raise InputError("the table has no sampling weights; give a column the role weight")
    if table.person is not None:
        counts = np.ones(len(table)) if table.counts is None else table.counts
        rows = np.bincount(table.person.ids, counts, minlength=table.person.count)
        return np.asarray(table.weights.values * counts / rows[table.person.ids])
    return table.weights.values if table.counts is None else table.weights.values * table.counts
