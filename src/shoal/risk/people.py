"""Figures of people from figures of rows: a person is found if one of their rows is found.

Rows are published and matched; these functions turn figures of rows into figures of people. If each
row is a different person, they change nothing.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.members import Members
from shoal.core.people import Unit
from shoal.core.table import Table
from shoal.support.arrays import Codes, Counts, Floats

Numbers = TypeVar("Numbers", Counts, Floats)


def by_person(
    figures: Numbers, weights: Counts, person: Unit | None, choose: np.ufunc
) -> tuple[Numbers, Counts]:
    """Return the largest or smallest figure of each person's rows.

    Parameters:
        figures: (rows,) one figure for each row.
        weights: (rows,) people behind each row, if each record is a different person.
        person: The person of each row, None if each record is a different person.
        choose: `np.maximum` or `np.minimum`.

    Returns:
        One figure for each person and how many people it stands for; without `person`, the
        arguments.
    """
    if person is None:
        return figures, weights
    order = np.argsort(person.ids, kind="stable")
    starts = np.searchsorted(person.ids[order], np.arange(person.count))
    if not len(order):
        return figures, weights
    chosen = choose.reduceat(figures[order], starts)
    return chosen, np.ones(person.count, dtype=np.int64)


def row_weights(table: Table) -> Counts:
    """(rows,) the number of records behind each row."""
    return np.ones(len(table), dtype=np.int64) if table.counts is None else table.counts


def chance_of_rows(members: Members, classes: Classes) -> Floats:
    """(pairs,) the probability of finding a person in a class that is known to contain them.

    The larger of two probabilities: an attacker who picks one of the n rows of the class finds one
    of the m rows of the person with probability m/n; an attacker who names one of the people in the
    class is right with probability 1/people.
    """
    picked = members.rows / classes.rows[members.place]
    return np.maximum(picked, 1 / classes.people[members.place])


def highest_by_person(figures: Floats, members: Members) -> Floats:
    """(people,) the largest of each person's figures (pairs,), 0 for people without any."""
    highest = np.zeros(members.count)
    np.maximum.at(highest, members.person, figures)
    return highest


def lowest_by_person(figures: Counts, members: Members) -> Counts:
    """(people,) the smallest of each person's figures (pairs,), 0 for people without any."""
    lowest = np.full(members.count, np.iinfo(np.int64).max)
    np.minimum.at(lowest, members.person, figures)
    return np.where(members.present, lowest, 0)


def at_least_once(chances: NDArray[np.float64], owner: Codes, owners: int) -> Floats:
    """(owners,) the probability that at least one of an owner's independent events happens.

    Parameters:
        chances: (events,) the probability of each event.
        owner: (events,) the owner of each event.
        owners: Number of owners.
    """
    with np.errstate(divide="ignore"):  # a certain event: log 0
        missed = np.bincount(owner, np.log1p(-chances.clip(0.0, 1.0)), minlength=owners)
    return np.asarray(-np.expm1(missed))
