"""What kind of text a file holds: encoding, line ends, delimiter, quotes."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from shoal.errors import InputError

_CHUNK = 1 << 20
_SAMPLE = 1 << 18
_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class Dialect:
    """How a file separates its fields."""

    delimiter: str
    quote: str
    header: tuple[str, ...]


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, unpacking gzip."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


@contextmanager
def as_utf8(path: Path, encoding: str | None) -> Iterator[Path]:
    """Give the path of the same text in UTF-8 with even line ends: mostly the file itself.

    Otherwise a private temporary copy, gone at the end of the block.
    """
    found, even = _survey(path)
    if encoding is None and found not in ("utf-8", "utf-8-sig"):
        warnings.warn(
            f"{path}: not UTF-8, read as {found}; state the encoding if that is wrong",
            stacklevel=2,
        )
    chosen = encoding or found
    if even and _is_utf8(chosen) and found in ("utf-8", "utf-8-sig"):
        yield path
        return
    handle, name = tempfile.mkstemp(suffix=".csv")  # readable by its owner alone
    try:
        with os.fdopen(handle, "wb") as copy:
            _transcode(path, chosen, copy)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except LookupError:
        raise InputError(
            f"encoding {encoding!r} is not known; try utf-8, latin-1, cp1252"
        ) from None


def _survey(path: Path) -> tuple[str, bool]:
    """Return the likely encoding and whether all lines end alike."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    encoding, valid, high, kinds, tail = "utf-8", True, False, set(), b""
    try:
        with open_bytes(path) as handle:
            head = handle.read(_CHUNK)
            for mark, name in _MARKS.items():
                if head.startswith(mark):
                    encoding = name
            while head:
                if encoding != "utf-16" and b"\0" in head:
                    raise InputError(f"{path}: holds binary data, not text; is it the right file?")
                if valid and encoding != "utf-16":
                    try:
                        decoder.decode(head)
                    except UnicodeDecodeError:
                        valid = False
                if not valid:
                    high = high or any(bytes([b]) in head for b in range(0x80, 0xA0))
                kinds |= _line_ends(tail + head)
                tail = head[-1:] if head.endswith(b"\r") else b""
                head = handle.read(_CHUNK)
            decoder.decode(b"", final=valid)
    except UnicodeDecodeError:
        valid = False
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be unpacked or read") from error
    if encoding == "utf-16" or valid:
        return encoding, len(kinds) <= 1
    return ("cp1252" if high else "latin-1"), len(kinds) <= 1


def _line_ends(chunk: bytes) -> set[str]:
    pairs = chunk.count(b"\r\n")
    kinds = {"\r\n"} if pairs else set()
    if chunk.count(b"\n") > pairs:
        kinds.add("\n")
    if chunk.count(b"\r") - chunk.endswith(b"\r") > pairs:
        kinds.add("\r")
    return kinds


def _transcode(path: Path, encoding: str, copy: IO[bytes]) -> None:
    _is_utf8(encoding)
    with open_bytes(path) as raw:
        text = io.TextIOWrapper(raw, encoding=encoding, newline=None)
        line = 1
        try:
            while chunk := text.read(_CHUNK):
                line += chunk.count("\n")
                copy.write(chunk.encode("utf-8", errors="strict"))
        except UnicodeError:
            raise InputError(
                f"{path}: is not {encoding} text after line {line}; state the right encoding"
            ) from None


def sniff(path: Path, name: Path, delimiter: str | None, quote: str | None) -> Dialect:
    """Find delimiter, quote and header from the beginning of a UTF-8 file.

    name: what to call the file in messages.
    """
    with open_bytes(path) as handle:
        raw = handle.read(_SAMPLE)
    sample = codecs.getincrementaldecoder("utf-8-sig")().decode(raw)
    lines = sample.replace("\r\n", "\n").replace("\r", "\n")
    if len(raw) == _SAMPLE:
        lines = lines[: lines.rfind("\n") + 1] or lines
    if not lines.strip("\n"):
        raise InputError(f"{name}: the file is empty")
    mark = quote if quote is not None else _likely_quote(lines)
    marks = [delimiter] if delimiter else list(_DELIMITERS)
    best = max(marks, key=lambda d: _fit(lines, d, mark))
    records = _records(lines, best, mark)
    header = tuple(records[0]) if records else ()
    if len(header) > 1 and header[-1] == "" and all(r[-1:] == [""] for r in records[1:]):
        raise InputError(f"{name}: every line ends in {best!r}; remove the empty last column")
    return Dialect(best, mark, header)


def _likely_quote(lines: str) -> str:
    first = lines.split("\n", 1)[0]
    wrapped = [f for d in _DELIMITERS for f in first.split(d) if len(f) > 1]
    single = any(f.startswith("'") and f.endswith("'") for f in wrapped)
    return "'" if single and '"' not in first else '"'


def _records(lines: str, delimiter: str, quote: str, most: int = 500) -> list[list[str]]:
    reader = csv.reader(
        io.StringIO(lines),
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    found: list[list[str]] = []
    try:
        for record in reader:
            if record:
                found.append(record)
            if len(found) >= most:
                break
    except csv.Error:
        pass
    return found


def _fit(lines: str, delimiter: str, quote: str) -> tuple[bool, float, int]:
    """Rank a delimiter: it parts the header, and the records as often as the header."""
    records = _records(lines, delimiter, quote)
    width = len(records[0]) if records else 0
    alike = sum(len(r) == width for r in records[1:]) / max(len(records) - 1, 1)
    return (width > 1, alike, width)
