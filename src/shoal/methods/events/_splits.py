# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels that divide the events of each class of people, while any m of them fit k people.

Memory layout: the people of a class are consecutive. Person p holds the different events
`events[start[p] : start[p + 1]]`, each an index into `group` and `place`; these are its holdings.
`left` is the number of rows of a holding that are not left out. Events belong to one class. All
events of a class with the same `group` are published alike.

A combination is a multiset of at most m rows: item (x, b) is the b-th row of a person in group x,
and a person has it if b of her rows are in the group. It is written as the number x * m + b − 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.methods.partition._nodes import sort_keys
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
    left: Counts
    group: Codes
    place: Floats
    scale: Floats
    kinds: Counts


class Scratch(NamedTuple):
    """Working arrays of one class.

    having: (groups * m,) people with each item, negative if it was opened, zero between calls.
    stamp: (groups,) whose rows were counted last, −1 between calls; `seen`: how many of them.
    marked: (people,) false between calls.
    lists: (m + 1, people) for each depth the people who share the items chosen so far; `sizes`:
    their numbers. opened: (m + 1, groups * m) items to choose next; `opens`: their number; `turn`:
    the next of them; `last`: the latest chosen group; `rest`: how many rows can still be added.
    undo, undone: holdings whose rows the present cut left out, and how many rows of each.
    values: (holdings,) for sorting. cuts: (_CUTS,) places to cut.
    """

    having: Counts
    stamp: Counts
    seen: Counts
    marked: Bools
    lists: Counts
    sizes: Counts
    opened: Counts
    opens: Counts
    turn: Counts
    last: Counts
    rest: Counts
    undo: Counts
    undone: Counts
    values: Floats
    cuts: Floats


@njit(cache=True, nogil=True, error_model="numpy")
def find_holders(x, least, people, size, held, found):
    """Write those of some people who have at least `least` rows in group x to `found`.

    Returns their number.
    """
    total = 0
    for i in range(size):
        p, rows = people[i], 0
        for h in range(held.start[p], held.start[p + 1]):
            if held.group[held.events[h]] == x:
                rows += held.left[h]
            if rows >= least:
                found[total] = p
                total += 1
                # enough rows already: further holdings cannot change that
                break
    return total


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def count_items(x, depth, k, m, held, work):
    """Count the items that the people of a depth have, and mark people with a rare one.

    Groups up to the latest chosen one are skipped, so that each combination is counted once. The
    items of a person are met in the order of her holdings: a row of a group is one more than those
    that were seen. Returns the number of newly marked people.
    """
    # first pass: for each item the number of people at this depth who have it
    people, last, rest, marked = work.lists[depth], work.last[depth], work.rest[depth], 0
    for i in range(work.sizes[depth]):
        p = people[i]
        for h in range(held.start[p], held.start[p + 1]):
            y = held.group[held.events[h]]
            if y == x or y <= last:
                continue
            if work.stamp[y] != p:
                work.stamp[y], work.seen[y] = p, 0
            more = min(held.left[h], rest - work.seen[y])
            for b in range(work.seen[y], work.seen[y] + more):
                work.having[y * m + b] += 1
            work.seen[y] += more
    # second pass, in the same order: a rare item marks its person; a common one is opened once,
    # which is noted by making its number negative
    opens = 0
    for i in range(work.sizes[depth]):
        p = people[i]
        again = -2 - p  # differs from the stamps above and from −1
        for h in range(held.start[p], held.start[p + 1]):
            y = held.group[held.events[h]]
            if y == x or y <= last:
                continue
            if work.stamp[y] != again:
                work.stamp[y], work.seen[y] = again, 0
            more = min(held.left[h], rest - work.seen[y])
            for b in range(work.seen[y], work.seen[y] + more):
                having = work.having[y * m + b]
                if 0 < having < k and not work.marked[p]:
                    work.marked[p] = True
                    marked += 1
                if having >= k and b + 1 < rest:
                    work.opened[depth, opens] = y * m + b
                    opens += 1
                    work.having[y * m + b] = -having
            work.seen[y] += more
    # third pass: clear only what was touched, so a call costs its holdings and not all groups
    work.opens[depth], work.turn[depth] = opens, 0
    for i in range(work.sizes[depth]):
        p = people[i]
        for h in range(held.start[p], held.start[p + 1]):
            y = held.group[held.events[h]]
            if work.stamp[y] != -1:
                for b in range(rest):
                    work.having[y * m + b] = 0
                work.stamp[y] = -1
    return marked


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def mark_rare(x, rows, k, m, held, work):
    """Mark the people of lists[1] who have a combination that fewer than k people have.

    The people have at least `rows` rows in group x. Walks over all combinations of these and at
    most m − rows other rows, depth first: at depth d, d − 1 items of other groups are chosen and
    the next one is counted. Returns the number of marked people.
    """
    work.last[1], work.rest[1] = -1, m - rows
    marked = count_items(x, 1, k, m, held, work)
    depth = 1
    while depth > 0:
        if work.turn[depth] == work.opens[depth]:
            # every item of this depth was chosen once: back to the depth before
            depth -= 1
            continue
        item = work.opened[depth, work.turn[depth]]
        work.turn[depth] += 1
        y, least = item // m, item % m + 1
        people, size = work.lists[depth], work.sizes[depth]
        shared = find_holders(y, least, people, size, held, work.lists[depth + 1])
        work.rest[depth + 1] = work.rest[depth] - least
        depth += 1
        work.sizes[depth], work.last[depth] = shared, y
        marked += count_items(x, depth, k, m, held, work)
    return marked


@njit(cache=True, nogil=True, error_model="numpy", allocates=True)
def leave_out(x, people, size, k, m, allowed, done, held, work):
    """Leave out rows in group x until k people have each combination with such rows.

    People with a rare combination that has b rows in the group keep b − 1 of them. This changes
    only combinations with at least b rows in the group, so b ascends. The holdings are added to
    `undo` from `done` on. Returns the number of entries of `undo` and the rows left out, which
    exceed `allowed` if it gave up.
    """
    rows = 0
    for b in range(1, m + 1):
        while rows <= allowed:
            having = find_holders(x, b, people, size, held, work.lists[1])
            work.sizes[1] = having
            if having == 0:
                # nobody has b rows in the group, so nobody has more
                return done, rows
            if having < k:
                # too few people have b rows here, with or without other rows: all of them are rare
                for i in range(having):
                    work.marked[work.lists[1, i]] = True
            elif b == m or mark_rare(x, b, k, m, held, work) == 0:
                break
            for i in range(having):
                p = work.lists[1, i]
                if not work.marked[p]:
                    continue
                work.marked[p] = False
                # the first b − 1 rows stay, whichever holdings they are in
                keep = b - 1
                for h in range(held.start[p], held.start[p + 1]):
                    if held.group[held.events[h]] != x:
                        continue
                    more = max(held.left[h] - keep, 0)
                    keep = max(keep - held.left[h], 0)
                    if more > 0:
                        held.left[h] -= more
                        work.undo[done], work.undone[done] = h, more
                        done += 1
                        rows += more
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
                if held.left[h] > 0 and held.group[held.events[h]] == x:
                    at = held.place[held.events[h], c]
                    low, high = min(low, at), max(high, at)
                    rows += held.left[h]
        if high > low:  # missing values lie beyond the extent of the others
            loss += min((high - low) * held.scale[c], 1.0)
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
            if held.left[h] > 0 and held.group[held.events[h]] == x:
                work.values[total] = held.place[held.events[h], c]
                total += 1
    sort_keys(work.values, 0, total)
    found = 0
    for i in range(1, _CUTS + 1):
        value = work.values[min(i * total // (_CUTS + 1), total - 1)]
        # the greatest value would leave nothing on the other side
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
        held.left[work.undo[i]] += work.undone[i]
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

    The events of each kind (table) are one group at first, numbered by kind. Rows are left out
    until these groups meet the guarantee, whatever that costs; only then are groups cut.

    most: number of groups that the class may have. allowed: rows that cuts may leave out; −1 for no
    cuts.
    """
    # sized for this class alone, so that small classes cost little
    holdings = held.start[high] - held.start[low]
    people = np.arange(low, high)
    having = np.empty(high - low, np.int64)
    work = Scratch(
        np.zeros(most * m, np.int64),
        np.full(most, -1, np.int64),
        np.zeros(most, np.int64),
        marked,
        np.empty((m + 1, high - low), np.int64),
        np.zeros(m + 1, np.int64),
        np.empty((m + 1, most * m), np.int64),
        np.zeros(m + 1, np.int64),
        np.zeros(m + 1, np.int64),
        np.zeros(m + 1, np.int64),
        np.zeros(m + 1, np.int64),
        np.empty(holdings * m + 1, np.int64),
        np.empty(holdings * m + 1, np.int64),
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
    if allowed < 0:
        return lost
    # a stack of the groups that may still be cut; at first one for each table
    for x in range(tables):
        pending[waiting], kind_of[x] = x, x
        waiting += 1
    fresh = tables
    while waiting > 0 and fresh < most:
        waiting -= 1
        x = pending[waiting]
        size = find_holders(x, 1, people, len(people), held, having)
        if size < k:
            # k people share whatever is left in a group, so a smaller group is an empty one
            continue
        kind = kind_of[x]
        column, cut = find_best_cut(x, fresh, kind, having, size, k, m, allowed, cost, held, work)
        if column < 0:
            continue
        _, rows = try_cut(x, fresh, column, cut, having, size, k, m, allowed, held, work)
        allowed -= rows
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
    cuts may leave out; negative for no cuts.
    """
    lost = 0
    for i in range(begin, end):
        low, high = bounds[i], bounds[i + 1]
        rows = 0
        for h in range(held.start[low], held.start[high]):
            rows += held.left[h]
        room = min(most, tables + held.start[high] - held.start[low])
        allowed = int(share * rows) if share >= 0 else -1
        lost += divide_class(low, high, tables, room, k, m, allowed, cost, held, marked)
    return lost
