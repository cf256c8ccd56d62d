"""What an evaluation of networks under attack leaves open, in words for those who decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.core.wording import listed_names
from shoal.report.limits import Limit, limit

_FEW = 30  # pictures, below which the interval says little


def robust_limits(
    attack: Mapping[str, Any], scales: Sequence[str], unmet: Sequence[str], met: Mapping[str, Any]
) -> list[Limit]:
    """Return the limits that apply to this evaluation, those of every one after its own.

    unmet: those of the scales of noise that the attacker did not meet.
    """
    told = [_PROOF, _stronger(attack, scales)]
    if unmet:
        told.append(_unmet(attack, unmet))
    told.append(_pictures(met))
    if met["unchanged"]:
        told.append(_unchanged(met["unchanged"]))
    return [*told, _SIZES, _TRAINING, _PRIVACY]


_PROOF = limit(
    "No proof",
    "There is no bound in noise or vote inside which an answer is certain. What held was found by "
    "attacking, with one method and one set of options, and says nothing of others.",
)


def _stronger(attack: Mapping[str, Any], scales: Sequence[str]) -> Limit:
    """Say who could have done better."""
    others = [] if attack["vote"] else ["an attack on the vote itself (--vote)"]
    copied = attack["threat"] == "copy" or attack["noise"] == 0  # then a query tells as much
    if attack["threat"] != "averages" and any(map(float, scales)):
        others.append("one who averages many queries a step (--threat averages)")
    if not copied:
        others.append("one who has the networks, or has trained ones like them (--threat copy)")
    others.append("more steps, or another method (--method, -O)")
    told = f"Not tried here, and each may do better: {'; '.join(others)}."
    return limit("Stronger attackers", told)


def _unmet(attack: Mapping[str, Any], unmet: Sequence[str]) -> Limit:
    met = f"{attack['distribution']} noise of scale {attack['noise']:g}"
    if not attack["noise"]:
        met = "no noise"
    return limit(
        "Noise that the attacker did not meet",
        f"The attacker met {met}. The figures for {listed_names(unmet)} are "
        "of examples that were made for another defence; who attacks that one would make others.",
    )


def _pictures(met: Mapping[str, Any]) -> Limit:
    few = met["pictures"] < _FEW
    told = "That is few. " if few else ""
    return limit(
        "Few pictures, and chosen ones" if few else "Chosen pictures",
        f"All examples start from {met['pictures']} pictures. {told}The interval is over pictures, "
        "as examples of one picture fare alike; it knows nothing of networks trained anew. The "
        "pictures are ones that the vote gets right without noise: accuracy on all is lower.",
    )


def _unchanged(count: int) -> Limit:
    return limit(
        "Attacks that found nothing",
        f"{count:,} examples are the originals themselves, as the attack found nothing. They count "
        "among the examples, mostly as right, and with a perturbation of 0.",
    )


_SIZES = limit(
    "What people see",
    "Sizes are lengths of the perturbation over those of the picture. A large one may be hard to "
    "see and a small one plain; and an example that people, too, would take for something else is "
    "no failure of the networks. Look at the pictures.",
)
_TRAINING = limit(
    "Other ways in",
    "Poisoned training rows, stolen networks, and pictures of a kind that the networks never saw "
    "are no matter of this page.",
)
_PRIVACY = limit(
    "Privacy",
    "Nothing here is about privacy. The noise is no differential privacy, and a model that holds "
    "may still tell who was in its training rows. Pictures on this page are data: mind who gets "
    "it, or leave them out (--pictures 0).",
)
