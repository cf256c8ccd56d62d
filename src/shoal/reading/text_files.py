"""What kind of text a file holds: packing, encoding, line ends."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from shoal.errors import InputError

_CHUNK = 1 << 20
_MARKS = {  # the longer first: one begins with another
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_UTF8 = ("utf-8", "utf-8-sig")
_GUESSES = ("cp1252", "latin-1")  # of bytes that are not UTF-8 and have no mark


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, unpacking gzip."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def first_line(path: Path, encoding: str | None) -> str:
    """Return the first line with anything in it, signs that cannot be read replaced."""
    with open_bytes(path) as handle:
        start = handle.read(_CHUNK).decode(encoding or "utf-8", errors="replace")
    return next((line for line in start.splitlines() if line.strip()), "")


def is_utf8(path: Path) -> bool:
    """Whether a file is text in UTF-8, to its end."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    text = all(b"\0" not in piece and _decodes(decoder, piece) for piece in _pieces(path))
    return text and _decodes(decoder, b"", final=True)


@dataclass(frozen=True)
class Utf8File:
    """A text file in UTF-8.

    guessed: the encoding of its source, if that was neither declared nor marked nor UTF-8.
    """

    path: Path
    guessed: str | None = None

    @property
    def guesses(self) -> dict[str, str]:
        """The guessed file settings."""
        return {} if self.guessed is None else {"encoding": self.guessed}


@contextmanager
def as_utf8(path: Path, encoding: str | None, *, marked: bool = True) -> Iterator[Utf8File]:
    """Give the same text in UTF-8 with even line ends: mostly the file itself.

    Otherwise a private temporary copy, gone at the end of the block. A declared encoding is used as
    declared.
    marked: whether a byte order mark may stay.
    """
    stated = encoding and codecs.lookup(encoding).name
    found, even = (encoding or "", False) if stated and stated not in _UTF8 else _survey(path)
    if encoding is None and found not in _UTF8:
        warnings.warn(
            f"{path}: not UTF-8, read as {found}; state the encoding if that is wrong",
            stacklevel=3,  # the caller of the block
        )
    if even and found in _UTF8 and (marked or found == "utf-8"):
        yield Utf8File(path)
        return
    chosen = found if stated is None or found in _UTF8 else encoding
    handle, name = tempfile.mkstemp(suffix=".txt")  # readable by its owner alone
    try:
        with os.fdopen(handle, "wb") as copy:
            _transcode(path, chosen or found, copy)
        yield Utf8File(Path(name), found if encoding is None and found in _GUESSES else None)
    finally:
        Path(name).unlink(missing_ok=True)


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        with open_bytes(path) as handle:
            while piece := handle.read(_CHUNK):
                yield piece
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path}: cannot be unpacked or read; is it whole?") from None


def _survey(path: Path) -> tuple[str, bool]:
    """Return the likely encoding and whether all lines end alike."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    encoding, valid, high = "", True, False
    kinds: set[str] = set()
    tail = b""
    for piece in _pieces(path):
        encoding = encoding or next((n for m, n in _MARKS.items() if piece.startswith(m)), "utf-8")
        if encoding not in _UTF8:
            return encoding, False
        if b"\0" in piece:
            raise _binary(path)
        valid = valid and _decodes(decoder, piece)
        if not valid:
            high = high or any(bytes([b]) in piece for b in range(0x80, 0xA0))
        kinds |= _line_ends(tail + piece)
        tail = piece[-1:] if piece.endswith(b"\r") else b""
    if tail:
        kinds.add("\r")
    even = len(kinds) <= 1
    if valid and _decodes(decoder, b"", final=True):
        return encoding or "utf-8", even
    return _GUESSES[0 if high else 1], even


def _decodes(decoder: codecs.IncrementalDecoder, piece: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError:
        return False
    return True


def _binary(path: Path) -> InputError:
    return InputError(f"{path}: holds binary data, not text; is it the right file and encoding?")


def _line_ends(chunk: bytes) -> set[str]:
    pairs = chunk.count(b"\r\n")
    kinds = {"\r\n"} if pairs else set()
    if chunk.count(b"\n") > pairs:
        kinds.add("\n")
    if chunk.count(b"\r") - chunk.endswith(b"\r") > pairs:
        kinds.add("\r")
    return kinds


def _transcode(path: Path, encoding: str, copy: IO[bytes]) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    even = io.IncrementalNewlineDecoder(None, translate=True)
    line = 1

    def write(piece: bytes, *, final: bool = False) -> None:
        nonlocal line
        try:
            text = even.decode(decoder.decode(piece, final), final)
            out = text.encode("utf-8")
        except UnicodeError as error:
            raise InputError(
                f"{path}: line {line + _lines_before(error)} is not {encoding} text; "
                "state the right encoding"
            ) from None
        if "\0" in text:
            raise _binary(path)
        line += text.count("\n")
        copy.write(out)

    for piece in _pieces(path):
        write(piece)
    write(b"", final=True)


def _lines_before(error: UnicodeError) -> int:
    """Return how many lines end before the byte that does not fit."""
    if not isinstance(error, UnicodeDecodeError):
        return 0
    before = error.object[: error.start].replace(b"\r\n", b"\n")
    return before.count(b"\n") + before.count(b"\r")
