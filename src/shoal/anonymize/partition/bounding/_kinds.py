# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: distinct records as points, how far two of them are apart, and how far k of them are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit


class Kinds(NamedTuple):
    """Distinct records, called kinds, in the layout of the kernels; widths are whole units.

    count: (kinds,) records of each kind.
    line: (kinds, ordered columns) positions. cap: (ordered columns,) the most a column costs.
    name: (kinds, nominal columns) places of the values in one list of all nominal values.
    unit: (nominal columns,) the width of each value beyond the first, in descending order.
    leaf: (kinds, trees) codes of the columns that are published by labels of a hierarchy.
    first, domain, levels: (trees,) the branch of code c at level v of tree j, and the width of that
        branch, are at first[j] + v × domain[j] + c of the two lists that follow.
    branch, cost: all branches and their widths, which never decrease from a level to the next.
    values: (1,) length of the list of all nominal values.
    """

    count: Any
    line: Any
    cap: Any
    name: Any
    unit: Any
    leaf: Any
    first: Any
    domain: Any
    levels: Any
    branch: Any
    cost: Any
    values: Any


@njit(cache=True, error_model="numpy")
def joint_branch(kinds, tree, one, other):
    """Return the width of the lowest label that covers the values of two kinds."""
    first, domain = kinds.first[tree], kinds.domain[tree]
    one_code, other_code = kinds.leaf[one, tree], kinds.leaf[other, tree]
    for level in range(kinds.levels[tree]):
        at = first + level * domain
        if kinds.branch[at + one_code] == kinds.branch[at + other_code]:
            return kinds.cost[at + one_code]
    return np.int64(0)


@njit(cache=True, error_model="numpy")
def flat_width(name, unit, line, cap, one, other, limit):
    """Return the width of two kinds in nominal and ordered columns, or a number above the limit.

    Takes arrays, not `Kinds`: it runs for every pair, and passing so many arrays takes longer than
    the sum. The nominal columns with the widest values come first, so that most sums end early.
    """
    total = np.int64(0)
    for j in range(len(unit)):
        if name[one, j] != name[other, j]:
            total += unit[j]
            if total > limit:
                return total
    for j in range(len(cap)):
        apart = np.int64(line[one, j]) - line[other, j]
        total += min(abs(apart), cap[j])
    return total


@njit(cache=True, error_model="numpy")
def fill_neighbour_widths(kinds, k, begin, end, nearest, held, widths):
    """Store, for each kind in begin:end, the least width of a pair that k records force.

    A class with a record of this kind has k − 1 others, so it is at least as wide as the pair with
    the (k − 1)-th nearest of them.
    nearest, held: (k,) scratch: widths of the nearest kinds, ascending, and their records.
    Invariant: the first `known` entries are the nearest kinds so far, and all but the last of them
    have fewer than `want` records together.
    """
    name, unit, line, cap = kinds.name, kinds.unit, kinds.line, kinds.cap
    for kind in range(begin, end):
        want = k - kinds.count[kind]
        widths[kind] = 0
        if want <= 0:
            continue
        known = 0
        limit = np.int64(2) ** 62
        for other in range(len(kinds.count)):
            if other == kind:
                continue
            width = flat_width(name, unit, line, cap, kind, other, limit)
            if width >= limit:
                continue
            for j in range(kinds.leaf.shape[1]):
                width += joint_branch(kinds, j, kind, other)
            if width >= limit:
                continue
            at = known
            while at > 0 and nearest[at - 1] > width:
                nearest[at] = nearest[at - 1]
                held[at] = held[at - 1]
                at -= 1
            nearest[at] = width
            held[at] = kinds.count[other]
            known += 1
            total = np.int64(0)
            for i in range(known):
                total += held[i]
                if total >= want:
                    known = i + 1
                    limit = nearest[i]
                    break
        widths[kind] = nearest[known - 1] if known > 0 else 0
