"""Split published lists of values such as `a|b` or the inside of `{a, "b, c"}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Runs = tuple[tuple[int, int], ...]  # codes, first and one past the last


def cut(text: str, mark: str, longest: int, member: Callable[[str], Runs]) -> tuple[Runs, int]:
    """Return the codes of the values in a list, and the number of pieces that are unknown.

    longest: the maximum number of pieces into which the separator splits one value.
    member: the codes that a text in the list represents; none if it is unknown.

    A value that contains the separator should be quoted. If the list cannot be read that way, it is
    split so that as few pieces as possible are unknown.
    """
    quoted = [member(piece) for piece in _pieces(text, mark)]
    if quoted and all(quoted):
        return tuple(run for found in quoted for run in found), 0
    pieces = text.split(mark)
    unknown = [0] * (len(pieces) + 1)  # unknown pieces from here on, with the best splits
    cuts: list[tuple[int, Runs]] = [(place + 1, ()) for place in range(len(pieces))]
    for place in reversed(range(len(pieces))):
        unknown[place] = unknown[place + 1] + 1
        for stop in range(place + 1, min(place + longest, len(pieces)) + 1):
            if unknown[stop] < unknown[place]:
                found = member(mark.join(pieces[place:stop]).strip())
                if found:
                    unknown[place], cuts[place] = unknown[stop], (stop, found)
    runs: list[tuple[int, int]] = []
    place = 0
    while place < len(pieces):
        place, found = cuts[place]
        runs += found
    return tuple(runs), unknown[0]


def _pieces(text: str, mark: str) -> list[str]:
    """Split a list at separators outside quotes; a piece that opens a quote must close it."""
    sign = re.escape(mark)
    piece = re.compile(rf'\s*("(?:[^"]|"")*"|[^"\s{sign}][^{sign}]*|)\s*({sign}|$)')
    found, place = [], 0
    while True:
        match = piece.match(text, place)
        if match is None:
            return []
        found.append(match[1].rstrip())
        place = match.end()
        if not match[2]:
            return found


def plain(text: str) -> str:
    """Return a text without its quotes, inner quotes undoubled; an unquoted text unchanged."""
    inner = text[1:-1]
    quoted = len(text) >= 2 and text[0] == text[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else text


def merged(runs: Iterable[tuple[int, int]]) -> Runs:
    """Return runs in order, adjacent and overlapping ones merged."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(runs):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return tuple(found)
