"""What a recipe is given: a column or plain values, and arguments that are what they should be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from shoal.core import domains
from shoal.core.column import Column
from shoal.core.hierarchy import ROOT, Hierarchy, Origin
from shoal.core.values import is_text
from shoal.errors import InputError


def as_column(values: Any) -> Column:
    """Return the column, or one of plain values."""
    return values if isinstance(values, Column) else Column.encode("values", values)


def over_domain(values: Any) -> Column:
    """Return the column, or one of plain values, over all that is declared of its domain.

    The bounds of integers, dates and decimals of fixed places list their domain, as long as it has
    no more than 100,000 values.
    """
    column = as_column(values)
    if column.declared or not column.closed:
        return column
    domain = domains.between(column.type, column.bounds)
    if domain is None:
        return column
    nobody = np.zeros(0, dtype=np.int32)
    return replace(
        column, codes=nobody, values=domain, declared=True, spelling=None, hierarchy=None
    )


def nested(
    column: Column,
    labels: Sequence[str],
    levels: Sequence[Sequence[str]],
    bounds: Mapping[int, Mapping[str, tuple[float, float]]] | None = None,
    *,
    fixed: bool,
) -> Hierarchy:
    """Make a hierarchy of labels and, for each level, the group of each label; the root is added.

    A column without known values gives the same levels as any other.
    fixed: whether the group of a value follows from the value alone, whichever others there are.
    """
    rows: list[tuple[str | None, ...]]
    rows = list(zip(labels, *levels, [ROOT] * len(labels), strict=True))
    origin: Origin = "values" if fixed else "data"
    if column.declared or (fixed and column.closed):
        origin = "declared"
    return Hierarchy.from_rows(rows or [(None, *([None] * len(levels)), ROOT)], bounds, origin)


def known_labels(column: Column) -> list[str]:
    """Return the texts of the values that are not missing, in order."""
    return [str(label) for label in column.labels[: column.known]]


def refusal(column: Column, recipe: str, wanted: str) -> InputError:
    """Return the error that says of which column a recipe wants what."""
    return InputError(f"column {column.name!r}: {recipe}: {wanted}")


def misfit(column: Column, wanted: str, written: str) -> str:
    """Say that the values are not what a recipe is for, and what makes them so."""
    if not is_text(column.values.type):
        return f"needs {wanted}, and the values are {column.kind}, of type {column.values.type}"
    return (
        f"needs {wanted}, and some values read as text; write all like {written} and list what "
        "means missing under missing (kind: numeric names the first row that does not fit)"
    )


def is_whole(value: Any) -> bool:
    """Whether the argument is a whole number; yes and no are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether the argument is a finite number; yes and no are none."""
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        return False
    return isinstance(value, Integral) or math.isfinite(value)


def is_list(value: Any) -> bool:
    """Whether the argument is a list of arguments; a text is none."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
