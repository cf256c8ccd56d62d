# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: class tables of a whole lattice by rolling sorted keys up, one level at a time.

A class table is a sorted array of packed keys with the number of records behind each. Level maps
are monotone in the packed codes, so rolling one attribute up a level only merges neighbouring runs:
no hashing, no sorting.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.core.compiling import njit

# what is kept of each node's class table
CLASSES, KEPT, SUPPRESSED, SQUARES = range(4)
NEVER = 65_535  # above any level: a text masked letter by letter has hundreds


class Shape(NamedTuple):
    """The lattice, attributes from the most to the least significant field of a key.

    levels: levels of each attribute, the ground one included.
    shift, mask: where an attribute's code stands in a key.
    step_first, steps: for attribute j, level l: code at level l − 1 → code at level l.
    stride: how far apart neighbouring levels of an attribute lie in the list of nodes.
    """

    levels: Any
    shift: Any
    mask: Any
    step_first: Any
    steps: Any
    stride: Any


class Tables(NamedTuple):
    """Class tables, one for each attribute and one for the table itself, and room to merge.

    keys: (attributes + 1, rows), counts likewise; size: rows in use.
    """

    keys: Any
    counts: Any
    size: Any
    spare_keys: Any
    spare_counts: Any
    runs: Any
    join: Any
    tally: Any


def make_tables(keys: Any, counts: Any, attributes: int) -> Tables:
    """Return tables whose last one is the given one."""
    rows = len(keys)
    tables = Tables(
        np.empty((attributes + 1, rows), np.int64),
        np.empty((attributes + 1, rows), np.int64),
        np.zeros(attributes + 1, np.int64),
        np.empty((2, rows), np.int64),
        np.empty((2, rows), np.int64),
        np.empty((2, rows + 2), np.int64),
        np.empty(rows, np.uint16),
        np.empty(rows, np.int64),
    )
    tables.keys[attributes], tables.counts[attributes] = keys, counts
    tables.size[attributes] = rows
    return tables


@njit(cache=True, error_model="numpy", nogil=True)
def merge_two(keys, counts, a, a_end, b, b_end, to_keys, to_counts, o):
    """Merge two sorted runs, adding the counts of equal keys; returns the end of the result."""
    while a < a_end and b < b_end:
        if keys[a] < keys[b]:
            to_keys[o], to_counts[o] = keys[a], counts[a]
            a += 1
        elif keys[a] > keys[b]:
            to_keys[o], to_counts[o] = keys[b], counts[b]
            b += 1
        else:
            to_keys[o], to_counts[o] = keys[a], counts[a] + counts[b]
            a += 1
            b += 1
        o += 1
    while a < a_end:
        to_keys[o], to_counts[o] = keys[a], counts[a]
        a += 1
        o += 1
    while b < b_end:
        to_keys[o], to_counts[o] = keys[b], counts[b]
        b += 1
        o += 1
    return o


@njit(cache=True, error_model="numpy", nogil=True)
def merge_runs(tables, runs, to_keys, to_counts, o):
    """Merge the runs in spare row 0, two by two, into the target; returns its end."""
    here = 0
    while runs > 1:
        there, made, a = 1 - here, 0, 0
        tables.runs[there, 0] = 0
        keys, counts = tables.spare_keys[here], tables.spare_counts[here]
        longer_keys, longer_counts = tables.spare_keys[there], tables.spare_counts[there]
        end = np.int64(0)
        last = runs <= 2
        while a < runs:
            begin, middle = tables.runs[here, a], tables.runs[here, a + 1]
            stop = tables.runs[here, a + 2] if a + 1 < runs else middle
            if last:
                return merge_two(keys, counts, begin, middle, middle, stop, to_keys, to_counts, o)
            end = merge_two(
                keys, counts, begin, middle, middle, stop, longer_keys, longer_counts, end
            )
            made += 1
            tables.runs[there, made] = end
            a += 2
        here, runs = there, made
    return o


@njit(cache=True, error_model="numpy", nogil=True)
def roll_up(tables, source, target, shift, mask, steps, step_at):
    """Write table `source` with one attribute a level higher into table `target`."""
    keys, counts, rows = tables.keys[source], tables.counts[source], tables.size[source]
    to_keys, to_counts = tables.keys[target], tables.counts[target]
    below = (np.int64(1) << shift) - 1
    above = ~((mask << shift) | below)
    row, o = 0, np.int64(0)
    while row < rows:
        head = keys[row] & above
        old = (keys[row] >> shift) & mask
        code = steps[step_at + old]
        base = head | (code << shift)
        first, runs = row, 1
        tables.runs[0, 0] = 0
        while row < rows and (keys[row] & above) == head:
            now = (keys[row] >> shift) & mask
            if now != old:
                if steps[step_at + now] != code:
                    break
                tables.runs[0, runs] = row - first
                runs += 1
                old = now
            row += 1
        tables.runs[0, runs] = row - first
        if runs == 1:
            for i in range(first, row):
                to_keys[o], to_counts[o] = base | (keys[i] & below), counts[i]
                o += 1
            continue
        for i in range(first, row):
            tables.spare_keys[0, i - first] = base | (keys[i] & below)
            tables.spare_counts[0, i - first] = counts[i]
        o = merge_runs(tables, runs, to_keys, to_counts, o)
    tables.size[target] = o


class Found(NamedTuple):
    """What is kept of every node.

    measures: (nodes, 4) classes, those of k or more, records in the others, squares of the former.
    worth: what a class of so many records is worth, empty where nobody asks; sums: of each node.
    """

    k: int
    measures: Any
    worth: Any
    sums: Any


@njit(cache=True, error_model="numpy", nogil=True)
def measure(counts, rows, found, node):
    """Note of a class table what is wanted."""
    small, squares, kept = np.int64(0), np.int64(0), np.int64(0)
    for i in range(rows):
        count = counts[i]
        if count < found.k:
            small += count
        else:
            squares += count * count
            kept += 1
    measures = found.measures
    measures[node, CLASSES], measures[node, KEPT] = rows, kept
    measures[node, SUPPRESSED], measures[node, SQUARES] = small, squares
    if len(found.worth):
        total = 0.0
        for i in range(rows):
            total += found.worth[counts[i]]
        found.sums[node] = total


@njit(cache=True, error_model="numpy", nogil=True)
def note_joins(tables, source, shape):
    """For each row, the level of the last attribute at which it joins the row before it."""
    last = len(shape.levels) - 1
    keys, mask = tables.keys[source], shape.mask[last]
    tables.join[0] = NEVER
    for row in range(1, tables.size[source]):
        one, other = keys[row - 1] & mask, keys[row] & mask
        if (keys[row - 1] ^ keys[row]) & ~mask != 0:
            tables.join[row] = NEVER
            continue
        level = 0
        while one != other:
            level += 1
            at = shape.step_first[last, level]
            one, other = shape.steps[at + one], shape.steps[at + other]
        tables.join[row] = level


@njit(cache=True, error_model="numpy", nogil=True)
def finish(tables, source, shape, found, node):
    """Measure every level of the last attribute over table `source`, without keys."""
    last = len(shape.levels) - 1
    measure(tables.counts[source], tables.size[source], found, node)
    if shape.levels[last] < 2:
        return
    note_joins(tables, source, shape)
    counts, join, tally = tables.counts[source], tables.join, tables.tally
    rows = tables.size[source]
    for row in range(rows):
        tally[row] = counts[row]
    for level in range(1, shape.levels[last]):
        end = 0
        for row in range(1, rows):
            if join[row] > level:
                end += 1
                tally[end], join[end] = tally[row], join[row]
            else:
                tally[end] += tally[row]
        rows = end + 1
        measure(tally, rows, found, node + level)


@njit(cache=True, error_model="numpy", nogil=True)
def sweep(tables, shape, begin, node, found):
    """Measure every node that keeps the levels of the attributes before `begin`.

    The last table holds the classes at those levels, with all other attributes ungeneralized.
    """
    attributes = len(shape.levels)
    level = np.zeros(attributes, np.int64)
    source = np.full(attributes, attributes)
    last = attributes - 1
    while True:
        at = source[last - 1] if last > begin else attributes
        finish(tables, at, shape, found, node)
        j = last - 1
        while j >= begin and level[j] == shape.levels[j] - 1:
            node -= level[j] * shape.stride[j]
            level[j] = 0
            j -= 1
        if j < begin:
            return
        level[j] += 1
        node += shape.stride[j]
        start = j
        if level[j] == 1:
            start = source[j - 1] if j > begin else attributes
        roll_up(
            tables,
            start,
            j,
            shape.shift[j],
            shape.mask[j],
            shape.steps,
            shape.step_first[j, level[j]],
        )
        for i in range(j, attributes):
            source[i] = j
