"""Releases with kᵐ-anonymity: people are grouped first, then the events of each group.

    attributes with one value per person        anonymized by the method, once per person
    the others, which describe events           divided within each class of people
    several least sizes of groups of people     the release with the least loss is taken

Events keep as much detail as any m events of a person allow. They are divided top-down and
greedily: all events of a class begin in one group, and each cut saves as much loss as it can. A cut
may leave out the rows that would make a combination rare. A combination is a multiset of rows, so
people who have more rows of a group than others may lose some of them.

He & Naughton, "Anonymization of set-valued data via top-down, local generalization", VLDB 2009, cut
groups in the same direction; Terrovitis, Mamoulis & Kalnis, VLDB 2008, define the guarantee for
sets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Generic, TypeVar

import numpy as np

from shoal.errors import Infeasible, InputError
from shoal.methods.algorithm import Algorithm
from shoal.methods.events._splits import Holdings, divide_classes
from shoal.methods.partition.records import earlier_equals
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.km_anonymity import KmAnonymity
from shoal.privacy.model import Model
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.options import check_range
from shoal.support.progress import report
from shoal.support.wording import counted, listed_names
from shoal.table.column import Column, Role
from shoal.table.people import group, group_keys
from shoal.table.recoding import Recoding
from shoal.table.table import Table

_GROWTH = 4  # from one size of groups of people to the next


def is_about_events(model: Model) -> bool:
    """Return whether a model is kᵐ-anonymity.

    Raises:
        InputError: It is joined with other models.
    """
    if not any(part.over_rows for part in model.parts):
        return False
    if len(model.parts) > 1:
        raise InputError(
            f"{model}: km-anonymity cannot be joined with other models, which are not defined for "
            "combinations of rows; use it alone, or k-anonymity of all linked rows"
        )
    return True


def search_events(
    table: Table, model: Model, algorithm: Algorithm, sets: Codes | None, max_left_out: float
) -> Release:
    """Return the release with the least loss among several sizes of groups of people.

    Parameters:
        sets: (rows,) the rows that published identifiers link; None if no rows are linked.
        max_left_out: Share of the rows that may be left out.

    Raises:
        Infeasible: More rows have to be left out.
    """
    assert isinstance(model, KmAnonymity)
    check_range("max_left_out", max_left_out, 0, 1)
    if table.household is not None:
        raise InputError("km-anonymity counts people; leave household out, or use k-anonymity")
    if hasattr(algorithm, "price"):
        raise InputError(f"{algorithm.name} draws rows, not people; use it with k-anonymity")
    people = _people(table, sets)
    if people is None:
        release = algorithm.search(table, KAnonymity(model.k))
        return replace(release, model=model)
    if table.counts is not None:
        raise InputError("a weighted table does not show the rows of a person; read it row by row")
    first = group_keys(people.astype(np.int64)).first
    constant = [c for c in table.quasi_columns if np.array_equal(c.codes[first][people], c.codes)]
    varying = [c for c in table.quasi_columns if c not in constant]
    events = EventTable(people, varying)

    def attempt(size: int) -> Attempt[_Candidate]:
        grouped = _grouped(table, size, algorithm, people, constant)
        divided = divide_events([events], grouped.classes, k=model.k, m=model.m, share=max_left_out)
        candidate = _candidate(table, grouped, divided)
        return Attempt(divided, candidate.loss, not grouped.classes.any(), candidate)

    return _released(table, model, least_loss(model, len(first), attempt), varying)


_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False)
class Attempt(Generic[_Made]):
    """A release for one least size of groups of people.

    divided: its groups of events. loss: the mean loss of a cell. in_one_group: whether all people
    are in one group, and nobody is suppressed. made: the release, in the form of the caller.
    """

    divided: Divided
    loss: float
    in_one_group: bool
    made: _Made


def least_loss(
    model: KmAnonymity, people: int, attempt: Callable[[int], Attempt[_Made]]
) -> Attempt[_Made]:
    """Return the attempt with the least loss among those that do not leave out too many rows.

    Larger groups lose detail of people and keep detail of events, and leave out fewer rows of
    people who have many. Sizes grow from k; one group of all people is tried if no other fits.

    Parameters:
        attempt: Returns the release in which groups have at least a number of people.

    Raises:
        Infeasible: Every attempt leaves out too many rows.
    """
    if people < model.k:
        raise Infeasible(f"{model}: no groups of {model.k} people can be formed")
    sizes = [model.k]
    while sizes[-1] * _GROWTH <= people:
        sizes.append(sizes[-1] * _GROWTH)
    best: Attempt[_Made] | None = None
    least: Divided | None = None
    for index, size in enumerate([*sizes, people]):
        if index == len(sizes) and best is not None:
            break
        tried = attempt(size)
        if least is None or tried.divided.left_out < least.left_out:
            least = tried.divided
        if tried.divided.fits and (best is None or tried.loss < best.loss):
            best = tried
        if tried.in_one_group:
            break
    if best is None:
        assert least is not None
        raise Infeasible(
            f"{model}: {least.left_out:,} of {counted(least.rows, 'row')} would have to be left "
            f"out, and max_left_out allows {int(least.allowed):,} and never all rows; raise "
            "max_left_out, or choose a smaller k or m"
        )
    return best


def _people(table: Table, sets: Codes | None) -> Codes | None:
    """(rows,) the unit of each row, of which k are counted; None if each has one row."""
    from shoal.table.linked import link_sets

    unit = link_sets(table, sets, as_profiles=False).unit
    return None if unit is None else unit.ids


@dataclass(frozen=True, eq=False)
class _Grouped:
    """Groups of people: the class of each, −1 if suppressed, and the recodings of all rows."""

    classes: Codes
    recodings: dict[str, Recoding]
    run: Run


def _grouped(
    table: Table, size: int, algorithm: Algorithm, people: Codes, constant: list[Column]
) -> _Grouped:
    """Return groups of at least `size` people by the attributes that do not vary."""
    first = group_keys(people.astype(np.int64)).first
    if not constant:
        return _Grouped(np.zeros(len(first), np.int32), {}, Run())
    others = [c for c in table.columns if c.role is not Role.QUASI]
    one_each = replace(table, columns=(*constant, *others), replacements={}).take(first)
    one_each = replace(one_each, person=None, household=None, rows_are_people=True)
    release = algorithm.search(one_each, KAnonymity(size))
    recodings = {
        name: each.of_owners(table[name].codes, people) for name, each in release.recodings.items()
    }
    return _Grouped(release.classes.ids, recodings, release.run)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A release to choose from: its hidden rows, and the mean loss of a cell."""

    recodings: dict[str, Recoding]
    hidden: Bools
    loss: float
    run: Run


def _candidate(table: Table, grouped: _Grouped, divided: Divided) -> _Candidate:
    ids = divided.groups[0]
    hidden = ids < 0
    count = int(ids.max()) + 1 if len(ids) else 0
    recodings = {}
    for column in table.quasi_columns:  # in the order of the table
        recoding = grouped.recodings.get(column.name)
        recodings[column.name] = recoding or Recoding.of_groups(column, ids, count)
    lost = np.mean([cell_costs(each) for each in recodings.values()], axis=0)
    lost[hidden] = 1.0
    return _Candidate(recodings, hidden, float(lost.mean()), grouped.run)


def cell_costs(recoding: Recoding) -> Floats:
    """(rows,) the share of its column's extent or domain that each cell covers."""
    if recoding.column.ordered:
        costs = recoding.widths()
    else:
        costs = (recoding.subsets.sizes - 1) / max(recoding.column.domain - 1, 1)
    return costs.astype(np.float64)[recoding.codes]


def _released(
    table: Table, model: KmAnonymity, best: Attempt[_Candidate], varying: list[Column]
) -> Release:
    made, left_out = best.made, best.divided.left_out
    notes = list(made.run.notes)
    if varying:
        names = listed_names([column.name for column in varying])
        verb = "describes" if len(varying) == 1 else "describe"
        notes.append(f"{names} {verb} the events of a person")
    why = ", because too few people have as many rows like these, or to keep other rows detailed"
    notes.append(f"{left_out:,} of {counted(len(table), 'row')} left out{why if left_out else ''}")
    hidden = made.hidden if made.hidden.any() else None
    recodings = {
        name: each if hidden is None else each.suppress(made.hidden)
        for name, each in made.recodings.items()
    }
    run = replace(made.run, notes=tuple(notes))
    return Release(table, recodings, model, hidden, run)


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
    suppressed, allowed = total - len(person), share * total + _ROUNDING
    if not len(person):
        nothing = [np.full(len(table.owners), -1, np.int32) for table in tables]
        return Divided(nothing, suppressed, total, allowed)
    class_of = classes[person]
    # people in the order of their class, events by class
    order = group([class_of, person], [int(classes.max()) + 1, len(classes)])
    number = order.ids  # (rows,) the person, consecutive within a class
    kind = np.repeat(np.arange(len(tables)), sizes)
    event = group([class_of, kind, np.concatenate([each.event for each in laid])],
                  [int(classes.max()) + 1, len(tables), max(e.events for e in laid)])  # fmt: skip
    pairs = group([number, event.ids], [len(order), len(event)])
    holdings = _holdings(laid, pairs.first, event.ids, event.first, kind, sizes)
    holdings = holdings._replace(left=pairs.sizes(), start=_starts(number[pairs.first], len(order)))
    bounds = _starts(group_keys(class_of[order.first].astype(np.int64)).ids, -1)
    marked = np.zeros(len(order), np.bool_)
    cost = float(max(np.bincount(holdings.kinds).max(initial=1), 1))
    most = _most_groups(m)

    # kernels divide some classes at a time, so that progress can be reported
    def divide(begin: int, end: int, share: float) -> int:
        lost: int = divide_classes(
            bounds, begin, end, len(tables), most, k, m, share, cost, holdings, marked
        )
        return lost

    left_out = suppressed + divide(0, len(bounds) - 1, -1.0)
    room = allowed - left_out
    if room >= 0:
        share = min(room / max(total - left_out, 1), 1.0)
        steps = np.linspace(0, len(bounds) - 1, _STEPS + 1).astype(np.int64)
        for begin, end in zip(steps[:-1].tolist(), steps[1:].tolist(), strict=True):
            report("divide events", begin, len(bounds) - 1)
            left_out += divide(begin, end, share)
    # a holding keeps its first rows
    kept = holdings.left[pairs.ids] > earlier_equals(pairs.ids)
    merged = group(
        [class_of, holdings.group[event.ids]],
        [int(classes.max()) + 1, int(holdings.group.max()) + 1],
    )
    group_of_row = np.where(kept, merged.ids, -1)
    groups, begin = [], 0
    for table, each, size in zip(tables, laid, sizes, strict=True):
        ids = np.full(len(table.owners), -1, np.int32)
        ids[each.rows] = group_of_row[begin : begin + size]
        groups.append(_dense(ids))
        begin += size
    return Divided(groups, left_out, total, allowed)


def _most_groups(m: int) -> int:
    """Return the most groups of a class whose combinations can be counted."""
    most = _MAX_GROUPS
    while comb(most + m, m) > _MAX_COMBINATIONS:
        most -= 1
    return most


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
    from shoal.methods.partition.mondrian import branch_order, positions

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
