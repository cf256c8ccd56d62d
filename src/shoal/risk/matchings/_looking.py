# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: estimates of the cracks from a matching and all matchings one swap away.

A look at a class estimates, for each record that truly belongs there, the probability that it is
there, given the current matching up to one swap. The arrays of links, records and walkers are
described in `_worm.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.risk.matchings._worm import class_of, edge_of, move_often
from shoal.support._random import draw_below
from shoal.support.compiling import njit

TRIES = 2  # slots of a class that a look samples


class Look(NamedTuple):
    """Estimates from the matchings, and scratch arrays.

    order: (classes with records,) classes in the order of looks.
    baseline: (classes,) a first estimate of the cracks of each class; constant after warm-up.
    cracks: (records,) the sum of the crack probabilities so far.
    seen: (classes,) the number of looks at each class so far.
    slot_type, share: (slots,) scratch, valid from `open_look` until the next move: the type of the
        record in each slot, and one over the mass of its edge.
    of_type: (types,) scratch: the mass of each type in the current class, 0 between looks.
    """

    order: Any
    baseline: Any
    cracks: Any
    seen: Any
    slot_type: Any
    share: Any
    of_type: Any


@njit(cache=True, nogil=True, error_model="numpy")
def open_look(links, records, walker, look):
    """Fill `slot_type` and `share` for the current matching."""
    for slot in range(len(walker.owner)):
        owner = walker.owner[slot]
        look.slot_type[slot] = records.type[owner]
        look.share[slot] = 1.0 / links.mass[walker.edge[owner]]


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_row(mass, of_type, slot_type, share):
    """Return the weight of all swaps if slots are classes and every edge exists.

    mass: (classes,) of one type. of_type, slot_type, share: as in `Look`.
    Four independent sums, so that no addition waits for the one before.
    """
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    even = len(mass) // 4 * 4
    for c in range(0, even, 4):
        one += mass[c] * of_type[slot_type[c]] * share[c]
        two += mass[c + 1] * of_type[slot_type[c + 1]] * share[c + 1]
        three += mass[c + 2] * of_type[slot_type[c + 2]] * share[c + 2]
        four += mass[c + 3] * of_type[slot_type[c + 3]] * share[c + 3]
    for c in range(even, len(mass)):
        one += mass[c] * of_type[slot_type[c]] * share[c]
    return (one + two) + (three + four)


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_swaps(links, records, look, row):
    """Return the weight of all swaps that take a record of type `row` out of the current class."""
    start, stop = links.indptr[row], links.indptr[row + 1]
    if len(links.classes) == 0 and len(look.share) == stop - start:  # a slot for each class
        return weigh_row(links.mass[start:stop], look.of_type, look.slot_type, look.share)
    total = 0.0
    for edge in range(start, stop):
        other = class_of(links, row, edge)
        inside = 0.0
        for slot in range(records.first[other], records.first[other + 1]):
            inside += look.of_type[look.slot_type[slot]] * look.share[slot]
        total += links.mass[edge] * inside
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def crack(links, records, walker, look, record, wanted, swaps):
    """Return the chance that the record is in a slot of its class, given all but one swap.

    For a slot, matchings fall into families: one with the record there, and all that come from it
    by one swap of the record with another. This is the weight of the one among its family; its
    mean over matchings is the chance itself, and it varies less than a count of cracks.
    """
    own = look.of_type[records.type[record]]
    here = class_of(links, records.type[record], walker.edge[record])
    mine = links.mass[walker.edge[record]]
    capacity = records.first[wanted + 1] - records.first[wanted]
    tries = min(capacity, TRIES)
    offset = 0 if tries == capacity else draw_below(walker.random, capacity)
    total = 0.0
    for i in range(tries):
        owner = walker.owner[records.first[wanted] + (offset + i) % capacity]
        if owner == record:
            rest = swaps - own
        else:
            row = records.type[owner]
            edge = edge_of(links, row, here)
            if edge < 0 or links.mass[edge] == 0:
                continue
            # swaps of the matching in which record and owner have changed places
            rest = swaps - 2 * own + mine * look.of_type[row] / links.mass[edge]
        total += own / (own + max(rest, 0.0))
    return total / tries


@njit(cache=True, nogil=True, error_model="numpy")
def spread(links, of_type, wanted, factor):
    """Write factor times the mass of class `wanted` into `of_type`; a factor of 0 clears it."""
    begin, end = links.column[wanted], links.column[wanted + 1]
    mass = links.transposed[begin:end]
    if len(links.types) == 0:
        for row in range(len(mass)):
            of_type[row] = factor * mass[row]
    else:
        types = links.types[begin:end]
        for place in range(len(mass)):
            of_type[types[place]] = factor * mass[place]


@njit(cache=True, nogil=True, error_model="numpy")
def look_at(links, records, walker, look, wanted):
    """Return the expected cracks of the records whose true class is `wanted`.

    Members of a class are sorted by type: `swaps` is computed once for each type, and belongs to
    type `last`.
    """
    spread(links, look.of_type, wanted, 1.0)
    total = 0.0
    last, swaps = np.int64(-1), 0.0
    for place in range(records.starts[wanted], records.starts[wanted + 1]):
        record = records.member[place]
        row = np.int64(records.type[record])
        if look.of_type[row] == 0:
            continue
        if row != last:
            swaps = weigh_swaps(links, records, look, row)
            last = row
        chance = crack(links, records, walker, look, record, wanted, swaps)
        look.cracks[record] += chance
        total += chance
    spread(links, look.of_type, wanted, 0.0)
    look.seen[wanted] += 1
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def look_around(links, records, walker, look, take, loops, truth):
    """Look at every class once, `take` classes at each matching, to set the baseline."""
    for place in range(len(look.order)):
        if place % take == 0:
            move_often(links, records, walker, loops, False, truth)
            open_look(links, records, walker, look)
        wanted = look.order[place]
        look.baseline[wanted] = look_at(links, records, walker, look, wanted)


@njit(cache=True, nogil=True, error_model="numpy")
def sample(links, records, walker, look, take, loops, truth, totals):
    """Estimate the expected cracks, `loops` loops apart; return the steps and the broken loops.

    totals: (draws,) written. Each draw looks at `take` consecutive classes of the order from a
    random one on. It adds their difference from the baseline, times the number of such runs of
    classes, to the baseline of all classes: the mean is right for any baseline.
    """
    count = len(look.order)
    base = 0.0
    if take < count:
        for wanted in look.order:
            base += look.baseline[wanted]
    steps, broken = np.int64(0), 0
    for draw in range(len(totals)):
        made, failed = move_often(links, records, walker, loops, False, truth)
        steps += made
        broken += failed
        open_look(links, records, walker, look)
        begin = 0 if take == count else draw_below(walker.random, count)
        total = 0.0
        for place in range(begin, begin + take):
            wanted = look.order[place % count]
            total += look_at(links, records, walker, look, wanted)
            if take < count:
                total -= look.baseline[wanted]
        totals[draw] = base + total * (count / take)
    return steps, broken
