"""Privacy models: questions put to every class of a release, joined with `&`."""

from shoal.privacy.alpha_k_anonymity import AlphaKAnonymity
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.expressions import MODELS, parse
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from shoal.privacy.model import All, Model
from shoal.privacy.profiles import profile
from shoal.privacy.t_closeness import TCloseness

__all__ = [
    "MODELS",
    "All",
    "AlphaKAnonymity",
    "BetaLikeness",
    "DeltaDisclosure",
    "EntropyLDiversity",
    "KAnonymity",
    "LDiversity",
    "Model",
    "RecursiveLDiversity",
    "TCloseness",
    "parse",
    "profile",
]
