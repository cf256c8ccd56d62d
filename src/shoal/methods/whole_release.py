"""The search of a method for models and tables that are about more than single classes of rows.

    models of the release as a whole    bisection for the least k whose release meets them
    published identifiers that link     the method sees people instead of rows:
    the rows of a person
      model of sizes:   one row of each person → method → groups of people ┐
      other models:     all rows of each person, made alike → method ──────┴→ cells of all rows
    kᵐ-anonymity                        see `events`

All rows of a person get the same cells, which cover what the rows of the person's group hold, so
that linked rows show no more than one row does. A model of sensitive values or of shares of rows
depends on all rows of a person, so the method sees them; for k-anonymity one row says as much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from shoal.errors import Infeasible, InputError
from shoal.methods.algorithm import Algorithm
from shoal.methods.events import is_about_events, search_events
from shoal.methods.partition.bound import check_bound
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.support.arrays import Codes, Counts
from shoal.support.wording import listed_names
from shoal.table.column import Role
from shoal.table.linked import Replaced, is_constant, link_sets, linked_sets, representatives
from shoal.table.recoding import Recoding
from shoal.table.table import Table

_LEAST = 2  # people in a class


def search_model(
    table: Table,
    model: Model,
    algorithm: Any,
    replaced: Mapping[str, Replaced],
    max_left_out: float = 0.0,
) -> Release:
    """Return a release of the method that meets the model.

    Methods know conditions on classes. For a condition on the release as a whole, the method runs
    several times with k-anonymity, and the least k whose release meets the condition is taken.

    Raises:
        Infeasible: No k that was tried gives such a release.
    """
    if hasattr(algorithm, "bound"):
        check_bound(algorithm, table, model)  # before it is replaced by the model to search for
    parts = [part.for_search(table) for part in model.parts if not part.by_release]
    if not model.by_release:
        wanted = reduce(and_, parts)
        release = search_people(table, wanted, algorithm, replaced, max_left_out)
        return release if wanted == model else replace(release, model=model)
    if hasattr(algorithm, "price"):
        raise InputError(
            f"{algorithm.name} claims differential privacy, which a search for {model} would "
            "break; use k-anonymity"
        )

    def attempt(k: int) -> Release | None:
        try:
            wanted = reduce(and_, [KAnonymity(k), *parts])
            searched = search_people(table, wanted, algorithm, replaced, max_left_out)
        except Infeasible:
            return None
        stated = _as_means(searched, wanted, model)
        return stated if stated.verify() else None

    most = min(table.people, table.household.count if table.household else table.people)
    enough = max(part.sufficient for part in model.parts if part.by_release)  # type: ignore[attr-defined]
    best = _least(attempt, min(enough, most)) or _larger(attempt, enough, most)
    if best is None:
        raise Infeasible(
            f"{model} cannot be met by {algorithm.name}: no k gives a release that meets it; allow "
            "a higher risk, or try a method that uses hierarchies"
        )
    return best


def _least(attempt: Callable[[int], Release | None], most: int) -> Release | None:
    """Return the release of the least k up to `most`, by bisection; None if none is found."""
    low, high, best = _LEAST, most, None
    while low <= high:
        middle = (low + high) // 2
        release = attempt(middle)
        low, high = (low, middle - 1) if release is not None else (middle + 1, high)
        best = best if release is None else release
    return best


def _larger(attempt: Callable[[int], Release | None], k: int, most: int) -> Release | None:
    """Return the release of the first larger k that is enough, doubling it up to one class."""
    while k < most:
        k = min(2 * k, most)
        release = attempt(k)
        if release is not None:
            return release
    return None


def _as_means(release: Release, searched: Model, model: Model) -> Release:
    """Return a release of the model that was searched for as one of the model asked for.

    The best release of the one is not that of the other, so no proof of the method is kept.
    """
    note = (
        f"{model} depends on the release as a whole: it was met by a search for {searched}, which "
        "the other notes are about, and a release that loses less may exist"
    )
    run = replace(release.run, notes=(note, *release.run.notes))
    return replace(release, model=model, proof=None, run=run)


def search_people(
    table: Table,
    model: Model,
    algorithm: Algorithm,
    replaced: Mapping[str, Replaced],
    max_left_out: float,
) -> Release:
    """Return the method's release, with the published identifiers.

    If they link rows, the method groups sets of linked rows.

    Parameters:
        max_left_out: Share of rows that may be left out to meet kᵐ-anonymity.
    """
    cells = [each.cells for each in replaced.values() if each.links]
    sets = linked_sets(cells, table.counts)
    if is_about_events(model):
        release = search_events(table, model, algorithm, sets, max_left_out)
        return replace(release, replaced=replaced)
    if sets is None:
        return replace(algorithm.search(table, model), replaced=replaced)
    if table.rows_are_people:
        names = listed_names([name for name, each in replaced.items() if each.links])
        raise InputError(
            f"{names} links several rows, so rows are not people; declare the column that "
            "identifies people as person"
        )
    columns = [*table.quasi_columns, *(table[n] for n in model.columns if n in table.sensitive)]
    if model.by_size:
        first = representatives(sets, columns)
        release = algorithm.search(_people(table, sets, first), model)
        return replace(_spread(release, table, sets, first, owners=sets), replaced=replaced)
    linked = link_sets(table, sets, as_profiles=False)
    if not model.monotone_on(linked):  # a person of several sets could break a union of classes
        assert linked.person is not None
        sets = linked.person.ids
    first = representatives(sets, columns)
    method = algorithm.on_linked_rows() if hasattr(algorithm, "on_linked_rows") else algorithm
    release = method.search(_alike(linked, sets, first), model)
    if method is not algorithm:
        notes = (*release.run.notes, "equal rows were not separated, because identifiers link them")
        release = replace(release, run=replace(release.run, notes=notes))
    every = np.arange(len(table), dtype=np.int32)
    return replace(_spread(release, table, sets, first, owners=every), replaced=replaced)


def _people(table: Table, sets: Codes, first: Counts) -> Table:
    """Return one row of each set; people who share an identifier count as one person."""
    person = table.person
    if person is not None and not np.array_equal(person.ids[first][sets], person.ids):
        table = link_sets(table, sets, as_profiles=False)
    return replace(table.take(first), counts=None)


def _alike(table: Table, sets: Codes, first: Counts) -> Table:
    """Return all rows, with the quasi-identifiers of one row of their set.

    The method keeps the rows of a set in one class, and judges the class by all of them.
    """
    columns = (
        replace(c, codes=c.codes[first][sets]) if c.role is Role.QUASI else c for c in table.columns
    )
    return replace(table, columns=tuple(columns))


def check_replaceable(table: Table, algorithm: Algorithm) -> None:
    """Refuse published identifiers where no guarantee would cover them."""
    if hasattr(algorithm, "price"):
        raise InputError(
            f"{algorithm.name} claims differential privacy, which published pseudonyms of "
            f"{listed_names(list(table.replacements))} would break; leave replace out"
        )
    if table.counts is not None:
        raise InputError("a weighted table has no identifiers to replace; read it row by row")


def _spread(release: Release, table: Table, sets: Codes, first: Counts, owners: Codes) -> Release:
    """Return a release of people as a release of all rows.

    Parameters:
        sets, first: (rows,) the set of linked rows of each row, and a row of each set.
        owners: (rows,) the row of the release whose cells each row gets.
    """
    ids = release.classes.ids[owners]
    recodings, varying = {}, []
    for name, recoding in release.recodings.items():
        column = table[name]
        if is_constant(column, sets, first):
            recodings[name] = recoding.of_owners(column.codes, owners)
        elif column.floor:
            raise InputError(
                f"{name} differs between the rows of a person, and its values do not fit in "
                "memory; state a larger memory, or use fewer quasi-identifiers"
            )
        else:
            varying.append(name)
            of_rows = replace(recoding.column, codes=column.codes)
            recodings[name] = Recoding.of_groups(of_rows, ids, len(release.classes))
    hidden = None if release.suppressed is None else release.suppressed[owners]
    if not varying:
        spread = replace(release, original=table, recodings=recodings, suppressed=hidden)
        return replace(spread, proof=None)
    note = (
        f"{listed_names(varying)} differs between the rows of a person; each group shows the range "
        "or set of all its values"
    )
    run = replace(release.run, notes=(*release.run.notes, note))
    return Release(table, recodings, release.model, hidden, run, claims=release.claims)
