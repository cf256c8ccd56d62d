"""Control groups that were drawn from the original are left out of it."""

from __future__ import annotations

import numpy as np

from shoal.core.grouping import group
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.support.arrays import Bools
from shoal.support.wording import counted


def leave_out_control(people: Table, originals: int) -> tuple[Table, int, list[str]]:
    """Leave the control group out of the original if it was drawn from it.

    It was if all its people, or without identified people all its rows, are in the original.

    Raises:
        InputError: Only some people of the control group are in the original.
    """
    if originals == len(people):
        return people, originals, []
    held = _held_people if people.person is not None else _held_rows
    dropped = held(people, originals)
    if not dropped.any():
        return people, originals, []
    if dropped.all():
        raise InputError("the control group is the whole original; hold back only some people")
    kept = np.flatnonzero(np.concatenate((~dropped, np.ones(len(people) - originals, np.bool_))))
    note = (
        f"the control group is part of the original, so {counted(int(dropped.sum()), 'row')} of "
        "the original are not attacked"
    )
    return people.take(kept), originals - int(dropped.sum()), [note]


def _held_people(people: Table, originals: int) -> Bools:
    """(original rows,) whether the row belongs to a person of the control group."""
    assert people.person is not None
    original, control = np.split(people.person.ids, [originals])
    both, all_of_them = np.intersect1d(original, control), np.unique(control)
    if 0 < len(both) < len(all_of_them):
        raise InputError(
            f"{counted(len(both), 'person', 'people')} of the control group are in the original, "
            f"and {len(all_of_them) - len(both):,} are not; it must consist of people who were not "
            "released"
        )
    held: Bools = np.isin(original, both)
    return held


def _held_rows(people: Table, originals: int) -> Bools:
    """(original rows,) as many rows of each kind as the control group has, if it has no others."""
    alike = group([column.codes for column in people], [column.domain for column in people])
    original, control = np.split(alike.ids, [originals])
    wanted = np.bincount(control, minlength=len(alike))
    held = np.zeros(originals, dtype=np.bool_)
    if (wanted > np.bincount(original, minlength=len(alike))).any():
        return held
    order = np.argsort(original, kind="stable")
    starts = np.searchsorted(original[order], original[order], side="left")
    held[order] = np.arange(originals) - starts < wanted[original[order]]
    return held
