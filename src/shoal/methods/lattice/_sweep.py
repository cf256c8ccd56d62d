# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: measure every node of a lattice by rolling sorted keys up, one level at a time.

A class table is a sorted array of packed keys with a count for each. Level maps are monotone in the
packed codes, so rolling one attribute up a level only merges neighbouring runs: no hashing, no
sorting. Each node is computed from a node below it:

    sweep     the levels of all attributes but the last, like the digits of a counter
    roll_up   one class table from the table one level below
    finish    all levels of the last attribute at once, which needs no keys: the level at which
              neighbouring rows join is enough; `follow` if people are in several classes

Layout of a key, from the most to the least significant bits: one field for each attribute, then the
person. The person field is 0 for everyone who is in a single class at this node, and in every node
above it; such people are additive and share one entry per class. Only people who are in several
classes have a number in the key, so that there is one entry per class and person and no person is
counted twice when classes merge. These people are called followed.

    | attribute 0 | attribute 1 | … | last attribute | person |

Layout of a count: people in the bits from `size_at` up, records in the bits below. If every record
is a different person, `size_at` is 0 and the count is both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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
        # the next combination of levels, like an odometer; the last attribute is measured all at
        # once
        j = last - 1
        while j >= begin and level[j] == shape.levels[j] - 1:
            node -= level[j] * shape.stride[j]
            level[j] = 0
            j -= 1
        if j < begin:
            return
        level[j] += 1
        node += shape.stride[j]
        # raise the table of the level below; at level 1 that is the one with this attribute at
        # level 0
        start = j
        if level[j] == 1:
            start = source[j - 1] if j > begin else attributes
        roll_up(tables, start, j, shape, j, level[j])
        for i in range(j, attributes):
            source[i] = j


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
        # an entry that joins is added to the one before it; the others move up to close the gap
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
                # the person is in this class already: one less, once and for all
                count -= once
                repeats = NEVER
            if begins:
                classes += 1
                sums[classes] = count
            else:
                sums[classes] += count
            if begins or repeats != NEVER:
                # any other entry becomes a part of the one before it at this and all higher levels
                end += 1
                tally[end], join[end], repeat[end] = count, join[row], repeats
            else:
                tally[end] += count
        rows = end + 1
        measure(sums, classes + 1, shape, found, node + raised)


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
        # raise both codes until they meet
        while one != other and raised < top:
            raised += 1
            at = step_first[raised]
            one, other = shape.steps[at + one], shape.steps[at + other]
        tables.join[row] = raised if one == other else NEVER


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
        # its last row differs in a higher field, so no level of this attribute unites the two
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
def measure(counts, rows, shape, found, node):
    """Store the measures of one node, whose classes have these counts.

    counts: (rows or more,) one packed count for each class.
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
    # `size` is in the high bits also here: size_at is 0 if a count is both
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
            # a single run is sorted already and only gets its new code
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
    # 0 stands for the common entry of a class, which is added like a person who was seen once
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
                # the last two runs go straight to the target
                return merge_two(keys, counts, begin, middle, middle, stop, to_keys, to_counts, o)
            end = merge_two(
                keys, counts, begin, middle, middle, stop, longer_keys, longer_counts, end
            )
            made += 1
            tables.runs[there, made] = end
            a += 2
        here, runs = there, made
    return o
