"""Results: the scores of each model with those of the raw table and of the majority baseline.

    Utility       a sequence of `Score`, as a table, a frame or JSON
    Predictions   the predictions of one model for test rows, with the truth
    SCORES        accuracy, auroc, r2, mae: each a function of `Predictions`
    over_folds    interval of a mean over folds, by Student's t
    over_rows     interval over test rows: exact for an accuracy, otherwise the bootstrap over
                  people

Every score is also computed with sampling weights, if the test rows have them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import unknown
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.proportions import confidence_interval
from shoal.support.wording import rows_about
from shoal.table.frames import to_pandas, to_polars

_NUMBERS = ("value", "low", "high", "raw", "majority", "kept")


@dataclass(frozen=True)
class Score:
    """A score of a model that was trained on a release, from `evaluate`.

    Attributes:
        model: Name of the model.
        score: Name of the score.
        value: The score on raw rows, None if it is undefined.
        low: Lower end of its 95 % confidence interval.
        high: Upper end of its 95 % confidence interval.
        raw: The score of the same model trained on raw rows, None if not requested.
        majority: The score of the baseline that always predicts the most common class, or the mean.

    >>> Score("ridge", "r2", 0.5, 0.4, 0.6, raw=0.8, majority=0.0).kept
    0.625
    """

    model: str
    score: str
    value: float | None
    low: float | None
    high: float | None
    raw: float | None
    majority: float | None

    @property
    def kept(self) -> float | None:
        """Share of the raw model's gain over the majority that the release keeps.

        Below 0 if the release misleads; None if the raw model has no gain.
        """
        if self.value is None or self.raw is None or self.majority is None:
            return None
        gained = self.raw - self.majority
        if self.score == "mae":
            gained = -gained
        if gained <= 1e-9:
            return None
        return (self.value - self.majority) / (self.raw - self.majority)

    @property
    def meaningful(self) -> bool:
        """Whether the raw model's gain exceeds chance, so that the kept share is meaningful.

        The gain must exceed half the width of the interval, if there is one.
        """
        if self.kept is None or self.raw is None or self.majority is None:
            return False
        chance = 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2
        return abs(self.raw - self.majority) > chance

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, the kept share and whether it is meaningful as plain data."""
        return {**asdict(self), "kept": self.kept, "meaningful": self.meaningful}


@dataclass(frozen=True, repr=False)
class Utility:
    """The learning utility of a release: a sequence of scores, from `evaluate`.

    Attributes:
        target: The column to predict.
        task: classification or regression.
        encoding: The encoding of cells as features.
        folds: Number of folds of the cross-validation, None with a test table.
        seed: Seed of folds and models.
        trained: Number of released rows with a label.
        trained_people: Number of people they are about.
        tested: Number of predicted raw rows.
        tested_people: Number of people they are about.
        left_out: Number of rows of the test table that are about people of the original table.
        scores: The score of every model.
        weight: The column of sampling weights that models and scores use, None if there is none.

    >>> score = Score("ridge", "r2", 0.5, 0.4, 0.6, raw=0.8, majority=0.0)
    >>> utility = Utility("cost", "regression", "flags", 5, 0, 90, 90, 100, 100, 0, (score,))
    >>> utility["ridge", "r2"].value
    0.5
    """

    target: str
    task: str
    encoding: str
    folds: int | None
    seed: int
    trained: int
    trained_people: int
    tested: int
    tested_people: int
    left_out: int
    scores: tuple[Score, ...]
    weight: str | None = None

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, names: tuple[str, str]) -> Score:
        """Return the score by its model and name: `utility["ridge", "r2"]`."""
        for each in self.scores:
            if (each.model, each.score) == tuple(names):
                return each
        known = [f"{each.model}, {each.score}" for each in self.scores]
        raise unknown("no score", ", ".join(names), known)

    def __repr__(self) -> str:
        tested_on = "a test table" if self.folds is None else f"{self.folds} folds"
        tested_on += "" if self.weight is None else f", weighted by {self.weight!r}"
        head = (
            f"Utility({self.target!r}, {self.task}, {self.encoding}, "
            f"trained on {rows_about(self.trained, self.trained_people, 'released')}, "
            f"tested on {rows_about(self.tested, self.tested_people, 'raw')}, {tested_on})"
        )
        names = ("model", "score", *_NUMBERS)
        rows = [
            names,
            *([_format_cell(each.to_dict()[name]) for name in names] for each in self.scores),
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
        lines = [
            "  ".join(
                cell.ljust(width) if i < 2 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([head, *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain data."""
        return {
            "target": self.target,
            "task": self.task,
            "encoding": self.encoding,
            "folds": self.folds,
            "seed": self.seed,
            "trained": self.trained,
            "trained_people": self.trained_people,
            "tested": self.tested,
            "tested_people": self.tested_people,
            "left_out": self.left_out,
            "weight": self.weight,
            "scores": [each.to_dict() for each in self.scores],
        }

    def to_arrow(self) -> Any:
        """Return a row for each model and score as an Arrow table."""
        scores = [each.to_dict() for each in self.scores]
        texts = {name: pa.array([row[name] for row in scores]) for name in ("model", "score")}
        numbers = {name: pa.array([row[name] for row in scores], pa.float64()) for name in _NUMBERS}
        return pa.table({**texts, **numbers})

    def to_pandas(self) -> Any:
        """Return the rows as a pandas frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """Return the rows as a polars frame."""
        return to_polars(self.to_arrow())


def _format_cell(cell: Any) -> str:
    if cell is None:
        return "–"
    return cell if isinstance(cell, str) else f"{cell:.4f}"


_RESAMPLES = 200
_CONFIDENCE = 0.95
Interval = tuple[float, float] | tuple[None, None]


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of a model for test rows, with the truth.

    truth, predicted: (rows,) true and predicted class codes, or numbers.
    shares: (rows, classes) the score of each class, None if the model has none.
    weights: (rows,) people whom each row stands for, None if each stands for as many.
    """

    truth: Any
    predicted: Any
    shares: Floats | None = None
    weights: Floats | None = None

    def take(self, rows: Any) -> Predictions:
        """Return the predictions of some rows."""
        shares = None if self.shares is None else self.shares[rows]
        weights = None if self.weights is None else self.weights[rows]
        return Predictions(self.truth[rows], self.predicted[rows], shares, weights)

    def mean(self, values: Any) -> float:
        """Return the mean of a value over the rows, each with its weight."""
        return float(np.average(values, weights=self.weights))

    @classmethod
    def of(
        cls, model: Any, features: Any, truth: Any, classes: int, weights: Floats | None = None
    ) -> Predictions:
        """Predict with a trained model; classes is 0 for regression."""
        predicted = model.predict(features)
        if not classes:
            return cls(truth, np.asarray(predicted, dtype=np.float64), weights=weights)
        for verb in ("predict_proba", "decision_function"):
            if hasattr(model, verb):
                scores = np.asarray(getattr(model, verb)(features), dtype=np.float64)
                break
        else:
            return cls(truth, predicted, weights=weights)
        if scores.ndim == 1:  # scores of the second of two classes
            scores = np.column_stack([-scores, scores])
        shares = np.full((len(predicted), classes), -np.inf)
        shares[:, np.asarray(model.classes_, dtype=np.int64)] = scores
        return cls(truth, predicted, shares, weights)


# The scores equal those of scikit-learn and take 1/4 to 1/70 of the time; the bootstrap computes
# them 200 times. They also skip classes that no test row has, accept scores of −∞ for classes that
# the model does not know, and let `predictive` compute an AUROC without scikit-learn.
def accuracy(predictions: Predictions) -> float | None:
    """Return the share of rows whose class is predicted correctly."""
    return predictions.mean(predictions.truth == predictions.predicted)


def auroc(predictions: Predictions) -> float | None:
    """Return the probability that a row of a class scores higher than one of another class.

    With more than two classes, the mean over each class against the rest; classes that no test row
    or every test row has are skipped. None if no class is left, or if the model has no scores.
    """
    if predictions.shares is None:
        return None
    classes = range(predictions.shares.shape[1])
    areas = [
        _area(predictions.shares[:, c], predictions.truth == c, predictions.weights)
        for c in classes[len(classes) == 2 :]
    ]
    known = [area for area in areas if area is not None]
    return float(np.mean(known)) if known else None


def _area(shares: Floats, inside: Bools, weights: Floats | None = None) -> float | None:
    """Return the Mann-Whitney statistic, ties counted half; a pair counts by both weights."""
    members = int(inside.sum())
    others = len(inside) - members
    if not members or not others:
        return None
    # rank sums: a member wins against every other of a lower score, and half against equal ones
    _, rank, ties = np.unique(shares, return_inverse=True, return_counts=True)
    if weights is not None:
        below = np.bincount(rank[~inside], weights[~inside], minlength=len(ties))
        before = np.cumsum(below) - below / 2
        won = float((before[rank[inside]] * weights[inside]).sum())
        return won / float(weights[inside].sum() * weights[~inside].sum())
    middle = np.cumsum(ties) - (ties - 1) / 2
    return float((middle[rank[inside]].sum() - members * (members + 1) / 2) / (members * others))


def r2(predictions: Predictions) -> float | None:
    """Return the share of the variance of test rows that is explained, at most 1.

    Below 0 if the predictions are worse than the mean; None if the test rows are all equal.
    """
    spread = predictions.mean((predictions.truth - predictions.mean(predictions.truth)) ** 2)
    errors = predictions.mean((predictions.truth - predictions.predicted) ** 2)
    return 1 - errors / spread if spread else None


def mae(predictions: Predictions) -> float | None:
    """Return the mean absolute error of the predictions."""
    return predictions.mean(np.abs(predictions.truth - predictions.predicted))


SCORES: dict[str, dict[str, Callable[[Predictions], float | None]]] = {
    "classification": {"accuracy": accuracy, "auroc": auroc},
    "regression": {"r2": r2, "mae": mae},
}
_RANGE = {"accuracy": (0.0, 1.0), "auroc": (0.0, 1.0), "r2": (-math.inf, 1.0)}


def over_folds(score: str, values: Sequence[float]) -> Interval:
    """Return a 95 % t-interval of a mean over folds.

    The training rows of the folds overlap, so their values vary less than those of new tables: the
    variance is corrected by the ratio of test to training rows.
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


def over_rows(
    score: str, predictions: Predictions, seed: int, groups: Codes | None = None
) -> Interval:
    """Return a 95 % interval over the test rows: exact for an accuracy, otherwise the bootstrap.

    An accuracy of rows with sampling weights is bootstrapped too.

    groups: (rows,) the person of each row, if people have several: people are then resampled, each
        with all rows, because rows of one person vary less than rows of different people.
    """
    rows = len(predictions.truth)
    if score == "accuracy" and groups is None and predictions.weights is None:
        correct = int((predictions.truth == predictions.predicted).sum())
        return confidence_interval(correct, rows)
    compute = SCORES["regression" if predictions.truth.dtype.kind == "f" else "classification"][
        score
    ]
    generator = np.random.default_rng(seed)
    resample = _row_sampler(rows) if groups is None else _people_sampler(groups)
    drawn = (compute(predictions.take(resample(generator))) for _ in range(_RESAMPLES))
    values = [value for value in drawn if value is not None]
    if len(values) < _RESAMPLES / 2:
        return None, None
    low, high = np.quantile(values, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def _row_sampler(rows: int) -> Callable[[np.random.Generator], Counts]:
    """Return a function that samples `rows` rows with replacement."""
    return lambda generator: generator.integers(0, rows, rows)


def _people_sampler(groups: Codes) -> Callable[[np.random.Generator], Counts]:
    """Return a function that samples as many people as there are, with replacement and all rows."""
    owner = np.unique(groups, return_inverse=True)[1]
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner))
    rows_of = np.split(order, ends[:-1])

    def draw(generator: np.random.Generator) -> Counts:
        people = generator.integers(0, len(rows_of), len(rows_of))
        return np.concatenate([rows_of[person] for person in people.tolist()])

    return draw
