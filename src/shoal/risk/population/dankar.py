"""Dankar's rule: which estimate of population uniqueness to believe.

Pitman's for samples of a tenth or less; for larger ones the smaller of Zayatz' and that of the
slide negative binomial. Where a model cannot be fitted, Zayatz'.
Dankar, El Emam, Neisa & Roffey, "Estimating the re-identification risk of clinical data sets",
BMC Medical Informatics and Decision Making 12:66, 2012.
"""

from __future__ import annotations

from collections.abc import Mapping

SMALL = 0.1  # sampling fraction up to which Pitman's model is taken


def choose(estimates: Mapping[str, float | None], fraction: float) -> str:
    """Return the name of the estimate to believe; one that could not be made is None."""
    if fraction <= SMALL:
        return "zayatz" if estimates["pitman"] is None else "pitman"
    slide, zayatz = estimates["snb"], estimates["zayatz"]
    assert zayatz is not None
    return "zayatz" if slide is None or zayatz < slide else "snb"
