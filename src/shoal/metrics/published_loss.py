"""Published loss: how much each published cell leaves open.

Like class loss, but measured on the label that the reader sees.
"""

from __future__ import annotations

import numpy as np

from shoal.core.release import Release
from shoal.metrics.cells import mean_over_records, set_share


def published_loss(release: Release) -> float:
    """Mean over all cells of what the published cell leaves open, from 0 (best) to 1.

    Ordered: width of the published bounds / extent of the column; nominal: (values that the cell
    may stand for − 1) / (domain − 1); a suppressed record counts 1.
    """
    return float(np.mean(list(published_loss_by_attribute(release).values())))


def published_loss_by_attribute(release: Release) -> dict[str, float]:
    """Return the mean openness of each attribute's cells."""
    losses = {}
    for name, recoding in release.recodings.items():
        if recoding.column.ordered:
            open_share = recoding.widths()
        else:
            sizes = recoding.subsets.sizes.astype(np.float64)
            open_share = set_share(sizes, recoding.column.domain)
        losses[name] = mean_over_records(release, name, open_share)
    return losses
