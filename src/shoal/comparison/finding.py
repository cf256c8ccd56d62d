"""The expected risk of a release, beside the highest and the average, for a comparison."""

from __future__ import annotations

import math

from shoal.core.release import Release
from shoal.errors import NotConverged
from shoal.risk.assessment import assess

NAME = "expected risk"
_TARGET = 0.02


def expected_risk(release: Release) -> float:
    """Share of released people whom an attacker finds who knows everybody's quasi-identifiers.

    Within a fiftieth where it is sampled; NaN where the sampling does not settle.
    """
    try:
        return assess(release, target=_TARGET, seed=0, threads=1).share
    except NotConverged:
        return math.nan
