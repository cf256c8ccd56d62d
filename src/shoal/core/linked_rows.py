"""Rows that a published identifier links, and the guarantee for the person behind them.

Anyone who sees a pseudonym sees all rows of one person together. A person then hides only among
people whose linked rows show the same set of quasi-identifier values, so a class is a set of such
people: rows are in one class if they and the whole sets of rows they are linked to look the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column, Kind, Role
from shoal.core.grouping import group, group_keys
from shoal.core.people import Unit, joined
from shoal.core.table import Table
from shoal.core.values import encoding
from shoal.support.arrays import Codes, Counts

_PROFILE = "the rows linked to this one"


def link_rows(table: Table, identifiers: Sequence[Any], *, as_profiles: bool = True) -> Table:
    """Return published rows with one more quasi-identifier: what the linked rows show.

    The people of the table are then such that k of them are at least k sets of linked rows. The
    table is returned unchanged if no rows are linked.

    Parameters:
        table: The published rows.
        identifiers: The published columns that link them, as Arrow arrays.
        as_profiles: Without, the quasi-identifiers stay as they are: for a guarantee that covers
            combinations of rows of a person.
    """
    sets = linked_sets(identifiers, table.counts)
    return link_sets(table, sets, as_profiles=as_profiles)


def link_sets(table: Table, sets: Codes | None, *, as_profiles: bool = True) -> Table:
    """As `link_rows`, by the number of the set that each row is linked to; None for no links."""
    if sets is None or not len(table):
        return table
    linked = Unit((), sets, int(sets.max()) + 1)
    person = linked if table.person is None else joined(table.person, linked)
    if not as_profiles:
        return replace(table, person=person)
    quasi = table.quasi_columns
    classes = group([c.codes for c in quasi], [c.domain for c in quasi])
    shown = profiles(sets, classes.ids)
    names = pa.array(np.arange(int(shown.max()) + 1))
    profile = Column(_PROFILE, Role.QUASI, Kind.NOMINAL, shown, names)
    return replace(table, columns=(*table.columns, profile), person=person)


def linked_sets(identifiers: Sequence[Any], counts: Counts | None = None) -> Codes | None:
    """(rows,) the number of the set that each row is linked to; None if no rows are linked.

    Two rows are linked if they have the same value in one of the columns, or are both linked to
    another row. A missing value links nothing.

    Parameters:
        identifiers: The columns, as Arrow arrays.
        counts: (rows,) how many equal rows each row stands for; None for one.
    """
    sets: Codes | None = None
    for cells in identifiers:
        found = _equal_cells(cells, counts)
        if found is None:
            continue
        if sets is None:
            sets = found
        else:
            one, other = (Unit((), ids, int(ids.max()) + 1) for ids in (sets, found))
            sets = joined(one, other).ids
    return sets


def _equal_cells(cells: Any, counts: Counts | None) -> Codes | None:
    """(rows,) the number of each cell, with one of its own for a missing cell; None if unique."""
    plain = encoding.with_missing(cells, "")
    encoded = plain.dictionary_encode(null_encoding="mask")
    distinct, missing = len(encoded.dictionary), plain.null_count
    several = counts is not None and bool((counts[plain.is_valid().to_numpy(False)] > 1).any())
    if distinct + missing == len(plain) and not several:
        return None
    ids: Codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    ids[ids < 0] = distinct + np.arange(missing, dtype=np.int32)
    return ids


def representatives(sets: Codes, columns: Sequence[Column]) -> Counts:
    """Return a row of each set: the first by its values, so that no order of rows decides.

    Parameters:
        sets: (rows,) the set that each row belongs to, without gaps.
        columns: The columns whose values are compared, the first of them first.
    """
    first = group_keys(sets.astype(np.int64)).first
    varying = [column.codes for column in columns if not is_constant(column, sets, first)]
    if not varying:
        return first
    order = np.lexsort([*varying[::-1], sets])
    starts = np.flatnonzero(np.diff(sets[order], prepend=-1))
    return order[starts].astype(np.int64)


def is_constant(column: Column, sets: Codes, first: Counts) -> bool:
    """Return whether all rows of a set have the same value.

    first: (sets,) a row of each set.
    """
    return bool(np.array_equal(column.codes[first][sets], column.codes))


def profiles(sets: Codes, classes: Codes) -> Codes:
    """(rows,) a number for the set of classes that the rows linked to each row are in.

    Two numbers are equal if and only if the sets of classes are equal. How many rows of a class a
    person has makes no difference.

    Parameters:
        sets: (rows,) the set of linked rows that each row belongs to.
        classes: (rows,) the class of each row.
    """
    people, groups = int(sets.max()) + 1, int(classes.max()) + 1
    pairs = group([sets, classes], [people, groups]).first  # ordered by set, then by class
    owner, member = sets[pairs], classes[pairs].astype(np.int64)
    sizes = np.bincount(owner, minlength=people)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    # walk down the sorted classes of all sets at once: sets share a node while they agree
    node, fresh = sizes.astype(np.int64), int(sizes.max()) + 1
    active: Counts = np.arange(people)
    for step in range(int(sizes.max())):
        active = active[sizes[active] > step]
        reached = group([group_keys(node[active]).ids, member[starts[active] + step]],
                        [len(active), groups])  # fmt: skip
        node[active] = fresh + reached.ids
        fresh += len(reached)
    return group_keys(node).ids[sets]
