"""Hellinger and Kullback–Leibler: distances of the distribution that a release implies.

    box                the product of a record's published cells; a suppressed record may be
                       anywhere
    released_boxes     the distinct boxes of a release, with the number of records in each
    estimated_shares   the share of each value if every box is spread evenly over its tuples
    hellinger          distance of the shares of one column, √(Σ (√p − √q)² / 2)
    kl_divergence      Σ p log₂(p / q) over the distinct original tuples: the only metric that uses
                       all attributes jointly; its time grows with boxes × tuples

Only published information enters the estimate. El Emam, Mosquera & Hoptroff, "Practical synthetic
data generation", 2020; de Spoelberch, "The limits of information loss metrics as measures for
utility", 2020, section 2.2.11, whose formula omits the square roots of the shares; Kifer & Gehrke,
"Injecting utility into anonymized datasets", SIGMOD 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from shoal.metrics.metric import Metric, refuse, scaled
from shoal.release.release import Release
from shoal.support.arrays import Codes, Counts, Floats, weighted_sum
from shoal.support.progress import report
from shoal.table.column import Column
from shoal.table.people import group
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets


def with_hidden_rows(release: Release) -> dict[str, Recoding]:
    """Return the recodings with the whole domain in every column of suppressed rows."""
    if release.suppressed is None:
        return dict(release.recodings)
    return {name: found.suppress(release.suppressed) for name, found in release.recodings.items()}


@dataclass(frozen=True, eq=False)
class Boxes:
    """The distinct boxes of a release, or the distinct tuples of a table as boxes of one tuple.

    columns, subsets: one for each attribute.
    entries: for each attribute (boxes,) the subset of each box.
    counts: (boxes,) records in each.
    """

    columns: tuple[Column, ...]
    subsets: tuple[Subsets, ...]
    entries: Sequence[Codes]
    counts: Counts

    def __len__(self) -> int:
        return len(self.counts)

    def usage(self, attribute: int) -> Floats:
        """(entries,) number of records at each subset of one attribute."""
        entries = len(self.subsets[attribute])
        weights = self.counts.astype(np.float64)
        return np.bincount(self.entries[attribute], weights, entries).astype(np.float64)

    def log_volumes(self) -> Floats:
        """(boxes,) logarithm of the number of tuples in each box; products would overflow."""
        volumes = np.zeros(len(self))
        for subsets, entries in zip(self.subsets, self.entries, strict=True):
            volumes += np.log(np.maximum(subsets.sizes, 1))[entries]
        return volumes


def released_boxes(release: Release) -> Boxes:
    """Return the distinct boxes of a release, computed once."""
    cache: dict[str, Boxes] = release.__dict__
    if "_boxes" not in cache:
        cache["_boxes"] = _released_boxes(release)
    return cache["_boxes"]


def _released_boxes(release: Release) -> Boxes:
    recodings = list(with_hidden_rows(release).values())
    distinct = group([r.codes for r in recodings], [len(r.labels) for r in recodings])
    return Boxes(
        tuple(r.column for r in recodings),
        tuple(r.subsets for r in recodings),
        [r.codes[distinct.first] for r in recodings],
        distinct.sizes(release.original.counts),
    )


def original_boxes(release: Release) -> Boxes:
    """Return the distinct tuples of the original table, with the attributes of the release."""
    tuples = release.original.distinct().table
    columns = tuple(tuples[name] for name in release.recodings)
    assert tuples.counts is not None
    return Boxes(
        columns,
        tuple(Subsets.singletons(column.domain) for column in columns),
        [column.codes for column in columns],
        tuples.counts,
    )


@dataclass(frozen=True, eq=False)
class Atoms:
    """Runs of codes that no subset splits: all codes of a run are equally likely.

    lengths: (atoms,) codes in each.
    subsets: the same subsets, in terms of atoms.
    """

    lengths: Counts
    subsets: Subsets

    @classmethod
    def of(cls, subsets: Subsets) -> Atoms:
        """Split the domain wherever a run of a subset begins or ends."""
        cuts = np.unique(np.concatenate([[0, subsets.domain], subsets.starts, subsets.stops]))
        starts, stops = (
            np.searchsorted(cuts, ends).astype(np.int32) for ends in (subsets.starts, subsets.stops)
        )
        lengths = np.diff(cuts)
        return cls(lengths, Subsets(len(lengths), subsets.indptr, starts, stops))


def estimated_shares(boxes: Boxes, attribute: int) -> Floats:
    """(domain,) estimated share of each value of one attribute, with boxes spread evenly."""
    subsets = boxes.subsets[attribute]
    weights = boxes.usage(attribute) / np.maximum(subsets.sizes, 1)
    by_run = np.repeat(weights, np.diff(subsets.indptr))
    # each run is a step up at its start and down behind its end; their running sum is the density
    steps = np.bincount(subsets.starts, by_run, minlength=subsets.domain + 1)
    steps -= np.bincount(subsets.stops, by_run, minlength=subsets.domain + 1)
    heights = np.maximum(np.cumsum(steps)[: subsets.domain], 0.0)
    return np.asarray(heights / max(int(boxes.counts.sum()), 1))


def hellinger(release: Release, *, raw: bool = False) -> float:
    """Return the median distance over attributes, from 0 (best) to 1 (all suppressed).

    Parameters:
        release: The release to measure.
        raw: Return the median distance itself, from 0 to 1.

    Returns:
        The loss.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 20, 20, 30, 50, 60]})
    >>> release = shoal.anonymize(ages, k=2, quasi="age")
    >>> round(hellinger(release), 3)
    0.816
    """
    distances = _distances(release).values()
    after, most = (float(np.median(part)) for part in zip(*distances, strict=True))
    return after if raw else scaled(after, 0.0, most, release)


def hellinger_by_attribute(release: Release, *, raw: bool = False) -> dict[str, float]:
    """Return the distance of each attribute, divided by that of the suppressed column.

    Parameters:
        release: The release to measure.
        raw: Return the distance itself, from 0 to 1.

    Returns:
        The loss of each quasi-identifier, from 0 (best) to 1.

    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [20, 20, 20, 30, 50, 60]})
    >>> release = shoal.anonymize(ages, k=2, quasi="age")
    >>> round(hellinger_by_attribute(release, raw=True)["age"], 3)
    0.151
    """
    distances = _distances(release)
    if raw:
        return {name: after for name, (after, _) in distances.items()}
    return {name: scaled(after, 0.0, most, release) for name, (after, most) in distances.items()}


def _distances(release: Release) -> dict[str, tuple[float, float]]:
    """Return, for each attribute, the distance of the release and of the suppressed column."""
    boxes = released_boxes(release)
    distances = {}
    for j, column in enumerate(boxes.columns):
        before = release.original.shares(column.name)
        even = np.full(column.domain, 1 / max(column.domain, 1))
        distances[column.name] = (
            _distance(before, estimated_shares(boxes, j)),
            _distance(before, even) if release.original.records else 0.0,
        )
    return distances


def _distance(p: Floats, q: Floats) -> float:
    return float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))


HELLINGER = Metric(
    "hellinger",
    hellinger,
    title="Hellinger distance",
    scope="cell",
    meaning="change in the distributions of single columns",
    formula="median over attributes: √(Σ (√p − √q)² / 2) of the shares before and after",
    use="frequency tables of single columns",
    source="El Emam et al. 2020",
    published=partial(hellinger, raw=True),
    by_attribute=hellinger_by_attribute,
)


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
    from shoal.metrics._kernels import WORD, mark_boxes, weigh_tuples

    offsets = np.cumsum([0, *(subsets.domain for subsets in boxes.subsets)])
    rows = np.ascontiguousarray((np.stack(tuples.entries) + offsets[:-1, None]).T)
    logs = np.log(boxes.counts) - boxes.log_volumes()
    top, total = np.full(len(tuples), -np.inf), np.zeros(len(tuples))
    words = max(_MAX_BYTES // (8 * int(offsets[-1])), 1)
    for begin in range(0, len(boxes), words * WORD):
        report("covering", begin, len(boxes))
        # (values of all attributes, words): bit b of word w in row v says that box 64w + b holds v
        part = slice(begin, min(begin + words * WORD, len(boxes)))
        used = -(-(part.stop - begin) // WORD)
        bits = np.zeros((int(offsets[-1]), used), dtype=np.uint64)
        for j, subsets in enumerate(boxes.subsets):
            runs = map(np.ascontiguousarray, (subsets.indptr, subsets.starts, subsets.stops))
            mark_boxes(bits, int(offsets[j]), boxes.entries[j][part], *runs)
        weigh_tuples(bits, rows, logs[part], top, total)
    with np.errstate(divide="ignore"):
        return np.where(total > 0, top + np.log(total), -np.inf)
