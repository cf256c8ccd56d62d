"""EMA Policy 0070 and Health Canada: a risk of at most 0.09 for published clinical data."""

from __future__ import annotations

from typing import Any

from shoal.evidence.crosswalks.rows import (
    MET,
    Row,
    asked,
    at_least,
    crosswalk,
    highest_risk,
    rehearsed,
    row,
)

THRESHOLD = 0.09
LEAST_K = 12  # 1/11 is above the threshold
_SOURCE = (
    "EMA, External guidance on Policy 0070; Health Canada, Public release of clinical information"
)


def ema(evidence: dict[str, Any]) -> Row:
    """Return the crosswalk of EMA Policy 0070 and Health Canada."""
    smallest = "/unit/smallest_class"
    rows = [
        row(
            f"Is the highest risk of a person at most {THRESHOLD}?",
            "Threshold and risk",
            "/risk/after/maximum",
            "highest risk of a person by quasi-identifiers",
            conditions=highest_risk(evidence, THRESHOLD),
            then=MET,
        )
    ]
    if evidence["unit"]["by_class"]:
        rows.append(
            row(
                f"Does every class have at least {LEAST_K} people?",
                "Figures of the released file; unit of protection",
                smallest,
                "people in the smallest class",
                conditions=[at_least(smallest, LEAST_K)],
                then=MET,
            )
        )
    rows += [
        asked("Which attacks are plausible: deliberate, inadvertent, by breach?", "adversaries"),
        rehearsed("Does a rehearsed attack find people?", evidence),
        asked("Who can access the data, and under which conditions?", "environment"),
        row(
            "How much information is lost?",
            "Utility",
            "/utility/kept_exactly",
            "share of cells that are kept exactly",
        ),
        row(
            "Are narratives and other documents of the study protected too?",
            "Not in this pack: it is about one table",
        ),
    ]
    return crosswalk("EMA Policy 0070 and Health Canada", _SOURCE, rows)
