"""Robust predictions: noise at query time, a vote over networks, and attacks that test both.

Loaded on first use because it needs torch: `pip install 'shoal-privacy[robust]'`.
Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, chapter 4.
"""

from typing import TYPE_CHECKING

from shoal.support.imports import on_first_use

if TYPE_CHECKING:
    from shoal.robust.attacks import (
        ATTACKS,
        FGSM,
        JSMA,
        LBFGS,
        CarliniWagner,
        Examples,
        IterativeFGSM,
        every_target,
        superimpose,
    )
    from shoal.robust.classifier import Classifier, Single, as_classifier
    from shoal.robust.ensemble import Ensemble, EnsembleVote, Votes
    from shoal.robust.evaluation import (
        THREATS,
        Expectation,
        Judged,
        accuracies,
        attacked,
        by_bin,
        classifications,
        judge,
        mean_perturbations,
    )
    from shoal.robust.interop import as_module, from_probabilities
    from shoal.robust.networks import ARCHITECTURES, CIFAR10, DIGITS, MNIST, Architecture
    from shoal.robust.noise import deviation_of, scale_for
    from shoal.robust.noisy_logit import NoisyLogit
    from shoal.robust.tables import NoisyVote
    from shoal.robust.training import Member, Training, partitioned, shared, train
    from shoal.robust.tuning import choose, sweep

__all__ = [
    "ARCHITECTURES",
    "ATTACKS",
    "CIFAR10",
    "DIGITS",
    "FGSM",
    "JSMA",
    "LBFGS",
    "MNIST",
    "THREATS",
    "Architecture",
    "CarliniWagner",
    "Classifier",
    "Ensemble",
    "EnsembleVote",
    "Examples",
    "Expectation",
    "IterativeFGSM",
    "Judged",
    "Member",
    "NoisyLogit",
    "NoisyVote",
    "Single",
    "Training",
    "Votes",
    "accuracies",
    "as_classifier",
    "as_module",
    "attacked",
    "by_bin",
    "choose",
    "classifications",
    "deviation_of",
    "every_target",
    "from_probabilities",
    "judge",
    "mean_perturbations",
    "partitioned",
    "scale_for",
    "shared",
    "superimpose",
    "sweep",
    "train",
]

_MODULES = {  # the public names of each module
    "attacks": """ATTACKS FGSM JSMA LBFGS
        CarliniWagner Examples IterativeFGSM every_target superimpose""",
    "classifier": "Classifier Single as_classifier",
    "ensemble": "Ensemble EnsembleVote Votes",
    "evaluation": """Judged accuracies by_bin classifications
        judge mean_perturbations THREATS Expectation attacked""",
    "interop": "as_module from_probabilities",
    "training": "Member partitioned shared Training train",
    "networks": "ARCHITECTURES CIFAR10 DIGITS MNIST Architecture",
    "noise": "deviation_of scale_for",
    "noisy_logit": "NoisyLogit",
    "tables": "NoisyVote",
    "tuning": "choose sweep",
}
_ON_FIRST_USE = {name: module for module, names in _MODULES.items() for name in names.split()}

if not TYPE_CHECKING:  # a type checker would otherwise accept any name
    __getattr__, __dir__ = on_first_use(
        __name__, _ON_FIRST_USE, extra=("robust", "torch", "safetensors")
    )
