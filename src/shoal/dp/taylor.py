"""The logistic loss as a quadratic, summed exactly over rows, and its sensitivity to one row.

For a row z with label y the loss ln(1 + e^(z·w)) − y z·w is, up to second order at w = 0,
ln 2 + (½ − y) z·w + (z·w)²/8: a vector a and a symmetric matrix M, to be summed over the rows.

Zhang, Zhang, Xiao, Yang & Winslett, "Functional Mechanism: Regression Analysis under Differential
Privacy", PVLDB 5(11), 2012.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Bools, Floats

Norm = Literal["l1", "l2"]
_GRID = 2.0**26  # contributions are whole multiples of its inverse, so that sums are exact
_MAX_ROWS = 2**26  # sums stay below 2**53 on the grid
_BLOCK = 2**22  # numbers processed at once
_ROUNDING = 1e-9  # relative rounding error of the norm of a row


class Quadratic(NamedTuple):
    """a·w + w'Mw over d weights."""

    linear: Floats  # (d,)
    matrix: Floats  # (d, d), symmetric

    def packed(self) -> Floats:
        """Return the numbers that get noise: a, then the upper triangle of M, row by row."""
        upper = np.triu_indices(len(self.linear))
        return np.concatenate([self.linear, self.matrix[upper]])

    @classmethod
    def unpacked(cls, numbers: Floats, columns: int) -> Quadratic:
        """Return the quadratic of packed numbers; M is symmetric."""
        matrix = np.zeros((columns, columns))
        matrix[np.triu_indices(columns)] = numbers[columns:]
        matrix += np.triu(matrix, 1).T
        return cls(numbers[:columns].copy(), matrix)

    def minimum(self, ridge: float = 0.0) -> Floats:
        """Return the weights at the minimum, after `ridge` is added to the diagonal of M.

        Directions in which M still does not curve upwards have no minimum and are left out.
        """
        curves, directions = np.linalg.eigh(self.matrix + ridge * np.eye(len(self.linear)))
        least = len(curves) * np.finfo(np.float64).eps * float(np.abs(curves).max(initial=0.0))
        upward = directions[:, curves > least]  # (d, kept)
        along = (self.linear[:, None] * upward).sum(axis=0) / (-2.0 * curves[curves > least])
        weights: Floats = (upward * along).sum(axis=1)
        return weights


def expand(rows: Floats, labels: Bools) -> Quadratic:
    """Sum the second-order expansions of rows of norm at most 1; exact, so the order is irrelevant.

    Each contribution is rounded to a grid, which `sensitivity` takes into account.
    """
    count, columns = rows.shape
    if count > _MAX_ROWS:
        raise InputError(f"at most {_MAX_ROWS:,} rows can be summed exactly, not {count:,}")
    linear, matrix = np.zeros(columns), np.zeros((columns, columns))
    step = max(1, _BLOCK // max(columns, 1))
    for start in range(0, count, step):
        block = rows[start : start + step]
        signs = np.where(labels[start : start + step], -0.5, 0.5)
        linear += np.rint(block * (signs * _GRID)[:, None]).sum(axis=0)
        for column in range(columns):
            first = block[:, column, None] * (_GRID / 8)
            matrix[column, column:] += np.rint(first * block[:, column:]).sum(axis=0)
    matrix += np.triu(matrix, 1).T
    return Quadratic(linear / _GRID, matrix / _GRID)


def sensitivity(columns: int, norm: Norm = "l2", *, intercept: bool = False) -> float:
    """Return the largest total change of the packed numbers when one row is added or removed.

    A row of norm 1 has |a| = ½ s and, in the upper triangle, |M| = (s² + q)/16, where s sums its
    absolute values and q their squares. Both are largest at once: for "l2" if all values are equal,
    for "l1" if only one value is not 0. With an intercept, the rows are those that `scaled`
    returns, which have one constant value. Each number may be off by half a grid step.
    """
    width = columns + intercept
    rounded = (width + width * (width + 1) / 2) / (2 * _GRID)
    length = 1.0 / _apart(norm) if intercept else 1.0
    constant = length if intercept else 0.0
    widest = length * (math.sqrt(columns) if norm == "l2" else 1.0) + constant
    squares = length**2 + constant**2
    return (widest / 2 + (widest**2 + squares) / 16) * (1 + _ROUNDING) + rounded


def published_sensitivity(columns: int) -> float:
    """Return the paper's bound for d columns, including the intercept: d²/4 + 3d.

    It counts two rows, because one replaces the other, assumes that each value is 1 although only
    the norm is 1, and bounds the two linear terms z·w/2 and y z·w separately.
    """
    return columns**2 / 4 + 3 * columns


def scaled(rows: Floats, bound: float, norm: Norm = "l2", *, intercept: bool = False) -> Floats:
    """Return the rows clipped to the bound and divided by it, with a constant for the intercept.

    The constant counts towards the norm: row and constant are scaled down together, to at most 1.
    """
    peaks = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)  # (rows, 1)
    peaks[peaks == 0] = 1.0
    flat = rows / peaks  # so that squares cannot overflow
    size = np.abs(flat) if norm == "l1" else flat**2
    lengths = size.sum(axis=1, keepdims=True)
    lengths = np.maximum(lengths if norm == "l1" else np.sqrt(lengths), 1.0)
    with np.errstate(over="ignore"):
        short: Floats = flat * np.minimum(peaks / bound, 1.0 / lengths)
    if not intercept:
        return short
    return np.hstack([short, np.ones((len(rows), 1))]) / _apart(norm)


def unscaled(weights: Floats, bound: float, norm: Norm, *, intercept: bool) -> tuple[Floats, float]:
    """Return the weights for the original rows, and the intercept."""
    if not intercept:
        return weights / bound, 0.0
    weights = weights / _apart(norm)
    return weights[:-1] / bound, float(weights[-1])


def _apart(norm: Norm) -> float:
    """Return the norm of a row of norm 1 extended by a 1."""
    return 2.0 if norm == "l1" else math.sqrt(2.0)
