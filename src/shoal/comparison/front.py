"""The Pareto front: what nothing else beats in both loss and risk."""

from __future__ import annotations

from collections.abc import Sequence


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Tell of each point whether no other is as small in both and smaller in one; equals all stay.

    >>> pareto([(1, 3), (2, 2), (2, 3), (2, 2), (3, 1)])
    [True, True, False, True, True]
    """
    kept = [False] * len(points)
    last = (float("-inf"), float("inf"))
    for i in sorted(range(len(points)), key=lambda i: points[i]):
        if points[i][1] < last[1] or points[i] == last:
            last, kept[i] = points[i], True
    return kept
