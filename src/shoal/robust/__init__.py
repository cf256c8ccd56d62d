"""Robust predictions: noise at query time, a vote over networks, and attacks that test both.

Loaded on first use because it needs torch: `pip install 'shoal-privacy[robust]'`.
Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, chapter 4.
"""

from typing import TYPE_CHECKING

from shoal.support.first_use import on_first_use

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
    from shoal.robust.ensemble import Ensemble
    from shoal.robust.ensemble_vote import EnsembleVote, Votes
    from shoal.robust.evaluation import (
        Judged,
        accuracies,
        by_bin,
        classifications,
        judge,
        mean_perturbations,
    )
    from shoal.robust.interop import as_module, from_probabilities
    from shoal.robust.members import Member, partitioned, shared
    from shoal.robust.networks import ARCHITECTURES, CIFAR10, DIGITS, MNIST, Architecture
    from shoal.robust.noise_shapes import deviation_of, scale_for
    from shoal.robust.noisy_logit import NoisyLogit
    from shoal.robust.tables import NoisyVote
    from shoal.robust.threats import THREATS, Expectation, attacked
    from shoal.robust.training import Training, train
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
    "attacks": """ATTACKS FGSM JSMA LBFGS CarliniWagner Examples IterativeFGSM every_target
        superimpose""",
    "classifier": "Classifier Single as_classifier",
    "ensemble": "Ensemble",
    "ensemble_vote": "EnsembleVote Votes",
    "evaluation": "Judged accuracies by_bin classifications judge mean_perturbations",
    "interop": "as_module from_probabilities",
    "members": "Member partitioned shared",
    "networks": "ARCHITECTURES CIFAR10 DIGITS MNIST Architecture",
    "noise_shapes": "deviation_of scale_for",
    "noisy_logit": "NoisyLogit",
    "tables": "NoisyVote",
    "threats": "THREATS Expectation attacked",
    "training": "Training train",
    "tuning": "choose sweep",
}
_ON_FIRST_USE = {name: module for module, names in _MODULES.items() for name in names.split()}

if not TYPE_CHECKING:  # a type checker would otherwise accept any name
    __getattr__, __dir__ = on_first_use(
        __name__, _ON_FIRST_USE, extra=("robust", "torch", "safetensors")
    )
