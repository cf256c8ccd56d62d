"""What a ledger holds: the grant, and an entry for each release that it paid for.

Rules without storage: `ledger.py` keeps books in memory or in a file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from shoal.dp.claims import Claim, check_budget
from shoal.dp.composition import (
    Composed,
    advanced_room,
    as_written,
    compose,
    decimal_sum,
    exact_sum,
)
from shoal.errors import BudgetSpent, InputError, unknown

ADD_REMOVE = "add or remove one record"
REPLACE = "replace one record"
NEIGHBOURS = (ADD_REMOVE, REPLACE, "add or remove one person", "add or remove one household")
RESERVED, RELEASED, FAILED = "reserved", "released", "failed"


@dataclass(frozen=True)
class Grant:
    """The budget that all releases of one table share.

    slack: the part of delta set aside for advanced composition; 0 for plain sums.
    adaptive: whether the ε of a release may be chosen in view of earlier ones.
    when: a date or time, kept as stated.
    """

    epsilon: float
    delta: float = 0.0
    slack: float = 0.0
    adaptive: bool = True
    when: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta)
        if not self.epsilon:
            raise InputError("epsilon must be more than 0, not 0; nothing could be released")
        if not 0 <= self.slack <= self.delta:
            raise InputError(f"slack must be 0 or more, delta at most, not {self.slack!r}")

    def __str__(self) -> str:
        return told(self.epsilon, self.delta)


@dataclass(frozen=True)
class Entry:
    """One release: what it was, what it claims, what it counts for here, how it ended.

    state: "reserved" until the release is out, then "released" or "failed"; all count.
    """

    what: str
    claim: str
    epsilon: float
    delta: float
    proven: bool = True
    state: str = RESERVED
    when: str | None = None


@dataclass(frozen=True)
class Book:
    """The whole ledger of one table, at one time.

    grants: every budget that was granted, in order; the last one counts.
    table: the name of the table, as its owner states it.
    schemas: fingerprints of the table's schema; releases of another schema are refused.
    """

    grants: tuple[Grant, ...]
    neighbours: str = ADD_REMOVE
    table: str = ""
    schemas: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        if not self.grants:
            raise InputError("a ledger needs a grant")
        if self.neighbours not in NEIGHBOURS:
            raise unknown("no neighbours", self.neighbours, NEIGHBOURS)

    @property
    def grant(self) -> Grant:
        """The budget that counts: the one granted last."""
        return self.grants[-1]

    def spent(self, more: Sequence[Entry] = ()) -> Composed:
        """Return what the entries, and some more, cost together by the least bound that holds."""
        losses = [(entry.epsilon, entry.delta) for entry in (*self.entries, *more)]
        return compose(losses, slack=self.grant.slack, adaptive=self.grant.adaptive)

    def left(self) -> tuple[float, float]:
        """Return the ε that one more release may have without any δ, and the δ left."""
        grant = self.grant
        rooms = [_less(grant.epsilon, [entry.epsilon for entry in self.entries])]
        if grant.slack:
            squares = math.fsum(entry.epsilon**2 for entry in self.entries)
            rooms.append(math.sqrt(max(advanced_room(grant.epsilon, grant.slack) - squares, 0.0)))
        deltas = [grant.slack, *(entry.delta for entry in self.entries)]
        return max(rooms), _less(grant.delta, deltas)

    def holds(self, more: Sequence[Entry] = ()) -> bool:
        """Tell whether the entries, and some more, stay within the grant.

        The slack stays set aside under either rule, for the rule may differ from one course of
        events to another; the probabilities of all must add up to delta at most.
        """
        deltas = [entry.delta for entry in (*self.entries, *more)]
        return (
            self.spent(more).epsilon <= self.grant.epsilon
            and decimal_sum([*deltas, self.grant.slack]) <= self.grant.delta
        )

    def adding(self, entry: Entry) -> Book:
        """Return the book with one more entry, or refuse it."""
        if not self.holds([entry]):
            left = told(*self.left())
            raise BudgetSpent(
                f"this release costs {told(entry.epsilon, entry.delta)} but of the granted "
                f"{self.grant} only {left} is left; nothing was released"
            )
        return replace(self, entries=(*self.entries, entry))

    def used_by(self, schema: str | None) -> Book:
        """Return the book bound to the schema of a release, or refuse a release of another one.

        The first release of a table binds its schema.
        """
        if schema is None or schema in self.schemas:
            return self
        if self.schemas:
            named = f" ({self.table})" if self.table else ""
            raise InputError(
                f"this ledger{named} belongs to a table of another schema: columns, roles, types, "
                "hierarchies or people differ; use the ledger of this table. If it is the same "
                "table and only its schema changed, say so with admit (--new-schema)"
            )
        return self.admitting(schema)

    def admitting(self, schema: str) -> Book:
        """Return the book with one more schema of its table."""
        return self if schema in self.schemas else replace(self, schemas=(*self.schemas, schema))

    def ending(self, place: int, state: str) -> Book:
        """Return the book with the entry at this place in its final state."""
        entry = replace(self.entries[place], state=state)
        return replace(self, entries=(*self.entries[:place], entry, *self.entries[place + 1 :]))

    def granting(self, grant: Grant) -> Book:
        """Return the book under another grant, if that is safe.

        What is set aside for advanced composition, and the ε it is held against, must be fixed
        before the first release; sums hold whatever is granted later.
        """
        fixed = self.grant.slack or grant.slack or self.grant.adaptive != grant.adaptive
        if fixed and self.entries and grant != self.grant:
            raise InputError(
                "a grant with a slack is fixed by its first release; it cannot change any more"
            )
        book = replace(self, grants=(*self.grants, grant))
        if not book.holds():
            spent = self.spent()
            raise BudgetSpent(
                f"{told(spent.epsilon, spent.delta)} is spent already; {grant} cannot be granted"
            )
        return book

    def entry_of(self, claim: Claim, what: str, when: str | None, *, allow_unproven: bool) -> Entry:
        """Return what a release that makes this claim counts for in this book."""
        seeded = bool(getattr(claim, "seeded", False))
        proven = bool(getattr(claim, "proven", True)) and not seeded
        if not proven and not allow_unproven:
            reason = "its draws can be repeated" if seeded else "the claim is not proven"
            raise InputError(
                f"{claim}: {reason}, so it cannot be added up; count it all the same with "
                "allow_unproven, which marks the entry"
            )
        epsilon, delta = self._converted(claim)
        return Entry(what, str(claim), epsilon, delta, proven, RESERVED, when)

    def _converted(self, claim: Claim) -> tuple[float, float]:
        """Return ε and δ under the book's neighbours.

        To replace a record is to remove one and add one: (2ε, (1 + e^ε) δ). The other way there
        is none, as the number of records may be known where records are only replaced.
        """
        epsilon, delta = float(claim.epsilon), float(claim.delta)
        check_budget(epsilon, delta)
        stated = str(getattr(claim, "neighbours", ADD_REMOVE))
        if stated == self.neighbours:
            return epsilon, delta
        if (stated, self.neighbours) != (ADD_REMOVE, REPLACE):
            raise InputError(
                f"the claim is about neighbours that {stated}, the ledger about those that "
                f"{self.neighbours}; the one does not follow from the other"
            )
        grown = delta * (1 + math.exp(epsilon)) * (1 + 1e-12) if delta else 0.0
        return 2 * epsilon, min(grown, 1.0)


def told(epsilon: float, delta: float) -> str:
    """Return ε and δ for people."""
    return f"ε = {epsilon:.6g}" + (f", δ = {delta:.3g}" if delta else "")


def _less(granted: float, spent: Sequence[float]) -> float:
    """Return what is left of a number as written in decimals, rounded down, 0 at least."""
    exact = exact_sum([granted, *(-each for each in spent)])
    found = float(exact)
    found = found if as_written(found) <= exact else math.nextafter(found, -math.inf)
    return max(found, 0.0)
