"""ISO/IEC 27559: a framework of context, data, identifiability and governance."""

from __future__ import annotations

from typing import Any

from shoal.evidence.crosswalks.rows import (
    JUDGE,
    Row,
    asked,
    attacked,
    crosswalk,
    highest_risk,
    row,
    stated,
)


def iso_27559(evidence: dict[str, Any]) -> Row:
    """Return the crosswalk of ISO/IEC 27559."""
    return crosswalk(
        "ISO/IEC 27559",
        "ISO/IEC 27559:2022, Privacy enhancing data de-identification framework",
        [
            asked("Context assessment: who receives the data, and for what?", "recipient"),
            asked("Context assessment: in which environment?", "environment"),
            asked("Context assessment: which controls mitigate threats?", "controls"),
            asked("Context assessment: which threats are modelled?", "adversaries"),
            row(
                "Data assessment: which attributes identify people, directly or indirectly?",
                "Inventory",
                "/identifiers/released_by_name",
                "released columns with names of direct identifiers",
            ),
            row(
                "Identifiability assessment: is the risk below the threshold?",
                "Threshold and risk",
                "/risk/after/maximum",
                "highest risk of a person by quasi-identifiers",
                conditions=highest_risk(evidence, evidence["threshold"]["maximum_risk"]),
            ),
            row(
                "Identifiability assessment: why this threshold?",
                "Threshold and risk",
                "/threshold/reason",
                "reason",
                conditions=[stated("/threshold/reason")],
            ),
            attacked(
                "Identifiability assessment: does an attack isolate released people?",
                "singling_out",
                then=JUDGE,
            ),
            row(
                "Identifiability mitigation: how is each attribute transformed?",
                "Inventory",
                "/utility/generalized",
                "share of cells that are generalized",
            ),
            asked("Governance: when is the assessment repeated?", "review_date", "Review"),
            asked("Governance: where are original data and keys?", "additional_information"),
        ],
    )
