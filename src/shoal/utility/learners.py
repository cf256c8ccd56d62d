"""The trained models: four kinds that learn differently, for classification and for regression.

The models of the study, and gradient boosting, which needs no components and handles flags best.
Forests have 40 trees on a third of the rows each, and boosting takes few large steps: as accurate
as scikit-learn's default settings on 30,000 rows of a census, in a third to half of the time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from shoal._compat.messages import MANY_CLASSES
from shoal.errors import InputError, unknown
from shoal.support.arrays import Codes, Floats
from shoal.support.imports import requires
from shoal.utility.targets import tune_by_group

Models = Iterable[str] | Mapping[str, Any] | None
Make = Callable[[int, int], Any]  # takes a seed and the number of classes
_VARIANCE = 0.95  # share of the variance that components explain
_FOREST: dict[str, Any] = {
    "n_estimators": 40,
    "max_depth": 16,
    "min_samples_leaf": 2,
    "max_samples": 1 / 3,
    "max_features": "sqrt",
}
_BOOSTING: dict[str, Any] = {
    "learning_rate": 0.2,
    "max_iter": 50,
    "max_bins": 64,  # flags have two
    "early_stopping": False,
}
_MAX_TREES = 600  # of boosting with many classes


def _components(model: Any, seed: int) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    return make_pipeline(PCA(_VARIANCE, random_state=seed), model)


def _logistic_regression(seed: int, _: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=300, random_state=seed)


def _ridge(seed: int, _: int) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(random_state=seed)


def _forest_of_classes(seed: int, _: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return _components(RandomForestClassifier(**_FOREST, random_state=seed), seed)


def _forest_of_numbers(seed: int, _: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return _components(RandomForestRegressor(**_FOREST, random_state=seed), seed)


def _neighbours_of_classes(seed: int, _: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return _components(KNeighborsClassifier(), seed)


def _neighbours_of_numbers(seed: int, _: int) -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return _components(KNeighborsRegressor(), seed)


def _boosted_classes(seed: int, classes: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    # each step has one tree per class
    steps = min(_BOOSTING["max_iter"], max(_MAX_TREES // classes, 10))
    return HistGradientBoostingClassifier(**{**_BOOSTING, "max_iter": steps}, random_state=seed)


def _boosted_numbers(seed: int, _: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(**_BOOSTING, random_state=seed)


CLASSIFIERS: dict[str, Make] = {
    "logistic-regression": _logistic_regression,
    "random-forest": _forest_of_classes,
    "k-nearest-neighbours": _neighbours_of_classes,
    "gradient-boosting": _boosted_classes,
}
REGRESSORS: dict[str, Make] = {
    "ridge": _ridge,
    "random-forest": _forest_of_numbers,
    "k-nearest-neighbours": _neighbours_of_numbers,
    "gradient-boosting": _boosted_numbers,
}


def choose_models(models: Models, *, classes: int, seed: int) -> dict[str, Any]:
    """Return untrained models by name; the seed determines their random draws.

    classes: number of classes, 0 for regression.
    """
    with requires("learn"):
        import sklearn  # noqa: F401
    known = CLASSIFIERS if classes else REGRESSORS
    if isinstance(models, Mapping):
        chosen = dict(models)
        for name, model in chosen.items():
            if isinstance(model, type) or not hasattr(model, "fit"):
                raise InputError(f"model {name!r} must be an estimator with a fit method")
    else:
        names = list(known if models is None else [models] if isinstance(models, str) else models)
        others = [name for name in names if name not in known]
        if others:
            task = "classification" if classes else "regression"
            raise unknown(f"no model for {task}", others[0], known)
        chosen = {name: known[name](seed, classes) for name in names}
    if not chosen:
        raise InputError(f"models is empty; name at least one of {', '.join(known)}")
    return chosen


def train(
    name: str,
    model: Any,
    features: Any,
    labels: Any,
    groups: Codes | None = None,
    *,
    regressed: bool,
    seed: int,
    weights: Floats | None = None,
) -> Any:
    """Return a trained copy of a model.

    If there is nothing to learn from (no varying feature, one class, one person, fewer than ten
    rows), it predicts the most common class, or the mean.

    groups: (rows,) the person of each row, for models that tune themselves by cross-validation;
        None if each row is a different person.
    weights: (rows,) people whom each row stands for; models without sample weights, such as
        nearest neighbours, ignore them.
    """
    from sklearn.base import clone
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.exceptions import ConvergenceWarning

    one_person = groups is not None and (groups == groups[0]).all()
    if not features.shape[1] or len(features) < 10 or (labels == labels[0]).all() or one_person:
        plain = DummyRegressor() if regressed else DummyClassifier(strategy="prior")
        return plain.fit(features, labels, sample_weight=weights)
    copy = clone(model)
    unset = [n for n, v in copy.get_params().items() if n.endswith("random_state") and v is None]
    copy.set_params(**dict.fromkeys(unset, seed))
    if groups is not None:
        tune_by_group(name, copy, features, labels, groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # the task was chosen before, and the majority baseline shows what tiny classes are worth
        warnings.filterwarnings("ignore", MANY_CLASSES, UserWarning)
        return copy.fit(features, labels, **_weighting(copy, weights))


def _weighting(model: Any, weights: Floats | None) -> dict[str, Floats]:
    """Return the argument of `fit` that passes weights on, their mean 1; none if there is none."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if weights is None:
        return {}
    prefix = ""
    if isinstance(model, Pipeline):
        name, model = model.steps[-1]
        prefix = f"{name}__"
    if not has_fit_parameter(model, "sample_weight"):
        return {}
    return {f"{prefix}sample_weight": weights / weights.mean()}
