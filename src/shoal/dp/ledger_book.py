"""The content of a ledger: the grant, and an entry for each charged release.

This module has the rules; `ledger.py` stores books in memory or in a file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from shoal.dp.claims import (
    Claim,
    Composed,
    advanced_room,
    as_written,
    check_budget,
    compose,
    decimal_sum,
    exact_sum,
)
from shoal.errors import BudgetSpent, InputError, unknown
from shoal.support.options import check_flag, is_number

ADD_REMOVE = "add or remove one record"
REPLACE = "replace one record"
NEIGHBOURS = (ADD_REMOVE, REPLACE, "add or remove one person", "add or remove one household")
RESERVED, RELEASED, FAILED = "reserved", "released", "failed"


@dataclass(frozen=True)
class Grant:
    """The budget that all releases of one table share.

    slack: the part of delta reserved for advanced composition; 0 for plain sums.
    adaptive: whether the ε of a release may depend on earlier releases.
    when: a date or time, stored as given.
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
        check_flag("adaptive", self.adaptive)
        if not (is_number(self.slack) and 0 <= self.slack <= self.delta):
            raise InputError(f"slack must be from 0 to delta, not {self.slack!r}")

    def __str__(self) -> str:
        return format_budget(self.epsilon, self.delta)


@dataclass(frozen=True)
class Entry:
    """One release: its description, its claim, its cost in this ledger and its state.

    state: "reserved" until the release is made, then "released" or "failed"; all are charged.
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
    """The complete ledger of one table at one time.

    grants: every budget that was granted, in order; the last one is current.
    table: the name that the owner gives the table.
    schemas: fingerprints of the table's schema; releases with another schema are refused.
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
        """The current budget: the last one granted."""
        return self.grants[-1]

    def spent(self, more: Sequence[Entry] = ()) -> Composed:
        """Return the total cost of the entries and of `more`, by the smallest valid bound."""
        losses = [(entry.epsilon, entry.delta) for entry in (*self.entries, *more)]
        return compose(losses, slack=self.grant.slack, adaptive=self.grant.adaptive)

    def left(self) -> tuple[float, float]:
        """Return the ε that one more release may have without any δ, and the δ left."""
        grant = self.grant
        rooms = [_less(grant.epsilon, [entry.epsilon for entry in self.entries])]
        # advanced composition may leave more room than the plain sum; the larger one counts
        if grant.slack:
            squares = math.fsum(entry.epsilon**2 for entry in self.entries)
            rooms.append(math.sqrt(max(advanced_room(grant.epsilon, grant.slack) - squares, 0.0)))
        deltas = [grant.slack, *(entry.delta for entry in self.entries)]
        return max(rooms), _less(grant.delta, deltas)

    def holds(self, more: Sequence[Entry] = ()) -> bool:
        """Return whether the entries and `more` stay within the grant.

        The slack stays reserved under either rule, because the rule may depend on later events; all
        probabilities together must not exceed delta.
        """
        deltas = [entry.delta for entry in (*self.entries, *more)]
        return (
            self.spent(more).epsilon <= self.grant.epsilon
            and decimal_sum([*deltas, self.grant.slack]) <= self.grant.delta
        )

    def adding(self, entry: Entry) -> Book:
        """Return the book with one more entry; raise BudgetSpent if the grant does not cover it."""
        if not self.holds([entry]):
            left = format_budget(*self.left())
            raise BudgetSpent(
                f"this release costs {format_budget(entry.epsilon, entry.delta)}, but only {left} "
                f"of the granted {self.grant} is left; nothing was released"
            )
        return replace(self, entries=(*self.entries, entry))

    def used_by(self, schema: str | None) -> Book:
        """Return the book bound to the schema of a release; raise an error for another schema.

        The first release of a table fixes the schema.
        """
        if schema is None or schema in self.schemas:
            return self
        if self.schemas:
            named = f" ({self.table})" if self.table else ""
            raise InputError(
                f"this ledger{named} belongs to a table with another schema: columns, roles, "
                "types, hierarchies or person columns differ; use the ledger of this table. If it "
                "is the same table and only its schema changed, confirm that with admit "
                "(--new-schema)"
            )
        return self.admitting(schema)

    def admitting(self, schema: str) -> Book:
        """Return the book with one more schema of its table."""
        return self if schema in self.schemas else replace(self, schemas=(*self.schemas, schema))

    def ending(self, index: int, state: str) -> Book:
        """Return the book with the entry at this index in its final state."""
        entry = replace(self.entries[index], state=state)
        return replace(self, entries=(*self.entries[:index], entry, *self.entries[index + 1 :]))

    def granting(self, grant: Grant) -> Book:
        """Return the book with another grant, if that is valid.

        The δ reserved for advanced composition and the ε that it applies to must be fixed before
        the first release; sums are valid for any later grant.
        """
        # with a slack the bound holds only for an ε and δ that were fixed in advance
        fixed = self.grant.slack or grant.slack or self.grant.adaptive != grant.adaptive
        if fixed and self.entries and grant != self.grant:
            raise InputError("a grant with a slack cannot change after the first release")
        book = replace(self, grants=(*self.grants, grant))
        if not book.holds():
            spent = self.spent()
            raise BudgetSpent(
                f"cannot grant {grant}: {format_budget(spent.epsilon, spent.delta)} is already "
                "spent"
            )
        return book

    def entry_of(self, claim: Claim, what: str, when: str | None, *, allow_unproven: bool) -> Entry:
        """Return the entry of a release with this claim, with its cost in this book."""
        seeded = bool(getattr(claim, "seeded", False))
        proven = bool(getattr(claim, "proven", True)) and not seeded
        if not proven and not allow_unproven:
            reason = "its random draws can be repeated" if seeded else "the claim is not proven"
            raise InputError(
                f"{claim}: {reason}, so its budget cannot be added to the total; use "
                "allow_unproven to count it anyway, which marks the entry"
            )
        epsilon, delta = self._converted(claim)
        return Entry(what, str(claim), epsilon, delta, proven, RESERVED, when)

    def _converted(self, claim: Claim) -> tuple[float, float]:
        """Return ε and δ under the book's definition of neighbours.

        Replacing a record means removing one and adding one: (2ε, (1 + e^ε) δ). There is no
        conversion in the other direction, because a mechanism for replaced records may reveal the
        number of records.
        """
        check_budget(claim.epsilon, claim.delta)
        epsilon, delta = float(claim.epsilon), float(claim.delta)
        stated = str(getattr(claim, "neighbours", ADD_REMOVE))
        if stated == self.neighbours:
            return epsilon, delta
        if (stated, self.neighbours) != (ADD_REMOVE, REPLACE):
            raise InputError(
                f"the claim defines neighbours as {stated!r}, the ledger as {self.neighbours!r}; "
                "the first does not imply the second"
            )
        grown = delta * (1 + math.exp(epsilon)) * (1 + 1e-12) if delta else 0.0
        return 2 * epsilon, min(grown, 1.0)


def format_budget(epsilon: float, delta: float) -> str:
    """Return ε and δ as text for users."""
    return f"ε = {epsilon:.6g}" + (f", δ = {delta:.3g}" if delta else "")


def _less(granted: float, spent: Sequence[float]) -> float:
    """Return the remainder of a number in exact decimals, rounded down, at least 0."""
    exact = exact_sum([granted, *(-each for each in spent)])
    nearest = float(exact)
    nearest = nearest if as_written(nearest) <= exact else math.nextafter(nearest, -math.inf)
    return max(nearest, 0.0)
