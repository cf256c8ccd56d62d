"""The Pareto front: the releases that no other beats in both loss and risk."""

from __future__ import annotations

from collections.abc import Sequence


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return, for each point, whether no other point dominates it; equal points all stay.

    A point dominates another if it is smaller in one coordinate and not larger in the other.

    >>> pareto([(1, 3), (2, 2), (2, 3), (2, 2), (3, 1)])
    [True, True, False, True, True]
    """
    kept = [False] * len(points)
    last = (float("-inf"), float("inf"))
    for i in sorted(range(len(points)), key=lambda i: points[i]):
        if points[i][1] < last[1] or points[i] == last:
            last, kept[i] = points[i], True
    return kept
