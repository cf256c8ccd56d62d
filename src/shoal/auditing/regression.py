"""The functional logistic regression, with and without one row."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.auditing import AuditCase
from shoal.dp.functional_logistic_regression import FunctionalLogisticRegression
from shoal.support.arrays import Bools, Floats

EPSILON = 1.0
_EDGES = np.array([-16.0, -4.0, -1.0, -0.25, 0.0, 0.25, 1.0, 4.0, 16.0])  # of a weight
Rows = tuple[Floats, Bools]


def case() -> AuditCase:
    """Return the audit of a fit of one column, on tables with and without one row."""
    rows = np.array([[1.0], [-1.0], [1.0]])
    labels = np.array([True, False, True])
    with_one, without = (rows, labels), (rows[:-1], labels[:-1])
    alone = (rows[:1], labels[:1]), (rows[:0], labels[:0])
    claim = _model(None).claim
    return AuditCase("the weight of a fit, with and without one row", claim, run, (
        (with_one, without), alone,
    ))  # fmt: skip


def run(data: Rows, generator: np.random.Generator) -> int:
    """Fit once, with a fresh seed, and return the range that the weight falls into."""
    model = _model(int(generator.integers(2**63))).fit(*data)
    return int(np.searchsorted(_EDGES, float(model.coef_[0, 0])))


def _model(seed: int | None) -> Any:
    return FunctionalLogisticRegression(
        epsilon=EPSILON,
        fit_intercept=False,
        bounds=([-1.0], [1.0]),
        classes=(False, True),
        seed=seed,
    )
