"""One scale for all metrics: 0 for the untouched table, 1 for the fully suppressed one.

de Spoelberch, "The limits of information loss metrics as measures for utility", 2020, section 3.5,
divides by the value of the fully suppressed table. Here the untouched one is put to 0 as well.
"""

from __future__ import annotations

from shoal.core.release import Release

_NOTHING = 1e-9  # below this two ends of a scale are one


def scaled(value: float, best: float, worst: float, release: Release) -> float:
    """Return where a value lies between the untouched and the fully suppressed table, 0 to 1.

    More is worse. A value beyond either end counts as that end. Where both ends are one, nothing
    could be lost but records: the share of suppressed ones is returned.
    """
    span = worst - best
    if span > _NOTHING:
        return min(max((value - best) / span, 0.0), 1.0)
    return 1.0 if value - best > _NOTHING else suppressed_share(release)


def suppressed_share(release: Release) -> float:
    """Return the share of records that are left out."""
    return release.classes.suppressed / max(release.original.records, 1)
