"""Does it still work? What models learn from a release, tested on the raw table."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.utility.encodings import ENCODINGS
    from shoal.utility.evaluation import evaluate
    from shoal.utility.learners import CLASSIFIERS, REGRESSORS
    from shoal.utility.matrices import features
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
]

_ON_FIRST_USE = {  # where each of these names is
    "CLASSIFIERS": "learners",
    "ENCODINGS": "encodings",
    "REGRESSORS": "learners",
    "SCORES": "scoring",
    "Score": "results",
    "Utility": "results",
    "evaluate": "evaluation",
    "features": "matrices",
}

if not TYPE_CHECKING:  # a checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _ON_FIRST_USE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"shoal.utility.{_ON_FIRST_USE[name]}"), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
