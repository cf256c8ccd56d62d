"""The chosen readings of many texts, in arrays: a few bytes for each run of codes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal.core.subsets import Subsets
from shoal.reading.released_cells import Reading
from shoal.support.arrays import Bools, Codes, Floats


@dataclass(frozen=True, eq=False)
class Readings:
    """One reading for each text.

    subsets: the codes that each covers; a text that cannot be read covers none.
    bounds: (texts, 2) the stated bounds, NaN if there are none.
    levels: (texts,) the level of each in the column's hierarchy.
    """

    subsets: Subsets
    bounds: Floats
    levels: Codes

    @classmethod
    def of(cls, domain: int, readings: Iterable[Reading]) -> Readings:
        """Return readings as arrays; only one of them is an object at a time."""
        ends, starts, stops = array("q", [0]), array("i"), array("i")
        bounds, levels = array("d"), array("i")
        for reading in readings:
            for start, stop in reading.runs:
                starts.append(start)
                stops.append(stop)
            ends.append(len(starts))
            bounds.extend((reading.low, reading.high))
            levels.append(reading.level)
        subsets = Subsets(
            domain,
            np.asarray(ends, np.int64),
            np.asarray(starts, np.int32),
            np.asarray(stops, np.int32),
        )
        return cls(
            subsets, np.asarray(bounds, np.float64).reshape(-1, 2), np.asarray(levels, np.int32)
        )

    def __len__(self) -> int:
        return len(self.subsets)

    @property
    def unread(self) -> Bools:
        """(texts,) whether a text covers no value."""
        found: Bools = np.diff(self.subsets.indptr) == 0
        return found

    def missed(self, texts: Codes, originals: Codes) -> Bools:
        """Return whether the text of each row does not cover its original value."""
        if not len(texts):
            return np.zeros(0, dtype=np.bool_)
        return ~self.subsets.hold(texts, originals)

    def replaced(self, texts: Codes, readings: Iterable[Reading]) -> Readings:
        """Return the readings with others of some texts."""
        others = Readings.of(self.subsets.domain, readings)
        source = np.arange(len(self))
        source[texts] = len(self) + np.arange(len(others))
        return Readings(
            Subsets.joined([self.subsets, others.subsets]).take(source),
            np.concatenate((self.bounds, others.bounds))[source],
            np.concatenate((self.levels, others.levels))[source],
        )
