"""The expected risk of a release, for a comparison."""

from __future__ import annotations

import math

from shoal.core.release import Release
from shoal.errors import NotConverged
from shoal.risk.assessment import assess

NAME = "expected risk"
_HALF_WIDTH = 0.02


def expected_risk(release: Release) -> float:
    """Return the expected share of people found by an attacker who knows all quasi-identifiers.

    A sampled share has an error of up to 0.02; it is NaN if the sampling does not converge.
    """
    try:
        return assess(release, half_width=_HALF_WIDTH, seed=0, threads=1).share
    except NotConverged:
        return math.nan
