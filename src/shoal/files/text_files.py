"""Text files of any compression, encoding and line ends, as UTF-8 with one kind of line end.

    file ─ gunzip ─→ `as_utf8` ─→ `as_even_lines` ─→ a reader

Both yield the file itself if nothing is to be converted, else a private copy that disappears with
the process. Line ends inside quoted cells stay as they are.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import tempfile
import warnings
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

from shoal.errors import InputError, OutputError
from shoal.support.files import open_unnamed, path_of
from shoal.support.memory import BYTES_PER_TEXT_BYTE, usable_memory
from shoal.support.wording import option

_CHUNK_BYTES = 1 << 20
_MAX_RATIO, _USUAL_RATIO = 1032, 5  # of a text to its size in gzip
_MAX_RECORD_BYTES = 1 << 22  # a longer record is an error when it is read
_MARKS = {  # longer ones first, because one begins with another
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_UTF8 = ("utf-8", "utf-8-sig")
_UNKNOWN: frozenset[str] = frozenset()  # line ends of a text that is not decoded yet
_GUESSES = ("cp1252", "latin-1")  # for bytes that are not UTF-8 and have no mark
_ARCHIVE = b"PK\x03\x04"
_ARFF = re.compile(rb"(\s*%[^\n]*\n)*\s*@relation\b", re.IGNORECASE)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, decompressing gzip."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def unpacked_size(path: Path, most: int) -> int:
    """Return the size of a text in bytes, for a comparison with `most`.

    A compressed text is not counted far beyond `most`, and is only estimated if it is too short to
    unpack to so much.
    """
    size = path.stat().st_size
    if path.suffix.lower() != ".gz":
        return size
    if size * _MAX_RATIO <= most:
        return size * _USUAL_RATIO
    unpacked = 0
    for piece in _pieces(path, path):
        unpacked += len(piece)
        if unpacked > most:
            break
    return unpacked


def check_unpacked(path: Path) -> None:
    """Reject a compressed text that needs more memory than there is, before it is read.

    Raises:
        InputError: It unpacks to too much, or cannot be unpacked.
    """
    memory = usable_memory()
    most = memory // BYTES_PER_TEXT_BYTE
    if path.suffix.lower() == ".gz" and unpacked_size(path, most) > most:
        raise InputError(
            f"{path}: unpacks to more than {most / 1e9:,.2g} GB, too much to be read into the "
            f"{memory / 1e9:,.3g} GB of memory that may be used; leave a CSV file on disk with "
            f"{option('engine', 'duckdb')}, or save the table as Parquet"
        )


def first_line(path: Path, encoding: str | None) -> str:
    """Return the first line that is not empty, with undecodable characters replaced."""
    with open_bytes(path) as handle:
        start = handle.read(_CHUNK_BYTES).decode(encoding or "utf-8", errors="replace")
    return next((line for line in start.splitlines() if line.strip()), "")


def is_utf8(path: Path) -> bool:
    """Return whether a whole file is text in UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    text = all(b"\0" not in piece and _decodes(decoder, piece) for piece in _pieces(path, path))
    return text and _decodes(decoder, b"", final=True)


@dataclass(frozen=True)
class Utf8File:
    """A text file in UTF-8.

    ends: the kinds of its line ends.
    guessed: the encoding of its source, if that was neither declared nor marked nor UTF-8.
    """

    path: Path
    ends: frozenset[str]
    guessed: str | None = None

    @property
    def guesses(self) -> dict[str, str]:
        """The guessed file settings."""
        return {} if self.guessed is None else {"encoding": self.guessed}


@contextmanager
def as_utf8(
    path: Path, encoding: str | None, *, marked: bool = True, name: Path | None = None
) -> Iterator[Utf8File]:
    """Yield the same text in UTF-8: the file itself, or a temporary private copy.

    Parameters:
        encoding: The declared encoding, which is used as declared; None detects it.
        marked: Whether a byte order mark may stay.
        name: The name of the file in messages.
    """
    name = name or path
    stated = encoding and codecs.lookup(encoding).name
    known = bool(stated) and stated not in _UTF8
    # a declared encoding other than UTF-8 needs no survey of the file
    found, ends = (encoding or "", _UNKNOWN) if known else _survey(path, name)
    if encoding is None and found not in _UTF8:
        warnings.warn(
            f"{name}: not UTF-8, read as {found}; state the encoding if that is wrong",
            stacklevel=3,  # the caller of the block
        )
    if found in _UTF8 and (marked or found == "utf-8"):
        yield Utf8File(path, ends)
        return
    chosen = found if stated is None or found in _UTF8 else encoding
    kinds = _Kinds()
    with _copy(_transcoded(path, name, chosen or found, kinds)) as copy:
        guessed = found if encoding is None and found in _GUESSES else None
        yield Utf8File(copy, kinds.found, guessed)


@contextmanager
def as_even_lines(file: Utf8File, delimiter: str = "", quote: str = "") -> Iterator[Utf8File]:
    """Yield the same text with one kind of line end: the file itself, or a temporary copy."""
    if len(file.ends) <= 1:
        yield file
        return
    with _copy(with_even_ends(_unmarked(_pieces(file.path, file.path)), delimiter, quote)) as copy:
        yield Utf8File(copy, frozenset({"\n"}))


@contextmanager
def _copy(pieces: Iterable[bytes]) -> Iterator[Path]:
    """Yield a private copy that disappears with the process, even if it is killed.

    If an unnamed file cannot be opened again, the copy has a name in the temporary folder and is
    removed at the end of the block.
    """
    with open_unnamed() as unnamed:
        path = path_of(unnamed)
        if path is not None:
            for piece in pieces:
                unnamed.write(piece)
            unnamed.flush()
            yield path
            return
    try:
        # readable only by its owner
        handle, name = tempfile.mkstemp(prefix="shoal.", suffix=".txt")
    except OSError as error:
        raise OutputError(f"the temporary folder cannot be written to ({error.strerror})") from None
    try:
        with os.fdopen(handle, "wb") as named:
            for piece in pieces:
                named.write(piece)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _pieces(path: Path, name: Path) -> Iterator[bytes]:
    try:
        with open_bytes(path) as handle:
            while piece := handle.read(_CHUNK_BYTES):
                yield piece
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{name}: cannot be decompressed or read; is it complete?") from None


class _Kinds:
    """The kinds of line ends in a text, collected piece by piece."""

    def __init__(self) -> None:
        self._found: set[str] = set()
        self._tail = b""

    def see(self, piece: bytes) -> None:
        """Collect the line ends of the next piece."""
        self._found |= line_ends(self._tail + piece)
        self._tail = b"\r" if piece.endswith(b"\r") else b""

    @property
    def found(self) -> frozenset[str]:
        """The kinds so far."""
        return frozenset(self._found | ({"\r"} if self._tail else set()))


def _survey(path: Path, name: Path) -> tuple[str, frozenset[str]]:
    """Return the likely encoding, and the line ends if it is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    encoding, valid, high = "", True, False
    kinds = _Kinds()
    for number, piece in enumerate(_pieces(path, name)):
        if number == 0:
            _refuse_other_formats(piece, name)
        encoding = encoding or next((n for m, n in _MARKS.items() if piece.startswith(m)), "utf-8")
        if encoding not in _UTF8:
            return encoding, _UNKNOWN
        if b"\0" in piece:
            raise _binary(name)
        valid = valid and _decodes(decoder, piece)
        # bytes 80 to 9F are letters and signs in cp1252, and control characters in latin-1
        if not valid:
            high = high or any(bytes([b]) in piece for b in range(0x80, 0xA0))
        kinds.see(piece)
    if valid and _decodes(decoder, b"", final=True):
        return encoding or "utf-8", kinds.found
    return _GUESSES[0 if high else 1], _UNKNOWN


def _decodes(decoder: codecs.IncrementalDecoder, piece: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError:
        return False
    return True


def _refuse_other_formats(piece: bytes, name: Path) -> None:
    """Raise an error if the first bytes of a file belong to a format that is not read as text."""
    if piece.startswith(_ARCHIVE):
        raise InputError(
            f"{name}: is a ZIP archive, or a spreadsheet under another name; unpack it and open "
            "the table inside, or give it the ending .xlsx"
        )
    if _ARFF.match(piece):
        raise InputError(
            f"{name}: is in the ARFF format, whose first lines describe the columns; save the "
            "table as CSV, with the names of the columns in the first line"
        )


def _binary(path: Path) -> InputError:
    return InputError(f"{path}: contains binary data, not text; check the file and its encoding")


def _unmarked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Return the pieces without a byte order mark."""
    yield next(pieces, b"").removeprefix(codecs.BOM_UTF8)
    yield from pieces


def _transcoded(path: Path, name: Path, encoding: str, kinds: _Kinds) -> Iterator[bytes]:
    """Return the text in UTF-8, piece by piece."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line, half = 1, False  # half: the last piece ended in \r, which may be the first half of \r\n
    pieces = ((piece, False) for piece in _pieces(path, name))
    for piece, final in chain(pieces, [(b"", True)]):
        try:
            text = decoder.decode(piece, final)
            out = text.encode("utf-8")
        except UnicodeError as error:
            raise InputError(
                f"{name}: line {line + _lines_before(error)} is not {encoding} text; "
                "state the right encoding"
            ) from None
        if "\0" in text:
            raise _binary(name)
        kinds.see(out)
        line += text.count("\n") + text.count("\r") - text.count("\r\n")
        line -= half and text.startswith("\n")
        half = text.endswith("\r") or (half and not text)
        yield out


def _lines_before(error: UnicodeError) -> int:
    """Return how many lines end before the byte that cannot be decoded."""
    if not isinstance(error, UnicodeDecodeError):
        return 0
    before = error.object[: error.start].replace(b"\r\n", b"\n")
    return before.count(b"\n") + before.count(b"\r")


def line_ends(chunk: bytes) -> set[str]:
    r"""Return the kinds of line ends in a chunk; a final \r may be half of one and is ignored."""
    pairs = chunk.count(b"\r\n")
    kinds = {"\r\n"} if pairs else set()
    if chunk.count(b"\n") > pairs:
        kinds.add("\n")
    if chunk.count(b"\r") - chunk.endswith(b"\r") > pairs:
        kinds.add("\r")
    return kinds


def with_even_ends(pieces: Iterable[bytes], delimiter: str, quote: str) -> Iterator[bytes]:
    r"""Return the same text with \n after every record.

    A quote opens a cell only at the beginning of a field, possibly after spaces, and is doubled
    inside a cell. With quote "" no cell is quoted.
    """
    token = _tokens(delimiter, quote) if quote else None
    rest = b""
    pieces = iter(pieces)
    for piece in pieces:
        done, rest = _split(rest + piece, token)
        yield done
        if len(rest) > _MAX_RECORD_BYTES:
            yield rest
            yield from pieces
            return
    done, rest = _split(rest, token, final=True)
    yield done + rest


def _tokens(delimiter: str, quote: str) -> re.Pattern[bytes]:
    """Return a pattern of quoted cells after a delimiter, line ends, and quoted cells after those.

    Group 1 or 3 matches if a quoted cell is still open at the end, group 2 is the line end. Every
    alternative begins with a literal, so that the search skips all other characters.
    """
    d, q = (re.escape(sign).encode() for sign in (delimiter, quote))
    cell = rb" *+%b(?:[^%b]++|%b%b)*+(?:%b|(\Z))" % (q, q, q, q, q)
    return re.compile(rb"%b%b|(\r\n?|\n)(?:%b)?" % (d, cell, cell))


def _split(
    text: bytes, token: re.Pattern[bytes] | None, *, final: bool = False
) -> tuple[bytes, bytes]:
    """Return complete records with normalized ends, and the rest, which begins with a record."""
    if token is None:
        half = len(text) - (text.endswith(b"\r") and not final)
        return text[:half].replace(b"\r\n", b"\n").replace(b"\r", b"\n"), text[half:]
    text = b"\n" + text  # the end of the record before
    parts, done = [], 0
    for found in token.finditer(text):
        if found[1] is not None:
            break
        if found[2]:
            if found[2] == b"\r" and found.end(2) == len(text) and not final:
                break  # may be half of a line end
            parts += [text[done : found.start()], b"\n"]
            done = found.end(2)
        if found[3] is not None:
            break
    return b"".join(parts)[1:], text[done:]
