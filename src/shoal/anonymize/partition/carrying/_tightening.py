# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: better prices of records, relative to the listed groups only.

The linear relaxation is solved by subgradient steps on L(π) = Σ over records of π plus the least
share, among the groups with that record, of a group's cost beyond its records' prices; its maximum
is the value of the linear program. Every π gives prices that no group undercuts.
"""

from __future__ import annotations

import numpy as np

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
            return 0
        if stale >= 4:
            stale = 0
            pace *= 0.6
        norm = 0.0
        for p in range(len(copies)):
            c = by[p]
            for i in range(listed.size[c]):
                slope[listed.kinds[c, i]] -= copies[p] / listed.size[c]
        for p in range(len(copies)):
            direction[p] = slope[p] / copies[p] + 0.7 * direction[p]
            norm += direction[p] * direction[p] * copies[p]
        if norm < 1e-12:
            break
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
            whole[listed.kinds[c, 0]] += excess
