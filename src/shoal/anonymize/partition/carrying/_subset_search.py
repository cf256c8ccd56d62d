# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: prices of a few records, and the groups that may be in a better grouping.

Prices are such that no group costs less than its records: their sum is a lower bound, and a group
whose cost exceeds its records' prices by the gap between that bound and the best known grouping is
in no better one. Equal records, a kind, have equal prices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.anonymize.partition._boxes import add_record, box_width, empty_box
from shoal.anonymize.partition.exact._pricing import enumerate_groups
from shoal.support.compiling import njit

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
