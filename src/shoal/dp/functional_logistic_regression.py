"""Functional logistic regression: noise on the objective instead of on the model.

One pass, pure ε, and weights that grow dear with the number of columns: d²/2 numbers get noise.
Zhang, Zhang, Xiao, Yang & Winslett, "Functional Mechanism: Regression Analysis under Differential
Privacy", PVLDB 5(11), 2012. Rows are neighbours here that are added or removed, and the noise is no
more than these need; `sensitivity="published"` takes the paper's bound, for replaced rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from shoal.core.arrays import Bools, Floats
from shoal.core.wording import counted
from shoal.dp.claims import DP, figure
from shoal.dp.mechanisms import laplace
from shoal.dp.taylor import (
    Norm,
    Quadratic,
    expand,
    published_sensitivity,
    scaled,
    sensitivity,
    unscaled,
)
from shoal.errors import InputError


class UnfitLabels(InputError, ValueError):  # noqa: N818
    """The labels are not of two classes; a ValueError too, as scikit-learn expects one."""


@dataclass(frozen=True)
class DPCoefficients(DP):
    """ε-differential privacy of the weights of a regression.

    columns, sensitivity: what the noise was measured by, once the rows are known.
    seeded: whether the noise can be repeated; such weights are for testing.
    """

    columns: int | None = None
    sensitivity: float | None = None
    seeded: bool = False

    def __str__(self) -> str:
        return super().__str__() + (" (for testing only)" if self.seeded else "")

    def describe(self) -> str:
        """Say what the presence of one row can change."""
        told = " The noise came from a stated seed and can be repeated: for testing only."
        return super().describe() + (told if self.seeded else "")

    def arithmetic(self) -> list[str]:
        """Return the figures, the noise, who counts as a neighbour and what is public."""
        lines = super().arithmetic()
        if self.columns is not None and self.sensitivity is not None:
            numbers = self.columns + self.columns * (self.columns + 1) // 2
            scale = figure(self.sensitivity / self.epsilon)
            lines += [
                f"{numbers} numbers over {self.columns} columns; one row moves their sum by "
                f"Δ = {figure(self.sensitivity)} at most",
                f"noise: Laplace of scale Δ/ε = {scale} on each",
            ]
        return [*lines, "public: the columns, their bounds, the norm bound, the two labels"]


class FunctionalLogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression of two classes with ε-differential privacy, as scikit-learn has it.

    Nothing of the rows is looked at but through noise, save for the labels that occur where
    `classes` does not say which there are, and for values that no regression can take (missing,
    infinite), which are refused.

    epsilon: the whole budget of one fit; every further fit, each fold of a validation, costs it
        again.
    fit_intercept: whether to add a constant column; it takes part of the norm.
    bounds: (low, high) of the columns, numbers or one for each, known without looking at the rows;
        values are clipped to them and scaled to −1 … 1, or to as much around 0 without intercept.
    norm, norm_bound: rows are shortened to this "l2" or "l1" norm. "l1" suits rows that are mostly
        0, such as one-hot codes: its noise does not grow with the number of columns. By default 1;
        with bounds, as much as rows within them can have.
    sensitivity: "tight", or "published" for the paper's, several times as much noise.
    regularize: how many standard deviations of the noise are added to the curvature, 4 in the
        paper; directions that curve downwards even so are left out (spectral trimming).
    classes: the two labels, the second the one whose probability is modelled.
    seed: for testing only: whoever guesses it can take the noise off.

    Fitted: `coef_`, `intercept_`, `classes_`, `privacy_` (the claim), `testing_only_`.
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
        """What a fit promises and costs: for a ledger, to be asked before it."""
        self._check_options()
        return DPCoefficients(self.epsilon, 0.0, _WHAT, seeded=self.seed is not None)

    def fit(self, X: Any, y: Any) -> FunctionalLogisticRegression:  # noqa: N803
        """Draw the weights; the noise is drawn once, here."""
        self._check_options()
        least = 1 if self.classes is None else 0  # even that there is a row may be a secret
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=least)
        positive = self._positive(labels)
        middle, half, bound = self._frame(rows.shape[1])
        intercept = bool(self.fit_intercept)
        if self.bounds is not None:
            rows = (np.clip(rows, middle - half, middle + half) - middle) / half
        ready = scaled(rows, bound, self.norm, intercept=intercept)
        columns = ready.shape[1]
        moved = self._sensitivity(columns)
        noise = math.nextafter(moved / self.epsilon, math.inf)
        exact = expand(ready, positive).packed()
        noisy = Quadratic.unpacked(laplace(exact, noise, self.seed), columns)
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
        """Return the likelier class, row by row."""
        odds = self.decision_function(X)
        return self.classes_[(odds > 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        """Two classes only, and a score that noise may spoil."""
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
            raise UnfitLabels(f"two classes are needed, not {len(self.classes_)} class")
        strange = int((~np.isin(labels, self.classes_)).sum())
        if strange:
            raise UnfitLabels(
                f"{counted(strange, 'label is', 'labels are')} of neither of the two classes"
            )
        return np.asarray(labels == self.classes_[1], dtype=np.bool_)

    def _frame(self, columns: int) -> tuple[Floats, Floats, float]:
        """Return the middle and half the width of each column, and the norm of a row at most."""
        widest = columns if self.norm == "l1" else math.sqrt(columns)
        if self.bounds is None:
            return np.zeros(columns), np.ones(columns), float(self.norm_bound or 1.0)
        try:
            low, high = (np.broadcast_to(np.asarray(b, float), (columns,)) for b in self.bounds)
        except (TypeError, ValueError):
            raise InputError(
                f"bounds must be (low, high), numbers or one for each of {columns} columns"
            ) from None
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
            raise InputError("bounds must be finite, low below high in every column")
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
            known = isinstance(value, (int, float)) and least < value < math.inf
            if not known and not (name == "norm_bound" and value is None):
                raise InputError(f"{name} must be more than 0 and finite, not {value!r}")
        if not (isinstance(self.regularize, (int, float)) and 0 <= self.regularize < math.inf):
            raise InputError(f"regularize must be 0 or more and finite, not {self.regularize!r}")
        for name, allowed in (("norm", ("l1", "l2")), ("sensitivity", ("tight", "published"))):
            if getattr(self, name) not in allowed:
                told = " or ".join(allowed)
                raise InputError(f"{name} must be {told}, not {getattr(self, name)!r}")


_WHAT = "the weights of the logistic regression"
