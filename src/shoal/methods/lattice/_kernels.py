# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: measure every node of a lattice by rolling sorted keys up, one level at a time.

Each node is computed from a node below it. The levels of the last attribute need no keys: the level
at which neighbouring rows join is enough.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.lattice._class_tables import roll_up
from shoal.support.compiling import njit

# columns of `Found.measures`
CLASSES, KEPT, SUPPRESSED, SQUARES = range(4)
NEVER = 65_535  # above any level: a text masked letter by letter has hundreds


class Found(NamedTuple):
    """Measures of every node.

    k: least number of people of a class.
    measures: (nodes, 4) classes, classes of k or more, records in the others, sum of squared
        records of the classes of k or more.
    worth: a function of the number of people of a class, empty if not needed. Larger classes than
        it lists are worth `rate` steps for each person, rounded to whole steps.
    rate, step: whole steps are multiples of `step`.
    sums: sum of the function over the classes of each node.
    """

    k: int
    measures: Any
    worth: Any
    rate: float
    step: float
    sums: Any


@njit(cache=True, error_model="numpy", nogil=True)
def measure(counts, rows, shape, found, node):
    """Store the measures of one node, whose classes have these counts.

    counts: (rows or more,) one packed count for each class; see the layout in _class_tables.
    """
    small, squares, kept = np.int64(0), np.int64(0), np.int64(0)
    size_at = shape.size_at
    if size_at == 0:  # a count is both people and records
        for i in range(rows):
            count = counts[i]
            if count < found.k:
                small += count
            else:
                squares += count * count
                kept += 1
    else:
        in_records = (np.int64(1) << size_at) - 1
        for i in range(rows):
            size, records = counts[i] >> size_at, counts[i] & in_records
            if size < found.k:
                small += records
            else:
                squares += records * records
                kept += 1
    measures = found.measures
    measures[node, CLASSES], measures[node, KEPT] = rows, kept
    measures[node, SUPPRESSED], measures[node, SQUARES] = small, squares
    if len(found.worth):
        total = 0.0
        for i in range(rows):
            size = counts[i] >> size_at
            if size < len(found.worth):
                total += found.worth[size]
            else:
                total += np.rint(size * found.rate) * found.step
        found.sums[node] = total


@njit(cache=True, error_model="numpy", nogil=True)
def note_joins(tables, source, shape, person):
    """Store, for each row, the level of the last attribute at which it joins the row before it.

    person: mask of the person field, which does not separate rows; 0 if no person is followed.
    """
    last = len(shape.levels) - 1
    top = shape.levels[last] - 1  # 0 if the last field only numbers what is fixed
    keys, mask, shift = tables.keys[source], shape.mask[last], shape.shift[last]
    above, step_first = ~((mask << shift) | person), shape.step_first[last]
    tables.join[0] = NEVER
    for row in range(1, tables.size[source]):
        if (keys[row - 1] ^ keys[row]) & above != 0:
            tables.join[row] = NEVER
            continue
        one, other = (keys[row - 1] >> shift) & mask, (keys[row] >> shift) & mask
        raised = 0
        while one != other and raised < top:
            raised += 1
            at = step_first[raised]
            one, other = shape.steps[at + one], shape.steps[at + other]
        tables.join[row] = raised if one == other else NEVER


@njit(cache=True, error_model="numpy", nogil=True)
def finish(tables, source, shape, found, node):
    """Measure every level of the last attribute over table `source`, without followed people.

    Needs no keys: the counts of neighbours that join at a level are added. The nodes of the levels
    are node, node + 1, …
    Invariant: tally[:rows] are the counts of the classes at level raised − 1, and join[:rows] the
    levels at which each joins the class before it.
    """
    last = len(shape.levels) - 1
    measure(tables.counts[source], tables.size[source], shape, found, node)
    if shape.levels[last] < 2:
        return
    note_joins(tables, source, shape, 0)
    counts, join, tally = tables.counts[source], tables.join, tables.tally
    rows = tables.size[source]
    for row in range(rows):
        tally[row] = counts[row]
    for raised in range(1, shape.levels[last]):
        end = 0
        for row in range(1, rows):
            if join[row] > raised:
                end += 1
                tally[end], join[end] = tally[row], join[row]
            else:
                tally[end] += tally[row]
        rows = end + 1
        measure(tally, rows, shape, found, node + raised)


@njit(cache=True, error_model="numpy", nogil=True)
def note_repeats(tables, source, shape):
    """Store, for each row, the level of the last attribute at which its person is a repetition.

    That is the level at which the row and the last row before it of the same followed person are in
    one class. Rows of a class are adjacent, so the number of people of a class is the sum over its
    rows, minus one for each row that repeats a person of the class.
    """
    last = len(shape.levels) - 1
    top = shape.levels[last] - 1
    keys, mask, shift = tables.keys[source], shape.mask[last], shape.shift[last]
    above, step_first = ~((mask << shift) | shape.person), shape.step_first[last]
    before, repeat = tables.before, tables.repeat  # before: the last row of each person
    before[:] = -1
    first = 0  # of the rows with the same higher fields
    for row in range(tables.size[source]):
        if (keys[row] ^ keys[first]) & above != 0:
            first = row
        repeat[row] = NEVER
        person = keys[row] & shape.person
        if person == 0:
            continue
        other = before[person]
        before[person] = row
        if other < first:
            continue
        one, two = (keys[other] >> shift) & mask, (keys[row] >> shift) & mask
        raised = 0
        while one != two and raised < top:
            raised += 1
            at = step_first[raised]
            one, two = shape.steps[at + one], shape.steps[at + two]
        if one == two:
            repeat[row] = raised


@njit(cache=True, error_model="numpy", nogil=True)
def follow(tables, source, shape, found, node):
    """Measure every level of the last attribute over table `source`, with followed people.

    Needs no keys. An entry of `tally` stands for neighbours of one class; it begins a class, or it
    repeats a person of its class once the attribute is raised far enough.
    Scratch: tables.spare_counts[0] receives the count of each class at the current level.
    Invariant: tally[:rows], join[:rows] and repeat[:rows] are the entries that are not yet part of
    the entry before them at level raised − 1; repetitions up to that level are subtracted.
    """
    last, rows, once = len(shape.levels) - 1, tables.size[source], np.int64(1) << shape.size_at
    note_joins(tables, source, shape, shape.person)
    note_repeats(tables, source, shape)
    join, repeat, tally, sums = tables.join, tables.repeat, tables.tally, tables.spare_counts[0]
    for row in range(rows):
        tally[row] = tables.counts[source, row]
    for raised in range(shape.levels[last]):
        end, classes = -1, -1
        for row in range(rows):
            count, begins, repeats = tally[row], join[row] > raised, repeat[row]
            if repeats <= raised:
                count -= once
                repeats = NEVER
            if begins:
                classes += 1
                sums[classes] = count
            else:
                sums[classes] += count
            if begins or repeats != NEVER:
                end += 1
                tally[end], join[end], repeat[end] = count, join[row], repeats
            else:
                tally[end] += count
        rows = end + 1
        measure(sums, classes + 1, shape, found, node + raised)


@njit(cache=True, error_model="numpy", nogil=True, allocates=True)
def sweep(tables, shape, begin, node, found):
    """Measure every node with the given levels of the attributes before `begin`.

    The last table contains the classes at those levels, with all other attributes at level 0.
    Invariant: level[j] is the current level of attribute j, and source[j] the table with the
    classes at the levels of attributes begin … j and all later attributes at level 0; table j is
    written only when attribute j is raised.
    """
    attributes = len(shape.levels)
    level = np.zeros(attributes, np.int64)
    source = np.full(attributes, attributes)
    last = attributes - 1
    while True:
        at = source[last - 1] if last > begin else attributes
        if tables.followed[at]:
            follow(tables, at, shape, found, node)
        else:
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
        roll_up(tables, start, j, shape, j, level[j])
        for i in range(j, attributes):
            source[i] = j
