"""How many people would be found by somebody who knows everybody: for the report, in words."""

from __future__ import annotations

from typing import Any

from shoal.core.release import Release
from shoal.errors import InputError, NotConverged
from shoal.report.masking import Mask, rounded
from shoal.risk.assessment import assess

_MOST = 50_000  # people for whom a report waits
_TARGET = 0.05


def expected(kept: Release, mask: Mask) -> dict[str, Any]:
    """Return the expected number of people found, or why it was not counted.

    kept: the released records alone. The same release gives the same figures.
    """
    people = kept.original.people
    if not people:
        return {"reason": "nothing was released"}
    if people > _MOST:
        return {"reason": f"there are more than {_MOST:,} people; `shoal risk assess` counts it"}
    try:
        found = assess(kept, target=_TARGET, seed=0)
    except (InputError, NotConverged) as error:
        return {"reason": str(error)}
    return {
        "reason": None,
        "known": list(found.known),
        "people": people,
        "value": round(found.value, 1),
        "low": None if found.low is None else round(found.low, 1),
        "high": None if found.high is None else round(found.high, 1),
        "share": rounded(found.share),
        "method": found.method,
        "certain": mask.count(found.forced, people),
        "k": found.k,
        "above_k": mask.count(found.above, people),
        "guarantee": found.guarantee,
        "assumptions": list(found.assumptions),
    }
