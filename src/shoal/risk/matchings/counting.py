"""The exact number of feasible perfect matchings.

Counted by a sweep if few counts stay open, otherwise by Ryser's formula in integers modulo 2⁶⁴; the
higher digits follow from Glynn's formula and its error bound.
Ryser, "Combinatorial Mathematics", 1963.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.risk.matchings.profile import count
from shoal.risk.matchings.solver import Solver
from shoal.risk.matchings.structure import Component, Structure, split
from shoal.support.options import check_whole
from shoal.support.progress import report

_MAX_RYSER_ROWS = 34  # rows for which Ryser's formula is used
_REPORTED_SUBSETS = 1 << 14  # subsets between two reports of progress


def count_matchings(matrix: Any, *, threads: int = 1) -> int:
    """Return the number of perfect matchings of the positive entries.

    Parameters:
        matrix: (n, n) weights, of which only the zeros matter, or a `Structure`.
        threads: Number of threads; the result does not depend on it.

    Raises:
        InputError: A component is too large to count.
    """
    check_whole("threads", threads, 1)
    structure = matrix if isinstance(matrix, Structure) else split(matrix)
    return math.prod(_count(component, threads) for component in structure.components)


def _count(component: Component, threads: int) -> int:
    if component.size == 1:
        return 1
    solver = Solver(component.unweighted)
    if solver.small is not None:
        return round(math.exp(solver.small.log_permanent))
    if solver.plan is not None and (
        solver.cost().route == "sweep" or component.size > _MAX_RYSER_ROWS
    ):
        return count(solver.plan)
    if component.size > _MAX_RYSER_ROWS:
        raise InputError(
            f"{component.size} rows form one component that is too large to count its matchings; "
            "estimate their logarithm"
        )
    low, solution = _ryser(component, threads), solver.solve(threads)
    estimate, modulus = Fraction(math.exp(solution.log_permanent)), 1 << 64
    if (solution.error + 1e-13) * estimate > modulus / 4:
        raise InputError(
            f"{component.size} rows have too many matchings for an integer; compute the logarithm "
            "of the permanent"
        )
    high = round((estimate - low) / modulus)
    return int(high * modulus + low)


def _ryser(component: Component, threads: int) -> int:
    """Return the number of matchings modulo 2⁶⁴; there must be more rows than LANE_COLUMNS."""
    from shoal.risk.matchings import _ryser as kernels

    size = component.size
    rows = -(-size // 4) * 4
    matrix = np.zeros((rows, size), dtype=np.uint64)
    matrix[:size] = component.dense > 0
    lanes = np.arange(kernels.LANES)[:, None] >> np.arange(kernels.LANE_COLUMNS) & 1
    inside = matrix[:, None, : kernels.LANE_COLUMNS] * lanes.astype(np.uint64)
    offsets = np.ascontiguousarray(inside.sum(axis=2, dtype=np.uint64)).ravel()
    subsets = 1 << (size - kernels.LANE_COLUMNS)

    def add(first: int) -> int:
        room = np.empty(rows, dtype=np.uint64), np.empty(2 * kernels.LANES, dtype=np.uint64)
        last = min(first + _REPORTED_SUBSETS, subsets)
        return int(kernels.sum_subsets(first, last, matrix, offsets, *room))

    begins, total = range(0, subsets, _REPORTED_SUBSETS), 0
    with ThreadPoolExecutor(threads) as pool:
        for done, part in enumerate(pool.map(add, begins)):
            report("matchings", done, len(begins))
            total += part
    return (-total if size % 2 else total) % (1 << 64)
