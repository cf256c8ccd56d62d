"""Crosswalks: for each regime, what it asks and which figure of a pack answers it.

EMA Policy 0070, Health Canada   a risk of at most 0.09 for published clinical data
GDPR                             the three criteria of WP216, and the EDPB on pseudonymisation
HIPAA                            the 18 identifiers of Safe Harbor, and Expert Determination
UK ICO                           the motivated intruder test
ISO/IEC 27559                    context, data, identifiability and governance
NIST SP 800-226                  questions about a claim of differential privacy
"""

from __future__ import annotations

from typing import Any

from shoal.evidence.crosswalk_rows import (
    DATES,
    GEOGRAPHIC,
    IDENTIFIERS,
    JUDGE,
    MET,
    NOT_MET,
    OTHER,
    Identifier,
    Row,
    asked,
    at_least,
    at_most,
    attacked,
    crosswalk,
    equals,
    highest_risk,
    path_to,
    rehearsed,
    resolved,
    row,
    stated,
)

THRESHOLD = 0.09
LEAST_K = 12  # 1/11 is above the threshold
_EMA_SOURCE = (
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
    return crosswalk("EMA Policy 0070 and Health Canada", _EMA_SOURCE, rows)


_GDPR_SOURCE = (
    "Article 29 Working Party, Opinion 05/2014 on anonymisation techniques (WP216); EDPB, "
    "Guidelines 01/2025 on pseudonymisation"
)


def gdpr(evidence: dict[str, Any]) -> Row:
    """Return the crosswalk of the GDPR."""
    return crosswalk("GDPR", _GDPR_SOURCE, [*_anonymisation(evidence), *_pseudonymisation()])


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
        asked("EDPB: who must be unable to attribute the data to a person?", "recipient"),
    ]


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
    # the first condition that fails decides, so what cells show comes before names
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


_WHERE = "Differential privacy"


def nist_800_226(evidence: dict[str, Any]) -> Row:
    """Return the crosswalk of NIST SP 800-226; it applies to claims of differential privacy."""
    title, source = "NIST SP 800-226", "Guidelines for Evaluating Differential Privacy Guarantees"
    if not evidence["differential_privacy"]["claims"]:
        reason = "The release does not claim differential privacy."
        return crosswalk(title, source, [], reason)
    at = "/differential_privacy"
    return crosswalk(
        title,
        source,
        [
            row("How strong is the guarantee?", _WHERE, f"{at}/epsilon", "ε"),
            row("How likely is it to fail?", _WHERE, f"{at}/delta", "δ"),
            row("Which unit does it protect?", _WHERE, f"{at}/unit", "unit"),
            row(
                "Is the mechanism covered by a proof?",
                _WHERE,
                f"{at}/proven",
                "covered by a proof",
                conditions=[equals(f"{at}/proven", True)],
            ),
            row(
                "Is it impossible to repeat the random draws?",
                _WHERE,
                f"{at}/seeded",
                "a seed was given",
                conditions=[equals(f"{at}/seeded", False)],
            ),
            row("Which other releases about the same people exist?", "Limits; not in this pack"),
            asked("Who has access to the original data?", "additional_information"),
        ],
    )


_REGIMES = (gdpr, safe_harbor, expert_determination, ema, iso_27559, nist_800_226, ico)


def crosswalks(evidence: dict[str, Any]) -> list[Row]:
    """Return the crosswalks of all regimes, with figures and statuses from the evidence."""
    return resolved([regime(evidence) for regime in _REGIMES], evidence)
