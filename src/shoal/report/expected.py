"""How many people an attacker who knows everyone is expected to re-identify, for the report."""

from __future__ import annotations

from typing import Any

from shoal.core.release import Release
from shoal.errors import InputError, NotConverged
from shoal.metrics.metric import APART
from shoal.report.masking import Mask, rounded
from shoal.risk.assessment import assess

_MAX_PEOPLE = 50_000  # more would delay the report
_HALF_WIDTH = 0.05


def expected(kept: Release, mask: Mask) -> dict[str, Any]:
    """Return the expected number of people re-identified, or the reason why it is not counted.

    kept: the released records only. The same release gives the same figures.
    """
    if not kept.knows("tuple"):
        return {"reason": f"it {APART}"}
    people = kept.original.people
    if not people:
        return {"reason": "nothing was released"}
    if people > _MAX_PEOPLE:
        return {
            "reason": f"the release has more than {_MAX_PEOPLE:,} people; use `shoal risk assess`"
        }
    try:
        found = assess(kept, half_width=_HALF_WIDTH, seed=0)
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
