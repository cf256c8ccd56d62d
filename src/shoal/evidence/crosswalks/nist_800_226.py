"""NIST SP 800-226: questions about a claim of differential privacy."""

from __future__ import annotations

from typing import Any

from shoal.evidence.crosswalks.rows import Row, asked, crosswalk, equals, row

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
                "Can nobody repeat the random draws?",
                _WHERE,
                f"{at}/seeded",
                "a seed was given",
                conditions=[equals(f"{at}/seeded", False)],
            ),
            row("Which other releases about the same people exist?", "Limits; not in this pack"),
            asked("Who has access to the original data?", "additional_information"),
        ],
    )
