"""The page of an evidence pack: one printable file without scripts or external resources."""

from __future__ import annotations

from typing import Any

from shoal.evidence.crosswalks.rows import JUDGE, MET, NOT_MET
from shoal.evidence.language import Language

_STATUSES = {MET: "met", NOT_MET: "not_met", JUDGE: "judge"}


def evidence_page(evidence: dict[str, Any], words: Language) -> str:
    """Return the contents of a pack as an HTML page, in the style of reports.

    Parameters:
        evidence: The contents of `evidence.json`.
        words: The language of the page.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("shoal.evidence"), PackageLoader("shoal.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("evidence.html").render(
        report=evidence,
        language=words.code,
        t=words.text,
        say=words.say,
        value=words.value,
        date=words.date,
        statuses=_STATUSES,
        overview=_overview(evidence),
    )


def _overview(evidence: dict[str, Any]) -> list[dict[str, Any]]:
    """Return, for each regime, how many rows have each status."""
    return [
        {
            "title": each["title"],
            "applies": each["does_not_apply"] is None,
            "counts": [
                sum(row["status"] == status for row in each["rows"])
                for status in (MET, NOT_MET, JUDGE)
            ],
        }
        for each in evidence["crosswalks"]
    ]
