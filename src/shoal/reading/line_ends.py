"""Normalize line ends between records, and leave those inside quoted cells unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_MAX_RECORD_BYTES = 1 << 22  # a longer record is an error when it is read


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
    inside a cell.
    quote: "" if no cell is quoted.
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
