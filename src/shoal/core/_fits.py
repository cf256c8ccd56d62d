# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: which tuples of values lie inside which boxes."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.core.compiling import njit


class Cells(NamedTuple):
    """Tuples and boxes as the kernels see them.

    codes: (tuples, columns) values of the distinct originals.
    entries: (boxes, columns) where the runs of each published cell begin, in `starts`.
    ends: (boxes, columns) where they end.
    starts, stops: (runs,) first code of each run and the one behind its last.
    """

    codes: Any
    entries: Any
    ends: Any
    starts: Any
    stops: Any


@njit(cache=True, error_model="numpy")
def is_inside(cells, one, box):
    """Tell whether a box covers a tuple."""
    for j in range(cells.codes.shape[1]):
        code = cells.codes[one, j]
        found = False
        for run in range(cells.entries[box, j], cells.ends[box, j]):
            if code < cells.stops[run]:
                found = cells.starts[run] <= code
                break
        if not found:
            return False
    return True


@njit(cache=True, error_model="numpy")
def count_fits(cells, first, last, people, copies, by_tuple, by_box, pairs):
    """Count, for tuples first … last − 1, the records of the boxes that cover them, and back.

    pairs: (tuples,) the number of boxes that cover each tuple.
    """
    for one in range(first, last):
        for box in range(len(copies)):
            if is_inside(cells, one, box):
                by_tuple[one] += copies[box]
                by_box[box] += people[one]
                pairs[one] += 1


@njit(cache=True, error_model="numpy")
def list_fits(cells, first, last, indptr, indices):
    """List, for tuples first … last − 1, the boxes that cover them."""
    for one in range(first, last):
        place = indptr[one]
        for box in range(cells.entries.shape[0]):
            if is_inside(cells, one, box):
                indices[place] = box
                place += 1
