"""Learning utility: how well models trained on a release predict raw rows."""

from typing import TYPE_CHECKING

from shoal.support.first_use import on_first_use

if TYPE_CHECKING:
    from shoal.utility.encodings import ENCODINGS
    from shoal.utility.evaluation import evaluate
    from shoal.utility.learners import CLASSIFIERS, REGRESSORS
    from shoal.utility.matrices import features
    from shoal.utility.predictive_loss import predictive
    from shoal.utility.results import Score, Utility
    from shoal.utility.scoring import SCORES

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
    "SCORES": "scoring",
    "Score": "results",
    "Utility": "results",
    "evaluate": "evaluation",
    "features": "matrices",
    "predictive": "predictive_loss",
}

if not TYPE_CHECKING:  # a type checker would otherwise accept any name
    __getattr__, __dir__ = on_first_use(__name__, _ON_FIRST_USE)
