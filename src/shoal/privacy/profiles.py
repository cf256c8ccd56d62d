"""The level that classes reach in every privacy model, whether it was required or not."""

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
    """Return the k of the classes and, for each sensitive column, the level of every model.

    Parameters:
        classes: The classes of a table or release.
        sensitive: Names of the sensitive columns.

    Returns:
        The level by key. Keys are `k`, then for a column `disease`: `l(disease)` and
        `entropy-l(disease)`, where higher is better; `t(disease)` with the default distance of
        the column, `alpha(disease)`, the largest share of one value, `delta(disease)`, infinite
        if a class lacks a value, and `beta(disease)` without the enhanced bound, where lower is
        better.
    """
    levels = {"k": KAnonymity(2).level(classes)}
    for column in sensitive:
        for letter, model in _measures(column).items():
            levels[f"{letter}({column})"] = model.level(classes)
    return levels


def _measures(column: str) -> dict[str, Model]:
    """Return the models by letter; `level` ignores the parameters given here."""
    return {
        "l": LDiversity(2, column),
        "entropy-l": EntropyLDiversity(2, column),
        "t": TCloseness(1, column),
        "alpha": AlphaKAnonymity(1, 1, column),
        "delta": DeltaDisclosure(1, column),
        "beta": BetaLikeness(1, column, enhanced=False),
    }
