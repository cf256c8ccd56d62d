"""Events of people, divided so that any m of them fit k people of the same class.

Top-down and greedy: all events of a class begin in one group, and each cut saves as much loss as it
can. A cut may leave out the rows that would make a combination rare. He & Naughton, "Anonymization
of set-valued data via top-down, local generalization", VLDB 2009, cut groups in the same direction;
Terrovitis, Mamoulis & Kalnis, VLDB 2008, define the guarantee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.anonymize.events._splits import Holdings, divide_classes
from shoal.core.column import Column
from shoal.core.grouping import group, group_keys
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.progress import report

_MAX_GROUPS = 2_000  # of one class
_STEPS = 20  # reports of progress


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
    left_out: rows of released people that are left out.
    """

    groups: list[Codes]
    left_out: int


def divide_events(
    tables: Sequence[EventTable], classes: Codes, *, k: int, m: int, share: float
) -> Divided:
    """Divide the events of each class of people.

    Parameters:
        tables: The tables with events; events of different tables are never published alike.
        classes: (people,) the class of each person, −1 for a suppressed one.
        k: Least number of people of the class with each combination of events.
        m: The most events of a combination.
        share: Share of a class's rows that may be left out to keep the others detailed. Rows of a
            table in which fewer than k people of a class have rows are always left out.

    Returns:
        The groups. They meet the guarantee in each class.
    """
    laid = [_lay_out(table, classes) for table in tables]
    sizes = [len(each.rows) for each in laid]
    person = np.concatenate([each.person for each in laid])
    if not len(person):
        return Divided([np.full(len(t.owners), -1, np.int32) for t in tables], 0)
    home = classes[person]
    # people in the order of their class, events by class
    order = group([home, person], [int(classes.max()) + 1, len(classes)])
    number = order.ids  # (rows,) the person, consecutive within a class
    kind = np.repeat(np.arange(len(tables)), sizes)
    event = group([home, kind, np.concatenate([each.event for each in laid])],
                  [int(classes.max()) + 1, len(tables), max(e.events for e in laid)])  # fmt: skip
    pairs = group([number, event.ids], [len(order), len(event)])
    held = _holdings(laid, pairs.first, event.ids, event.first, kind, sizes)
    held = held._replace(weight=pairs.sizes(), start=_starts(number[pairs.first], len(order)))
    bounds = _starts(group_keys(home[order.first].astype(np.int64)).ids, -1)
    marked = np.zeros(len(order), np.bool_)
    cost = float(max(np.bincount(held.kinds).max(initial=1), 1))
    left_out, steps = 0, np.linspace(0, len(bounds) - 1, _STEPS + 1).astype(np.int64)
    for begin, end in zip(steps[:-1].tolist(), steps[1:].tolist(), strict=True):
        report("divide events", begin, len(bounds) - 1)
        left_out += divide_classes(
            bounds, begin, end, len(tables), _MAX_GROUPS, k, m, share, cost, held, marked
        )
    alive = held.alive[pairs.ids].astype(np.bool_)
    merged = group(
        [home, held.group[event.ids]], [int(classes.max()) + 1, int(held.group.max()) + 1]
    )
    found = np.where(alive, merged.ids, -1)
    groups, begin = [], 0
    for table, each, size in zip(tables, laid, sizes, strict=True):
        ids = np.full(len(table.owners), -1, np.int32)
        ids[each.rows] = found[begin : begin + size]
        groups.append(_dense(ids))
        begin += size
    return Divided(groups, left_out)


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
    """Return the kernels' layout; the starts and weights are still missing."""
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
        weight=np.zeros(0, np.int64),
        alive=np.ones(len(pairs), np.uint8),
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
