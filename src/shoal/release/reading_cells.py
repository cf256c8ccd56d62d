"""Read published texts in the forms that releases of any tool use.

A value, a label of the column's hierarchy, `*`, ranges (`[20, 30[`, `20-30`, `>=90`), periods
(`2024-03`), sets (`{a, b}`, `a|b`, also with quoted values), masks (`284**`). A text may have
several readings, in order of preference.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import pyarrow as pa

from shoal.errors import NotCovering
from shoal.release.reading_scales import Scale, Span, scale_of
from shoal.support.wording import counted
from shoal.table.column import Column
from shoal.table.hierarchy import ROOT
from shoal.table.recoding import NO_LEVEL
from shoal.table.subsets import Subsets

_COMPARED = re.compile(r"(?P<sign>>=|=>|≥|<=|=<|≤|>|<)\s*(?P<end>.+)", re.DOTALL)
_AND_MORE = re.compile(r"(?P<end>.*[0-9])\s*\+")
_BRACKETED = re.compile(r"(?P<left>[\[\](])(?P<inside>.+)(?P<right>[\[\])])", re.DOTALL)
_BETWEEN = (",", ";")  # ends in brackets
_TO = ("-", "–", "—", "~", "..", " to ")  # ends without brackets
_LISTED = ("|", "~", ",", ";")  # values without braces
_OR_MISSING = " or missing"


class Reading(NamedTuple):
    """One reading of a text.

    runs: the codes that it covers, as ascending runs with gaps between them.
    low, high: the stated bounds, NaN if there are none.
    level: its level in the column's hierarchy, if it is a label there.
    """

    runs: Runs
    low: float = math.nan
    high: float = math.nan
    level: int = NO_LEVEL


class Forms:
    """Reads the published texts of one column."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self._codes = {text: code for code, text in enumerate(column.labels)}
        self._whole: Runs = ((0, column.domain),)
        self._masked: dict[tuple[int, tuple[int, ...]], dict[str, list[int]]] = {}

    @cached_property
    def scale(self) -> Scale | None:
        """The scale of the values, if they have an order."""
        return scale_of(self.column)

    @cached_property
    def _longest(self) -> int:
        """The maximum number of pieces into which a separator splits one value of a list."""
        marks = (text.count(mark) for text in self.column.labels if text for mark in _LISTED)
        return 1 + max(marks, default=0)

    @cached_property
    def _groups(self) -> dict[str, list[Reading]]:
        """The groups of the hierarchy by label; a group on several levels is listed once."""
        found: dict[str, list[Reading]] = {}
        tree = self.column.hierarchy
        for height in range(0 if tree is None else len(tree.levels)):
            for label, reading in at_level(self.column, height).items():
                known = found.setdefault(label, []) if label is not None else []
                if all(reading.runs != other.runs for other in known):
                    known.append(reading)
        return found

    def readings(self, text: str | None) -> Iterator[Reading]:
        """Yield the readings of a text: a label of the hierarchy, a value, a published form."""
        if not text:
            yield from self._of_nothing()
            return
        labels = self._groups.get(text, ())
        yield from (reading for reading in labels if _size(reading.runs) > 1)
        yield from (reading for reading in labels if _size(reading.runs) == 1)
        code = -1 if labels else self.value(text)
        if code >= 0:
            yield self._single(code)
        for runs_or_span in self._forms(text.strip()):
            reading = self._reading(runs_or_span)
            if reading.runs:
                yield reading

    def every_run(self, text: str | None) -> Runs:
        """Return the codes that any reading of a text covers.

        A value such as `*` or `a, b` is written like a published form; someone who sees only the
        file cannot say which of the two it is.
        """
        ways = itertools.islice(self.readings(text), _MAX_READINGS)
        return merged(run for way in ways for run in way.runs)

    def understands(self, text: str | None) -> bool:
        """Return whether a text has a reading, or a known form that covers no value here.

        A range beyond all values has a known form. An unknown word does not: it may be a value that
        does not occur here, or an unexplained label.
        """
        if not text or any(reading.runs for reading in self.readings(text)):
            return True
        stated = text.strip()
        in_braces = stated.startswith("{") and stated.endswith("}")
        return in_braces or any(isinstance(form, Span) for form in self._forms(stated))

    def stated_bounds(self, text: str) -> tuple[float, float] | None:
        """Return the smallest and largest position that a text states, also if no value is there.

        None if it states none: it is not a number, a period or a range of them.
        """
        stated = self._ranges(text.strip())
        bounds = None if self.scale is None else next(map(self.scale.bounds, stated), None)
        return None if bounds is None or bounds[0] > bounds[1] else bounds

    def value(self, text: str | None) -> int:
        """Return the code of the value that a text represents, or −1; no text is a missing one."""
        text = text or None
        if text in self._codes:
            return self._codes[text]
        if text and pa.types.is_boolean(self.column.values.type):
            return self._codes.get(text.lower(), -1)
        span = self.scale.point(text.strip()) if self.scale and text else None
        first, stop = self.scale.run(span) if self.scale and span else (0, 0)
        return first if stop - first == 1 and span and span.low == span.high else -1

    def listed(self, text: str | None) -> list[int]:
        """Return the codes of the values that a text writes out: itself, or the members of a set.

        Labels, ranges and masks write none out.
        """
        if not text:
            return []
        code = self.value(text)
        if code >= 0 or text in self._groups:
            return [code] if code >= 0 else []

        def member(piece: str) -> Runs:
            own = self.value(plain(piece))
            return ((own, own + 1),) if own >= 0 else ()

        sets = (runs for runs in self._sets(text.strip(), member) if runs)
        return [code for start, stop in merged(next(sets, ())) for code in range(start, stop)]

    def _of_nothing(self) -> Iterator[Reading]:
        """Read a missing cell: a missing value, or a hidden value."""
        if self.column.missing is not None:
            yield self._single(self.column.missing)
        yield self._everything()

    def _single(self, code: int) -> Reading:
        level = NO_LEVEL if self.column.hierarchy is None else 0
        return Reading(((code, code + 1),), level=level)

    def _everything(self) -> Reading:
        tree = self.column.hierarchy
        return Reading(self._whole, level=NO_LEVEL if tree is None else tree.height)

    def _reading(self, found: Reading | Runs | Span) -> Reading:
        if isinstance(found, Reading):
            return found
        if not isinstance(found, Span):
            return Reading(merged(found))
        assert self.scale is not None
        first, stop = self.scale.run(found)
        return Reading(((first, stop),) if first < stop else (), *self.scale.bounds(found))

    def _forms(self, text: str) -> Iterator[Reading | Runs | Span]:
        if text == ROOT:
            yield self._everything()
        if text.endswith(_OR_MISSING):
            yield from self._or_missing(text.removesuffix(_OR_MISSING))
        yield from self._ranges(text) if self.column.ordered else self._sets(text)
        yield from self._sets(text) if self.column.ordered else self._ranges(text)
        if "*" in text:
            yield from self._masks(text)

    def _or_missing(self, text: str) -> Iterator[Reading]:
        last = self.column.domain - 1
        also = () if self.column.missing is None else ((last, last + 1),)
        for reading in self.readings(plain(text)):
            yield reading._replace(runs=merged((*reading.runs, *also)), level=NO_LEVEL)

    def _ranges(self, text: str) -> Iterator[Span]:
        """Read `[20, 30[`, `>=90`, a number or a period, `20-30`."""
        if self.scale is None:
            return
        brackets = _BRACKETED.fullmatch(text)
        if brackets:
            below, above = brackets["left"] in "](", brackets["right"] in "[)"
            for low, high in self._ends(brackets["inside"], (*_BETWEEN, *_TO)):
                yield Span(
                    low.high if below else low.low,
                    high.low if above else high.high,
                    below and not low.above,
                    above or high.above,
                )
        yield from self._compared(text)
        point = self.scale.point(text)
        if point is not None:
            yield point
        for low, high in self._ends(text, _TO):
            yield Span(low.low, high.high, low.below, high.above)

    def _compared(self, text: str) -> Iterator[Span]:
        """Read `>=90`, `< 20`, `90+`."""
        match = _COMPARED.fullmatch(text) or _AND_MORE.fullmatch(text)
        end = match and self.scale and self.scale.point(match["end"].strip())
        if not match or not end:
            return
        sign = match.groupdict().get("sign", ">=")
        if sign in (">=", "=>", "≥"):
            yield Span(end.low, math.inf)
        elif sign == ">":
            yield Span(end.high, math.inf, below=not end.above)
        elif sign == "<":
            yield Span(-math.inf, end.low, above=True)
        else:
            yield Span(-math.inf, end.high, above=end.above)

    def _ends(self, text: str, marks: Sequence[str]) -> Iterator[tuple[Span, Span]]:
        """Split a text in two at each separator, and yield the ends if both halves are known."""
        assert self.scale is not None
        for mark in marks:
            index = text.find(mark, 1)
            while index > 0:
                halves = (text[:index].strip(), text[index + len(mark) :].strip())
                low, high = (self.scale.point(plain(half)) for half in halves)
                if low and high and low.low <= high.high:
                    yield low, high
                index = text.find(mark, index + 1)

    def _sets(self, text: str, member: Callable[[str], Runs] | None = None) -> Iterator[Runs]:
        """Read `{a, b}`, where some values may be unknown here, and `a|b`, where none may.

        member: the codes of a piece; by default those of a value or of a label.
        """
        member = member or self._member
        if text.startswith("{") and text.endswith("}"):
            for mark in (",", ";", "|"):
                yield cut(text[1:-1], mark, self._longest, member)[0]
        for mark in _LISTED:
            if mark in text:
                runs, unknown = cut(text, mark, self._longest, member)
                yield () if unknown else runs

    def _member(self, text: str) -> Runs:
        if text == "missing" and self.column.missing is not None:
            return ((self.column.missing, self.column.missing + 1),)
        code = self.value(plain(text))
        if code >= 0:
            return ((code, code + 1),)
        return self._groups[text][0].runs if text in self._groups else ()

    def _masks(self, text: str) -> Iterator[Runs]:
        """Read `284**` with a star per hidden character, `28*` with any ending, stars for all."""
        hidden = tuple(index for index, sign in enumerate(text) if sign == "*")
        shape = (len(text), hidden)
        if shape not in self._masked:
            self._masked[shape] = self._at_shape(*shape)
        yield tuple((code, code + 1) for code in self._masked[shape].get(text, ()))
        start = text.rstrip("*")
        if "*" not in start:
            codes = (c for t, c in self._codes.items() if t is not None and t.startswith(start))
            yield tuple((code, code + 1) for code in codes) if start else self._whole

    def _at_shape(self, length: int, hidden: tuple[int, ...]) -> dict[str, list[int]]:
        """Return the values of a length by their masked text."""
        found: dict[str, list[int]] = {}
        for text, code in self._codes.items():
            if text is not None and len(text) == length:
                signs = list(text)
                for index in hidden:
                    signs[index] = "*"
                found.setdefault("".join(signs), []).append(code)
        return found


def at_level(column: Column, height: int) -> dict[str | None, Reading]:
    """Return the readings of the labels of one level of the column's hierarchy."""
    assert column.hierarchy is not None
    level = column.hierarchy.levels[height]
    subsets = Subsets.of_groups(level.groups, len(level))
    bounds = itertools.repeat((math.nan, math.nan), len(level))
    stated = bounds if level.bounds is None else level.bounds.tolist()
    return {
        label: Reading(_runs_of(subsets, group), low, high, height)
        for group, (label, (low, high)) in enumerate(zip(level.labels, stated, strict=True))
    }


def unread_cells(name: str, cells: int, forms: int) -> NotCovering:
    """Return the error for cells that cannot be read; their text is not shown."""
    return NotCovering(
        f"column {name!r}: {counted(cells, 'cell')}, in {counted(forms, 'distinct form')}, "
        "cannot be read as values of the original, or cover none of them; "
        "give the hierarchy of their labels"
    )


def _runs_of(subsets: Subsets, index: int) -> Runs:
    runs = slice(int(subsets.indptr[index]), int(subsets.indptr[index + 1]))
    return tuple(zip(subsets.starts[runs].tolist(), subsets.stops[runs].tolist(), strict=True))


def _size(runs: Runs) -> int:
    return sum(stop - start for start, stop in runs)


Runs = tuple[tuple[int, int], ...]  # codes, first and one past the last
_MAX_READINGS = 9  # of one text


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
