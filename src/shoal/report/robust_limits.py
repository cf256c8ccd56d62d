"""What an evaluation of networks under attack does not show, in words for the people who decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.report.limits import Limit, limit
from shoal.support.wording import listed_names

_MIN_PICTURES = 30  # with fewer, the interval is not informative


def robust_limits(
    attack: Mapping[str, Any], scales: Sequence[str], unmet: Sequence[str], met: Mapping[str, Any]
) -> list[Limit]:
    """Return the limits that apply to this evaluation.

    unmet: the scales of noise that the attack was not made for.
    """
    listed = [_PROOF, _stronger(attack, scales)]
    if unmet:
        listed.append(_unmet(attack, unmet))
    listed.append(_pictures(met))
    if met["unchanged"]:
        listed.append(_unchanged(met["unchanged"]))
    return [*listed, _SIZES, _TRAINING, _PRIVACY]


_PROOF = limit(
    "No proof",
    "Noise and vote give no bound within which an answer is certain. The results come from one "
    "attack method with one set of options, and say nothing about other attacks.",
)


def _stronger(attack: Mapping[str, Any], scales: Sequence[str]) -> Limit:
    """Return the stronger attacks that were not tried."""
    others = [] if attack["vote"] else ["an attack on the vote itself (--vote)"]
    copied = attack["threat"] == "copy" or attack["noise"] == 0  # a query then reveals as much
    if attack["threat"] != "averages" and any(map(float, scales)):
        others.append("an attacker who averages many queries per step (--threat averages)")
    if not copied:
        others.append("an attacker who has the networks, or similar ones (--threat copy)")
    others.append("more steps, or another method (--method, -O)")
    text = f"The following were not tried, and each may do better: {'; '.join(others)}."
    return limit("Stronger attackers", text)


def _unmet(attack: Mapping[str, Any], unmet: Sequence[str]) -> Limit:
    met = f"{attack['distribution']} noise of scale {attack['noise']:g}"
    if not attack["noise"]:
        met = "no noise"
    return limit(
        "Noise that the attack was not made for",
        f"The attack was made against {met}. The figures for {listed_names(unmet)} use examples "
        "that were made for a different defence; an attacker of that defence would make others.",
    )


def _pictures(met: Mapping[str, Any]) -> Limit:
    few = met["pictures"] < _MIN_PICTURES
    caution = "These are few. " if few else ""
    return limit(
        "Few and selected pictures" if few else "Selected pictures",
        f"All examples start from {met['pictures']} pictures. {caution}The confidence interval "
        "treats pictures, not examples, as independent, and does not account for retraining the "
        "networks. The vote classifies all of these pictures correctly without noise: accuracy on "
        "all pictures is lower.",
    )


def _unchanged(count: int) -> Limit:
    return limit(
        "Attacks without a result",
        f"{count:,} examples equal their originals, because the attack found nothing. They count "
        "as examples with a perturbation of 0, and mostly as correct.",
    )


_SIZES = limit(
    "Visibility to people",
    "The size is the norm of the perturbation divided by the norm of the picture. A large "
    "perturbation may be hard to see and a small one obvious, and an example that people would "
    "also misclassify is not a failure of the networks. Look at the pictures.",
)
_TRAINING = limit(
    "Other attacks",
    "This report does not cover poisoned training data, stolen networks, or pictures of a kind "
    "that the networks were not trained on.",
)
_PRIVACY = limit(
    "Privacy",
    "This report is not about privacy. The noise is not differential privacy, and a robust model "
    "may still reveal who was in its training data. The pictures on this page are data: consider "
    "who receives it, or leave them out (--pictures 0).",
)
