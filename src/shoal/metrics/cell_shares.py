"""Shares of cells that a release keeps exactly, generalizes or hides, as a reader sees them.

Shares are also available by column, so an average cannot conceal a column that is fully hidden.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.support.arrays import Bools


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
    found = list(cell_shares_by_attribute(release).values())
    columns = max(len(found), 1)
    return CellShares(
        sum(each.kept for each in found) / columns,
        sum(each.generalized for each in found) / columns,
        sum(each.hidden for each in found) / columns,
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
