"""How good predictions are, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.arrays import Bools, Codes, Counts, Floats

_RESAMPLES = 200
_CONFIDENCE = 0.95
Interval = tuple[float, float] | tuple[None, None]


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of test rows, beside the truth.

    truth, said: (rows,) classes by their code, or numbers.
    shares: (rows, classes) how much each class is believed in, None where the model cannot tell.
    """

    truth: Any
    said: Any
    shares: Floats | None = None

    def take(self, rows: Any) -> Predictions:
        """Return those of some rows."""
        shares = None if self.shares is None else self.shares[rows]
        return Predictions(self.truth[rows], self.said[rows], shares)

    @classmethod
    def of(cls, model: Any, features: Any, truth: Any, classes: int) -> Predictions:
        """Ask a trained model; classes is 0 for numbers."""
        said = model.predict(features)
        if not classes:
            return cls(truth, np.asarray(said, dtype=np.float64))
        for verb in ("predict_proba", "decision_function"):
            if hasattr(model, verb):
                told = np.asarray(getattr(model, verb)(features), dtype=np.float64)
                break
        else:
            return cls(truth, said)
        if told.ndim == 1:  # of two classes, the second
            told = np.column_stack([-told, told])
        shares = np.full((len(said), classes), -np.inf)
        shares[:, np.asarray(model.classes_, dtype=np.int64)] = told
        return cls(truth, said, shares)


def accuracy(found: Predictions) -> float | None:
    """Share of rows whose class was said."""
    return float((found.truth == found.said).mean())


def auroc(found: Predictions) -> float | None:
    """Chance that a row of a class is believed in more than one of another, averaged over classes.

    Of two classes, or one against the rest. Classes that no test row has, or all, do not count.
    """
    if found.shares is None:
        return None
    classes = range(found.shares.shape[1])
    areas = [_area(found.shares[:, c], found.truth == c) for c in classes[len(classes) == 2 :]]
    known = [area for area in areas if area is not None]
    return float(np.mean(known)) if known else None


def _area(shares: Floats, inside: Bools) -> float | None:
    """Return the Mann-Whitney statistic, ties counted half."""
    ours = int(inside.sum())
    others = len(inside) - ours
    if not ours or not others:
        return None
    _, rank, ties = np.unique(shares, return_inverse=True, return_counts=True)
    middle = np.cumsum(ties) - (ties - 1) / 2
    return float((middle[rank[inside]].sum() - ours * (ours + 1) / 2) / (ours * others))


def r2(found: Predictions) -> float | None:
    """Share of the variance of test rows that is explained; below 0, less than their mean does."""
    spread = float(((found.truth - found.truth.mean()) ** 2).sum())
    return 1 - float(((found.truth - found.said) ** 2).sum()) / spread if spread else None


def mae(found: Predictions) -> float | None:
    """Mean distance of what was said from the truth."""
    return float(np.abs(found.truth - found.said).mean())


SCORES: dict[str, dict[str, Callable[[Predictions], float | None]]] = {
    "classification": {"accuracy": accuracy, "auroc": auroc},
    "regression": {"r2": r2, "mae": mae},
}
_RANGE = {"accuracy": (0.0, 1.0), "auroc": (0.0, 1.0), "r2": (-math.inf, 1.0)}


def over_folds(score: str, values: Sequence[float]) -> Interval:
    """Return a 95 % interval of a mean over folds, by t.

    The folds' training rows overlap, so that their values vary less than those of fresh tables
    would: the variance is corrected by test over training rows.
    Nadeau & Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
    """
    folds = len(values)
    if folds < 2:
        return None, None
    from scipy.stats import t

    spread = math.sqrt((1 / folds + 1 / (folds - 1)) * float(np.var(values, ddof=1)))
    half = float(t.ppf((1 + _CONFIDENCE) / 2, folds - 1)) * spread
    least, most = _RANGE.get(score, (0.0, math.inf))
    middle = float(np.mean(values))
    return max(middle - half, least), min(middle + half, most)


def over_rows(score: str, found: Predictions, seed: int, groups: Codes | None = None) -> Interval:
    """Return a 95 % interval over the test rows: Wilson's of an accuracy, else by resampling.

    groups: (rows,) the person of each row, if people have several: people are resampled then, each
        with all rows, as rows of one person vary less than rows of different people.
    """
    rows = len(found.truth)
    if score == "accuracy" and groups is None:
        return _wilson(int((found.truth == found.said).sum()), rows)
    count = SCORES["regression" if found.truth.dtype.kind == "f" else "classification"][score]
    generator = np.random.default_rng(seed)
    resample = _rows_drawn(rows) if groups is None else _people_drawn(groups)
    drawn = (count(found.take(resample(generator))) for _ in range(_RESAMPLES))
    values = [value for value in drawn if value is not None]
    if len(values) < _RESAMPLES / 2:
        return None, None
    low, high = np.quantile(values, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def _rows_drawn(rows: int) -> Callable[[np.random.Generator], Counts]:
    """Return what draws as many rows as there are, with replacement."""
    return lambda generator: generator.integers(0, rows, rows)


def _people_drawn(groups: Codes) -> Callable[[np.random.Generator], Counts]:
    """Return what draws as many people as there are, with replacement, each with all rows."""
    person = np.unique(groups, return_inverse=True)[1]
    order = np.argsort(person, kind="stable")
    ends = np.cumsum(np.bincount(person))
    rows_of = np.split(order, ends[:-1])

    def draw(generator: np.random.Generator) -> Counts:
        people = generator.integers(0, len(rows_of), len(rows_of))
        return np.concatenate([rows_of[one] for one in people.tolist()])

    return draw


def _wilson(right: int, rows: int) -> tuple[float, float]:
    """Wilson, "Probable inference, the law of succession, and statistical inference", 1927."""
    z = 1.959963984540054
    middle = (right + z * z / 2) / (rows + z * z)
    half = z / (rows + z * z) * math.sqrt(right * (rows - right) / rows + z * z / 4)
    return max(middle - half, 0.0), min(middle + half, 1.0)
