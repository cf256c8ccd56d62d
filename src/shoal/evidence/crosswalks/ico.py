"""UK ICO: the motivated intruder test."""

from __future__ import annotations

from typing import Any

from shoal.evidence.crosswalks.rows import (
    JUDGE,
    MET,
    Row,
    asked,
    crosswalk,
    equals,
    highest_risk,
    rehearsed,
    row,
)


def ico(evidence: dict[str, Any]) -> Row:
    """Return the crosswalk of the motivated intruder test."""
    unique = "/measured/unique_records"
    return crosswalk(
        "UK ICO, motivated intruder",
        "Information Commissioner's Office, Guidance on anonymisation",
        [
            row(
                "Can a person be singled out by attributes that an intruder can look up?",
                "Threshold and risk",
                "/risk/after/maximum",
                "highest risk of a person by quasi-identifiers",
                conditions=highest_risk(evidence, 0.5),
                then=MET,
            ),
            row(
                "Could an intruder with further knowledge isolate records by all columns?",
                "Figures of the released file",
                unique,
                "released rows that differ from all others",
                conditions=[equals(unique, 0, otherwise=JUDGE)],
                then=MET,
            ),
            rehearsed("Does an intruder with a list of people find them in a rehearsal?", evidence),
            asked("Who might be motivated, and which sources are open to them?", "adversaries"),
            asked("Was a motivated intruder test done, and with which result?", "intruder_test"),
            asked("Which controls limit access and attempts?", "controls"),
            asked("When is the risk reviewed?", "review_date", "Review"),
        ],
    )
