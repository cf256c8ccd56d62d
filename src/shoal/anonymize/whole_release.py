"""Searches for models of a release as a whole: the least k whose release meets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from shoal.anonymize.linked_people import search_people
from shoal.anonymize.partition.bounding.bound import check_bound
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import Infeasible, InputError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import Model

if TYPE_CHECKING:
    from shoal.core.publishing.replaced import Replaced

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
            found = search_people(table, wanted, algorithm, replaced, max_left_out)
        except Infeasible:
            return None
        found = _as_means(found, wanted, model)
        return found if found.verify() else None

    most = min(table.people, table.household.count if table.household else table.people)
    enough = max(part.sufficient for part in model.parts if part.by_release)  # type: ignore[attr-defined]
    found = _least(attempt, min(enough, most)) or _larger(attempt, enough, most)
    if found is None:
        raise Infeasible(
            f"{model} cannot be met by {algorithm.name}: no k gives a release that meets it; allow "
            "a higher risk, or try a method that uses hierarchies"
        )
    return found


def _least(attempt: Callable[[int], Release | None], most: int) -> Release | None:
    """Return the release of the least k up to `most`, by bisection; None if none is found."""
    low, high, best = _LEAST, most, None
    while low <= high:
        middle = (low + high) // 2
        found = attempt(middle)
        low, high = (low, middle - 1) if found is not None else (middle + 1, high)
        best = best if found is None else found
    return best


def _larger(attempt: Callable[[int], Release | None], k: int, most: int) -> Release | None:
    """Return the release of the first larger k that is enough, doubling it up to one class."""
    while k < most:
        k = min(2 * k, most)
        found = attempt(k)
        if found is not None:
            return found
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
