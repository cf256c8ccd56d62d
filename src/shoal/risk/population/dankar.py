"""Dankar's rule: which estimate of population uniqueness to use.

Pitman's model for samples of at most a tenth; for larger samples, the smaller estimate of Zayatz
and the slide negative binomial. Zayatz if the other model cannot be fitted.
Dankar, El Emam, Neisa & Roffey, "Estimating the re-identification risk of clinical data sets",
BMC Medical Informatics and Decision Making 12:66, 2012.
"""

from __future__ import annotations

from collections.abc import Mapping

SMALL = 0.1  # sampling fraction up to which Pitman's model is used


def choose(estimates: Mapping[str, float | None], fraction: float) -> str:
    """Return the name of the estimate to use.

    Parameters:
        estimates: The estimate of each model, None if it could not be fitted.
        fraction: Share of the population that the sample contains.
    """
    if fraction <= SMALL:
        return "zayatz" if estimates["pitman"] is None else "pitman"
    slide, zayatz = estimates["snb"], estimates["zayatz"]
    assert zayatz is not None
    return "zayatz" if slide is None or zayatz < slide else "snb"
