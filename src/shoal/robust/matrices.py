"""Rows for classifiers: matrices and frames of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Floats
from shoal.support.wording import counted


def names_of(rows: Any) -> tuple[Any, ...] | None:
    """Return the column names of a frame (pandas, polars, Arrow), None for a matrix."""
    names = getattr(rows, "column_names", None)
    if names is None:
        names = getattr(rows, "columns", None)
    return None if names is None else tuple(names)


def as_matrix(rows: Any, columns: Sequence[Any] | None) -> Floats:
    """Return (rows, columns) numbers; from a frame, these columns in this order."""
    names = names_of(rows)
    if names is not None:
        return _from_frame(rows, names, names if columns is None else columns)
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("rows must be numbers, (rows, columns); encode text first") from None
    if matrix.ndim != 2:
        raise InputError(
            f"rows must be (rows, columns), not of shape {matrix.shape}; give one row as [row]"
        )
    _check_finite(matrix, "rows")
    return matrix


def _from_frame(rows: Any, names: Sequence[Any], columns: Sequence[Any]) -> Floats:
    missing = ", ".join(str(name) for name in columns if name not in names)
    if missing or len(set(names)) < len(names):
        problem = f"lacks {missing}" if missing else "has two columns of the same name"
        known = ", ".join(map(str, columns))
        raise InputError(f"the frame {problem}; the classifiers use {known}")
    matrix = np.empty((len(rows), len(columns)))
    for index, name in enumerate(columns):
        try:
            matrix[:, index] = _numbers(rows[name])
        except (TypeError, ValueError):
            raise InputError(f"column {name!r} must be numbers; encode it first") from None
        _check_finite(matrix[:, index], f"column {name!r}")
    return matrix


def _numbers(column: Any) -> Any:
    """Return a column of a frame; missing values become NaN."""
    if type(column).__module__.startswith("pandas"):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(column, dtype=np.float64)


def _check_finite(values: Any, what: str) -> None:
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise InputError(
            f"{what} must be finite; {counted(infinite, 'number is', 'numbers are')} not"
        )


def check_matrices(matrices: Sequence[Floats], classes: Sequence[Any]) -> None:
    """Raise an error if one classifier cannot be fitted to each of the matrices."""
    for rows, truth in zip(matrices, classes, strict=True):
        if truth.shape != (len(rows),) or not len(rows):
            raise InputError(
                f"each matrix must have at least 1 row and one class per row; one has {len(rows)} "
                f"rows and classes of shape {truth.shape}"
            )
    if len({rows.shape[1] for rows in matrices}) > 1:
        raise InputError("matrices must have the same number of columns")


def spread_of(matrix: Floats) -> Floats:
    """Return (columns,) standard deviations without missing values, 0 if all are missing."""
    spread: Floats = np.ma.masked_invalid(matrix).std(axis=0).filled(0.0)
    return spread


def as_units(units: Any) -> Floats:
    """Check (columns,) units, or one unit for all columns, and convert them to numbers."""
    try:
        found = np.asarray(units, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.ndim > 1 or not (np.isfinite(found) & (found >= 0)).all():
        raise InputError("units must be one number of at least 0 for each column")
    return found


def pairs_of(matrices: Any) -> list[tuple[Any, Any]]:
    """Return pairs of a matrix and its classes."""
    try:
        pairs = [(rows, classes) for rows, classes in matrices]
    except (TypeError, ValueError):
        raise InputError("matrices must be a list of pairs, [(rows, classes), ...]") from None
    if not pairs:
        raise InputError("matrices is empty; give at least one pair of rows and classes")
    return pairs
