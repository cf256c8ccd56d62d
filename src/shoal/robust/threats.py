"""Threat models: what an attacker holds, and so which model the attack climbs.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, §4.2.4 and
§4.5.
"""

from __future__ import annotations

from typing import Any, Literal

from shoal.errors import InputError, unknown
from shoal.robust.classifier import Classifier, as_classifier
from shoal.robust.expectation import Expectation

Threat = Literal["queries", "averages", "copy"]
THREATS = {
    "queries": "queries the defended model once per step; Noisy Logit is designed for this",
    "averages": "queries the defended model many times per step and averages the answers",
    "copy": "has a copy of the networks and attacks them without the defence",
}


def attacked(defended: Any, threat: str, *, copy: Any = None, queries: int = 16) -> Classifier:
    """Return the model that an attack is to be run on; judge what it finds by the defended one.

    copy: the networks without defence, for the attacker who has them.
    queries: asked for each step, by the attacker who averages.
    """
    if threat not in THREATS:
        raise unknown("no threat model", threat, THREATS)
    if threat == "queries":
        return as_classifier(defended)
    if threat == "averages":
        return Expectation(defended, queries)
    if copy is None:
        raise InputError('the threat model "copy" needs the copied networks; give copy=')
    return as_classifier(copy)
