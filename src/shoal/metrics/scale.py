"""One scale for all metrics: 0 for the original table, 1 for the fully suppressed table.

de Spoelberch, "The limits of information loss metrics as measures for utility", 2020, section 3.5,
divides by the value of the fully suppressed table. Here the original table is also scaled to 0.
"""

from __future__ import annotations

from shoal.core.release import Release

_MIN_SPAN = 1e-9  # a scale whose ends are closer has no width


def scaled(value: float, best: float, worst: float, release: Release) -> float:
    """Return the position of a value between the original and the fully suppressed table, 0 to 1.

    Higher is worse. A value beyond an end is clipped to it. If both ends are equal, only records
    can be lost: the share of suppressed records is returned.
    """
    span = worst - best
    if span > _MIN_SPAN:
        return min(max((value - best) / span, 0.0), 1.0)
    return 1.0 if value - best > _MIN_SPAN else suppressed_share(release)


def suppressed_share(release: Release) -> float:
    """Return the share of suppressed records."""
    return release.classes.suppressed / max(release.original.records, 1)
