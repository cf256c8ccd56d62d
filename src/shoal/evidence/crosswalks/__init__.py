"""Crosswalks: for each regime, what it asks and which figure of a pack answers it."""

from __future__ import annotations

from typing import Any

from shoal.evidence.crosswalks.ema import ema
from shoal.evidence.crosswalks.gdpr import gdpr
from shoal.evidence.crosswalks.hipaa import expert_determination, safe_harbor
from shoal.evidence.crosswalks.ico import ico
from shoal.evidence.crosswalks.iso_27559 import iso_27559
from shoal.evidence.crosswalks.nist_800_226 import nist_800_226
from shoal.evidence.crosswalks.rows import Row, resolved

_REGIMES = (gdpr, safe_harbor, expert_determination, ema, iso_27559, nist_800_226, ico)


def crosswalks(evidence: dict[str, Any]) -> list[Row]:
    """Return the crosswalks of all regimes, with figures and statuses from the evidence."""
    return resolved([regime(evidence) for regime in _REGIMES], evidence)
