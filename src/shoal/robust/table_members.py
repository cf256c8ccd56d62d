"""The classifiers of a vote over tables: fitted, asked, and checked for belonging together."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.core.arrays import Floats
from shoal.core.extras import requires
from shoal.errors import InputError


def check_fitted(members: Sequence[Any]) -> None:
    """Refuse classifiers that cannot be asked."""
    if not members:
        raise InputError("a vote needs at least one classifier")
    for member in members:
        kind = type(member).__name__
        if not hasattr(member, "classes_"):
            raise InputError(f"a classifier must be fitted first; {kind} is not")
        if not hasattr(member, "predict_proba"):
            raise InputError(f"a classifier must give probabilities (predict_proba); {kind} cannot")


def classes_of(members: Sequence[Any]) -> Any:
    """Return the classes that any of them names."""
    known = [np.asarray(member.classes_) for member in members]
    if len({classes.dtype.kind in "biuf" for classes in known}) > 1:
        raise InputError("classes must be of one type; some classifiers name numbers, some words")
    return np.unique(np.concatenate(known))


def columns_of(members: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the columns that the classifiers were fitted to, None where they know no names."""
    known = {tuple(getattr(member, "feature_names_in_", ())) for member in members}
    if len(known) > 1:
        raise InputError("classifiers must have learned from the same columns, in one order")
    return known.pop() or None


def check_width(width: int, members: Sequence[Any], units: Floats | None) -> None:
    """Refuse rows of another number of columns than was learned from."""
    wanted = {getattr(member, "n_features_in_", width) for member in members}
    if units is not None and units.ndim:
        wanted.add(len(units))
    others = sorted(wanted - {width})
    if others:
        raise InputError(f"rows have {width} columns; classifiers and units are for {others[0]}")


def fitted(classifier: Any, rows: Floats, classes: Any) -> Any:
    """Return a copy of the classifier, fitted."""
    with requires("learn"):
        from sklearn.base import clone

    try:
        return clone(classifier).fit(rows, classes)
    except ValueError:
        _refuse_missing(classifier, rows)
        if len(np.unique(classes)) > 1:
            raise
        told = f"a matrix shows one class only, which {type(classifier).__name__} cannot learn from"
        raise InputError(told) from None


def asked(member: Any, rows: Floats) -> Any:
    """Return (rows, classes) what a classifier says, also one that was fitted to a frame."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return member.predict_proba(rows)
    except ValueError:
        _refuse_missing(member, rows)
        raise


def _refuse_missing(member: Any, rows: Floats) -> None:
    missing = int(np.isnan(rows).any(axis=1).sum())
    if missing:
        raise InputError(
            f"rows with missing values: {missing}, which {type(member).__name__} cannot take; "
            "fill or drop them"
        ) from None
