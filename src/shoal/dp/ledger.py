"""The ledger: what the releases of one table have spent together, held to a granted budget.

A release is paid for before it is made and stays paid for if it fails, as noise may have been drawn
and seen by then. A ledger belongs to one table: it keeps the name that the owner gives it and a
fingerprint of its schema, and nothing of its records.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.core.fingerprint import schema_fingerprint
from shoal.core.table import Table
from shoal.core.wording import counted
from shoal.dp.claims import Claim
from shoal.dp.composition import Composed
from shoal.dp.ledger_book import ADD_REMOVE, FAILED, RELEASED, Book, Entry, Grant, told
from shoal.dp.ledger_files import locked, read_book, write_book
from shoal.errors import InputError


class Ledger:
    """A budget of ε and δ for one table, in memory; `Ledger.open` keeps one in a file.

    slack: the part of delta set aside for advanced composition, which lets many small releases
        cost less than their sum; 0 for plain sums.
    adaptive: whether the ε of a release may be chosen in view of earlier ones. Say no only if all
        of them were fixed before the first: equal ones then cost the least that is possible.
    neighbours: the tables between which nobody can tell; claims about others are converted where
        that is possible, and refused where not.
    table: a name of the table; `table_digest` hides it from who has no key.

    What holds of all releases together, whatever comes, is the grant; `spent` is how much of it is
    used by now.

    >>> from shoal.dp.claims import DP
    >>> ledger = Ledger(1.0)
    >>> with ledger.spend(DP(0.25, 0.0, "a histogram"), what="ages, June"):
    ...     pass  # draw the noise and release
    >>> ledger
    Ledger(ε = 0.25 spent of ε = 1, 1 release)
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        slack: float = 0.0,
        adaptive: bool = True,
        neighbours: str = ADD_REMOVE,
        table: str = "",
        when: str | None = None,
    ) -> None:
        self.path: Path | None = None
        self._key: bytes | None = None
        grant = Grant(epsilon, delta, slack, adaptive, when)
        self._memory = Book((grant,), neighbours, table)
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        path: str | Path,
        grant: tuple[float, float] | None = None,
        *,
        slack: float = 0.0,
        adaptive: bool = True,
        neighbours: str = ADD_REMOVE,
        table: str = "",
        key: bytes | None = None,
        when: str | None = None,
    ) -> Ledger:
        """Open a ledger in a file, or start one there if a grant (epsilon, delta) is given.

        A ledger that is there already must be the same: a grant, slack or table that differs from
        what it says is refused. key: seals the file, so that only its holder can change it.
        """
        place = Path(path).resolve()
        if grant is None:
            ledger = cls(1.0)
            ledger._memory = read_book(place, key)
            if table not in ("", ledger._memory.table):
                raise InputError(f"{place}: the ledger of another table; open the one of this")
        else:
            options = {"adaptive": adaptive, "neighbours": neighbours}
            ledger = cls(*grant, slack=slack, table=table, when=when, **options)  # type: ignore[arg-type]
            with locked(place):
                if place.exists():
                    _check_same(place, read_book(place, key), ledger._memory)
                else:
                    write_book(place, ledger._memory, key, force=False)
        ledger.path, ledger._key = place, key
        return ledger

    @property
    def book(self) -> Book:
        """Everything in the ledger, as it is now."""
        return self._memory if self.path is None else read_book(self.path, self._key)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The releases that were paid for, in order."""
        return self.book.entries

    @property
    def grant(self) -> Grant:
        """The budget that counts: the one granted last."""
        return self.book.grant

    @property
    def grants(self) -> tuple[Grant, ...]:
        """Every budget that was granted, in order."""
        return self.book.grants

    def spent(self) -> Composed:
        """Return what the releases cost together: ε, δ and the rule that bounds them."""
        return self.book.spent()

    def left(self) -> tuple[float, float]:
        """Return the ε that one more release may have without any δ, and the δ left."""
        return self.book.left()

    def affords(self, claim: Claim) -> bool:
        """Tell whether a release that makes this claim would be within the grant."""
        book = self.book
        return book.holds([book.entry_of(claim, "", None, allow_unproven=True)])

    @contextmanager
    def spend(
        self,
        claim: Claim,
        *,
        what: str,
        when: str | None = None,
        allow_unproven: bool = False,
        schema: str | None = None,
    ) -> Iterator[Entry]:
        """Pay for the release that is made inside the block; raises BudgetSpent before it starts.

        what: the release, in the owner's words. when: a date or time, kept as told.
        allow_unproven: count a claim without proof at its word, and mark its entry.
        schema: the fingerprint of the table's schema; another one than the ledger's is refused.
        """
        place = self.reserve(
            claim, what=what, when=when, allow_unproven=allow_unproven, schema=schema
        )
        try:
            yield self.entries[place]
        except BaseException:
            self._change(lambda book: book.ending(place, FAILED))
            raise
        self._change(lambda book: book.ending(place, RELEASED))

    def reserve(
        self,
        claim: Claim,
        *,
        what: str,
        when: str | None = None,
        allow_unproven: bool = False,
        schema: str | None = None,
    ) -> int:
        """Pay for a release that is made elsewhere, as `spend` does; returns the entry's place."""

        def pay(book: Book) -> Book:
            entry = book.entry_of(claim, what, when, allow_unproven=allow_unproven)
            return book.used_by(schema).adding(entry)

        return len(self._change(pay).entries) - 1

    def regrant(self, epsilon: float, delta: float = 0.0, *, when: str | None = None) -> None:
        """Grant another budget; earlier grants stay on record, and what is spent stays spent.

        when: a date or time, kept as stated.
        """
        self._change(
            lambda book: book.granting(
                Grant(epsilon, delta, book.grant.slack, book.grant.adaptive, when)
            )
        )

    def admit(self, table: Table) -> None:
        """Let releases of this table's schema be paid for too.

        For the ledger's own table after a change of its schema, such as a coarser hierarchy. For
        another table, start another ledger.
        """
        schema = schema_fingerprint(table)
        self._change(lambda book: book.admitting(schema))

    def _change(self, change: Callable[[Book], Book]) -> Book:
        if self.path is None:
            with self._lock:
                self._memory = change(self._memory)
                return self._memory
        with locked(self.path):
            book = change(read_book(self.path, self._key))
            write_book(self.path, book, self._key)
            return book

    def __repr__(self) -> str:
        book = self.book
        spent, count = book.spent(), len(book.entries)
        releases = counted(count, "release")
        return f"Ledger({told(spent.epsilon, spent.delta)} spent of {book.grant}, {releases})"


def table_digest(name: str, key: bytes) -> str:
    """Return a name for a table that says nothing to whoever lacks the key.

    >>> table_digest("patients of 2026", b"a long secret")[:12]
    '3891fa9922ab'
    """
    return hmac.new(key, name.encode(), hashlib.sha256).hexdigest()


def _check_same(path: Path, found: Book, wanted: Book) -> None:
    for name in ("grant", "neighbours", "table"):
        if getattr(found, name) != getattr(wanted, name):
            raise InputError(
                f"{path}: the ledger is there already, with another {name}; open it without a "
                "grant, or regrant it"
            )
