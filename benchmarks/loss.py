"""The loss of a release of any tool, from its cells and the original values alone.

Written apart from shoal.metrics on purpose, so that one checks the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

OUT = -1  # the row is suppressed


@dataclass(frozen=True)
class Released:
    """A release, row by row of the original.

    cells: for each column (rows,) the entry published for each row, OUT where there is none.
    entries: for each column the original values that each entry admits.
    """

    cells: Mapping[str, NDArray[np.int64]]
    entries: Mapping[str, Sequence[Sequence[Any]]]

    def classes(self) -> NDArray[np.int64]:
        """Return (rows,) the class of each row, OUT for suppressed rows."""
        stacked = np.stack(list(self.cells.values()), axis=1)
        _, ids = np.unique(stacked, axis=0, return_inverse=True)
        ids = np.where((stacked == OUT).any(axis=1), -1, ids.reshape(-1))
        _, dense = np.unique(ids, return_inverse=True)
        return dense.reshape(-1) - int((ids == OUT).any())


def class_loss(classes: NDArray[np.int64], columns: Mapping[str, NDArray[Any]]) -> float:
    """Mean over all cells of the spread of original values in the class of the row, 0 to 1.

    Numbers: (max − min) / range; others: (distinct − 1) / (domain − 1); a row left out counts 1.
    """
    kept = classes != OUT
    sizes = np.bincount(classes[kept])
    order = np.argsort(classes[kept], kind="stable")
    starts = np.cumsum(sizes) - sizes
    losses = []
    for values in columns.values():
        if not len(sizes):
            spread = np.zeros(0)
        elif is_number(values):
            inside = values[kept][order]
            spread = np.maximum.reduceat(inside, starts) - np.minimum.reduceat(inside, starts)
            spread = spread / max(values.max() - values.min(), 1e-300)
        else:
            domain, codes = np.unique(values, return_inverse=True)
            pairs = np.unique(classes[kept] * len(domain) + codes.reshape(-1)[kept])
            shown = np.bincount(pairs // len(domain), minlength=len(sizes))
            spread = (shown - 1) / max(len(domain) - 1, 1)
        losses.append((spread @ sizes + (~kept).sum()) / len(classes))
    return float(np.mean(losses))


def published_loss(released: Released, columns: Mapping[str, NDArray[Any]]) -> float:
    """Return the mean over all cells of the spread that the published cell covers, 0 to 1."""
    losses = []
    for name, values in columns.items():
        domain = np.unique(values)
        lost = []
        for admitted in released.entries[name]:
            members = np.asarray(admitted)
            members = members[np.isin(members, domain)]
            if is_number(values):
                extent = max(domain[-1] - domain[0], 1e-300)
                lost.append((members.max() - members.min()) / extent)
            else:
                lost.append((len(np.unique(members)) - 1) / max(len(domain) - 1, 1))
        by_entry = np.array([*lost, 1.0])  # OUT is −1 and selects the last
        losses.append(by_entry[released.cells[name]].mean())
    return float(np.mean(losses))


def untrue_cells(released: Released, columns: Mapping[str, NDArray[Any]]) -> int:
    """Count published cells that do not cover the original value."""
    untrue = 0
    for name, values in columns.items():
        for entry, admitted in enumerate(released.entries[name]):
            rows = released.cells[name] == entry
            untrue += int((~np.isin(values[rows], np.asarray(admitted))).sum())
    return untrue


def is_number(values: NDArray[Any]) -> bool:
    """Return whether the values are ordered."""
    return values.dtype.kind in "iuf"
