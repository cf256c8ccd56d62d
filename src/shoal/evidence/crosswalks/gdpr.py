"""GDPR: the three criteria of WP216 for anonymisation, and the EDPB on pseudonymisation."""

from __future__ import annotations

from typing import Any

from shoal.evidence.crosswalks.rows import (
    JUDGE,
    MET,
    Row,
    asked,
    at_least,
    attacked,
    crosswalk,
    equals,
    highest_risk,
    path_to,
    row,
)

_SOURCE = (
    "Article 29 Working Party, Opinion 05/2014 on anonymisation techniques (WP216); EDPB, "
    "Guidelines 01/2025 on pseudonymisation"
)


def gdpr(evidence: dict[str, Any]) -> Row:
    """Return the crosswalk of the GDPR."""
    return crosswalk("GDPR", _SOURCE, [*_anonymisation(evidence), *_pseudonymisation()])


def _anonymisation(evidence: dict[str, Any]) -> list[Row]:
    unique = equals("/measured/unique_records", 0, otherwise=JUDGE)
    return [
        row(
            "WP216, singling out: can the records of one person be isolated?",
            "Threshold and risk; figures of the released file",
            "/risk/after/maximum",
            "highest risk of a person by quasi-identifiers",
            conditions=[*highest_risk(evidence, 0.5), unique],
            then=MET,
        ),
        attacked(
            "WP216, singling out: do predicates from the release isolate released people?",
            "singling_out",
        ),
        row(
            "WP216, linkability: can records of one person be linked, here or in another table?",
            "Threshold and risk; limits",
            "/risk/after/average",
            "average risk of a person by quasi-identifiers",
        ),
        attacked(
            "WP216, linkability: does the release link two files about the same people?",
            "linkability",
        ),
        *(_inference(name) for name in evidence["measured"]["sensitive"]),
        attacked(
            "WP216, inference: do released rows reveal sensitive values of their own people?",
            "inference",
            then=JUDGE,
        ),
        attacked("Does the release reveal who is in it (membership)?", "membership", then=JUDGE),
        asked("Recital 26: which means are reasonably likely to be used?", "adversaries"),
    ]


def _inference(column: str) -> Row:
    figure = path_to("measured", "sensitive", column, "distinct")
    return row(
        f"WP216, inference: can the value of {column} be derived?",
        "Figures of the released file; attacks",
        figure,
        "fewest distinct values in a class",
        conditions=[at_least(figure, 2)],
    )


def _pseudonymisation() -> list[Row]:
    return [
        row(
            "EDPB: are attributes that identify people directly removed or replaced?",
            "Inventory",
            "/identifiers/released_by_name",
            "released columns with names of direct identifiers",
            conditions=[equals("/identifiers/released_by_name", 0)],
        ),
        asked("EDPB: is additional information kept separately?", "additional_information"),
        asked("EDPB: which people are to be prevented from attribution?", "recipient"),
    ]
