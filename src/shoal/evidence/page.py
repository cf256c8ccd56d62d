"""The page of an evidence pack: one printable file without scripts or external resources."""

from __future__ import annotations

from typing import Any


def evidence_page(evidence: dict[str, Any]) -> str:
    """Return the contents of a pack as an HTML page, in the style of reports."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("shoal.evidence"), PackageLoader("shoal.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("evidence.html").render(report=evidence)
