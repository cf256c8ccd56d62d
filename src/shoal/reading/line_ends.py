"""Line ends: those between records made alike, those inside quoted cells left as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_LONGEST = 1 << 22  # bytes; a longer record is refused when it is read


def line_ends(chunk: bytes) -> set[str]:
    r"""Return the kinds of line ends in a chunk; a last \r may be half of one and is left out."""
    pairs = chunk.count(b"\r\n")
    kinds = {"\r\n"} if pairs else set()
    if chunk.count(b"\n") > pairs:
        kinds.add("\n")
    if chunk.count(b"\r") - chunk.endswith(b"\r") > pairs:
        kinds.add("\r")
    return kinds


def with_even_ends(pieces: Iterable[bytes], delimiter: str, quote: str) -> Iterator[bytes]:
    r"""Return the same text with \n after every record.

    A quote opens a cell only at the beginning of a field, after spaces at most, and is doubled
    inside one.
    quote: "" if no cell is quoted.
    """
    token = _tokens(delimiter, quote) if quote else None
    rest = b""
    pieces = iter(pieces)
    for piece in pieces:
        done, rest = _split(rest + piece, token)
        yield done
        if len(rest) > _LONGEST:
            yield rest
            yield from pieces
            return
    done, rest = _split(rest, token, final=True)
    yield done + rest


def _tokens(delimiter: str, quote: str) -> re.Pattern[bytes]:
    """Return what matters of a text: quoted cells, one left open (group 1), line ends (group 2)."""
    d, q = (re.escape(sign).encode() for sign in (delimiter, quote))
    cell = rb"(?:\A|(?<=[%b\r\n])) *+%b(?:[^%b]++|%b%b)*+(?:%b|(\Z))" % (d, q, q, q, q, q)
    return re.compile(rb"%b|(\r\n?|\n)" % cell)


def _split(
    text: bytes, token: re.Pattern[bytes] | None, *, final: bool = False
) -> tuple[bytes, bytes]:
    """Return whole records with even ends, and the rest, which begins with a record."""
    if token is None:
        half = len(text) - (text.endswith(b"\r") and not final)
        return text[:half].replace(b"\r\n", b"\n").replace(b"\r", b"\n"), text[half:]
    parts, done = [], 0
    for found in token.finditer(text):
        cut_off = found.end() == len(text) and not final  # a \r may be half of an end
        if found[1] is not None or (cut_off and found[2] == b"\r"):
            break
        if found[2]:
            parts += [text[done : found.start()], b"\n"]
            done = found.end()
    return b"".join(parts), text[done:]
