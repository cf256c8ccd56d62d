"""Requirements of metrics, and the reason to report if a release does not meet one.

Nothing is guessed: a metric whose requirement is not met is undefined.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from shoal.core.column import Column, Role
from shoal.core.recoding import NO_LEVEL, Recoding
from shoal.core.release import Release
from shoal.core.values import encoding
from shoal.errors import InputError
from shoal.support.arrays import Codes, Floats

_PASSED_ON = (Role.SENSITIVE, Role.INSENSITIVE)


def refuse(metric: str, reason: str) -> NoReturn:
    """Raise an error that states why a metric is undefined."""
    raise InputError(f"metric {metric}: {reason}")


def without_levels(release: Release) -> str | None:
    """Return why hierarchy levels are not known for every released cell, None if they are."""
    for name, recoding in release.recodings.items():
        if recoding.column.hierarchy is None:
            return f"column {name!r} has no hierarchy"
        if (_used_levels(release, recoding) == NO_LEVEL).any():
            return f"column {name!r} has cells that are not labels of its hierarchy"
    return None


def known_levels(recoding: Recoding) -> Floats:
    """(entries,) hierarchy level of each entry, 0 for an unused entry without a level."""
    if recoding.levels is None:
        return np.zeros(len(recoding.labels))
    return np.maximum(recoding.levels, 0).astype(np.float64)


def without_one_level(release: Release) -> str | None:
    """Return why columns are not published at one level each, None if they are."""
    for name, recoding in release.recodings.items():
        if len(np.unique(_used_levels(release, recoding))) > 1:
            return f"column {name!r} is published at several levels; use precision instead"
    return without_levels(release)


def _used_levels(release: Release, recoding: Recoding) -> Codes:
    """Return the levels of the entries that released records use."""
    codes = recoding.codes if release.suppressed is None else recoding.codes[~release.suppressed]
    used = np.flatnonzero(np.bincount(codes, minlength=len(recoding.labels)))
    if recoding.levels is None:
        return np.full(len(used), NO_LEVEL, dtype=np.int32)
    return recoding.levels[used]


def without_pairs(release: Release) -> str | None:
    """Return why there are no two columns to compare, None if there are."""
    return None if len(release.recodings) > 1 else "needs at least two quasi-identifiers"


def without_target(release: Release) -> str | None:
    """Return why there is no default target, None if exactly one column is sensitive."""
    if len(release.original.sensitive) == 1:
        return None
    names = [c.name for c in release.original.columns if c.role in _PASSED_ON]
    if not names:
        return "needs a sensitive or insensitive column as its target; the release has none"
    return f"needs a target; choose one of {', '.join(names)}"


def target_column(release: Release, target: str | None) -> Column:
    """Return the column to predict, with one code for equal values."""
    if target is None:
        reason = without_target(release)
        if reason:
            refuse("classification", reason)
        target = release.original.sensitive[0]
    column = release.original[target]
    if column.role not in _PASSED_ON:
        refuse(
            "classification",
            f"column {target!r} is {column.role}; the target must be sensitive or insensitive",
        )
    if column.role is Role.SENSITIVE:
        return column
    codes, values = encoding.encode(column.to_arrow(), target)
    return Column(target, Role.INSENSITIVE, column.kind, codes, values)
