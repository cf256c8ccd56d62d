# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: all groups of one size with a low reduced cost for given duals, by depth-first search.

The reduced cost of a group is size × width − its records' duals + penalties of cuts. All duals are
multiples of 2**-16 of the records' units: their sums as floats are exact, and so is every reduced
cost, whatever the tolerance of the linear program was.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.compiling import njit

ROUNDING = 1e-3  # of a bound, in units: generous, and less than any difference that matters


class Space(NamedTuple):
    """Records laid out for the search.

    line: (ordered columns, records) positions. cap: (ordered columns,) the most a column costs.
    name: (nominal columns, records) places of codes in one list of all codes. unit: (nominal
    columns,) the cost of each value beyond the first. codes: (1,) length of that list.
    copy: (records,) equal numbers for equal records, of which only one choice is listed.
    """

    line: Any
    cap: Any
    name: Any
    unit: Any
    codes: Any
    copy: Any


class Cuts(NamedTuple):
    """Penalties: cut c costs `price[c]` for each `step[c]` that a group's weights in it sum to.

    start, cut, weight: the cuts of record r and its weight there are at start[r]..start[r + 1].
    first, record, share: the records of cut c and their weights are at first[c]..first[c + 1].
    """

    price: Any
    step: Any
    start: Any
    cut: Any
    weight: Any
    first: Any
    record: Any
    share: Any


def make_space(line: Codes, cap: Counts, name: Codes, unit: Counts, copy: Codes) -> Space:
    """Lay out records given row by row: (records, ordered columns), (records, nominal columns)."""
    name = np.ascontiguousarray(name, dtype=np.int32)
    domains = name.max(axis=0) + 1 if len(name) else np.ones(name.shape[1])
    places = np.concatenate(([0], np.cumsum(domains))).astype(np.int32)
    return Space(
        np.ascontiguousarray(line.T, dtype=np.int32),
        np.asarray(cap, dtype=np.int32),
        np.ascontiguousarray((name + places[:-1]).T, dtype=np.int32),
        np.asarray(unit, dtype=np.int32),
        places[-1:].astype(np.int64),
        np.asarray(copy, dtype=np.int32),
    )


def make_cuts(
    records: int,
    shares: list[tuple[Codes, Codes]] | None = None,
    steps: list[int] | None = None,
    prices: Floats | None = None,
) -> Cuts:
    """Lay out cuts, each given as its records and their weights, with its step and its price."""
    shares, steps = shares or [], steps or []
    empty = np.zeros(0, dtype=np.int32)
    sizes = [len(members) for members, _ in shares]
    record = np.concatenate([members for members, _ in shares] or [empty]).astype(np.int32)
    share = np.concatenate([weights for _, weights in shares] or [empty]).astype(np.int32)
    cut = np.repeat(np.arange(len(shares), dtype=np.int32), sizes)
    by_record = np.argsort(record, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(record, minlength=records))))
    return Cuts(
        np.asarray(prices if prices is not None else empty, dtype=np.float64),
        np.asarray(steps, dtype=np.int32),
        starts.astype(np.int32),
        cut[by_record],
        share[by_record],
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        record,
        share,
    )


class Scratch(NamedTuple):
    """Working memory of the search; a row of depth d belongs to a group of d records.

    place: (depths, ordered columns, records) positions of the candidates of a depth.
    dual: (depths, records) their duals. candidate: (depths, records) the candidates themselves.
    low, high: (depths, ordered columns) the box of the group.
    kinds: (depths, nominal columns) number of values of the group.
    width: (depths,) its width. base: (depths,) its penalties minus its duals.
    count: (depths,) number of candidates. at: (depths,) the next candidate to add.
    group: (depths,) the records of the group, in order.
    growth, bound: (records,) of each candidate of the current depth: growth of the width, and lower
        bound of what it adds to the reduced cost.
    least: (2, depths) the least bounds, and the least negative duals, ascending.
    seen: (codes,) records of the group with each nominal value.
    filled: (cuts,) weights of the group in each cut.
    penalty: (records,) what each record would add in penalties to the current group.
    """

    place: Any
    dual: Any
    candidate: Any
    low: Any
    high: Any
    kinds: Any
    width: Any
    base: Any
    count: Any
    at: Any
    group: Any
    growth: Any
    bound: Any
    least: Any
    seen: Any
    filled: Any
    penalty: Any


def make_scratch(space: Space, cuts: Cuts, size: int) -> Scratch:
    """Allocate the working memory for groups of up to `size` records."""
    columns, records = space.line.shape
    depths, whole = size + 1, np.int32
    return Scratch(
        np.zeros((depths, columns, records), whole),
        np.zeros((depths, records)),
        np.zeros((depths, records), whole),
        np.zeros((depths, columns), whole),
        np.zeros((depths, columns), whole),
        np.zeros((depths, len(space.unit)), whole),
        np.zeros(depths),
        np.zeros(depths),
        np.zeros(depths, np.int64),
        np.zeros(depths, np.int64),
        np.zeros(depths, whole),
        np.zeros(records, whole),
        np.zeros(records),
        np.zeros((2, depths)),
        np.zeros(int(space.codes[0]) + 1, whole),
        np.zeros(len(cuts.step) + 1, whole),
        np.zeros(records),
    )


@njit(cache=True, error_model="numpy")
def _enter(record, sign, space, cuts, scratch):
    """Add a record to seen, filled and penalty (sign 1), or remove it (sign −1).

    Invariant: these three arrays are always those of the records in group[:depth].
    """
    for j in range(space.name.shape[0]):
        scratch.seen[space.name[j, record]] += sign
    for i in range(cuts.start[record], cuts.start[record + 1]):
        c = cuts.cut[i]
        step = cuts.step[c]
        before = scratch.filled[c]
        after = before + sign * cuts.weight[i]
        scratch.filled[c] = after
        before, after = before % step, after % step
        for e in range(cuts.first[c], cuts.first[c + 1]):
            share = cuts.share[e]
            # crossing a multiple of the step is what a cut charges for
            change = (after + share) // step - (before + share) // step
            scratch.penalty[cuts.record[e]] += change * cuts.price[c]


@njit(cache=True, error_model="numpy")
def _grow_box(depth, record, space, scratch):
    """Write the box of the next depth, with one more record, and return its width."""
    width = np.int64(0)
    for j in range(space.line.shape[0]):
        place = space.line[j, record]
        low = min(scratch.low[depth, j], place)
        high = max(scratch.high[depth, j], place)
        scratch.low[depth + 1, j] = low
        scratch.high[depth + 1, j] = high
        width += min(high - low, space.cap[j])
    for j in range(space.name.shape[0]):
        kinds = scratch.kinds[depth, j]
        if scratch.seen[space.name[j, record]] == 0:
            kinds += 1
        scratch.kinds[depth + 1, j] = kinds
        width += space.unit[j] * (kinds - 1)
    return width


@njit(cache=True, error_model="numpy")
def _measure(depth, low, high, space, scratch):
    """Write how much the box at this depth would grow by each candidate of the depth before.

    Writes scratch.growth[low:high], by index in the candidates of the depth before.
    """
    growth = scratch.growth
    for t in range(low, high):
        growth[t] = 0
    known = np.int32(0)
    for j in range(space.line.shape[0]):
        least, most, cap = scratch.low[depth, j], scratch.high[depth, j], space.cap[j]
        known += min(most - least, cap)
        positions = scratch.place[depth - 1, j]
        for t in range(low, high):
            position = positions[t]
            growth[t] += min(max(most, position) - min(least, position), cap)
    for t in range(low, high):
        growth[t] -= known
    for j in range(space.name.shape[0]):
        unit = space.unit[j]
        for t in range(low, high):
            if scratch.seen[space.name[j, scratch.candidate[depth - 1, t]]] == 0:
                growth[t] += unit


@njit(cache=True, error_model="numpy")
def _keep_least(least, size, value):
    """Insert a value into an ascending list of the `size` least values so far."""
    if value < least[size - 1]:
        at = size - 1
        while at > 0 and least[at - 1] > value:
            least[at] = least[at - 1]
            at -= 1
        least[at] = value


@njit(cache=True, error_model="numpy")
def _choose(depth, low, high, size, threshold, space, scratch):
    """List the candidates with which the group at this depth can still cost less than threshold.

    A group grows at least by the growth of any further record, and so at least by their mean: with
    q records to come, each adds (size × growth + penalty) / q − dual, and the q least such sums are
    a lower bound of the remaining cost, up to rounding, which is far below ROUNDING.
    """
    want = size - depth
    scratch.count[depth] = 0
    scratch.at[depth] = 0
    if high - low < want:
        return
    _measure(depth, low, high, space, scratch)
    bound, growth, penalty = scratch.bound, scratch.growth, scratch.penalty
    candidate, dual = scratch.candidate[depth - 1], scratch.dual[depth - 1]
    # each of the records to come carries its part of the growth
    share = 1.0 / want
    least, best = scratch.least[0], scratch.least[1]
    for t in range(want):
        least[t] = np.inf
        best[t] = np.inf
    for t in range(low, high):
        value = (size * growth[t] + penalty[candidate[t]]) * share - dual[t]
        bound[t] = value
        _keep_least(least, want, value)
        _keep_least(best, want, -dual[t])
    so_far = size * scratch.width[depth] + scratch.base[depth]
    others, duals = so_far, so_far
    for t in range(want - 1):
        others += least[t]
        duals += best[t]
    # even the cheapest completion costs too much
    if others + least[want - 1] >= threshold + ROUNDING:
        return
    kept = 0
    for t in range(low, high):
        alone = size * growth[t] + penalty[candidate[t]] - dual[t]
        if others + bound[t] < threshold + ROUNDING and duals + alone < threshold + ROUNDING:
            scratch.candidate[depth, kept] = candidate[t]
            scratch.dual[depth, kept] = dual[t]
            # in place: entry `kept` of this depth is written, entry `t` of the depth before is read
            for j in range(space.line.shape[0]):
                scratch.place[depth, j, kept] = scratch.place[depth - 1, j, t]
            kept += 1
    if kept >= want:
        scratch.count[depth] = kept


@njit(cache=True, error_model="numpy")
def _plant(root, order, duals, space, cuts, scratch):
    """Begin a search at a root: the records after it in the order are its candidates.

    Writes rows 0 (candidates) and 1 (group of one record) of the scratch; returns the number of
    candidates.
    """
    first = order[root]
    scratch.group[0] = first
    for j in range(space.line.shape[0]):
        scratch.low[1, j] = scratch.high[1, j] = space.line[j, first]
    for j in range(space.name.shape[0]):
        scratch.kinds[1, j] = 1
    scratch.width[1] = 0.0
    scratch.base[1] = scratch.penalty[first] - duals[first]
    _enter(first, 1, space, cuts, scratch)
    many = len(order) - root - 1
    for t in range(many):
        record = order[root + 1 + t]
        scratch.candidate[0, t] = record
        scratch.dual[0, t] = duals[record]
        for j in range(space.line.shape[0]):
            scratch.place[0, j, t] = space.line[j, record]
    return many


@njit(cache=True, error_model="numpy")
def enumerate_groups(
    space, duals, cuts, order, roots, size, threshold, each, most_nodes, scratch, groups, costs
):
    """List groups of exactly `size` ≥ 2 records with a reduced cost below the threshold.

    duals: (records,) multiples of 2**-16, equal for equal records, as are the prices of cuts.
    order: (records searched,) the records that may be used; equal ones are adjacent. A group is
        found from its first record in this order, its root; descending duals are fastest.
    roots: (2,) only roots order[roots[0]:roots[1]] are searched; all of them: 0, len(order).
    each: 0 lists everything; otherwise every further group of a root must beat its last one, and
        at most `each` are listed, the last of which is the root's best unless `each` are.
    most_nodes: largest number of partial groups to visit.
    groups, costs: (room, size) int32 and (room,) float64, filled from the start.
    Returns the numbers of groups found, nodes visited, and roots searched completely: all requested
    roots, unless room or nodes ran out; groups of an unfinished root do not count.
    Invariant of the inner loop: group[:depth] is the partial group, whose box, width and base are
    in row `depth` of the scratch; candidates from at[d] on are still to be tried at every depth d,
    and seen, filled and penalty are those of group[:depth].
    """
    found, nodes = 0, 0
    for root in range(roots[0], roots[1]):
        if root > 0 and space.copy[order[root]] == space.copy[order[root - 1]]:
            # its copy found the same groups
            continue
        begun, limit = found, threshold
        many = _plant(root, order, duals, space, cuts, scratch)
        depth = 1
        _choose(depth, 0, many, size, limit, space, scratch)
        while depth > 0:
            want = size - depth
            if scratch.count[depth] - scratch.at[depth] < want:
                depth -= 1
                _enter(scratch.group[depth], -1, space, cuts, scratch)
                continue
            t = scratch.at[depth]
            scratch.at[depth] += 1
            record = scratch.candidate[depth, t]
            # of equal records the first is added first, so each group is met once
            if t > 0 and space.copy[scratch.candidate[depth, t - 1]] == space.copy[record]:
                continue
            width = _grow_box(depth, record, space, scratch)
            base = scratch.base[depth] + scratch.penalty[record] - duals[record]
            scratch.group[depth] = record
            if want > 1:
                nodes += 1
                _enter(record, 1, space, cuts, scratch)
                depth += 1
                scratch.width[depth] = width
                scratch.base[depth] = base
                _choose(depth, t + 1, scratch.count[depth - 1], size, limit, space, scratch)
            elif size * width + base < limit:
                for i in range(size):
                    groups[found, i] = scratch.group[i]
                costs[found] = size * width + base
                if each > 0:
                    limit = costs[found]
                found += 1
            full = found == len(costs) or nodes > most_nodes
            # unwind: seen, filled and penalty are left empty
            if full or (each > 0 and found - begun >= each):
                while depth > 0:
                    depth -= 1
                    _enter(scratch.group[depth], -1, space, cuts, scratch)
            if full:
                return begun, nodes, root - roots[0]
    return found, nodes, roots[1] - roots[0]
