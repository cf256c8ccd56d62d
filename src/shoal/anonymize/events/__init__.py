"""Releases with kᵐ-anonymity: people are grouped first, then the events of each group.

Attributes that are the same in all rows of a person are anonymized by the method, once per person.
The others describe events; they keep as much detail as any m events of a person allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from shoal.anonymize.algorithm import Algorithm
from shoal.anonymize.events.dividing import EventTable, divide_events
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

    Larger groups lose detail of people and keep detail of events.

    Parameters:
        sets: (rows,) the rows that published identifiers link; None if no rows are linked.
        max_left_out: Share of a group's rows that may be left out to keep the others detailed.
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
    first = group_keys(people.astype(np.int64)).first
    constant = [c for c in table.quasi_columns if np.array_equal(c.codes[first][people], c.codes)]
    varying = [c for c in table.quasi_columns if c not in constant]
    best: _Candidate | None = None
    for found in _grouped(table, model.k, algorithm, people, constant):
        tried = _divide(table, model, found, people, varying, max_left_out)
        if best is None or tried.loss < best.loss:
            best = tried
    if best is None:
        raise Infeasible(f"{model}: no groups of {model.k} people can be formed")
    return _released(table, model, best, varying)


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
    table: Table, k: int, algorithm: Algorithm, people: Codes, constant: list[Column]
) -> Iterator[_Grouped]:
    """Yield groups of people by the attributes that do not vary, of several least sizes."""
    first = group_keys(people.astype(np.int64)).first
    whole = np.zeros(len(first), np.int32)
    if not constant:
        yield _Grouped(whole, {}, Run())
        return
    others = [c for c in table.columns if c.role is not Role.QUASI]
    one_each = replace(table, columns=(*constant, *others), replacements={}).take(first)
    one_each = replace(one_each, person=None, household=None, rows_are_people=True)
    for size in group_sizes(k, len(first)):
        release = algorithm.search(one_each, KAnonymity(size))
        recodings = {
            name: each.of_owners(table[name].codes, people)
            for name, each in release.recodings.items()
        }
        yield _Grouped(release.classes.ids, recodings, release.run)
        if len(release.classes) <= 1:
            return


def group_sizes(k: int, people: int) -> Iterator[int]:
    """Yield least sizes of groups of people to try, from k up."""
    size = k
    while size <= people:
        yield size
        size *= _GROWTH


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A release to choose from: the rows left out, and the mean loss of a cell."""

    recodings: dict[str, Recoding]
    hidden: Bools
    left_out: int
    loss: float
    run: Run


def _divide(
    table: Table,
    model: KmAnonymity,
    found: _Grouped,
    people: Codes,
    varying: list[Column],
    share: float,
) -> _Candidate:
    events = EventTable(people, varying)
    divided = divide_events([events], found.classes, k=model.k, m=model.m, share=share)
    ids = divided.groups[0]
    hidden = ids < 0
    count = int(ids.max()) + 1 if len(ids) else 0
    recodings = {}
    for column in table.quasi_columns:  # in the order of the table
        made = found.recodings.get(column.name)
        recodings[column.name] = made or Recoding.of_groups(column, ids, count)
    lost = np.mean([cell_costs(each) for each in recodings.values()], axis=0)
    lost[hidden] = 1.0
    return _Candidate(recodings, hidden, divided.left_out, float(lost.mean()), found.run)


def cell_costs(recoding: Recoding) -> Floats:
    """(rows,) the share of its column's extent or domain that each cell covers."""
    if recoding.column.ordered:
        costs = recoding.widths()
    else:
        costs = (recoding.subsets.sizes - 1) / max(recoding.column.domain - 1, 1)
    return costs.astype(np.float64)[recoding.codes]


def _released(table: Table, model: KmAnonymity, best: _Candidate, varying: list[Column]) -> Release:
    notes = list(best.run.notes)
    if varying:
        names = listed_names([column.name for column in varying])
        verb = "describes" if len(varying) == 1 else "describe"
        notes.append(
            f"{names} {verb} the events of a person; {best.left_out:,} of "
            f"{counted(len(table), 'row')} left out to keep the other events detailed"
        )
    hidden = best.hidden if best.hidden.any() else None
    recodings = {
        name: each if hidden is None else each.suppress(best.hidden)
        for name, each in best.recodings.items()
    }
    run = replace(best.run, notes=tuple(notes))
    return Release(table, recodings, model, hidden, run)
