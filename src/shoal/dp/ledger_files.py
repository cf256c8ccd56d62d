"""Ledgers on disk: sealed JSON, written atomically by one writer at a time.

The seal is a digest of everything else in the file. Without a key it detects damage and accidental
edits; with a key, only the holder of the key can create it. An older copy of the file keeps a valid
seal: a seal cannot show that a file is the newest. A file with two names is refused, because a
charge replaces one of them only.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shoal.dp.claims import check_budget
from shoal.dp.ledger_book import FAILED, RELEASED, RESERVED, Book, Entry, Grant
from shoal.errors import InputError
from shoal.support.documents import check_shape
from shoal.support.files import check_single_name, read_text, replace_file
from shoal.support.options import check_choice

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
