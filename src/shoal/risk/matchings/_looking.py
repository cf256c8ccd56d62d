# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: estimates of the cracks from a matching and all matchings one swap away."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.risk.matchings._worm import class_of, edge_of, move_often
from shoal.support._random import draw_below
from shoal.support.compiling import njit

TRIES = 2  # slots of a class that a look goes through


class Look(NamedTuple):
    """Estimates from the matchings, and scratch arrays.

    order: classes in the order in which they are looked at.
    baseline: (classes,) a guess of the cracks of each class.
    cracks: (records,) the sum of the crack probabilities seen.
    seen: (classes,) how often each class was looked at.
    slot_type, share: (slots,) the type of each slot's record, one over the mass of its edge.
    of_type: (types,) the mass of the class in hand, 0 between classes.
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
    """Note, slot by slot, who is there."""
    for slot in range(len(walker.owner)):
        owner = walker.owner[slot]
        look.slot_type[slot] = records.type[owner]
        look.share[slot] = 1.0 / links.mass[walker.edge[owner]]


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_row(mass, of_type, slot_type, share):
    """Return the weight of all swaps where slots are classes, and all are possible."""
    one, two, three, four = 0.0, 0.0, 0.0, 0.0  # sums side by side: additions need not wait
    whole = len(mass) // 4 * 4
    for c in range(0, whole, 4):
        one += mass[c] * of_type[slot_type[c]] * share[c]
        two += mass[c + 1] * of_type[slot_type[c + 1]] * share[c + 1]
        three += mass[c + 2] * of_type[slot_type[c + 2]] * share[c + 2]
        four += mass[c + 3] * of_type[slot_type[c + 3]] * share[c + 3]
    for c in range(whole, len(mass)):
        one += mass[c] * of_type[slot_type[c]] * share[c]
    return (one + two) + (three + four)


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_swaps(links, records, look, row):
    """Return the weight of all swaps of a record of the type out of the class in hand."""
    start, stop = links.indptr[row], links.indptr[row + 1]
    if len(links.classes) == 0 and len(look.share) == stop - start:  # a slot for each class
        return weigh_row(links.mass[start:stop], look.of_type, look.slot_type, look.share)
    total = 0.0
    for edge in range(start, stop):
        found = class_of(links, row, edge)
        inside = 0.0
        for slot in range(records.first[found], records.first[found + 1]):
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
            rest = swaps - 2 * own + mine * look.of_type[row] / links.mass[edge]
        total += own / (own + max(rest, 0.0))
    return total / tries


@njit(cache=True, nogil=True, error_model="numpy")
def spread(links, of_type, wanted, factor):
    """Write the masses of a class, type by type, or zeros again."""
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
    """Return the expected cracks of the records whose true class this is."""
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
        found = crack(links, records, walker, look, record, wanted, swaps)
        look.cracks[record] += found
        total += found
    spread(links, look.of_type, wanted, 0.0)
    look.seen[wanted] += 1
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def look_around(links, records, walker, look, take, loops, truth):
    """Look at every class once, so many at a time, and let what is seen be the baseline."""
    for place in range(len(look.order)):
        if place % take == 0:
            move_often(links, records, walker, loops, False, truth)
            open_look(links, records, walker, look)
        wanted = look.order[place]
        look.baseline[wanted] = look_at(links, records, walker, look, wanted)


@njit(cache=True, nogil=True, error_model="numpy")
def sample(links, records, walker, look, take, loops, truth, totals):
    """Fill `totals` with estimates of the expected cracks, loops apart; return steps and breaks.

    Each looks at `take` classes, a stretch of the order that begins anywhere, and adds what they
    differ from the baseline, as many times over as there are such stretches.
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
