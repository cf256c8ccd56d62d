"""Functional logistic regression: noise on the objective instead of on the model.

    rows → scaled to norm 1 → second-order loss, summed exactly → noise → minimum → weights

One pass and pure ε, but the noise grows with the number of columns d: d²/2 numbers get noise. For a
row z with label y the loss ln(1 + e^(z·w)) − y z·w is, up to second order at w = 0,
ln 2 + (½ − y) z·w + (z·w)²/8: a vector a and a symmetric matrix M, to be summed over the rows.

Zhang, Zhang, Xiao, Yang & Winslett, "Functional Mechanism: Regression Analysis under Differential
Privacy", PVLDB 5(11), 2012. Neighbours here differ by an added or removed row, and the noise is
calibrated to that; `sensitivity="published"` uses the paper's bound, for replaced rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from shoal.dp.claims import DP, figure
from shoal.dp.mechanisms import laplace
from shoal.errors import InputError
from shoal.support.arrays import Bools, Floats
from shoal.support.options import is_number
from shoal.support.wording import counted

Norm = Literal["l1", "l2"]
_WHAT = "the weights of the logistic regression"
_GRID = 2.0**26  # contributions are whole multiples of its inverse, so that sums are exact
_MAX_ROWS = 2**26  # sums stay below 2**53 on the grid
_BLOCK = 2**22  # numbers processed at once
_ROUNDING = 1e-9  # relative rounding error of the norm of a row


class FunctionalLogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Binary logistic regression with ε-differential privacy, as a scikit-learn estimator.

    The rows are used only through noise, with two exceptions: the labels that occur, if `classes`
    is not given, and values that no regression accepts (missing, infinite), which raise an error.

    Parameters:
        epsilon: The total budget of one fit; every further fit, such as each fold of a
            cross-validation, costs it again.
        fit_intercept: Whether to add a constant column; it counts towards the norm.
        bounds: (low, high) of the columns, each a number or one number per column, known without
            looking at the rows. Values are clipped to them and scaled to −1 … 1, or symmetrically
            around 0 without an intercept.
        norm: "l2", or "l1" for rows that are mostly 0, such as one-hot codes: its noise does not
            grow with the number of columns.
        norm_bound: Rows are scaled down to this norm. By default 1; with bounds, the largest norm
            of a row within them.
        sensitivity: "tight", or "published" for the paper's bound, which needs several times as
            much noise.
        regularize: How many standard deviations of the noise are added to the curvature, 4 in the
            paper; directions that still curve downwards are left out (spectral trimming).
        classes: The two labels; the probability of the second is modelled.
        seed: For testing only: anyone who guesses it can remove the noise.

    Fitted: `coef_`, `intercept_`, `classes_`, `privacy_` (the claim), `testing_only_`.

    >>> rows, labels = [[-0.5], [-0.4], [0.4], [0.5]] * 250, [0, 0, 1, 1] * 250
    >>> model = FunctionalLogisticRegression(epsilon=2.0, classes=[0, 1], seed=1).fit(rows, labels)
    >>> model.score(rows, labels)
    1.0
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        fit_intercept: bool = True,
        bounds: tuple[Any, Any] | None = None,
        norm: Norm = "l2",
        norm_bound: float | None = None,
        sensitivity: Literal["tight", "published"] = "tight",
        regularize: float = 4.0,
        classes: Sequence[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.bounds = bounds
        self.norm = norm
        self.norm_bound = norm_bound
        self.sensitivity = sensitivity
        self.regularize = regularize
        self.classes = classes
        self.seed = seed

    @property
    def claim(self) -> DPCoefficients:
        """The claim and the cost of a fit, for a ledger before the fit."""
        self._check_options()
        return DPCoefficients(self.epsilon, 0.0, _WHAT, seeded=self.seed is not None)

    def fit(self, X: Any, y: Any) -> FunctionalLogisticRegression:  # noqa: N803
        """Fit the weights; the noise is drawn once, here."""
        self._check_options()
        least = 1 if self.classes is None else 0  # even the existence of a row may be secret
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=least)
        positive = self._positive(labels)
        middle, half, bound = self._frame(rows.shape[1])
        intercept = bool(self.fit_intercept)
        if self.bounds is not None:
            rows = (np.clip(rows, middle - half, middle + half) - middle) / half
        ready = scaled(rows, bound, self.norm, intercept=intercept)
        columns = ready.shape[1]
        moved = self._sensitivity(columns)
        # rounded up, so that Δ / noise never exceeds epsilon
        noise = math.nextafter(moved / self.epsilon, math.inf)
        exact = expand(ready, positive).packed()
        noisy = Quadratic.unpacked(laplace(exact, noise, self.seed), columns)
        # the standard deviation of Laplace noise is √2 times its scale
        weights = noisy.minimum(self.regularize * math.sqrt(2) * noise)
        slopes, constant = unscaled(weights, bound, self.norm, intercept=intercept)
        slopes = slopes / half
        self.coef_ = slopes[None, :]
        self.intercept_ = np.array([constant - float((slopes * middle).sum())])
        self.testing_only_ = self.seed is not None
        self.privacy_ = DPCoefficients(
            self.epsilon, 0.0, _WHAT, columns, moved, seeded=self.testing_only_
        )
        return self

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Return the log-odds of the second class, row by row."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        odds: Floats = (rows * self.coef_[0]).sum(axis=1) + self.intercept_[0]
        return odds

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probability of each class, row by row."""
        from scipy.special import expit

        odds = self.decision_function(X)
        return np.stack([expit(-odds), expit(odds)], axis=1)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the more likely class, row by row."""
        odds = self.decision_function(X)
        return self.classes_[(odds > 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        """Declare a binary classifier whose score may be poor because of noise."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        tags.non_deterministic = self.seed is None
        return tags

    def _positive(self, labels: Any) -> Bools:
        """(rows,) whether a label is the second class."""
        if self.classes is None:
            check_classification_targets(labels)
            self.classes_ = np.unique(labels)
            if len(self.classes_) > 2:
                raise UnfitLabels(
                    "Only binary classification is supported. The type of the target is "
                    f"{type_of_target(labels)}."
                )
        else:
            self.classes_ = np.asarray(self.classes)
        if len(set(self.classes_.tolist())) != 2 or len(self.classes_) != 2:
            raise UnfitLabels(f"the target must have 2 classes, not {len(self.classes_)} class")
        strange = int((~np.isin(labels, self.classes_)).sum())
        if strange:
            raise UnfitLabels(
                f"{counted(strange, 'label is', 'labels are')} not one of the two classes"
            )
        return np.asarray(labels == self.classes_[1], dtype=np.bool_)

    def _frame(self, columns: int) -> tuple[Floats, Floats, float]:
        """Return the midpoint and half-width of each column, and the largest norm of a row."""
        widest = columns if self.norm == "l1" else math.sqrt(columns)
        if self.bounds is None:
            return np.zeros(columns), np.ones(columns), float(self.norm_bound or 1.0)
        try:
            low, high = (np.broadcast_to(np.asarray(b, float), (columns,)) for b in self.bounds)
        except (TypeError, ValueError):
            raise InputError(
                "bounds must be (low, high), each a number or one number for each of the "
                f"{columns} columns"
            ) from None
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
            raise InputError("bounds must be finite, with low < high in every column")
        if not self.fit_intercept:
            half = np.maximum(np.abs(low), np.abs(high))
            return np.zeros(columns), half, float(self.norm_bound or widest)
        return (low + high) / 2, (high - low) / 2, float(self.norm_bound or widest)

    def _sensitivity(self, columns: int) -> float:
        if self.sensitivity == "published":
            return published_sensitivity(columns)
        features = columns - bool(self.fit_intercept)
        return sensitivity(features, self.norm, intercept=bool(self.fit_intercept))

    def _check_options(self) -> None:
        for name, least in (("epsilon", 0.0), ("norm_bound", 0.0)):
            value = getattr(self, name)
            valid = is_number(value) and least < value < math.inf
            if not valid and not (name == "norm_bound" and value is None):
                raise InputError(f"{name} must be more than 0 and finite, not {value!r}")
        if not (is_number(self.regularize) and 0 <= self.regularize < math.inf):
            raise InputError(f"regularize must be finite and at least 0, not {self.regularize!r}")
        for name, allowed in (("norm", ("l1", "l2")), ("sensitivity", ("tight", "published"))):
            if getattr(self, name) not in allowed:
                choices = " or ".join(allowed)
                raise InputError(f"{name} must be {choices}, not {getattr(self, name)!r}")


@dataclass(frozen=True)
class DPCoefficients(DP):
    """ε-differential privacy of the weights of a regression.

    Parameters:
        columns, sensitivity: What the noise is calibrated to, known after the fit.
        seeded: Whether the noise can be repeated; such weights are for testing only.
    """

    columns: int | None = None
    sensitivity: float | None = None
    seeded: bool = False

    def __str__(self) -> str:
        return super().__str__() + (" (for testing only)" if self.seeded else "")

    def describe(self) -> str:
        """Return in words how much one row can change the weights."""
        warning = " The noise uses a given seed and can be repeated: for testing only."
        return super().describe() + (warning if self.seeded else "")

    def arithmetic(self) -> list[str]:
        """Return the figures, the noise, the definition of neighbours and what is public."""
        lines = super().arithmetic()
        if self.columns is not None and self.sensitivity is not None:
            numbers = self.columns + self.columns * (self.columns + 1) // 2
            scale = figure(self.sensitivity / self.epsilon)
            lines += [
                f"{numbers} numbers over {self.columns} columns; one row changes their sum by "
                f"at most Δ = {figure(self.sensitivity)}",
                f"noise: Laplace of scale Δ/ε = {scale} on each",
            ]
        return [*lines, "public: the columns, their bounds, the norm bound, the two labels"]


class UnfitLabels(InputError, ValueError):  # noqa: N818
    """The labels do not have two classes; also a ValueError, as scikit-learn expects."""


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
        # eigenvalues below this are rounding errors of 0
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
        # whole numbers of grid steps: their sums are exact in any order
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
    # a row of zeros stays one
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
