"""Releases with kᵐ-anonymity: people are grouped first, then the events of each group.

Attributes that are the same in all rows of a person are anonymized by the method, once per person.
The others describe events; they keep as much detail as any m events of a person allow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from shoal.anonymize.algorithm import Algorithm
from shoal.anonymize.events.dividing import Divided, EventTable, divide_events
from shoal.core.column import Column, Role
from shoal.core.grouping import group_keys
from shoal.core.provenance import Run
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import Infeasible, InputError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.km_anonymity import KmAnonymity
from shoal.privacy.model import Model
from shoal.support.arrays import Bools, Codes, Floats
from shoal.support.options import check_range
from shoal.support.wording import counted, listed_names

MAX_LEFT_OUT = 0.05  # share of rows, by default
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
        found = _grouped(table, size, algorithm, people, constant)
        divided = divide_events([events], found.classes, k=model.k, m=model.m, share=max_left_out)
        made = _candidate(table, found, divided)
        return Attempt(divided, made.loss, not found.classes.any(), made)

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
    for place, size in enumerate([*sizes, people]):
        if place == len(sizes) and best is not None:
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
    from shoal.core.linked_rows import link_sets

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


def _candidate(table: Table, found: _Grouped, divided: Divided) -> _Candidate:
    ids = divided.groups[0]
    hidden = ids < 0
    count = int(ids.max()) + 1 if len(ids) else 0
    recodings = {}
    for column in table.quasi_columns:  # in the order of the table
        made = found.recodings.get(column.name)
        recodings[column.name] = made or Recoding.of_groups(column, ids, count)
    lost = np.mean([cell_costs(each) for each in recodings.values()], axis=0)
    lost[hidden] = 1.0
    return _Candidate(recodings, hidden, float(lost.mean()), found.run)


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
