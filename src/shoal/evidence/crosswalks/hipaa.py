"""HIPAA: the 18 identifiers of Safe Harbor, and Expert Determination."""

from __future__ import annotations

from typing import Any

from shoal.evidence.crosswalks.rows import (
    JUDGE,
    MET,
    NOT_MET,
    Row,
    asked,
    at_most,
    crosswalk,
    equals,
    highest_risk,
    path_to,
    row,
)
from shoal.evidence.identifiers import DATES, GEOGRAPHIC, IDENTIFIERS, OTHER, Identifier

_FILE = "Inventory; figures of the released file"
MAX_ZIP_DIGITS = 3


def safe_harbor(evidence: dict[str, Any]) -> Row:
    """Return the crosswalk of Safe Harbor."""
    rows = [_identifier(each, evidence) for each in IDENTIFIERS]
    rows += [_ages(name) for name in evidence["measured"]["ages"]]
    stated = evidence["checks"]["large_areas"] is not None
    rows += [_postcodes(name, stated=stated) for name in evidence["measured"]["postcodes"]]
    rows.append(
        row("(ii) Does the owner know that the data could identify a person?", "Not in this pack")
    )
    return crosswalk("HIPAA Safe Harbor", "45 CFR 164.514(b)(2)", rows)


def _identifier(each: Identifier, evidence: dict[str, Any]) -> Row:
    """Return the row of an identifier: names of columns, and cells that look like it.

    Generalized places and dates may be released, so their columns are left to a person.
    """
    figure = path_to("identifiers", "kinds", each.letter, "released")
    coarse = each in (GEOGRAPHIC, DATES)
    conditions = [equals(figure, 0, otherwise=JUDGE if coarse else NOT_MET)]
    cells = [path_to("measured", "identifier_cells", kind) for kind in each.content]
    conditions = [*(equals(cell, 0) for cell in cells), *conditions]
    if each is OTHER:
        conditions.append(equals("/measured/unique_columns", 0, otherwise=JUDGE))
        conditions.append(equals("/identifiers/released_by_role", 0, otherwise=JUDGE))
    return row(
        f"({each.letter}) {each.title}",
        _FILE,
        figure,
        "released columns with such names",
        conditions=conditions,
        then=MET if cells and not each.partial else JUDGE,
    )


def _ages(column: str) -> Row:
    above = path_to("measured", "ages", column, "labels_above_89")
    reaching = path_to("measured", "ages", column, "labels_reaching_above_89")
    return row(
        f"(C) Are ages over 89 in {column} released only as one category, 90 or older?",
        _FILE,
        above,
        "different labels above 89",
        conditions=[at_most(above, 1), equals(reaching, 0, otherwise=JUDGE)],
        then=MET,
    )


def _postcodes(column: str, *, stated: bool) -> Row:
    """Return the row of a postal code; its areas are judged by the owner's table of populations."""
    digits = path_to("measured", "postcodes", column, "digits")
    small = path_to("measured", "postcodes", column, "areas_not_large")
    conditions = [at_most(digits, MAX_ZIP_DIGITS)]
    conditions.append(equals(small, 0) if stated else at_most(digits, 0, otherwise=JUDGE))
    return row(
        f"(B) Does {column} show at most three digits, of areas with more than 20,000 people?",
        _FILE,
        small if stated else digits,
        "areas that the table of populations does not state as large"
        if stated
        else "most digits in a cell; no table of populations is given",
        conditions=conditions,
        then=MET,
    )


def expert_determination(evidence: dict[str, Any]) -> Row:
    """Return the crosswalk of Expert Determination."""
    return crosswalk(
        "HIPAA Expert Determination",
        "45 CFR 164.514(b)(1)",
        [
            row(
                "Is the risk very small that the recipient identifies a person?",
                "Threshold and risk",
                "/risk/after/maximum",
                "highest risk of a person by quasi-identifiers",
                conditions=highest_risk(evidence, evidence["threshold"]["maximum_risk"]),
            ),
            asked("Which other information is available to the recipient?", "adversaries"),
            asked("Who is the recipient?", "recipient"),
            asked("Which person with knowledge of statistical methods judges the risk?", "expert"),
            row(
                "Are the methods and the results of the analysis documented?",
                "Inventory; risk; how the release was made",
                "/run/method",
                "method",
            ),
            asked("When does the determination expire?", "review_date", "Review"),
        ],
    )
