"""Read the texts of a released column so that they cover the original values.

The chosen readings of many texts are in arrays: a few bytes for each run of codes.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import numpy as np

from shoal.errors import NotCovering
from shoal.release.reading_cells import Forms, Reading, at_level, merged, unread_cells
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.table.column import Column
from shoal.table.hierarchy import ROOT
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets, hierarchy_bounds

_MAX_READINGS = 8  # further readings of one text
_NOTHING = Reading(())


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedColumn:
    """The published cells of one column with the original values.

    texts: the distinct texts; None for an empty cell.
    codes: (released rows,) the index of the text of each row.
    originals: (released rows,) the code of the original value of each row.
    """

    texts: tuple[str | None, ...]
    codes: Codes
    originals: Codes


class ReadRecoding(Recoding):
    """A recoding whose subsets were read from its labels."""

    def labelled(self) -> bool:
        """Return whether every label describes its entry: always, because it was read from it."""
        return True


def read_cells(column: Column, cells: ReleasedColumn) -> tuple[Readings, Bools]:
    """Return the reading of each text, and whether it does not cover the original of each row.

    If all texts are labels of one level, they are read as such. Otherwise each text has the first
    reading that covers all its rows, or all readings at once if no single one does: a reader of the
    file cannot distinguish them either.
    """
    found = _at_one_level(column, cells)
    if found is not None:
        return found, np.zeros(len(cells.codes), dtype=np.bool_)
    forms = Forms(column)
    chosen = _first_readings(forms, cells)
    missed = chosen.missed(cells.codes, cells.originals)
    return _read_on(forms, cells, chosen, missed) if missed.any() else (chosen, missed)


def _first_readings(forms: Forms, cells: ReleasedColumn) -> Readings:
    """Return the first reading of each text.

    Raises:
        NotCovering: A text has no reading.
    """
    domain = forms.column.domain
    chosen = Readings.of(domain, (next(forms.readings(text), _NOTHING) for text in cells.texts))
    unread = chosen.unread
    if unread.any():
        raise unread_cells(forms.column.name, int(unread[cells.codes].sum()), int(unread.sum()))
    return chosen


def _read_on(
    forms: Forms, cells: ReleasedColumn, chosen: Readings, missed: Bools
) -> tuple[Readings, Bools]:
    """Choose among further readings of the texts that miss an original; return the rows missed."""
    texts = np.unique(cells.codes[missed])
    rows = np.flatnonzero(np.isin(cells.codes, texts))
    codes = np.searchsorted(texts, cells.codes[rows]).astype(np.int32)
    ways = [_ways(forms, cells.texts[text]) for text in texts.tolist()]
    picked, still_open = [way[0] for way in ways], set(range(len(ways)))
    for turn in range(1, _MAX_READINGS + 2):
        tried = list(picked)
        for place in still_open:
            tried[place] = ways[place][min(turn, len(ways[place]) - 1)]
        missing = Readings.of(forms.column.domain, tried).missed(codes, cells.originals[rows])
        wrong = set(codes[missing].tolist())
        for place in still_open - wrong:
            picked[place] = tried[place]
        still_open &= wrong
        if not still_open:
            break
    chosen = chosen.replaced(texts, picked)
    return chosen, chosen.missed(cells.codes, cells.originals)


def _ways(forms: Forms, text: str | None) -> list[Reading]:
    """Return the readings of a text, and all of them at once as the last."""
    ways = list(itertools.islice(forms.readings(text), 1 + _MAX_READINGS))
    return [*ways, Reading(merged(run for way in ways for run in way.runs))]


def read_recoding(column: Column, texts: tuple[str | None, ...], codes: Codes) -> Recoding:
    """Return the recoding of rows by the texts of their cells, which cover the original values.

    column: the original of these rows. codes: (rows,) the index of the text of each row.

    Raises:
        InputError: Some cells do not cover the original.
    """
    cells = ReleasedColumn(texts, codes, column.codes)
    readings, missed = read_cells(column, cells)
    if missed.any():
        raise NotCovering(f"column {column.name!r} has cells that do not cover their originals")
    every = np.arange(len(column))
    return recoding(column, cells, readings, every, np.zeros(len(column), dtype=np.bool_))


def recoding(
    column: Column, cells: ReleasedColumn, readings: Readings, rows: Counts, hidden: Bools
) -> Recoding:
    """Return the recoding that follows from the readings.

    rows: (released rows,) the original row of each; hidden: whether each original is suppressed.
    """
    if not len(cells.codes):
        return ReadRecoding.suppressed(column)
    low, high = hierarchy_bounds(column, readings.subsets, readings.bounds)
    codes = np.zeros(len(column), dtype=np.int32)
    codes[rows] = cells.codes
    levels = None if column.hierarchy is None else readings.levels
    made = Recoding(column, codes, readings.subsets, cells.texts, low, high, levels)
    made = made.suppress(hidden)
    return ReadRecoding(*(getattr(made, field.name) for field in fields(made)))


def read_texts(column: Column, texts: tuple[str | None, ...]) -> Recoding:
    """Return a recoding with one row for each text, read without the originals.

    If all texts are labels of one level, they are read as such, else by their first reading.

    Raises:
        NotCovering: Some texts cannot be read.
    """
    every = np.arange(len(texts))
    column = replace(column, codes=np.zeros(len(texts), dtype=np.int32))
    cells = ReleasedColumn(texts, every.astype(np.int32), column.codes)
    readings = _labels_of_one_level(column, texts)
    if readings is None:
        readings = _first_readings(Forms(column), cells)
    return recoding(column, cells, readings, every, np.zeros(len(texts), dtype=np.bool_))


def _labels_of_one_level(column: Column, texts: tuple[str | None, ...]) -> Readings | None:
    """Return the readings of texts that are labels of one level, except `*`; the lowest of them."""
    if column.hierarchy is None:
        return None
    for height, level in enumerate(column.hierarchy.levels):
        labels = set(level.labels)
        if all(text in labels or text == ROOT for text in texts):
            readings = at_level(column, height)
            top = Reading(((0, column.domain),), level=column.hierarchy.height)
            return Readings.of(column.domain, (readings.get(text, top) for text in texts))
    return None


def _at_one_level(column: Column, cells: ReleasedColumn) -> Readings | None:
    """Read full-domain recodings: the lowest level whose labels all rows have, except `*`."""
    if column.hierarchy is None:
        return None
    index = {text: code for code, text in enumerate(cells.texts)}
    root, tree = index.get(ROOT, -1), column.hierarchy
    everything = Reading(((0, column.domain),), level=tree.height)
    for rows in (slice(None), cells.codes != root):
        for height, level in enumerate(tree.levels):
            labels = np.array([index.get(label, -1) for label in level.labels], dtype=np.int32)
            expected = labels[level.groups[cells.originals]]
            if np.array_equal(expected[rows], cells.codes[rows]):
                readings = at_level(column, height)
                if isinstance(rows, np.ndarray):
                    readings[ROOT] = everything
                return Readings.of(column.domain, (readings[text] for text in cells.texts))
    return None


@dataclass(frozen=True, eq=False)
class Readings:
    """One reading for each text.

    subsets: the codes that each covers; a text that cannot be read covers none.
    bounds: (texts, 2) the stated bounds, NaN if there are none.
    levels: (texts,) the level of each in the column's hierarchy.
    """

    subsets: Subsets
    bounds: Floats
    levels: Codes

    @classmethod
    def of(cls, domain: int, readings: Iterable[Reading]) -> Readings:
        """Return readings as arrays; only one of them is an object at a time."""
        ends, starts, stops = array("q", [0]), array("i"), array("i")
        bounds, levels = array("d"), array("i")
        for reading in readings:
            for start, stop in reading.runs:
                starts.append(start)
                stops.append(stop)
            ends.append(len(starts))
            bounds.extend((reading.low, reading.high))
            levels.append(reading.level)
        subsets = Subsets(
            domain,
            np.asarray(ends, np.int64),
            np.asarray(starts, np.int32),
            np.asarray(stops, np.int32),
        )
        return cls(
            subsets, np.asarray(bounds, np.float64).reshape(-1, 2), np.asarray(levels, np.int32)
        )

    def __len__(self) -> int:
        return len(self.subsets)

    @property
    def unread(self) -> Bools:
        """(texts,) whether a text covers no value."""
        found: Bools = np.diff(self.subsets.indptr) == 0
        return found

    def missed(self, texts: Codes, originals: Codes) -> Bools:
        """Return whether the text of each row does not cover its original value."""
        if not len(texts):
            return np.zeros(0, dtype=np.bool_)
        return ~self.subsets.hold(texts, originals)

    def replaced(self, texts: Codes, readings: Iterable[Reading]) -> Readings:
        """Return the readings with others of some texts."""
        others = Readings.of(self.subsets.domain, readings)
        source = np.arange(len(self))
        source[texts] = len(self) + np.arange(len(others))
        return Readings(
            Subsets.joined([self.subsets, others.subsets]).take(source),
            np.concatenate((self.bounds, others.bounds))[source],
            np.concatenate((self.levels, others.levels))[source],
        )
