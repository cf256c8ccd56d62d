"""All privacy models; add a model here by its import and its name in `__all__`."""

from __future__ import annotations

from shoal.privacy.alpha_k_anonymity import AlphaKAnonymity
from shoal.privacy.average_risk import AverageRisk
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.delta_presence import DeltaPresence
from shoal.privacy.freeform_anonymity import FreeformAnonymity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.k_concealment import KConcealment
from shoal.privacy.k_map import KMap
from shoal.privacy.km_anonymity import KmAnonymity
from shoal.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from shoal.privacy.model import Model
from shoal.privacy.one_k_anonymity import KKAnonymity, KOneAnonymity, OneKAnonymity
from shoal.privacy.risk import Risk
from shoal.privacy.t_closeness import TCloseness

__all__ = [  # noqa: RUF022  in the order of the documentation
    "KAnonymity",
    "KmAnonymity",
    "LDiversity",
    "EntropyLDiversity",
    "RecursiveLDiversity",
    "TCloseness",
    "AlphaKAnonymity",
    "DeltaDisclosure",
    "BetaLikeness",
    "Risk",
    "AverageRisk",
    "KMap",
    "DeltaPresence",
    "FreeformAnonymity",
    "KConcealment",
    "KKAnonymity",
    "OneKAnonymity",
    "KOneAnonymity",
]
MODELS: dict[str, type[Model]] = {
    model.name: model for model in (globals()[name] for name in __all__)
}
