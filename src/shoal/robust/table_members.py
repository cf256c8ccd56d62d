"""The classifiers of a vote over tables: fitting, queries, and checks that they match."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal._compat.messages import FEATURE_NAMES
from shoal.errors import InputError
from shoal.support.arrays import Floats
from shoal.support.extras import requires
from shoal.support.wording import counted


def check_fitted(members: Sequence[Any]) -> None:
    """Raise an error if a classifier is not fitted or has no probabilities."""
    if not members:
        raise InputError("a vote needs at least one classifier")
    for member in members:
        kind = type(member).__name__
        if not hasattr(member, "classes_"):
            raise InputError(f"classifiers must be fitted; {kind} is not")
        if not hasattr(member, "predict_proba"):
            raise InputError(f"classifiers must have predict_proba; {kind} does not")


def classes_of(members: Sequence[Any]) -> Any:
    """Return the classes of all classifiers together."""
    known = [np.asarray(member.classes_) for member in members]
    if len({classes.dtype.kind in "biuf" for classes in known}) > 1:
        raise InputError("classes must have one type; some classifiers use numbers, others text")
    return np.unique(np.concatenate(known))


def columns_of(members: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the columns that the classifiers were fitted to, None if these have no names."""
    known = {tuple(getattr(member, "feature_names_in_", ())) for member in members}
    if len(known) > 1:
        raise InputError("classifiers must be fitted on the same columns in the same order")
    return known.pop() or None


def check_width(width: int, members: Sequence[Any], units: Floats | None) -> None:
    """Raise an error if rows do not have the columns that classifiers and units have."""
    wanted = {getattr(member, "n_features_in_", width) for member in members}
    if units is not None and units.ndim:
        wanted.add(len(units))
    others = sorted(wanted - {width})
    if others:
        raise InputError(
            f"rows must have {others[0]} columns, as classifiers and units do, not {width}"
        )


def fitted(classifier: Any, rows: Floats, classes: Any) -> Any:
    """Return a fitted copy of the classifier."""
    with requires("learn"):
        from sklearn.base import clone

    try:
        return clone(classifier).fit(rows, classes)
    except ValueError:
        _refuse_missing(classifier, rows)
        if len(np.unique(classes)) > 1:
            raise
        raise InputError(
            f"a matrix has only one class; {type(classifier).__name__} needs at least two"
        ) from None


def probabilities(member: Any, rows: Floats) -> Any:
    """Return (rows, classes) the probabilities of a classifier, which may be fitted to a frame."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", FEATURE_NAMES)
            return member.predict_proba(rows)
    except ValueError:
        _refuse_missing(member, rows)
        raise


def _refuse_missing(member: Any, rows: Floats) -> None:
    missing = int(np.isnan(rows).any(axis=1).sum())
    if missing:
        raise InputError(
            f"{counted(missing, 'row has', 'rows have')} missing values, which "
            f"{type(member).__name__} does not accept; fill or drop them"
        ) from None
