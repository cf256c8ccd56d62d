"""The chain of Split & Carry: a sequence of problems, and the records carried between them.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020: algorithm
1, Lemma 2 and §5.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np

from shoal.anonymize.partition.carrying.small_problems import solve_small
from shoal.anonymize.partition.records import Records
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.progress import report
from shoal.support.stopwatch import working_time


@dataclass(frozen=True)
class Links:
    """How the problems of a chain are linked.

    carry: published, least-loss or bubble. read: records read into a problem, and boundary: records
    at its end whose groups are carried. With bubble instead, size: records of a problem, and
    accepted: groups that are final after it.
    """

    carry: str
    read: int
    boundary: int
    size: int
    accepted: int


@dataclass(eq=False)
class Chain:
    """The problems of one run.

    sizes: records of each problem so far. unproven: number of problems without a proof.
    """

    records: Records
    k: int
    links: Links
    sizes: list[int] = field(default_factory=list)
    unproven: int = 0

    def solve(self, along: Counts, time_limit: float | None = None) -> Codes:
        """Return the groups found along an order of the records, with equal records adjacent.

        time_limit: seconds, divided among the remaining problems.
        """
        deadline = inf if time_limit is None else working_time() + time_limit
        ids = np.empty(len(along), dtype=np.int32)
        groups, read, carried = 0, 0, along[:0]
        while read < len(along):
            stop = self._stop(len(carried), read)
            chosen = np.concatenate([carried, along[read:stop]])
            left = (deadline - working_time()) / self._to_come(len(carried), read)
            part = self.records.take(chosen)
            solved = solve_small(part, self.k, time_limit=None if left == inf else left)
            self.sizes.append(len(chosen))
            self.unproven += not solved.proven
            read = stop
            final = ~self._carry(part, solved.ids) if read < len(along) else chosen >= 0
            groups += _number(ids, chosen[final], solved.ids[final], groups)
            carried = chosen[~final]
            report("solve", read - len(carried), len(along))
        return ids

    def summary(self) -> str:
        """Return the sizes of the problems and the number without a proof, as text."""
        said = (
            f"{len(self.sizes):,} sub-problems of {np.mean(self.sizes):.1f} records on average, "
            f"at most {max(self.sizes)}"
        )
        if not self.unproven:
            return f"{said}; each was solved to a proven optimum"
        return f"{said}; {self.unproven:,} may not be optimal, as the proof took too long"

    @property
    def most(self) -> int:
        """Largest number of records of a problem: k (2k − 1 + S) as published (Lemma 2)."""
        if self.links.carry == "bubble":
            return self.links.size + self.k - 1
        return self.links.read + self.links.boundary * (2 * self.k - 1)

    def _stop(self, carried: int, read: int) -> int:
        """Return the end of the next problem, which includes a rest of less than k if possible."""
        fresh = self.links.size - carried if self.links.carry == "bubble" else self.links.read
        stop = min(read + fresh, len(self.records))
        rest = len(self.records) - stop
        fits = rest < self.k and carried + stop + rest - read <= self.most
        return stop + rest if fits else stop

    def _to_come(self, carried: int, read: int) -> int:
        """Return the approximate number of remaining problems."""
        left = len(self.records) - read
        if self.links.carry == "bubble":
            return (left + carried) // (self.k * self.links.accepted) + 1
        return left // self.links.read + 1

    def _carry(self, part: Records, ids: Codes) -> Bools:
        if self.links.carry == "bubble":
            return carry_worst(part, ids, self.links.accepted)
        if self.links.carry == "least-loss":
            return carry_least_loss(part, ids, self.links.boundary, self.k)
        return carry_published(ids, self.links.boundary, self.k)


def carry_published(ids: Codes, last: int, k: int) -> Bools:
    """Return which records are carried: the classes of the last records.

    If the other records of a class are at least k, only the k-sets of its boundary records are.
    ids: (records,) the class of each record, in the chain's order. last: records of the boundary.
    """
    carried = np.zeros(len(ids), dtype=np.bool_)
    for members, boundary in _at_boundary(ids, last):
        carried[_k_sets(members, boundary, k)] = True
    return carried


def carry_least_loss(records: Records, ids: Codes, last: int, k: int) -> Bools:
    """Return which records are carried: those that a class at the boundary has beyond k.

    These are the records that add the least to the loss of the class, which may fit better
    elsewhere. The last record stays. A class of k is carried completely.
    """
    carried = np.zeros(len(ids), dtype=np.bool_)
    for members, boundary in _at_boundary(ids, last):
        beyond = len(members) - k
        if not 0 < beyond < k:
            carried[_k_sets(members, boundary, k)] = True
            continue
        without = [_width(records, np.delete(members, i)) for i in range(len(members) - 1)]
        most = np.argsort(without, kind="stable")[-beyond:]
        carried[members[most]] = True
    return carried


def carry_worst(records: Records, ids: Codes, accepted: int) -> Bools:
    """Return which records are carried: all except those of the accepted classes of least loss.

    Classes are compared by the loss per record.
    """
    _, _, widths = records.boxes(ids, int(ids.max()) + 1)
    rank = np.argsort(np.argsort(widths, kind="stable"))
    worst: Bools = rank[ids] >= accepted
    return worst


def _at_boundary(ids: Codes, last: int) -> list[tuple[Counts, int]]:
    """Return the records of each class that reaches the boundary, and how many are in it."""
    classes, counts = np.unique(ids[-last:], return_counts=True)
    return [(np.flatnonzero(ids == c), int(b)) for c, b in zip(classes, counts, strict=True)]


def _k_sets(members: Counts, boundary: int, k: int) -> Counts:
    """Return the last records of a class if the others can form a class, else all."""
    needed = max(k, boundary)
    return members[-needed:] if len(members) - needed >= k else members


def _width(records: Records, members: Counts) -> int:
    part = records.take(members)
    _, _, widths = part.boxes(np.zeros(len(members), dtype=np.int32), 1)
    return int(widths[0])


def _number(ids: Codes, chosen: Counts, found: Codes, groups: int) -> int:
    """Store final groups, numbered from `groups` on; return the new number of groups."""
    if not len(found):
        return 0
    present = np.bincount(found) > 0
    ids[chosen] = groups + (np.cumsum(present) - 1)[found]
    return int(present.sum())
