"""All metrics by name, and figures that are not losses: shares of cells, and population estimates.

    METRICS             the metrics in the order of the documentation
    cell_shares         cells that are kept, generalized or hidden, also by column, because a mean
                        can conceal a column that is fully hidden
    population_losses   losses with sampling weights: a record counts as often as people it
                        represents
    estimate_errors     how far population shares estimated from the release are off

Each metric is described in its own file, by the entry behind its function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

from shoal.errors import InputError, unknown
from shoal.metrics.bivariate_correlation import BIVARIATE_CORRELATION
from shoal.metrics.cell_width import GRANULARITY, HIERARCHY_NCP, INFORMATION_LOSS, NCP
from shoal.metrics.class_size import (
    AMBIGUITY,
    AVERAGE_CLASS_SIZE,
    CLASS_LOSS,
    CLASSIFICATION,
    DIAMETER,
    DISCERNIBILITY,
)
from shoal.metrics.divergence import HELLINGER, KL_DIVERGENCE
from shoal.metrics.entropy import ENTROPY, NON_UNIFORM_ENTROPY, PUBLISHED_LOSS
from shoal.metrics.levels import (
    ABSOLUTE_DISTANCE,
    PRECISION,
    RELATIVE_DISTANCE,
    SQUARED_DISTANCE_ERROR,
)
from shoal.metrics.metric import Metric
from shoal.release.release import Release
from shoal.support.arrays import Bools, Floats, weighted_sum
from shoal.table.classes import SUPPRESSED
from shoal.table.recoding import Recoding

_ALL = (
    NCP,
    CLASS_LOSS,
    PUBLISHED_LOSS,
    HIERARCHY_NCP,
    ABSOLUTE_DISTANCE,
    RELATIVE_DISTANCE,
    PRECISION,
    ENTROPY,
    NON_UNIFORM_ENTROPY,
    CLASSIFICATION,
    DISCERNIBILITY,
    AVERAGE_CLASS_SIZE,
    DIAMETER,
    AMBIGUITY,
    GRANULARITY,
    SQUARED_DISTANCE_ERROR,
    INFORMATION_LOSS,
    HELLINGER,
    BIVARIATE_CORRELATION,
    KL_DIVERGENCE,
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


@dataclass(frozen=True)
class CellShares:
    """Shares of cells, which add up to 1; all 0 if there are no cells.

    kept: cells that show the original value.
    generalized: cells that show a label, a range or a set that still carries information.
    hidden: cells without information: `*`, the whole range, or a suppressed record.
    """

    kept: float
    generalized: float
    hidden: float

    def to_dict(self) -> dict[str, float]:
        """Return the shares as plain data."""
        return asdict(self)


def cell_shares(release: Release) -> CellShares:
    """Return the shares over all cells of the quasi-identifiers.

    Examples:
        >>> import shoal
        >>> release = shoal.anonymize(shoal.datasets.patients(50), shoal.KAnonymity(5))
        >>> shares = cell_shares(release)
        >>> round(shares.kept + shares.generalized + shares.hidden, 6)
        1.0
    """
    shares = list(cell_shares_by_attribute(release).values())
    columns = max(len(shares), 1)
    return CellShares(
        sum(each.kept for each in shares) / columns,
        sum(each.generalized for each in shares) / columns,
        sum(each.hidden for each in shares) / columns,
    )


def cell_shares_by_attribute(release: Release) -> dict[str, CellShares]:
    """Return the shares of each quasi-identifier's cells."""
    return {name: _shares(release, recoding) for name, recoding in release.recodings.items()}


def is_exact(recoding: Recoding) -> Bools:
    """(entries,) whether an entry shows its single value; a label of one value does not."""
    subsets, labels = recoding.subsets, recoding.column.labels
    exact = np.zeros(len(recoding.labels), dtype=np.bool_)
    single = np.flatnonzero(subsets.sizes == 1)
    values = subsets.starts[subsets.indptr[single]].tolist()
    entries = single.tolist()
    exact[single] = [recoding.labels[e] == labels[v] for e, v in zip(entries, values, strict=True)]
    return exact


def _shares(release: Release, recoding: Recoding) -> CellShares:
    records, counts, out = release.original.records, release.original.counts, release.suppressed
    if not records:
        return CellShares(0.0, 0.0, 0.0)
    weights = np.ones(len(recoding.codes)) if counts is None else counts.astype(np.float64)
    shown = weights if out is None else np.where(out, 0.0, weights)
    usage = np.bincount(recoding.codes, shown, minlength=len(recoding.labels))
    exact = is_exact(recoding)
    kept = float(usage[exact].sum()) / records
    some = float(usage[~exact & ~recoding.subsets.whole].sum()) / records
    return CellShares(kept, some, max(1.0 - kept - some, 0.0))


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
    losses = {}
    for name in names if metrics is None else metrics:
        if name not in by_record:
            raise unknown("no metric with a loss of each record", name, by_record)
        measure = by_record[name].by_record
        assert measure is not None
        losses[name] = weighted_sum(measure(release), weights) / float(weights.sum())
    return losses


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
