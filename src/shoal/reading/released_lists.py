"""Published lists of values, `a|b` or what stands in `{a, "b, c"}`, cut where the values end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Runs = tuple[tuple[int, int], ...]  # codes, first and one past the last


def cut(text: str, mark: str, longest: int, member: Callable[[str], Runs]) -> tuple[Runs, int]:
    """Return the codes that a list names, and how many of its pieces name nothing.

    longest: pieces into which the mark may cut one value, at most.
    member: the codes that a text in the list stands for; none if it is unknown.

    A value that holds the mark should stand in quotes. Where that does not make sense of the list,
    it is cut so that as little as possible is unknown.
    """
    quoted = [member(piece) for piece in _pieces(text, mark)]
    if quoted and all(quoted):
        return tuple(run for found in quoted for run in found), 0
    pieces = text.split(mark)
    unknown = [0] * (len(pieces) + 1)  # pieces from here on, at the best cuts
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
    """Cut a list at its marks outside quotes; a piece that opens a quote must close it."""
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
    """Return what stands in quotes, where each inner quote is doubled; else the text itself."""
    inner = text[1:-1]
    whole = len(text) >= 2 and text[0] == text[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if whole else text


def merged(runs: Iterable[tuple[int, int]]) -> Runs:
    """Return runs in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(runs):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return tuple(found)
