"""Kullback–Leibler divergence between the original and the released distribution of tuples.

The only metric here that uses all attributes jointly. The release is estimated as in `boxes`: each
record is spread evenly over the tuples that it may stand for. Exact, over the distinct original
tuples; time grows with distinct boxes × distinct tuples.
Kifer & Gehrke, "Injecting utility into anonymized datasets", SIGMOD 2006.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.core.release import Release
from shoal.metrics.boxes import Boxes, estimated_shares, original_boxes, released_boxes
from shoal.metrics.metric import Metric
from shoal.metrics.needs import refuse
from shoal.metrics.scale import scaled
from shoal.support.arrays import Floats, weighted_sum
from shoal.support.progress import report

_QUICK_PAIRS = 2_000_000_000  # about a second; above it the metric runs only if named
_MAX_PAIRS = 100_000_000_000
_MAX_BYTES = 2**26  # of bit sets at a time
_LOG_2 = float(np.log(2))


def kl_divergence(release: Release, *, raw: bool = False) -> float:
    """Return the divergence of the released estimate, from 0 (best) to 1 (all suppressed).

    Parameters:
        release: The release to measure.
        raw: Return Σ p log₂(p / q) over the original tuples, in bits per record.

    Returns:
        The loss.

    Raises:
        InputError: The release has too many different records to compare with the original.

    >>> import pyarrow as pa
    >>> import shoal
    >>> people = pa.table({"age": [20, 30, 50, 60], "sex": ["F", "F", "M", "F"]})
    >>> release = shoal.anonymize(people, k=2, quasi=["age", "sex"])
    >>> round(kl_divergence(release), 3), kl_divergence(release, raw=True)
    (0.5, 0.5)
    """
    if not release.original.records:
        return 0.0
    boxes, tuples = released_boxes(release), original_boxes(release)
    if len(boxes) * len(tuples) > _MAX_PAIRS:
        refuse("kl-divergence", f"too many to compare: {_sizes(boxes, tuples)}")
    shares = tuples.counts / tuples.counts.sum()
    distances = np.log(tuples.counts) - log_weights(boxes, tuples)
    bits = max(weighted_sum(shares, distances) / _LOG_2, 0.0)
    if raw:
        return bits
    volume = sum(np.log(column.domain) for column in boxes.columns)
    return scaled(bits, 0.0, weighted_sum(shares, np.log(shares) + volume) / _LOG_2, release)


def kl_divergence_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the divergence of each attribute's values, as if it were the only one.

    Parameters:
        release: The release to measure.
        raw: Return bits per record.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 20, 20, 30, 50, 60]})
    >>> release = shoal.anonymize(ages, k=2, quasi="age")
    >>> round(kl_divergence_by_attribute(release, raw=True)["age"], 3)
    0.126
    """
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
    with np.errstate(divide="ignore"):  # infinite if the release does not cover its original
        return weighted_sum(p, np.log2(p) - np.log2(q))


def slow_divergence(release: Release) -> str | None:
    """Return why the divergence is slow to compute, None if it is not."""
    if not release.original.records:
        return None
    boxes, tuples = released_boxes(release), original_boxes(release)
    if len(boxes) * len(tuples) <= _QUICK_PAIRS:
        return None
    return f"slow to compute for {_sizes(boxes, tuples)}; name the metric to compute it"


def _sizes(boxes: Boxes, tuples: Boxes) -> str:
    return f"{len(boxes):,} different boxes and {len(tuples):,} original tuples"


KL_DIVERGENCE = Metric(
    "kl-divergence",
    kl_divergence,
    title="Kullback–Leibler divergence",
    meaning="change in the joint distribution of all columns",
    formula="sum over original tuples: p · log₂(p / q) of the shares before and after",
    use="all attributes matter jointly; the slowest metric",
    source="Kifer & Gehrke 2006",
    published=partial(kl_divergence, raw=True),
    raw_range="bits per record, 0 and up",
    requires="at most 2 billion different boxes × tuples, unless named",
    lacking=slow_divergence,
    by_attribute=kl_divergence_by_attribute,
)


def log_weights(boxes: Boxes, tuples: Boxes) -> Floats:
    """(tuples,) logarithm of the weight on each tuple, in records; −∞ if there is none.

    The weight is the sum over the boxes that contain the tuple. Every box is compared with every
    tuple, 64 boxes at a time; blocks of boxes limit the memory.
    """
    from shoal.metrics._covering import WORD, mark_boxes, weigh_tuples

    offsets = np.cumsum([0, *(subsets.domain for subsets in boxes.subsets)])
    rows = np.ascontiguousarray((np.stack(tuples.entries) + offsets[:-1, None]).T)
    logs = np.log(boxes.counts) - boxes.log_volumes()
    top, total = np.full(len(tuples), -np.inf), np.zeros(len(tuples))
    words = max(_MAX_BYTES // (8 * int(offsets[-1])), 1)
    for begin in range(0, len(boxes), words * WORD):
        report("covering", begin, len(boxes))
        part = slice(begin, min(begin + words * WORD, len(boxes)))
        used = -(-(part.stop - begin) // WORD)
        bits = np.zeros((int(offsets[-1]), used), dtype=np.uint64)
        for j, subsets in enumerate(boxes.subsets):
            runs = map(np.ascontiguousarray, (subsets.indptr, subsets.starts, subsets.stops))
            mark_boxes(bits, int(offsets[j]), boxes.entries[j][part], *runs)
        weigh_tuples(bits, rows, logs[part], top, total)
    with np.errstate(divide="ignore"):
        return np.where(total > 0, top + np.log(total), -np.inf)
