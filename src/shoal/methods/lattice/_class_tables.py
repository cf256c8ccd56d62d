# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: class tables, and raising an attribute of a class table by one level.

A class table is a sorted array of packed keys with a count for each. Level maps are monotone in the
packed codes, so rolling one attribute up a level only merges neighbouring runs: no hashing, no
sorting.

Layout of a key, from the most to the least significant bits: one field for each attribute, then the
person. The person field is 0 for everyone who is in a single class at this node, and in every node
above it; such people are additive and share one entry per class. Only people who are in several
classes have a number in the key, so that there is one entry per class and person and no person is
counted twice when classes merge. These people are called followed.

Layout of a count: people in the bits from `size_at` up, records in the bits below. If every record
is a different person, `size_at` is 0 and the count is both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit


class Shape(NamedTuple):
    """The lattice, attributes from the most to the least significant field of a key.

    levels: (attributes,) number of levels, including level 0.
    shift, mask: (attributes,) lowest bit of an attribute's field in a key, and mask of its width.
    step_first: (attributes, levels) start in `steps` of the map from level l − 1 to level l.
    steps: code at level l − 1 → code at level l, map after map.
    stride: (attributes,) distance between neighbouring levels in the list of nodes.
    person: mask of the person field, 0 if no person is followed.
    size_at: the bit of a count from which people are counted.
    """

    levels: Any
    shift: Any
    mask: Any
    step_first: Any
    steps: Any
    stride: Any
    person: int
    size_at: int


class Tables(NamedTuple):
    """Class tables, one for each attribute and one for the table itself, and scratch for merging.

    keys, counts: (attributes + 1, rows); size: (attributes + 1,) rows in use.
    followed: (attributes + 1,) whether a table has people who are in several classes.
    spare_keys, spare_counts: (2, rows) the runs being merged, and the longer runs they become.
    runs: (2, rows + 2) start of each run of the two spare tables.
    join: (rows,) levels by which the last attribute is raised when a row joins the row before it.
    repeat: (rows,) levels by which it is raised when a row's person is already in the row's class.
    tally: (rows,) counts of classes.
    seen: (followed people + 1,) number of entries of each followed person.
    before: (followed people + 1,) the last row of each followed person.
    """

    keys: Any
    counts: Any
    size: Any
    followed: Any
    spare_keys: Any
    spare_counts: Any
    runs: Any
    join: Any
    repeat: Any
    tally: Any
    seen: Any
    before: Any


def make_tables(keys: Any, counts: Any, attributes: int, followed: int) -> Tables:
    """Return tables with the given one as the last, for a number of followed people."""
    rows = len(keys)
    tables = Tables(
        np.empty((attributes + 1, rows), np.int64),
        np.empty((attributes + 1, rows), np.int64),
        np.zeros(attributes + 1, np.int64),
        np.zeros(attributes + 1, np.bool_),
        np.empty((2, rows), np.int64),
        np.empty((2, rows), np.int64),
        np.empty((2, rows + 2), np.int64),
        np.empty(rows, np.uint16),
        np.empty(rows if followed else 0, np.uint16),
        np.empty(rows, np.int64),
        np.zeros(followed + 1, np.int32),
        np.zeros(followed + 1, np.int64),
    )
    tables.keys[attributes], tables.counts[attributes] = keys, counts
    tables.size[attributes], tables.followed[attributes] = rows, followed > 0
    return tables


@njit(cache=True, error_model="numpy", nogil=True)
def merge_two(keys, counts, a, a_end, b, b_end, to_keys, to_counts, o):
    """Merge two sorted runs, adding the counts of equal keys; returns the end of the result.

    keys, counts: (rows,) with the runs a … a_end − 1 and b … b_end − 1; the result is written to
    to_keys and to_counts from o on.
    Invariant: the rows before a and b are written, in order and each key once.
    """
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
    """Merge the runs in spare row 0, two by two, into the target; returns its end.

    runs: their number; tables.runs[0, i] is the start of run i, and tables.runs[0, runs] the end.
    Invariant: spare row `here` has `runs` sorted runs with all counts; the other row receives the
    merged pairs.
    """
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
def roll_up(tables, source, target, shape, j, level):
    """Write table `source`, with attribute `j` raised to a level, into table `target`.

    The source has the attribute one level lower. It may be the target: the write position never
    overtakes the read position.
    Invariant: target rows before o are the merged source rows before `row`, sorted. One pass of the
    outer loop reads the rows of one head (the fields above j) and one new code: they are `runs`
    sorted runs, one for each old code, with starts in tables.runs[0].
    """
    keys, counts, rows = tables.keys[source], tables.counts[source], tables.size[source]
    to_keys, to_counts = tables.keys[target], tables.counts[target]
    shift, mask = shape.shift[j], shape.mask[j]
    steps, step_at = shape.steps, shape.step_first[j, level]
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
    tables.size[target], tables.followed[target] = o, tables.followed[source]
    if tables.followed[target]:
        settle(tables, target, shape)


@njit(cache=True, error_model="numpy", nogil=True)
def settle(tables, target, shape):
    """Stop following people who are in one class only: add them to the entry of the class.

    Merging adds counts without regard to people, so each followed person is first reset to one.
    Invariant of the second loop: target rows before o are the entries of the classes before
    `first`; a class has its common entry first, then those of its followed people.
    """
    once = np.int64(1) << shape.size_at
    person, rows, seen = shape.person, tables.size[target], tables.seen
    keys, counts = tables.spare_keys[0], tables.spare_counts[0]
    to_keys, to_counts = tables.keys[target], tables.counts[target]
    seen[:] = 0
    for row in range(rows):
        keys[row], counts[row] = to_keys[row], to_counts[row]
        if keys[row] & person:
            counts[row] = (counts[row] & (once - 1)) | once
        seen[keys[row] & person] += 1
    seen[0] = 1
    row, o, left = 0, 0, False
    while row < rows:
        head, together, first = keys[row] & ~person, np.int64(0), row
        while row < rows and keys[row] & ~person == head:
            if seen[keys[row] & person] == 1:
                together += counts[row]
            row += 1
        if together:
            to_keys[o], to_counts[o] = head, together
            o += 1
        for i in range(first, row):
            if seen[keys[i] & person] > 1:
                to_keys[o], to_counts[o] = keys[i], counts[i]
                o += 1
                left = True
    tables.size[target], tables.followed[target] = o, left
