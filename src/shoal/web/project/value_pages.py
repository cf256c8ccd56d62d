"""Pages of the values in the hierarchy editor: filtered, ordered, 50 at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.support.arrays import Bools, Codes, Counts
from shoal.web.project.grouping import EditError, Grouping

PAGE_ROWS = 50
ORDERS = ("value", "rows", "group")


@dataclass(frozen=True)
class ValueRow:
    """One value in the editor.

    Parameters:
        row: Its position among the values.
        value: Its text.
        rows: Rows of the file that have it.
        labels: Its label at each level between the value and the root.
        grouped: For each level, whether it has a group there.
        ticked: Whether it is selected.
        own: Whether the file has it; others are only in the hierarchy.
    """

    row: int
    value: str
    rows: int
    labels: tuple[str, ...]
    grouped: tuple[bool, ...]
    ticked: bool
    own: bool


@dataclass(frozen=True)
class Page:
    """A page of values.

    Parameters:
        rows: The values.
        number: The page, from 0.
        pages: The number of pages, at least 1.
        found: The number of values that the filter finds.
    """

    rows: tuple[ValueRow, ...]
    number: int
    pages: int
    found: int


def find_values(
    grouping: Grouping, rows: Counts, text: str = "", *, only_ungrouped: bool = False
) -> Counts:
    """Return those of the values that a filter finds, in the same order.

    Parameters:
        grouping: The groups.
        rows: The values in some order.
        text: Only values whose text, or a label of theirs, contains this text.
        only_ungrouped: Only values of the file that no level groups.
    """
    if only_ungrouped:
        keep = np.zeros(len(grouping.domain), dtype=np.bool_)
        keep[grouping.ungrouped] = True
        rows = rows[keep[rows]]
    wanted = text.strip().casefold()
    if wanted:
        fits = np.array([wanted in each.casefold() for each in grouping.domain.texts])
        keep = np.logical_or.reduce([fits[labels] for labels in grouping.labels])
        rows = rows[keep[rows]]
    return rows


def order_values(grouping: Grouping, order: str, file_rows: Counts) -> Counts:
    """Return the values in an order.

    Parameters:
        grouping: The groups.
        order: `value`, `rows` (most rows first) or `group` (values of one group together).
        file_rows: (values,) rows of the file that have each value.
    """
    if order == "value":
        return np.arange(len(grouping.domain))
    if order == "rows":
        return np.argsort(-file_rows, kind="stable")
    if order == "group":
        levels = grouping.labels[1:] or grouping.labels
        return np.lexsort([_first_rows(labels) for labels in levels])
    raise EditError(f"order must be one of {', '.join(ORDERS)}")


def value_rows(
    grouping: Grouping, shown: Counts, file_rows: Counts, ticked: Bools
) -> tuple[ValueRow, ...]:
    """Return some values with their labels.

    Parameters:
        grouping: The groups.
        shown: The values.
        file_rows: (values,) rows of the file that have each value.
        ticked: (values,) whether each value is selected.
    """
    texts, levels = grouping.domain.texts, range(1, grouping.height + 1)
    labels = [[texts[n] for n in grouping.labels[level][shown]] for level in levels]
    grouped = [(~grouping.alone(level)[shown]).tolist() for level in levels]
    return tuple(
        ValueRow(
            int(row),
            grouping.domain.values[row],
            int(file_rows[row]),
            tuple(column[i] for column in labels),
            tuple(column[i] for column in grouped),
            bool(ticked[row]),
            bool(grouping.domain.own[row]),
        )
        for i, row in enumerate(shown)
    )


def _first_rows(labels: Codes) -> Counts:
    """Return, for each value, the first value with the same label."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])
