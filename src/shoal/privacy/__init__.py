"""Privacy models: questions put to a release, most of them class by class, joined with `&`."""

from shoal.privacy.alpha_k_anonymity import AlphaKAnonymity
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.expressions import MODELS, parse
from shoal.privacy.freeform_anonymity import FreeformAnonymity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.k_concealment import KConcealment
from shoal.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from shoal.privacy.model import All, CoverageModel, Model
from shoal.privacy.one_k_anonymity import KKAnonymity, KOneAnonymity, OneKAnonymity
from shoal.privacy.profiles import profile
from shoal.privacy.t_closeness import TCloseness

__all__ = [
    "MODELS",
    "All",
    "AlphaKAnonymity",
    "BetaLikeness",
    "CoverageModel",
    "DeltaDisclosure",
    "EntropyLDiversity",
    "FreeformAnonymity",
    "KAnonymity",
    "KConcealment",
    "KKAnonymity",
    "KOneAnonymity",
    "LDiversity",
    "Model",
    "OneKAnonymity",
    "RecursiveLDiversity",
    "TCloseness",
    "parse",
    "profile",
]
