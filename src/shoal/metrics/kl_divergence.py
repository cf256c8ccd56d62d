"""Kullback–Leibler divergence of what the release says of whole tuples from the original.

The one metric here that sees all attributes together. The release's estimate is that of `boxes`:
records spread evenly over what they may stand for. Exact, over the distinct original tuples; time
grows with distinct boxes × distinct tuples.
Kifer & Gehrke, "Injecting utility into anonymized datasets", SIGMOD 2006.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.arrays import Floats, weighted_sum
from shoal.core.release import Release
from shoal.metrics.boxes import Boxes, estimated_shares, original_boxes, released_boxes
from shoal.metrics.covering import log_weights
from shoal.metrics.metric import Metric
from shoal.metrics.needs import refuse
from shoal.metrics.scale import scaled

_QUICK_PAIRS = 2_000_000_000  # about a second; more are left to those who ask by name
_MOST_PAIRS = 100_000_000_000
_LOG_2 = float(np.log(2))


def kl_divergence(release: Release, *, raw: bool = False) -> float:
    """Divergence of the released estimate, against that of a suppressed table, 0 (best) to 1.

    raw: Σ p log₂(p / q) over the original tuples, in bits a record.
    """
    if not release.original.records:
        return 0.0
    boxes, tuples = released_boxes(release), original_boxes(release)
    if len(boxes) * len(tuples) > _MOST_PAIRS:
        refuse("kl-divergence", f"{_told(boxes, tuples)} are too many to hold against each other")
    shares = tuples.counts / tuples.counts.sum()
    distances = np.log(tuples.counts) - log_weights(boxes, tuples)
    bits = max(weighted_sum(shares, distances) / _LOG_2, 0.0)
    if raw:
        return bits
    volume = sum(np.log(column.domain) for column in boxes.columns)
    return scaled(bits, 0.0, weighted_sum(shares, np.log(shares) + volume) / _LOG_2, release)


def kl_divergence_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the divergence of each attribute's values, as if it were the only one."""
    boxes = released_boxes(release)
    return {
        column.name: _by_values(release, boxes, j, raw=raw)
        for j, column in enumerate(boxes.columns)
    }


def _by_values(release: Release, boxes: Boxes, attribute: int, *, raw: bool) -> float:
    column = boxes.columns[attribute]
    before, after = release.original.shares(column.name), estimated_shares(boxes, attribute)
    used = before > 0
    bits = max(_bits(before[used], after[used]), 0.0)
    if raw:
        return bits
    even = np.full(int(used.sum()), 1 / max(column.domain, 1))
    return scaled(bits, 0.0, _bits(before[used], even), release)


def _bits(p: Floats, q: Floats) -> float:
    with np.errstate(divide="ignore"):  # a release that does not cover its original
        return weighted_sum(p, np.log2(p) - np.log2(q))


def slow_divergence(release: Release) -> str | None:
    """Return why the divergence would take long, None if it would not."""
    if not release.original.records:
        return None
    boxes, tuples = released_boxes(release), original_boxes(release)
    if len(boxes) * len(tuples) <= _QUICK_PAIRS:
        return None
    return f"{_told(boxes, tuples)} take long to hold against each other; ask for it by name"


def _told(boxes: Boxes, tuples: Boxes) -> str:
    return f"{len(boxes):,} different boxes and {len(tuples):,} original tuples"


KL_DIVERGENCE = Metric(
    "kl-divergence",
    kl_divergence,
    title="Kullback–Leibler divergence",
    meaning="how far the distribution of whole tuples moved",
    formula="sum over original tuples: p · log₂(p / q) of the shares before and after",
    use="all attributes together matter; the slowest one",
    source="Kifer & Gehrke 2006",
    published=partial(kl_divergence, raw=True),
    raw_range="bits a record, 0 and up",
    requires="different boxes × tuples of at most 2 billion, unless asked by name",
    lacking=slow_divergence,
    by_attribute=kl_divergence_by_attribute,
)
