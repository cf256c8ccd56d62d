"""The ledger: the total budget that the releases of one table spend, limited by a grant.

    Ledger                   charges, grants and what is left, in memory or in a file
    Book, in ledger_book.py  the rules: what a release costs, and whether the grant covers it
    read_book, write_book    the file: sealed JSON, replaced atomically by one writer at a time

A release is charged before it is made and stays charged if it fails, because noise may have been
drawn and seen by then. A ledger belongs to one table: it stores the name that the owner gives it
and a fingerprint of its schema, but nothing about its records.

The seal is a digest of everything else in the file. Without a key it detects damage and accidental
edits; with a key, only the holder of the key can create it. An older copy of the file keeps a valid
seal: a seal cannot show that a file is the newest. A file with two names is refused, because a
charge replaces one of them only.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shoal.dp.claims import Claim, Composed, check_budget
from shoal.dp.ledger_book import (
    ADD_REMOVE,
    FAILED,
    RELEASED,
    RESERVED,
    Book,
    Entry,
    Grant,
    format_budget,
)
from shoal.errors import InputError
from shoal.support.documents import check_shape
from shoal.support.files import check_single_name, locked, read_text, replace_file
from shoal.support.options import check_choice
from shoal.support.wording import counted
from shoal.table.declared import schema_fingerprint


class Ledger:
    """A budget of ε and δ for one table, in memory; `Ledger.open` keeps one in a file.

    The grant bounds the privacy loss of all releases together, including future ones; `spent` is
    the part that is used so far.

    Parameters:
        epsilon: The granted ε.
        delta: The granted δ.
        slack: The part of delta reserved for advanced composition, which makes many small releases
            cost less than their sum; 0 for plain sums.
        adaptive: Whether the ε of a release may depend on earlier releases. Set it to False only if
            all of them were fixed before the first; equal ones then cost the minimum.
        neighbours: The definition of neighbours; claims with another definition are converted where
            possible and refused otherwise.
        table: A name for the table; `table_digest` hides it from anyone without the key.
        when: The date or time of the grant, stored as given.

    Examples:
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
        """Open a ledger file, or create it if a grant (epsilon, delta) is given.

        If the file exists, a different grant, slack or table raises an error.

        Parameters:
            key: Seals the file, so that only the holder of the key can change it.
        """
        file = Path(path).resolve()
        if grant is None:
            ledger = cls(1.0)
            ledger._memory = read_book(file, key)
            if table not in ("", ledger._memory.table):
                raise InputError(
                    f"{file}: this ledger belongs to another table; open the ledger of this table"
                )
        else:
            options = {"adaptive": adaptive, "neighbours": neighbours}
            ledger = cls(*grant, slack=slack, table=table, when=when, **options)  # type: ignore[arg-type]
            with locked(file):
                if file.exists():
                    _check_same(file, read_book(file, key), ledger._memory)
                else:
                    write_book(file, ledger._memory, key)
        ledger.path, ledger._key = file, key
        return ledger

    @property
    def book(self) -> Book:
        """The current content of the ledger."""
        return self._memory if self.path is None else read_book(self.path, self._key)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The charged releases, in order."""
        return self.book.entries

    @property
    def grant(self) -> Grant:
        """The current budget: the last one granted."""
        return self.book.grant

    @property
    def grants(self) -> tuple[Grant, ...]:
        """Every budget that was granted, in order."""
        return self.book.grants

    def spent(self) -> Composed:
        """Return the total cost of the releases: ε, δ and the composition rule."""
        return self.book.spent()

    def left(self) -> tuple[float, float]:
        """Return the ε that one more release may have without any δ, and the δ left."""
        return self.book.left()

    def affords(self, claim: Claim) -> bool:
        """Return whether a release with this claim is within the grant."""
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
        """Charge the release that is made inside the block.

        Parameters:
            claim: The claim of the release.
            what: A description of the release.
            when: A date or time, stored as given.
            allow_unproven: Whether to charge a claim without a proof at its stated value; the entry
                is marked.
            schema: The fingerprint of the table's schema; it must match the ledger's.

        Raises:
            BudgetSpent: The grant does not cover the release; raised before the block starts.
        """
        index = self.reserve(
            claim, what=what, when=when, allow_unproven=allow_unproven, schema=schema
        )
        try:
            yield self.entries[index]
        except BaseException:
            # the charge stays: noise may have been drawn and seen before the error
            self._change(lambda book: book.ending(index, FAILED))
            raise
        self._change(lambda book: book.ending(index, RELEASED))

    def reserve(
        self,
        claim: Claim,
        *,
        what: str,
        when: str | None = None,
        allow_unproven: bool = False,
        schema: str | None = None,
    ) -> int:
        """Charge a release that is made elsewhere, like `spend`; return the index of the entry."""

        # computed inside the lock, on the book as it is in the file then
        def pay(book: Book) -> Book:
            entry = book.entry_of(claim, what, when, allow_unproven=allow_unproven)
            return book.used_by(schema).adding(entry)

        return len(self._change(pay).entries) - 1

    def regrant(self, epsilon: float, delta: float = 0.0, *, when: str | None = None) -> None:
        """Grant another budget; earlier grants and all charges stay on record.

        Parameters:
            epsilon: The granted ε.
            delta: The granted δ.
            when: A date or time, stored as given.
        """
        self._change(
            lambda book: book.granting(
                Grant(epsilon, delta, book.grant.slack, book.grant.adaptive, when)
            )
        )

    def admit(self, table: Any) -> None:
        """Accept releases with this table's schema as well.

        Use this for the ledger's own table after a change of its schema, such as a coarser
        hierarchy. For another table, start another ledger.

        Parameters:
            table: The table, in memory or as `shoal.open` returns it.
        """
        schema = schema_fingerprint(getattr(table, "declared", table))
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
        return (
            f"Ledger({format_budget(spent.epsilon, spent.delta)} spent of {book.grant}, {releases})"
        )


def table_digest(name: str, key: bytes) -> str:
    """Return a pseudonym for a table name that reveals nothing without the key.

    Examples:
        >>> table_digest("patients of 2026", b"a long secret")[:12]
        '3891fa9922ab'
    """
    return hmac.new(key, name.encode(), hashlib.sha256).hexdigest()


def _check_same(path: Path, found: Book, wanted: Book) -> None:
    for name in ("grant", "neighbours", "table"):
        if getattr(found, name) != getattr(wanted, name):
            raise InputError(
                f"{path}: the ledger already exists with a different {name}; open it without a "
                "grant, or change the grant with regrant"
            )


FORMAT, VERSION = "shoal privacy ledger", 2
_GRANT = {"epsilon": float, "delta": float, "slack": float, "adaptive": bool, "when": (str, None)}
_ENTRY = {"what": str, "claim": str, "epsilon": float, "delta": float, "proven": bool, "state": str,
          "when": (str, None)}  # fmt: skip
_BOOK = {"format": str, "version": int, "grants": [_GRANT], "neighbours": str, "table": str,
         "schemas": [str], "entries": [_ENTRY]}  # fmt: skip


def read_book(path: Path, key: bytes | None = None) -> Book:
    """Read a ledger; raise an error if its seal does not match."""
    check_single_name(path)
    text = read_text(path)
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not a ledger; the file is not JSON") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path}: not a Shoal ledger")
    if data.get("version") != VERSION:
        raise InputError(
            f"{path}: this ledger has another format version; this version of Shoal only reads "
            f"version {VERSION}. Start a new ledger with the same budget and enter each earlier "
            "release with `shoal dp ledger spend`"
        )
    seal = data.pop("seal", "")
    if not isinstance(seal, str) or not hmac.compare_digest(seal.encode(), _seal(data, key)):
        # says how the seal was made, never what the file holds
        wants = "keyed" if str(seal).startswith("hmac") else "unkeyed"
        has = "without a key" if key is None else "with a key"
        raise InputError(
            f"{path}: the seal does not match: the ledger was edited, or the key is a different "
            f"one ({wants} seal, opened {has}); nothing can be spent from it"
        )
    try:
        return _book(data, f"{path}: the ledger is damaged")
    except InputError as error:
        raise InputError(f"{error}; restore a copy of it") from None


def write_book(path: Path, book: Book, key: bytes | None = None) -> None:
    """Write a ledger whose lock is held, or replace it."""
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION, **asdict(book)}
    data["entries"] = [asdict(entry) for entry in book.entries]
    check_shape(data, _BOOK, str(path))  # what is written can be read again
    data["seal"] = _seal(data, key).decode()
    with replace_file(path, force=True, update=True) as temporary:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def _seal(data: dict[str, Any], key: bytes | None) -> bytes:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    if key is None:
        return b"sha256:" + hashlib.sha256(text).hexdigest().encode()
    return b"hmac-sha256:" + hmac.new(key, text, hashlib.sha256).hexdigest().encode()


def _book(data: dict[str, Any], source: str) -> Book:
    """Return the book of a ledger; source: its name in messages."""
    check_shape(data, _BOOK, source)
    try:
        entries = tuple(Entry(**entry) for entry in data["entries"])
        for entry in entries:
            check_budget(entry.epsilon, entry.delta)
            check_choice("state", entry.state, (RESERVED, RELEASED, FAILED))
        grants = tuple(Grant(**grant) for grant in data["grants"])
        return Book(grants, data["neighbours"], data["table"], tuple(data["schemas"]), entries)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _no_constant(_: str) -> None:
    raise ValueError  # NaN and Infinity are not valid JSON
