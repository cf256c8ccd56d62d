"""Minimality: a class coarser than k requires reveals that a finer class would violate the model.

Methods minimize the loss, and attackers know that. If people with known quasi-identifiers are
published more coarsely than k requires, the model on sensitive columns must have prevented the
finer classes: one of them has too large a share of some value.

    minimality   counts the classes that k alone would have allowed to be cut
    cuts         the ways to divide a class by one quasi-identifier, as a method would: at a point
                 of its order, or into the labels one level down its hierarchy

Wong et al., "Minimality attack in privacy preserving data publishing", VLDB 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.release.release import Release
from shoal.risk.sensitive import is_freeform
from shoal.support.arrays import Bools, Codes, Counts
from shoal.table.classes import Classes, Histogram, count_values
from shoal.table.column import Column
from shoal.table.members import Members
from shoal.table.people import group
from shoal.table.recoding import Recoding
from shoal.table.table import Table


@dataclass(frozen=True)
class Minimality:
    """Result of `minimality`: classes whose coarseness reveals something.

    Attributes:
        k: The size that the model requires of every class; 1 if it requires none.
        guarded: The sensitive columns that the model protects.
        classes: Number of classes.
        least: Classes of exactly k people.
        divisible: Classes that could be cut according to their size.
        held: Divisible classes that only the model on sensitive columns keeps together, because
            every cut violates it.
        people: Number of released people.
        divisible_people: Number of people in divisible classes.
        held_people: Number of people in held classes.
    """

    k: int
    guarded: tuple[str, ...]
    classes: int
    least: int
    divisible: int
    held: int
    people: int
    divisible_people: int
    held_people: int

    @property
    def held_share(self) -> float:
        """Share of the released people in classes that only the sensitive model keeps together."""
        return self.held_people / max(self.people, 1)


def minimality(release: Release) -> Minimality:
    """Count the classes that only the model on sensitive columns kept from being finer.

    A cut divides a class by one quasi-identifier: at a point of its order (nominal values without a
    hierarchy use the order of their codes, and at most 32 points are tried), or into the labels one
    level down. If a method chose one node for all rows, a cut lowers a column in the whole table,
    with no more suppressed records than the method was allowed.

    The result counts the classes that the attack applies to, not what it yields: how certain an
    attacker becomes depends on all cuts together and on the attacker's knowledge of the method. A
    class that could be cut without violating the model reveals nothing: the method was not minimal
    there.

    Parameters:
        release: The release.

    Returns:
        The number of such classes, and of the people in them.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> model = "l-diversity(2, ill)"
    >>> release = shoal.anonymize(rows, model, k=2, quasi="age", sensitive="ill")
    >>> minimality(release).held
    1
    """
    k = max((int(getattr(part, "k", 1)) for part in release.model.parts), default=1)
    classes, sizes = release.classes, release.classes.sizes
    divisible, held = _judged(release, k)
    return Minimality(
        k=k,
        guarded=_guarded(release),
        classes=len(sizes),
        least=int((sizes == k).sum()),
        divisible=int(divisible.sum()),
        held=int(held.sum()),
        people=classes.released_people,
        divisible_people=_people_in(classes, divisible),
        held_people=_people_in(classes, held),
    )


def _people_in(classes: Classes, chosen: Bools) -> int:
    """Return the number of people with a row in one of these classes."""
    person = classes.table.person
    if person is None:
        return int(classes.rows[chosen].sum())
    return Members.of(classes.ids, person).count_people(chosen)


def _guarded(release: Release) -> tuple[str, ...]:
    names = [name for part in release.model.parts for name in part.columns]
    return tuple(dict.fromkeys(names))


def _judged(release: Release, k: int) -> tuple[Bools, Bools]:
    """(classes,) whether size allows a cut, and whether only the model prevents all of them."""
    none = np.zeros(len(release.classes), dtype=np.bool_)
    if is_freeform(release) or not len(release.classes):
        return none, none
    if release.node is not None:
        divisible, free = _by_table(release, release.node, k)
    else:
        divisible, free = _by_class(release, k)
    return divisible, (divisible & ~free if _guarded(release) else none)


def _by_class(release: Release, k: int) -> tuple[Bools, Bools]:
    """(classes,) which have a cut that k allows, and which have one that the model allows."""
    divisible, free = (np.zeros(len(release.classes), dtype=np.bool_) for _ in range(2))
    table = _sensitive(release)
    for cut in cuts(release, k):
        divisible[cut.owners] = True
        if table is None or not len(cut.rows):
            continue
        parts = Classes.of(table.take(cut.rows), cut.parts, origin=table)
        failing = cut.owners[~_holds(release, parts)]
        allowed = np.zeros(len(free), dtype=np.bool_)
        allowed[cut.owners] = True
        allowed[failing] = False
        free |= allowed
    return divisible, free


def _by_table(release: Release, levels: Mapping[str, int], k: int) -> tuple[Bools, Bools]:
    """As `_by_class`, if a column is lowered in the whole table or not at all."""
    divisible, free = (np.zeros(len(release.classes), dtype=np.bool_) for _ in range(2))
    table, ids = release.original, release.classes.ids
    allowed = release.run.options.get("max_suppression") or 0.0
    budget = max(int(allowed * table.records), release.classes.suppressed)
    guarded = _sensitive(release)
    for lower in _steps(release, levels):
        finer = Classes.of(guarded or table, lower)
        small = finer.sizes < k
        if int(finer.rows[small].sum()) > budget:
            continue
        rows = np.flatnonzero(ids >= 0)
        pairs = group([ids[rows], lower[rows]], [len(divisible), len(finer)])
        split = np.bincount(ids[rows[pairs.first]], minlength=len(divisible)) > 1
        divisible |= split
        broken = small if guarded is None else small | ~_holds(release, finer)
        if int(finer.rows[broken].sum()) <= budget:
            free[:] = True  # the method could have published this table, so no class was held back
    return divisible, free


def _steps(release: Release, levels: Mapping[str, int]) -> Iterator[Codes]:
    """Return the classes of all rows, suppressed ones too, with one column lowered at a time.

    A level with the same labels as the level above is skipped.
    """
    at = {n: Recoding.at_level(r.column, levels[n]) for n, r in release.recodings.items()}
    for name, recoding in at.items():
        for level in range(levels[name] - 1, -1, -1):
            finer = Recoding.at_level(recoding.column, level)
            if len(finer.labels) > len(recoding.labels):
                columns = {**at, name: finer}.values()
                yield group([r.codes for r in columns], [len(r.labels) for r in columns]).ids
                break


def _sensitive(release: Release) -> Table | None:
    """Return the columns that the model protects, None if it protects none."""
    table = release.original
    columns: list[Column] = [table[name] for name in _guarded(release)]
    return replace(table, columns=tuple(columns)) if columns else None


def _holds(release: Release, classes: Classes) -> Bools:
    """(classes,) whether the parts of the model about sensitive columns hold."""
    holding = np.ones(len(classes), dtype=np.bool_)
    for part in release.model.parts:
        if part.columns:
            holding &= part.holds(classes)
    return holding


MAX_CUTS = 32  # cuts of a class by one column, evenly spread


@dataclass(frozen=True, eq=False)
class Cuts:
    """One cut for each of several classes.

    Parameters:
        rows: Rows of these classes.
        parts: (rows,) the part of each row, numbered from 0 without gaps.
        owners: (parts,) the class of each part.
    """

    rows: Counts
    parts: Codes
    owners: Codes


def cuts(release: Release, k: int) -> Iterator[Cuts]:
    """Yield the cuts that leave every part at least k people, for several classes at a time.

    Parameters:
        release: The release.
        k: Smallest number of people in a part.
    """
    for recoding in release.recodings.values():
        used = _levels(release, recoding)
        if used is None:
            yield from _in_order(release, recoding, k)
        else:
            yield from _by_level(release, recoding, used, k)


def _levels(release: Release, recoding: Recoding) -> Codes | None:
    """(classes,) the level at which each class is published, None if not all have one."""
    if recoding.levels is None or recoding.column.hierarchy is None:
        return None
    ids = release.classes.ids
    levels = np.empty(len(release.classes), dtype=np.int32)
    kept = ids >= 0
    levels[ids[kept]] = recoding.levels[recoding.codes[kept]]
    return None if (levels < 0).any() else levels


def _in_order(release: Release, recoding: Recoding, k: int) -> Iterator[Cuts]:
    """Cut classes between two neighbouring values: first one cut of each class, then the next."""
    classes, column = release.classes, recoding.column
    values = count_values(column, classes.ids, len(classes), release.original.counts)
    owners = np.repeat(np.arange(len(classes)), np.diff(values.indptr))
    left, right = _sides(release, column, values, owners)
    fair = np.flatnonzero((left >= k) & (right >= max(k, 1)))
    fair, turns = _spread(fair, owners[fair])
    for turn in range(int(turns.max(initial=-1)) + 1):
        entries = fair[turns == turn]
        limits = np.full(len(classes), -1, dtype=np.int32)
        limits[owners[entries]] = values.codes[entries]
        yield _parted(release, limits >= 0, column.codes > limits[classes.ids])


def _sides(
    release: Release, column: Column, values: Histogram, owners: Counts
) -> tuple[Counts, Counts]:
    """Return the number of people, or households, of a class up to each value, and after it."""
    classes, table = release.classes, release.original
    units = [unit for unit in (table.person, table.household) if unit is not None]
    if table.person is None:
        upto = np.concatenate(([0], np.cumsum(values.counts)))
        left = upto[1:] - upto[values.indptr[owners]]
        sides = [(left, classes.rows[owners] - left)]
    else:
        sides = []
    keys = owners * column.domain + values.codes
    for unit in units:
        rows = np.flatnonzero(classes.ids >= 0)
        pair = group([classes.ids[rows], unit.ids[rows]], [len(classes), unit.count])
        owner = classes.ids[rows[pair.first]].astype(np.int64)
        lowest = np.full(len(pair), column.domain)
        highest = np.full(len(pair), -1)
        np.minimum.at(lowest, pair.ids, column.codes[rows])
        np.maximum.at(highest, pair.ids, column.codes[rows])
        # a unit lies left of a value if its highest row does, and right if its lowest row does; a
        # unit with rows on both sides counts on both
        before = np.searchsorted(owner, owners)  # pairs are in the order of their classes
        total = np.searchsorted(owner, owners, side="right") - before
        low, high = (np.sort(owner * column.domain + ends) for ends in (lowest, highest))
        left, kept = (np.searchsorted(ends, keys, side="right") - before for ends in (low, high))
        sides.append((left, total - kept))
    lefts, rights = zip(*sides, strict=True)
    return np.minimum.reduce(lefts), np.minimum.reduce(rights)


def _spread(entries: Counts, owners: Counts) -> tuple[Counts, Counts]:
    """Return up to MAX_CUTS entries of each owner, evenly spread, and the turn of each from 0."""
    _, first, owner, count = np.unique(
        owners, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.arange(len(owners)) - first[owner]
    turn = rank * MAX_CUTS // np.maximum(count, MAX_CUTS)[owner]  # the rank if they are few
    fresh = np.ones(len(owners), dtype=np.bool_)
    fresh[1:] = (turn[1:] != turn[:-1]) | (owners[1:] != owners[:-1])
    return entries[fresh], turn[fresh]


def _by_level(release: Release, recoding: Recoding, used: Codes, k: int) -> Iterator[Cuts]:
    """Cut classes into the labels of the first lower level at which they have several."""
    assert recoding.column.hierarchy is not None
    classes, codes = release.classes, recoding.column.codes
    uncut = np.ones(len(classes), dtype=np.bool_)
    for height in range(int(used.max(initial=0)) - 1, -1, -1):
        labels = recoding.column.hierarchy.levels[height].groups[codes]
        parted = _parted(release, uncut & (used > height), labels)
        several = np.bincount(parted.owners, minlength=len(classes)) > 1
        uncut &= ~several
        sizes = Classes.of(release.original.take(parted.rows), parted.parts).sizes
        fair = several.copy()
        fair[parted.owners[sizes < k]] = False
        if fair.any():
            yield _parted(release, fair, labels)


def _parted(release: Release, wanted: Bools, sides: Any) -> Cuts:
    """Return the wanted classes, each divided by the side of its rows."""
    ids = release.classes.ids
    rows = np.flatnonzero((ids >= 0) & wanted[ids]) if len(wanted) else np.zeros(0, np.int64)
    if not len(rows):
        return Cuts(rows, np.zeros(0, np.int32), np.zeros(0, np.int32))
    parts = group([ids[rows], sides[rows]], [len(wanted), int(sides.max()) + 1])
    return Cuts(rows, parts.ids, ids[rows[parts.first]])
