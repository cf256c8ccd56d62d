# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels that divide the events of each class of people, while any m of them fit k people.

Memory layout: the people of a class are consecutive. Person p holds the different events
`events[start[p] : start[p + 1]]`, each an index into `group` and `place`; these are its holdings.
`weight` is the number of rows of a holding; `alive` is 0 once it is left out. Events belong to one
class. All events of a class with the same `group` are published alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.anonymize.partition.cutting._nodes import sort_keys
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.compiling import njit

_CUTS = 8  # cuts tried in each column of a group


class Holdings(NamedTuple):
    """The events of all people; see above for the layout.

    place: (events, columns) where an event lies in each column. scale: (columns,) 1 / extent.
    kinds: (columns,) the kind (table) of events that has the column.
    """

    start: Counts
    events: Counts
    weight: Counts
    alive: npt.NDArray[np.uint8]
    group: Codes
    place: Floats
    scale: Floats
    kinds: Counts


class Scratch(NamedTuple):
    """Working arrays of one class.

    having: (groups,) people with each group, zero between calls. stamp: (groups,) the person who
    was counted last, −1 between calls. marked: (people,) false between calls.
    lists: (m + 1, people) for each depth the people who share the groups chosen so far; `sizes`:
    their numbers. opened: (m + 1, groups) groups to choose next; `opens`: their number; `turn`: the
    next of them; `last`: the latest chosen group. undo: holdings that the present cut left out.
    values: (holdings,) for sorting. cuts: (_CUTS,) places to cut.
    """

    having: Counts
    stamp: Counts
    marked: Bools
    lists: Counts
    sizes: Counts
    opened: Counts
    opens: Counts
    turn: Counts
    last: Counts
    undo: Counts
    values: Floats
    cuts: Floats


@njit(cache=True, nogil=True, error_model="numpy")
def find_holders(x, people, size, held, found):
    """Write those of some people who hold group x to `found`; return their number."""
    total = 0
    for i in range(size):
        p = people[i]
        for h in range(held.start[p], held.start[p + 1]):
            if held.alive[h] and held.group[held.events[h]] == x:
                found[total] = p
                total += 1
                break
    return total


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def count_groups(x, depth, k, deeper, held, work):
    """Count the groups that the people of a depth hold, and mark people with a rare one.

    Groups up to the latest chosen one are skipped, so that each combination is counted once.
    Returns the number of newly marked people.
    """
    people, last, marked = work.lists[depth], work.last[depth], 0
    for i in range(work.sizes[depth]):
        p = people[i]
        for h in range(held.start[p], held.start[p + 1]):
            y = held.group[held.events[h]]
            if held.alive[h] and y != x and y > last and work.stamp[y] != p:
                work.stamp[y] = p
                work.having[y] += 1
    opens = 0
    for i in range(work.sizes[depth]):
        p = people[i]
        for h in range(held.start[p], held.start[p + 1]):
            y = held.group[held.events[h]]
            if not held.alive[h] or y == x or y <= last:
                continue
            if work.having[y] < k and not work.marked[p]:
                work.marked[p] = True
                marked += 1
            if deeper and work.having[y] >= k and work.stamp[y] >= 0:
                work.opened[depth, opens] = y
                opens += 1
                work.stamp[y] = -1
    work.opens[depth], work.turn[depth] = opens, 0
    for i in range(work.sizes[depth]):
        p = people[i]
        for h in range(held.start[p], held.start[p + 1]):
            work.having[held.group[held.events[h]]] = 0
            work.stamp[held.group[held.events[h]]] = -1
    return marked


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def mark_rare(x, k, m, held, work):
    """Mark the people of lists[1] who hold x in a combination that fewer than k people have.

    Walks over all combinations of x and at most m − 1 other groups, depth first: at depth d, d
    groups are chosen and the next one is counted. Returns the number of marked people.
    """
    work.last[1] = -1
    marked = count_groups(x, 1, k, m > 2, held, work)
    depth = 1
    while depth > 0:
        if work.turn[depth] == work.opens[depth]:
            depth -= 1
            continue
        y = work.opened[depth, work.turn[depth]]
        work.turn[depth] += 1
        shared = find_holders(y, work.lists[depth], work.sizes[depth], held, work.lists[depth + 1])
        depth += 1
        work.sizes[depth], work.last[depth] = shared, y
        marked += count_groups(x, depth, k, depth + 1 < m, held, work)
    return marked


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def leave_out(x, people, size, k, m, allowed, done, held, work):
    """Leave out holdings of group x until k people have each of its combinations.

    A holding of x that is left out changes only combinations with x. The holdings are added to
    `undo` from `done` on. Returns the number of entries of `undo` and the rows left out, which
    exceed `allowed` if it gave up.
    """
    rows = 0
    while rows <= allowed:
        having = find_holders(x, people, size, held, work.lists[1])
        work.sizes[1] = having
        if having == 0:
            break
        if having < k:
            for i in range(having):
                work.marked[work.lists[1, i]] = True
        elif m == 1 or mark_rare(x, k, m, held, work) == 0:
            break
        for i in range(having):
            p = work.lists[1, i]
            if not work.marked[p]:
                continue
            work.marked[p] = False
            for h in range(held.start[p], held.start[p + 1]):
                if held.alive[h] and held.group[held.events[h]] == x:
                    held.alive[h] = 0
                    work.undo[done] = h
                    done += 1
                    rows += held.weight[h]
    return done, rows


@njit(cache=True, nogil=True, error_model="numpy")
def measure(x, kind, people, size, held):
    """Return the loss of a group: its rows times the sum of its extents."""
    rows, loss = 0, 0.0
    for c in range(len(held.scale)):
        if held.kinds[c] != kind:
            continue
        low, high = np.inf, -np.inf
        rows = 0
        for i in range(size):
            p = people[i]
            for h in range(held.start[p], held.start[p + 1]):
                if held.alive[h] and held.group[held.events[h]] == x:
                    at = held.place[held.events[h], c]
                    low, high = min(low, at), max(high, at)
                    rows += held.weight[h]
        if high > low:
            loss += (high - low) * held.scale[c]
    return loss * rows


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def list_cuts(x, c, people, size, held, work):
    """Write values of a column after which a group may be cut to `cuts`; return their number.

    They are quantiles of the holdings, so each side gets some.
    """
    total = 0
    for i in range(size):
        p = people[i]
        for h in range(held.start[p], held.start[p + 1]):
            if held.alive[h] and held.group[held.events[h]] == x:
                work.values[total] = held.place[held.events[h], c]
                total += 1
    sort_keys(work.values, 0, total)
    found = 0
    for i in range(1, _CUTS + 1):
        value = work.values[min(i * total // (_CUTS + 1), total - 1)]
        if value < work.values[total - 1] and (found == 0 or value > work.cuts[found - 1]):
            work.cuts[found] = value
            found += 1
    return found


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def try_cut(x, fresh, c, value, people, size, k, m, allowed, held, work):
    """Cut group x: events after a value of a column get the group `fresh`.

    Returns the number of entries of `undo`, and the rows left out, which exceed `allowed` if the
    cut is not possible.
    """
    for i in range(size):
        p = people[i]
        for h in range(held.start[p], held.start[p + 1]):
            if held.group[held.events[h]] == x and held.place[held.events[h], c] > value:
                held.group[held.events[h]] = fresh
    done, rows, before = 0, 0, -1
    while rows <= allowed and done != before:  # what one side loses, combinations with both lose
        before = done
        done, more = leave_out(x, people, size, k, m, allowed - rows, done, held, work)
        rows += more
        if rows <= allowed:
            done, more = leave_out(fresh, people, size, k, m, allowed - rows, done, held, work)
            rows += more
    return done, rows


@njit(cache=True, nogil=True, error_model="numpy")
def take_back(x, fresh, people, size, done, held, work):
    """Undo a cut."""
    for i in range(done):
        held.alive[work.undo[i]] = 1
    for i in range(size):
        p = people[i]
        for h in range(held.start[p], held.start[p + 1]):
            if held.group[held.events[h]] == fresh:
                held.group[held.events[h]] = x


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def find_best_cut(x, fresh, kind, people, size, k, m, allowed, cost, held, work):
    """Return the column and the value whose cut saves the most loss; the column is −1 if none does.

    cost: the loss of a row that is left out.
    """
    before = measure(x, kind, people, size, held)
    best, column, value = 1e-9, -1, 0.0
    for c in range(len(held.scale)):
        if held.kinds[c] != kind:
            continue
        cuts = list_cuts(x, c, people, size, held, work)
        for i in range(cuts):
            cut = work.cuts[i]
            done, rows = try_cut(x, fresh, c, cut, people, size, k, m, allowed, held, work)
            if rows <= allowed:
                saved = before - cost * rows
                saved -= measure(x, kind, people, size, held)
                saved -= measure(fresh, kind, people, size, held)
                if saved > best:
                    best, column, value = saved, c, cut
            take_back(x, fresh, people, size, done, held, work)
    return column, value


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def divide_class(low, high, tables, most, k, m, allowed, cost, held, marked):
    """Divide the events of the people low … high − 1 greedily; return the rows left out.

    tables: number of kinds; the events of each are one group at first, numbered by kind.
    most: number of groups that the class may have. allowed: rows that cuts may leave out, besides
    the rows of kinds that fewer than k people have.
    """
    holdings = held.start[high] - held.start[low]
    people = np.arange(low, high)
    having = np.empty(high - low, np.int64)
    work = Scratch(
        np.zeros(most, np.int64),
        np.full(most, -1, np.int64),
        marked,
        np.empty((m + 1, high - low), np.int64),
        np.zeros(m + 1, np.int64),
        np.empty((m + 1, most), np.int64),
        np.zeros(m + 1, np.int64),
        np.zeros(m + 1, np.int64),
        np.zeros(m + 1, np.int64),
        np.empty(holdings + 1, np.int64),
        np.empty(holdings + 1),
        np.empty(_CUTS),
    )
    pending, kind_of = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    waiting, lost = 0, 0
    everything = np.int64(1) << 62
    before = np.int64(-1)
    while before != lost:  # kinds lose combinations with each other
        before = np.int64(lost)
        for x in range(tables):
            _, rows = leave_out(x, people, len(people), k, m, everything, 0, held, work)
            lost += rows
    for x in range(tables):
        pending[waiting], kind_of[x] = x, x
        waiting += 1
    fresh = tables
    left = max(allowed - lost, 0)
    while waiting > 0 and fresh < most:
        waiting -= 1
        x = pending[waiting]
        size = find_holders(x, people, len(people), held, having)
        if size < k:
            continue
        kind = kind_of[x]
        column, cut = find_best_cut(x, fresh, kind, having, size, k, m, left, cost, held, work)
        if column < 0:
            continue
        _, rows = try_cut(x, fresh, column, cut, having, size, k, m, left, held, work)
        left -= rows
        lost += rows
        kind_of[fresh] = kind
        pending[waiting], pending[waiting + 1] = x, fresh
        waiting += 2
        fresh += 1
    return lost


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def divide_classes(bounds, begin, end, tables, most, k, m, share, cost, held, marked):
    """Divide the events of the classes begin … end − 1; return the rows left out.

    bounds: (classes + 1,) the first person of each class. share: the share of a class's rows that
    cuts may leave out.
    """
    lost = 0
    for i in range(begin, end):
        low, high = bounds[i], bounds[i + 1]
        rows = 0
        for h in range(held.start[low], held.start[high]):
            rows += held.weight[h]
        room = min(most, tables + held.start[high] - held.start[low])
        lost += divide_class(low, high, tables, room, k, m, int(share * rows), cost, held, marked)
    return lost
