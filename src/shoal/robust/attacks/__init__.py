"""Attacks, one per file: each attacks all pictures, goals and networks at once."""

from __future__ import annotations

from typing import Any

from shoal.robust.attacks.attack import Attack, Examples, every_target
from shoal.robust.attacks.carlini_wagner import CarliniWagner
from shoal.robust.attacks.gradient import FGSM, JSMA, IterativeFGSM, superimpose
from shoal.robust.attacks.lbfgs import LBFGS

__all__ = [
    "ATTACKS",
    "FGSM",
    "JSMA",
    "LBFGS",
    "Attack",
    "CarliniWagner",
    "Examples",
    "IterativeFGSM",
    "every_target",
    "superimpose",
]

ATTACKS: dict[str, type[Any]] = {
    attack.name: attack for attack in (CarliniWagner, FGSM, IterativeFGSM, LBFGS, JSMA)
}
