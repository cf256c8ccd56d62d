"""A first scaling for weights of any range: a heaviest matching becomes ones, no entry is above 1.

The factors are the prices of the assignment problem on the weights' logarithms.
Olschowka & Neumaier, "A new pivoting strategy for Gaussian elimination", 1996.
"""

from __future__ import annotations

import numpy as np

from shoal.risk.matchings.structure import Component
from shoal.support.arrays import Floats


def prices(component: Component) -> tuple[Floats, Floats]:
    """(size,) and (size,) the logarithms of the factors of rows and columns."""
    from scipy.optimize import linear_sum_assignment

    with np.errstate(divide="ignore"):
        logs = np.log(component.dense)
    rows, partners = linear_sum_assignment(logs, maximize=True)
    owned = logs[rows, partners]  # (size,) what each row gives to the heaviest matching
    lead = owned - logs[:, partners]  # (i, k) how much more k gives for its column than i would
    paid = np.zeros(component.size)
    for _ in range(component.size):  # shortest ways; there is no negative circle
        less = np.minimum(paid, (paid[:, None] + lead).min(axis=0))
        if np.array_equal(less, paid):
            break
        paid = less
    columns = np.empty(component.size)
    columns[partners] = owned - paid
    return -paid, -columns
