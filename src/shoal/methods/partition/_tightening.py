# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: prices of a few records, and the groups that may be in a better grouping.

Prices are such that no group costs less than its records: their sum is a lower bound, and a group
whose cost exceeds its records' prices by the gap between that bound and the best known grouping is
in no better one. Equal records, a kind, have equal prices.

    near_prices, raise_prices    prices that no group undercuts
    list_groups                  the groups within the gap
    tighten, settle_prices       better prices, relative to the listed groups only

`tighten` solves the linear relaxation by subgradient steps on L(π) = Σ over records of π plus the
least share, among the groups with that record, of a group's cost beyond its records' prices; its
maximum is the value of the linear program. Every π gives prices that no group undercuts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.methods.partition._boxes import add_record, box_width, empty_box
from shoal.methods.partition._pricing import enumerate_groups
from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def share_out(listed, count, prices, share, by):
    """Store the least share of each kind, and its group.

    listed: Listed, of which the first `count` are used. prices: (kinds,) price of a record.
    share: (kinds,) receives the least excess per record among the groups with the kind.
    by: (kinds,) receives the group, −1 if no group has the kind.
    """
    for p in range(len(prices)):
        share[p] = np.inf
        by[p] = -1
    for c in range(count):
        size = listed.size[c]
        excess = float(listed.cost[c])
        for i in range(size):
            excess -= prices[listed.kinds[c, i]]
        excess /= size
        for i in range(size):
            p = listed.kinds[c, i]
            if excess < share[p]:
                share[p] = excess
                by[p] = c


@njit(cache=True, error_model="numpy")
def keep_cheap(listed, count, prices, limit):
    """Keep the groups that cost less than the limit beyond their records' prices.

    Returns their number. Invariant: listed[:kept] are the groups to keep among the first c.
    """
    kept = 0
    for c in range(count):
        excess = float(listed.cost[c])
        for i in range(listed.size[c]):
            excess -= prices[listed.kinds[c, i]]
        if excess < limit:
            if kept < c:
                for i in range(listed.size[c]):
                    listed.kinds[kept, i] = listed.kinds[c, i]
                listed.size[kept] = listed.size[c]
                listed.cost[kept] = listed.cost[c]
            kept += 1
    return kept


@njit(cache=True, error_model="numpy", allocates=True)
def tighten(listed, count, copies, upper, prices, work, steps, whole):
    """Improve prices that no listed group undercuts; return the number of remaining groups.

    whole: all groups of groupings below upper are listed, so groups that turn out to be in none are
        dropped; no group remains if there is no such grouping.
    copies: (kinds,) records of each kind. upper: loss of the best known grouping.
    prices: (kinds,) improved in place. work: (4, kinds) scratch, by row: the prices to try, the
        shares of `share_out`, the direction of the step (with momentum), the subgradient.
    Invariant: no listed group undercuts `prices`, and `bound` is their sum over all records, the
    best lower bound so far.
    """
    trial, share, direction, slope = work[0], work[1], work[2], work[3]
    by = np.zeros(len(copies), dtype=np.int64)
    bound = 0.0
    for p in range(len(copies)):
        trial[p] = prices[p]
        direction[p] = 0.0
        bound += copies[p] * prices[p]
    pace, stale = 1.0, 0
    for step in range(steps):
        if whole and step % 8 == 7:
            count = keep_cheap(listed, count, prices, upper - bound)
        share_out(listed, count, trial, share, by)
        value = 0.0
        for p in range(len(copies)):
            if by[p] < 0:
                return 0
            value += copies[p] * (trial[p] + share[p])
            slope[p] = copies[p]
        if value > bound:
            if value - bound > 0.01 * (upper - bound):
                stale = 0
            bound = value
            for p in range(len(copies)):
                prices[p] = trial[p] + share[p]
        else:
            stale += 1
        if bound > upper - 0.5:
            # losses are whole units, so no better grouping is left
            return 0
        if stale >= 4:
            stale = 0
            # no progress for a while: shorter steps
            pace *= 0.6
        norm = 0.0
        for p in range(len(copies)):
            c = by[p]
            # the subgradient: how often each kind is wanted, less how often its groups provide it
            for i in range(listed.size[c]):
                slope[listed.kinds[c, i]] -= copies[p] / listed.size[c]
        for p in range(len(copies)):
            # with momentum, which damps the zigzag of subgradient steps
            direction[p] = slope[p] / copies[p] + 0.7 * direction[p]
            norm += direction[p] * direction[p] * copies[p]
        if norm < 1e-12:
            break
        # Polyak's step length: as far as the gap to the known loss suggests
        far = pace * (upper - value) / norm
        for p in range(len(copies)):
            trial[p] += far * direction[p]
    return keep_cheap(listed, count, prices, upper - bound) if whole else count


@njit(cache=True, error_model="numpy")
def settle_prices(listed, count, prices, whole):
    """Round prices down to whole units that no listed group undercuts.

    prices: (kinds,); whole: (kinds,) receives the result.
    Invariant: none of the groups before c undercuts the rounded prices.
    """
    for p in range(len(prices)):
        whole[p] = np.int64(np.floor(prices[p]))
    for c in range(count):
        excess = listed.cost[c]
        for i in range(listed.size[c]):
            excess -= whole[listed.kinds[c, i]]
        if excess < 0:
            # `excess` is negative: the price falls
            whole[listed.kinds[c, 0]] += excess


FREE = 1e15  # above any cost


class Listed(NamedTuple):
    """Groups found so far.

    kinds: (room, most records) the kind of each record, in the first `size` entries of a row.
    size: (room,) number of records. cost: (room,) in units.
    """

    kinds: Any
    size: Any
    cost: Any


@njit(cache=True, error_model="numpy")
def near_prices(points, k, box, duals, least):
    """Price each record at the distance of its (k − 1)th neighbour: no group of k is narrower.

    box: Boxes with one box, scratch. duals: (records,) receives the prices.
    least: (k,) scratch: the k least distances from record i, its own 0 included, ascending.
    """
    for i in range(len(duals)):
        least[:] = FREE
        for j in range(len(duals)):
            empty_box(box, 0)
            add_record(points, box, 0, i)
            add_record(points, box, 0, j)
            width, at = float(box_width(points, box, 0)), k - 1
            if width >= least[at]:
                continue
            while at > 0 and least[at - 1] > width:
                least[at] = least[at - 1]
                at -= 1
            least[at] = width
        duals[i] = least[k - 1]


@njit(cache=True, error_model="numpy")
def raise_prices(space, duals, cuts, k, copies, nodes, scratch, ring, groups, costs):
    """Raise the price of one kind after the other by the least excess cost of its groups.

    duals: (records,) the prices, raised in place; copies: (kinds,) records of each kind, adjacent.
    nodes: number of partial groups that may be visited. scratch: that of `enumerate_groups`.
    ring: (records,) scratch: the records in order, from the first of the kind on.
    groups, costs: (room, 2k − 1) and (room,) scratch for the groups found.
    Returns the number of unused nodes, 0 if they did not suffice.
    Invariant: no group costs less than its records' prices; `begin` is the first record of kind.
    """
    count = len(duals)
    begin = 0
    for kind in range(len(copies)):
        # the records from this kind on: each group is found from its first record of the kind
        for i in range(count):
            ring[i] = (begin + i) % count
        least = FREE
        for size in range(k, min(2 * k, count + 1)):
            found, used, whole = enumerate_groups(
                space, duals, cuts, ring, (0, 1), size, least, len(costs), nodes, scratch,
                groups[:, :size], costs,
            )  # fmt: skip
            nodes -= used
            if whole < 1 or found == len(costs) or nodes <= 0:
                return 0
            if found:
                least = costs[found - 1]
        if least > 0.0:
            # each record of the kind in a group contributes to the excess
            least = np.floor(least / min(copies[kind], 2 * k - 1))
        for i in range(begin, begin + copies[kind]):
            duals[i] += least
        begin += copies[kind]
    return nodes


@njit(cache=True, error_model="numpy")
def list_groups(space, duals, cuts, order, k, limit, nodes, scratch, groups, costs, listed):
    """List the groups that cost less than the limit beyond their records' prices.

    duals: (records,) prices. order: (records,) the records in the order of the search.
    groups: (room, 2k − 1), costs: (room,) scratch. listed: receives the groups.
    Returns their number, −1 if room or nodes did not suffice, and the number of unused nodes.
    Invariant: listed[:count] are all such groups of fewer than `size` records.
    """
    count = 0
    for size in range(k, min(2 * k, len(order) + 1)):
        found, used, whole = enumerate_groups(
            space, duals, cuts, order, (0, len(order)), size, limit, 0, nodes, scratch,
            groups[: len(costs) - count, :size], costs[count:],
        )  # fmt: skip
        nodes -= used
        if whole < len(order):
            # room or nodes ran out
            return -1, max(nodes, 0)
        for row in range(found):
            price = 0.0
            for i in range(size):
                record = groups[row, i]
                listed.kinds[count, i] = space.copy[record]
                price += duals[record]
            listed.size[count] = size
            listed.cost[count] = np.int64(costs[count] + price)
            count += 1
    return count, nodes
