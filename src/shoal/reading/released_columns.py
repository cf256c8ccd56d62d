"""Read the texts of a released column so that they cover the original values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from shoal.core.column import Column
from shoal.core.hierarchies.hierarchy import ROOT
from shoal.core.labels import hierarchy_bounds
from shoal.core.recoding import Recoding
from shoal.core.subsets import Subsets
from shoal.errors import NotCovering
from shoal.reading.released_cells import Forms, Reading, at_level, unread_cells
from shoal.reading.released_lists import merged
from shoal.support.arrays import Bools, Codes, Counts

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


def read_cells(column: Column, cells: ReleasedColumn) -> tuple[list[Reading], Bools]:
    """Return the reading of each text, and whether it does not cover the original of each row.

    If all texts are labels of one level, they are read as such. Otherwise each text has the first
    reading that covers all its rows, or all readings at once if no single one does: a reader of the
    file cannot distinguish them either.
    """
    found = _at_one_level(column, cells)
    if found is not None:
        return found, np.zeros(len(cells.codes), dtype=np.bool_)
    forms = Forms(column)
    ways = [forms.readings(text) for text in cells.texts]
    chosen = [next(way, _NOTHING) for way in ways]
    _check_read(column, cells, chosen)
    missed = _missed(column, cells, chosen)
    open_texts = np.unique(cells.codes[missed]).tolist()
    if open_texts:
        further = {text: list(itertools.islice(ways[text], _MAX_READINGS)) for text in open_texts}
        missed = _read_on(column, cells, chosen, further)
    return chosen, missed


def _read_on(
    column: Column, cells: ReleasedColumn, chosen: list[Reading], further: dict[int, list[Reading]]
) -> Bools:
    """Choose among further readings of some texts, in place; return the rows not covered."""
    rows = np.flatnonzero(np.isin(cells.codes, list(further)))
    some = ReleasedColumn(cells.texts, cells.codes[rows], cells.originals[rows])
    for text, ways in further.items():
        joined = merged(run for way in (chosen[text], *ways) for run in way.runs)
        ways.append(Reading(joined))
    missed = np.zeros(len(cells.codes), dtype=np.bool_)
    for turn in range(_MAX_READINGS + 1):
        tried = list(chosen)
        for text, ways in further.items():
            tried[text] = ways[min(turn, len(ways) - 1)]
        still = _missed(column, some, tried)
        wrong = set(some.codes[still].tolist())
        for text in [text for text in further if text not in wrong]:
            chosen[text] = tried[text]
            del further[text]
        if not further:
            break
    missed[rows] = _missed(column, some, chosen)
    return missed


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
    column: Column, cells: ReleasedColumn, readings: Sequence[Reading], rows: Counts, hidden: Bools
) -> Recoding:
    """Return the recoding that follows from the readings.

    rows: (released rows,) the original row of each; hidden: whether each original is suppressed.
    """
    if not len(cells.codes):
        return ReadRecoding.suppressed(column)
    subsets = _subsets(column, readings)
    stated = np.array([(reading.low, reading.high) for reading in readings])
    low, high = hierarchy_bounds(column, subsets, stated)
    codes = np.zeros(len(column), dtype=np.int32)
    codes[rows] = cells.codes
    levels = None
    if column.hierarchy is not None:
        levels = np.array([reading.level for reading in readings], dtype=np.int32)
    made = Recoding(column, codes, subsets, cells.texts, low, high, levels).suppress(hidden)
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
        forms = Forms(column)
        readings = [next(forms.readings(text), _NOTHING) for text in texts]
        _check_read(column, cells, readings)
    return recoding(column, cells, readings, every, np.zeros(len(texts), dtype=np.bool_))


def _labels_of_one_level(column: Column, texts: tuple[str | None, ...]) -> list[Reading] | None:
    """Return the readings of texts that are labels of one level, except `*`; the lowest of them."""
    if column.hierarchy is None:
        return None
    for height, level in enumerate(column.hierarchy.levels):
        labels = set(level.labels)
        if all(text in labels or text == ROOT for text in texts):
            readings = at_level(column, height)
            top = Reading(((0, column.domain),), level=column.hierarchy.height)
            return [readings.get(text, top) for text in texts]
    return None


def _at_one_level(column: Column, cells: ReleasedColumn) -> list[Reading] | None:
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
                return [readings[text] for text in cells.texts]
    return None


def _subsets(column: Column, readings: Sequence[Reading]) -> Subsets:
    counts = [len(reading.runs) for reading in readings]
    runs = np.array([run for reading in readings for run in reading.runs], dtype=np.int32)
    indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return Subsets(column.domain, indptr, runs[:, 0], runs[:, 1])


def _missed(column: Column, cells: ReleasedColumn, readings: Sequence[Reading]) -> Bools:
    """Return, for each released row, whether its cell does not cover the original value."""
    if not len(cells.codes):
        return np.zeros(0, dtype=np.bool_)
    return ~_subsets(column, readings).hold(cells.codes, cells.originals)


def _check_read(column: Column, cells: ReleasedColumn, readings: Sequence[Reading]) -> None:
    unread = np.array([not reading.runs for reading in readings], dtype=np.bool_)
    if unread.any():
        count = int(unread[cells.codes].sum())
        raise unread_cells(column.name, count, int(unread.sum()))
