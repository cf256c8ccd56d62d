"""Events of people, divided so that any m of them fit k people of the same class.

Top-down and greedy: all events of a class begin in one group, and each cut saves as much loss as it
can. A cut may leave out the rows that would make a combination rare. A combination is a multiset of
rows, so people who have more rows of a group than others may lose some of them. He & Naughton,
"Anonymization of set-valued data via top-down, local generalization", VLDB 2009, cut groups in the
same direction; Terrovitis, Mamoulis & Kalnis, VLDB 2008, define the guarantee for sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from shoal.anonymize.events._splits import Holdings, divide_classes
from shoal.core.column import Column
from shoal.core.grouping import group, group_keys
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.progress import report

_MAX_GROUPS = 2_000  # of one class
_MAX_COMBINATIONS = 1_000_000_000  # that the groups of one class may have, so that they are counted
_STEPS = 20  # reports of progress
_ROUNDING = 1e-9  # of a number of rows


@dataclass(frozen=True, eq=False)
class EventTable:
    """The events in one table.

    owners: (rows,) the person of each row, −1 for a row that is not released.
    columns: the columns that describe an event.
    """

    owners: Codes
    columns: Sequence[Column]


@dataclass(frozen=True, eq=False)
class Divided:
    """Groups of events that are published alike.

    groups: for each table (rows,) the group of each row from 0 without gaps, −1 if it is left out.
    left_out: rows of people that are left out, including all rows of suppressed people.
    rows: rows of people.
    allowed: the most rows that may be left out, which does not have to be enough.
    """

    groups: list[Codes]
    left_out: int
    rows: int
    allowed: float

    @property
    def fits(self) -> bool:
        """Whether no more rows are left out than allowed, and not all of them."""
        return self.left_out <= self.allowed and (self.left_out < self.rows or not self.rows)


def divide_events(
    tables: Sequence[EventTable], classes: Codes, *, k: int, m: int, share: float
) -> Divided:
    """Divide the events of each class of people.

    Parameters:
        tables: The tables with events; events of different tables are never published alike.
        classes: (people,) the class of each person, −1 for a suppressed one.
        k: Least number of people of the class with each combination of events.
        m: The most events of a combination.
        share: Share of the rows that may be left out. Those that the guarantee requires to be left
            out always are; if that is more, nothing is divided. The rest keeps others detailed.

    Returns:
        The groups. They meet the guarantee in each class. Of equal events of a person, the first
        rows are kept.
    """
    total = sum(int(np.count_nonzero(table.owners >= 0)) for table in tables)
    laid = [_lay_out(table, classes) for table in tables]
    sizes = [len(each.rows) for each in laid]
    person = np.concatenate([each.person for each in laid])
    gone, allowed = total - len(person), share * total + _ROUNDING
    if not len(person):
        nothing = [np.full(len(table.owners), -1, np.int32) for table in tables]
        return Divided(nothing, gone, total, allowed)
    home = classes[person]
    # people in the order of their class, events by class
    order = group([home, person], [int(classes.max()) + 1, len(classes)])
    number = order.ids  # (rows,) the person, consecutive within a class
    kind = np.repeat(np.arange(len(tables)), sizes)
    event = group([home, kind, np.concatenate([each.event for each in laid])],
                  [int(classes.max()) + 1, len(tables), max(e.events for e in laid)])  # fmt: skip
    pairs = group([number, event.ids], [len(order), len(event)])
    held = _holdings(laid, pairs.first, event.ids, event.first, kind, sizes)
    held = held._replace(left=pairs.sizes(), start=_starts(number[pairs.first], len(order)))
    bounds = _starts(group_keys(home[order.first].astype(np.int64)).ids, -1)
    marked = np.zeros(len(order), np.bool_)
    cost = float(max(np.bincount(held.kinds).max(initial=1), 1))
    most = _most_groups(m)

    def divide(begin: int, end: int, share: float) -> int:
        lost: int = divide_classes(
            bounds, begin, end, len(tables), most, k, m, share, cost, held, marked
        )
        return lost

    left_out = gone + divide(0, len(bounds) - 1, -1.0)
    room = allowed - left_out
    if room >= 0:
        share = min(room / max(total - left_out, 1), 1.0)
        steps = np.linspace(0, len(bounds) - 1, _STEPS + 1).astype(np.int64)
        for begin, end in zip(steps[:-1].tolist(), steps[1:].tolist(), strict=True):
            report("divide events", begin, len(bounds) - 1)
            left_out += divide(begin, end, share)
    kept = held.left[pairs.ids] > _ranks(pairs.ids)
    merged = group(
        [home, held.group[event.ids]], [int(classes.max()) + 1, int(held.group.max()) + 1]
    )
    found = np.where(kept, merged.ids, -1)
    groups, begin = [], 0
    for table, each, size in zip(tables, laid, sizes, strict=True):
        ids = np.full(len(table.owners), -1, np.int32)
        ids[each.rows] = found[begin : begin + size]
        groups.append(_dense(ids))
        begin += size
    return Divided(groups, left_out, total, allowed)


def _most_groups(m: int) -> int:
    """Return the most groups of a class whose combinations can be counted."""
    most = _MAX_GROUPS
    while comb(most + m, m) > _MAX_COMBINATIONS:
        most -= 1
    return most


def _ranks(ids: Codes) -> Counts:
    """(rows,) how many earlier rows have the same id."""
    order = np.argsort(ids, kind="stable")
    starts = _starts(ids[order], -1)
    ranks = np.empty(len(ids), np.int64)
    ranks[order] = np.arange(len(ids)) - starts[ids[order]]
    return ranks


@dataclass(frozen=True, eq=False)
class _Laid:
    """The released rows of a table: their positions, people and events, and where events lie."""

    rows: Counts
    person: Codes
    event: Codes
    events: int
    place: list[Floats]
    scale: list[float]


def _lay_out(table: EventTable, classes: Codes) -> _Laid:
    released = np.zeros(len(table.owners), np.bool_)
    owned = table.owners >= 0
    released[owned] = classes[table.owners[owned]] >= 0
    rows = np.flatnonzero(released)
    codes = [column.codes[rows] for column in table.columns]
    ids = group(codes, [column.domain for column in table.columns]) if codes else None
    event = np.zeros(len(rows), np.int32) if ids is None else ids.ids
    place, scale = [], []
    for column, own in zip(table.columns, codes, strict=True):
        positions, inverse = _positions(column)
        place.append(positions[own])
        scale.append(inverse)
    return _Laid(rows, table.owners[rows], event, 1 if ids is None else len(ids), place, scale)


def _positions(column: Column) -> tuple[Floats, float]:
    """Return where each value lies, such that values of one branch are neighbours; 1 / extent."""
    from shoal.anonymize.partition.cutting.spaces import branch_order, positions

    if column.ordered:
        return positions(column)
    order = np.arange(column.domain) if column.hierarchy is None else branch_order(column)
    place = np.empty(column.domain)
    place[order] = np.arange(column.domain)
    return place, 1.0 / max(column.domain - 1, 1)


def _holdings(
    laid: Sequence[_Laid],
    pairs: Counts,
    events: Codes,
    first: Counts,
    kind: Counts,
    sizes: Sequence[int],
) -> Holdings:
    """Return the kernels' layout; the starts and numbers of rows are still missing."""
    columns = sum(len(each.place) for each in laid)
    place = np.zeros((len(first), columns))
    scale, kinds, column, begin = [], [], 0, 0
    for index, (each, size) in enumerate(zip(laid, sizes, strict=True)):
        mine = np.flatnonzero(kind[first] == index)
        for values, inverse in zip(each.place, each.scale, strict=True):
            place[mine, column] = values[first[mine] - begin]
            scale.append(inverse)
            kinds.append(index)
            column += 1
        begin += size
    return Holdings(
        start=np.zeros(0, np.int64),
        events=events[pairs].astype(np.int64),
        left=np.zeros(0, np.int64),
        group=kind[first].astype(np.int32),
        place=place,
        scale=np.array(scale, np.float64),
        kinds=np.array(kinds, np.int64),
    )


def _starts(ids: Codes, count: int) -> Counts:
    """Return where the runs of ascending ids begin, and the end; count: their number, −1 if any."""
    sizes = np.bincount(ids, minlength=max(count, 0))
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _dense(ids: Codes) -> Codes:
    """Return ids without gaps; −1 stays."""
    used = np.unique(ids[ids >= 0])
    return np.where(ids >= 0, np.searchsorted(used, ids), -1).astype(np.int32)
