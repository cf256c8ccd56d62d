"""Minimality: a class coarser than k requires reveals that a finer class would violate the model.

Methods minimize the loss, and attackers know that. If people with known quasi-identifiers are
published more coarsely than k requires, the model on sensitive columns must have prevented the
finer classes: one of them has too large a share of some value.
Wong et al., "Minimality attack in privacy preserving data publishing", VLDB 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from shoal.core.classes import Classes
from shoal.core.column import Column
from shoal.core.grouping import group
from shoal.core.members import Members
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.risk.candidates import is_freeform
from shoal.risk.cuts import cuts
from shoal.support.arrays import Bools, Codes


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
        kept = np.flatnonzero(ids >= 0)
        pairs = group([ids[kept], lower[kept]], [len(divisible), len(finer)])
        split = np.bincount(ids[kept[pairs.first]], minlength=len(divisible)) > 1
        divisible |= split
        broken = small if guarded is None else small | ~_holds(release, finer)
        if int(finer.rows[broken].sum()) <= budget:
            free[:] = True
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
    kept = np.ones(len(classes), dtype=np.bool_)
    for part in release.model.parts:
        if part.columns:
            kept &= part.holds(classes)
    return kept
