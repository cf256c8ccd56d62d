# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: rules about the sensitive values of a group, checked while records move.

They express the privacy models in a form that can be checked a million times per second; the models
themselves check the release.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit

DISTINCT, ENTROPY, RECURSIVE, SHARES, CLOSE, CLOSE_ORDERED, PEOPLE = range(7)


class Rules(NamedTuple):
    """Rules about the values of a group, all of which must hold.

    kind: (rules,). bound, rank: (rules,) the parameters of each.
    column: (rules,) the value column of each; CLOSE uses `rank` consecutive ones, the levels of a
        hierarchy, and takes their mean. PEOPLE uses a column of person numbers, which has no
        values in the arrays below.
    counted: (rules,) values 0 … counted − 1 count for a rule of diversity. A missing value has the
        last code, so it can be excluded.
    start: (columns + 1,) start of the values of each column in the next three arrays.
    least, most: (rules, values) the shares between which each value must lie.
    reference: (values,) the share of each value in the whole table.
    value: (records, columns) codes.
    """

    kind: Any
    bound: Any
    rank: Any
    column: Any
    counted: Any
    start: Any
    least: Any
    most: Any
    reference: Any
    value: Any


@njit(cache=True, nogil=True, error_model="numpy")
def keeps(rules, members, size, out, into, count):
    """Return whether a group meets all rules if `out` leaves and `into` enters; −1 is no record.

    members: (size or more,) the records of the group. count: (values of the widest column,)
    scratch, which `tally` fills for one column.
    """
    for rule in range(len(rules.kind)):
        kind, column = rules.kind[rule], rules.column[rule]
        if kind == PEOPLE:
            if count_people(rules, members, size, out, into, column) < rules.bound[rule]:
                return False
        elif kind == CLOSE:
            moved = 0.0
            for level in range(rules.rank[rule]):
                total = tally(rules, members, size, out, into, column + level, count)
                moved += surplus(rules, column + level, count, total)
            if moved > rules.bound[rule] * rules.rank[rule]:
                return False
        else:
            total = tally(rules, members, size, out, into, column, count)
            if not rule_holds(rules, rule, count, total):
                return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def count_people(rules, members, size, out, into, column):
    """Return the number of people of a group; compares all pairs, as groups are small.

    Invariant: `people` counts the different numbers among members 0 … i − 1, without `out`.
    """
    people = np.int64(0)
    entering = np.int32(-1) if into < 0 else rules.value[into, column]
    for i in range(size):
        if members[i] == out:
            continue
        person = rules.value[members[i], column]
        fresh = person != entering
        for j in range(i):
            if members[j] != out and rules.value[members[j], column] == person:
                fresh = False
                break
        people += fresh
    return people + (into >= 0)


@njit(cache=True, nogil=True, error_model="numpy")
def tally(rules, members, size, out, into, column, count):
    """Count the values of a group in one column; returns its size.

    count: receives the number of records with each value; entries beyond the column's values are
    left as they are.
    """
    for v in range(rules.start[column + 1] - rules.start[column]):
        count[v] = 0
    total = np.int64(0)
    for i in range(size):
        if members[i] != out:
            count[rules.value[members[i], column]] += 1
            total += 1
    if into >= 0:
        count[rules.value[into, column]] += 1
        total += 1
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def surplus(rules, column, count, total):
    """Return the sum of the surpluses of values that are more frequent than in the table.

    count: (values,) records of the group with each value of the column; total: their sum.
    """
    first = rules.start[column]
    moved = 0.0
    for v in range(rules.start[column + 1] - first):
        moved += max(count[v] / total - rules.reference[first + v], 0.0)
    return moved


@njit(cache=True, nogil=True, error_model="numpy")
def rule_holds(rules, rule, count, total):
    """Return whether counts of values meet a rule about one column.

    count: (values,) records of the group with each value of the column; total: their sum.
    Invariant: `found` is the measure of the rule over values 0 … v − 1, and `below` the difference
    between their shares in the group and in the table.
    """
    kind, bound = rules.kind[rule], rules.bound[rule]
    first = rules.start[rules.column[rule]]
    values = rules.start[rules.column[rule] + 1] - first
    if rules.counted[rule] < values:
        # missing values come last and do not count
        for v in range(rules.counted[rule], values):
            total -= count[v]
        values = rules.counted[rule]
    if kind == RECURSIVE:
        return first_against_rest(count, values, rules.rank[rule]) < bound
    found, below = 0.0, 0.0
    for v in range(values):
        share = count[v] / total
        if kind == SHARES:
            if share < rules.least[rule, first + v] or share > rules.most[rule, first + v]:
                return False
        elif kind == CLOSE_ORDERED:
            below += share - rules.reference[first + v]
            found += abs(below)
        elif count[v] > 0:
            found += 1.0 if kind == DISTINCT else -share * np.log(share)
    if kind == CLOSE_ORDERED:
        return found <= bound * max(rules.rank[rule], 1)
    return kind == SHARES or found >= bound


@njit(cache=True, nogil=True, error_model="numpy")
def first_against_rest(count, values, rank):
    """Return the greatest count divided by the sum of the counts from the rank-th greatest on.

    Invariant: `rest` is the total without the `taken` greatest counts, which are those of at least
    `ceiling`.
    """
    total, greatest = np.int64(0), np.int64(0)
    for v in range(values):
        total += count[v]
        greatest = max(greatest, count[v])
    rest, ceiling, taken = total, greatest + 1, np.int64(0)
    while taken < rank - 1:
        # the greatest count below the ceiling, and how many values have it
        best, times = np.int64(0), np.int64(0)
        for v in range(values):
            if best < count[v] < ceiling:
                best, times = count[v], np.int64(1)
            elif count[v] == best:
                times += 1
        if best == 0:
            return np.inf
        times = min(times, rank - 1 - taken)
        rest -= best * times
        taken += times
        ceiling = best
    return greatest / rest if rest > 0 else np.inf
