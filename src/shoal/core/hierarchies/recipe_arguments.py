"""Arguments of recipes: a column or plain values, and checked options."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from shoal.core.column import Column
from shoal.core.hierarchies.hierarchy import ROOT, Hierarchy
from shoal.core.values import domains
from shoal.core.values.encoding import is_text
from shoal.errors import InputError
from shoal.support.arrays import frozen

MAX_LEVELS = 256  # of a recipe between the values and the root


def as_column(values: Any) -> Column:
    """Return the column, or one of plain values."""
    return values if isinstance(values, Column) else Column.encode("values", values)


def over_domain(values: Any) -> Column:
    """Return the column, or one of plain values, over its declared domain.

    The bounds of integers, dates and decimals with fixed places define their domain if it has at
    most 100,000 values.
    """
    column = as_column(values)
    if column.declared or not column.closed:
        return column
    domain = domains.between(column.type, column.bounds)
    if domain is None:
        return column
    no_rows = np.zeros(0, dtype=np.int32)
    return replace(
        column, codes=no_rows, values=domain, declared=True, spelling=None, hierarchy=None
    )


def nested(
    column: Column,
    labels: Sequence[str],
    levels: Sequence[Sequence[str]],
    bounds: Mapping[int, Mapping[str, tuple[Any, Any]]] | None = None,
    *,
    fixed: bool,
) -> Hierarchy:
    """Create a hierarchy from labels and, for each level, the group of each label; add the root.

    A column without known values gives the same levels as any other.

    Parameters:
        bounds: For a level, the least and greatest number of each label.
        fixed: Whether the group of a value depends on the value only, not on the other values.
    """
    check_height(column, len(levels))
    rows: list[tuple[str | None, ...]]
    rows = list(zip(labels, *levels, [ROOT] * len(labels), strict=True))
    empty = [(None, *([None] * len(levels)), ROOT)]
    position = column.ruler.position
    ends = {
        height: {label: (position(low), position(high)) for label, (low, high) in named.items()}
        for height, named in (bounds or {}).items()
    }
    tree = Hierarchy.from_rows(rows or empty, ends, "values" if fixed else "data", column.ruler)
    if column.declared:
        return replace(tree, origin="declared")
    countable = bounds is not None or not levels  # a mask does not state which values it stands for
    return _over_bounds(tree, column) if fixed and countable and column.closed else tree


def _over_bounds(tree: Hierarchy, column: Column) -> Hierarchy:
    """Return a hierarchy over a domain too large to list, with leaves counted from the bounds."""
    least, greatest = column.extent
    step = domains.step(column.type, (least, greatest), column.ruler)
    total = round((greatest - least) / step) + 1
    counted = [tree.levels[0]]
    for level in tree.levels[1:-1]:
        if level.bounds is None:  # no value is known
            counted.append(level)
            continue
        low, high = np.maximum(level.bounds[:, 0], least), np.minimum(level.bounds[:, 1], greatest)
        leaves = np.clip(np.rint((high - low) / step), 1, total).astype(np.int64)
        counted.append(replace(level, leaves=frozen(leaves)))
    root = replace(tree.levels[-1], leaves=frozen(np.full(1, total, dtype=np.int64)))
    return replace(tree, levels=(*counted, root), origin="declared")


def check_height(column: Column, levels: int) -> None:
    """Reject too many levels before they are created."""
    if levels > MAX_LEVELS:
        raise InputError(
            f"column {column.name!r}: its hierarchy would have {levels:,} levels; "
            f"the maximum is {MAX_LEVELS}"
        )


def known_labels(column: Column) -> list[str]:
    """Return the texts of the values that are not missing, in order."""
    return [str(label) for label in column.labels[: column.known]]


def refusal(column: Column, recipe: str, wanted: str) -> InputError:
    """Return the error of a recipe that does not apply to a column."""
    return InputError(f"column {column.name!r}: {recipe}: {wanted}")


def misfit(column: Column, wanted: str, written: str) -> str:
    """Return why a recipe does not apply to the values, and how to fix them."""
    if not is_text(column.values.type):
        return f"needs {wanted}, but the values are {column.kind}, of type {column.values.type}"
    return (
        f"needs {wanted}, but some values read as text; write all like {written} and list the "
        "texts of missing values under missing (kind: numeric reports the first row that fails)"
    )


def is_whole(value: Any) -> bool:
    """Return whether the argument is a whole number; true and false are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether the argument is a finite number; true and false are not."""
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        return False
    return isinstance(value, Integral) or math.isfinite(value)


def is_list(value: Any) -> bool:
    """Return whether the argument is a list; a text is not."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
