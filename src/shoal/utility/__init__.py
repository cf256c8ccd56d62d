"""Learning utility: how well models trained on a release predict raw rows."""

from typing import TYPE_CHECKING

from shoal.support.imports import on_first_use

if TYPE_CHECKING:
    from shoal.utility.encodings import ENCODINGS, features
    from shoal.utility.evaluation import evaluate
    from shoal.utility.learners import CLASSIFIERS, REGRESSORS
    from shoal.utility.predictive_loss import predictive
    from shoal.utility.results import SCORES, Score, Utility

__all__ = [
    "CLASSIFIERS",
    "ENCODINGS",
    "REGRESSORS",
    "SCORES",
    "Score",
    "Utility",
    "evaluate",
    "features",
    "predictive",
]

_ON_FIRST_USE = {  # the module of each name
    "CLASSIFIERS": "learners",
    "ENCODINGS": "encodings",
    "REGRESSORS": "learners",
    "SCORES": "results",
    "Score": "results",
    "Utility": "results",
    "evaluate": "evaluation",
    "features": "encodings",
    "predictive": "predictive_loss",
}

if not TYPE_CHECKING:  # a type checker would otherwise accept any name
    __getattr__, __dir__ = on_first_use(__name__, _ON_FIRST_USE)
