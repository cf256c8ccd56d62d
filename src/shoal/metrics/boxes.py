"""The distribution that a release implies: boxes, with records spread evenly inside them.

Each record has weight one. Its box is the product of its published cells, each a subset of the
column's domain, and its weight is spread evenly over the box: every tuple inside is equally likely.
A suppressed record may be anywhere. Metrics compare this estimate with the original distribution;
it uses published information only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.column import Column
from shoal.core.grouping import group
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.subsets import Subsets
from shoal.support.arrays import Codes, Counts, Floats


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
    found = group([r.codes for r in recodings], [len(r.labels) for r in recodings])
    return Boxes(
        tuple(r.column for r in recodings),
        tuple(r.subsets for r in recodings),
        [r.codes[found.first] for r in recodings],
        found.sizes(release.original.counts),
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
    steps = np.bincount(subsets.starts, by_run, minlength=subsets.domain + 1)
    steps -= np.bincount(subsets.stops, by_run, minlength=subsets.domain + 1)
    heights = np.maximum(np.cumsum(steps)[: subsets.domain], 0.0)
    return np.asarray(heights / max(int(boxes.counts.sum()), 1))
