"""How private classes in fact are: the level of every model, none of them asked for."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.classes import Classes
from shoal.privacy.alpha_k_anonymity import AlphaKAnonymity
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.l_diversity import EntropyLDiversity, LDiversity
from shoal.privacy.model import Model
from shoal.privacy.t_closeness import TCloseness


def profile(classes: Classes, sensitive: Sequence[str]) -> dict[str, float]:
    """Return the k of the classes and, for each sensitive column, what every model measures.

    Keys are `k`, then for a column `disease`: `l(disease)` and `entropy-l(disease)`, where more is
    better; `t(disease)` by the column's natural distance, `alpha(disease)` the largest share of
    one value, `delta(disease)` (infinite where a class lacks a value) and `beta(disease)`, basic,
    where less is better.
    """
    levels = {"k": KAnonymity(2).level(classes)}
    for column in sensitive:
        for letter, model in _measures(column).items():
            levels[f"{letter}({column})"] = model.level(classes)
    return levels


def _measures(column: str) -> dict[str, Model]:
    """Return a model by letter; `level` does not look at the parameters given here."""
    return {
        "l": LDiversity(2, column),
        "entropy-l": EntropyLDiversity(2, column),
        "t": TCloseness(1, column),
        "alpha": AlphaKAnonymity(1, 1, column),
        "delta": DeltaDisclosure(1, column),
        "beta": BetaLikeness(1, column, enhanced=False),
    }
