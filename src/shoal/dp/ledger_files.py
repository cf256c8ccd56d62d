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
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from shoal.dp.claims import check_budget
from shoal.dp.ledger_book import FAILED, RELEASED, RESERVED, Book, Entry, Grant
from shoal.errors import InputError
from shoal.support.files import check_single_name, read_text, replace_file

FORMAT, VERSION = "shoal privacy ledger", 2


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
        return _book(data)
    except (KeyError, TypeError, AttributeError, InputError):
        raise InputError(f"{path}: the ledger is damaged; restore a copy of it") from None


def write_book(path: Path, book: Book, key: bytes | None = None) -> None:
    """Write a ledger whose lock is held, or replace it."""
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION, **asdict(book)}
    data["entries"] = [asdict(entry) for entry in book.entries]
    data["seal"] = _seal(data, key).decode()
    with replace_file(path, force=True, update=True) as temporary:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def _seal(data: dict[str, Any], key: bytes | None) -> bytes:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    if key is None:
        return b"sha256:" + hashlib.sha256(text).hexdigest().encode()
    return b"hmac-sha256:" + hmac.new(key, text, hashlib.sha256).hexdigest().encode()


def _book(data: dict[str, Any]) -> Book:
    if set(data) != {"format", "version", *(field.name for field in fields(Book))}:
        raise KeyError
    entries = tuple(_entry(entry) for entry in data["entries"])
    grants = tuple(Grant(**grant) for grant in data["grants"])
    schemas = tuple(str(schema) for schema in data["schemas"])
    return Book(grants, data["neighbours"], str(data["table"]), schemas, entries)


def _entry(data: dict[str, Any]) -> Entry:
    entry = Entry(**data)
    check_budget(entry.epsilon, entry.delta)
    if entry.state not in (RESERVED, RELEASED, FAILED):
        raise KeyError
    return entry


def _no_constant(_: str) -> None:
    raise ValueError  # NaN and Infinity are not valid JSON
