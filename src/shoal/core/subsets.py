"""Subsets of a domain: the possible values of a released cell.

Each subset is a short list of runs of consecutive codes, so a range over a million values needs as
little memory as a single value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.support.arrays import Bools, Codes, Counts, frozen


@dataclass(frozen=True, eq=False)
class Subsets:
    """Subsets of the codes 0 … domain − 1, none of them empty.

    Subset i contains the codes starts[r] … stops[r] − 1 for r in indptr[i] … indptr[i + 1] − 1;
    its runs are disjoint, ascending and do not touch.
    """

    domain: int
    indptr: Counts
    starts: Codes
    stops: Codes

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def sizes(self) -> Counts:
        """(subsets,) number of members."""
        lengths = (self.stops - self.starts).astype(np.int64)
        return frozen(np.add.reduceat(lengths, self.indptr[:-1]) if len(self) else lengths)

    @cached_property
    def first(self) -> Codes:
        """(subsets,) the least member."""
        return frozen(self.starts[self.indptr[:-1]])

    @cached_property
    def last(self) -> Codes:
        """(subsets,) the greatest member."""
        return frozen(self.stops[self.indptr[1:] - 1] - np.int32(1))

    def last_below(self, code: int) -> Codes:
        """(subsets,) the greatest member below `code`, −1 if there is none."""
        stops = np.minimum(self.stops, code)
        ends = np.where(self.starts < code, stops - 1, -1).astype(np.int32)
        return frozen(np.maximum.reduceat(ends, self.indptr[:-1]) if len(self) else ends)

    @cached_property
    def whole(self) -> Bools:
        """(subsets,) whether the subset is the whole domain."""
        full: Bools = self.sizes == self.domain
        return full

    def members(self, index: int) -> Codes:
        """Return the codes in one subset, ascending."""
        runs = range(int(self.indptr[index]), int(self.indptr[index + 1]))
        return np.concatenate(
            [np.arange(self.starts[r], self.stops[r], dtype=np.int32) for r in runs]
        )

    def flat(self) -> tuple[Counts, Codes]:
        """Return the members of all subsets in compressed row form: row starts and members."""
        lengths = self.stops - self.starts
        ends = np.cumsum(lengths, dtype=np.int64)
        places = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        members = np.repeat(self.starts, lengths) + places.astype(np.int32)
        return np.concatenate(([0], ends))[self.indptr], members

    def hold(self, indices: Codes, codes: Codes) -> Bools:
        """Return, for each pair, whether subset indices[i] contains codes[i]."""
        if len(self) * self.domain <= 8 * len(codes):
            indptr, members = self.flat()
            table = np.zeros((len(self), self.domain), dtype=np.bool_)
            table[np.repeat(np.arange(len(self)), np.diff(indptr)), members] = True
            return table[indices, codes]
        found = np.zeros(len(codes), dtype=np.bool_)
        pairs, run = np.arange(len(codes)), self.indptr[indices]
        while len(pairs):  # run by run, for the pairs that may still be met
            wanted = codes[pairs]
            found[pairs] = (self.starts[run] <= wanted) & (wanted < self.stops[run])
            more = (self.stops[run] <= wanted) & (run + 1 < self.indptr[indices[pairs] + 1])
            pairs, run = pairs[more], run[more] + 1
        return found

    def take(self, indices: Any) -> Subsets:
        """Return the subsets at these indices, which may repeat."""
        begins, counts = self.indptr[indices], np.diff(self.indptr)[indices]
        indptr = np.concatenate(([0], np.cumsum(counts)))
        runs = np.repeat(begins - indptr[:-1], counts) + np.arange(int(indptr[-1]))
        return Subsets(self.domain, indptr, self.starts[runs], self.stops[runs])

    def equal(self, other: Subsets) -> Bools:
        """Return, for each i, whether subset i equals subset i of the other."""
        same: Bools = np.diff(self.indptr) == np.diff(other.indptr)
        if same.any():
            mine, theirs = self.take(np.flatnonzero(same)), other.take(np.flatnonzero(same))
            runs = (mine.starts == theirs.starts) & (mine.stops == theirs.stops)
            same[same] = np.logical_and.reduceat(runs, mine.indptr[:-1])
        return same

    @classmethod
    def singletons(cls, domain: int) -> Subsets:
        """Return one subset for each code."""
        codes = np.arange(domain, dtype=np.int32)
        return cls(domain, np.arange(domain + 1, dtype=np.int64), codes, codes + np.int32(1))

    @classmethod
    def ranges(cls, domain: int, first: Codes, last: Codes) -> Subsets:
        """Return the subsets first[i] … last[i], both ends included."""
        indptr = np.arange(len(first) + 1, dtype=np.int64)
        return cls(domain, indptr, first.astype(np.int32), (last + 1).astype(np.int32))

    @classmethod
    def of_members(cls, domain: int, indptr: Counts, members: Codes) -> Subsets:
        """Return the subsets members[indptr[i]:indptr[i + 1]], each ascending without repeats."""
        if not len(members):
            return cls(domain, indptr.astype(np.int64), members, members)
        opens = np.ones(len(members), dtype=np.bool_)
        opens[1:] = members[1:] != members[:-1] + 1
        opens[indptr[:-1]] = True
        closes = np.append(opens[1:], True)
        runs = np.concatenate(([0], np.cumsum(opens)))[indptr]
        return cls(
            domain,
            runs.astype(np.int64),
            members[opens].astype(np.int32),
            (members[closes] + 1).astype(np.int32),
        )

    @classmethod
    def of_groups(cls, groups: Codes, count: int) -> Subsets:
        """Return, for each group of a map code → group, the codes that fall into it."""
        order = np.argsort(groups, kind="stable").astype(np.int32)
        indptr = np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count))))
        return cls.of_members(len(groups), indptr, order)

    @classmethod
    def joined(cls, parts: Sequence[Subsets]) -> Subsets:
        """Return the subsets of all parts, one after the other."""
        indptr = [parts[0].indptr]
        for part in parts[1:]:
            indptr.append(part.indptr[1:] + indptr[-1][-1])
        return cls(
            parts[0].domain,
            np.concatenate(indptr),
            np.concatenate([part.starts for part in parts]),
            np.concatenate([part.stops for part in parts]),
        )
