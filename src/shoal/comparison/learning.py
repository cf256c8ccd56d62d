"""Predictive utility as figures of a comparison, measured with two quick models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shoal.errors import InputError
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.recoding import Recoding
from shoal.table.table import Table
from shoal.utility import CLASSIFIERS, REGRESSORS, Utility, evaluate
from shoal.utility.targets import Target

LOSS = "utility loss"
_LEFT_OUT = ("random-forest", "k-nearest-neighbours")  # slow, and similar to the others
_FOLDS = 3


@dataclass(frozen=True)
class Learned:
    """A score of models trained on a release, averaged over the models.

    figure: one of the scores, or the loss: the lost share of the improvement over the majority
        baseline that models of raw rows achieve, 0 to 1, by auroc or r2.
    raw: the score of models of raw rows; only the loss needs it.
    """

    target: str
    task: str
    figure: str
    raw: float | None = None

    def __call__(self, release: Release) -> float:
        """Return the figure; models are trained once for all figures of a release."""
        cache: dict[str, Utility] = release.__dict__.setdefault("_learned", {})
        if self.target not in cache:
            cache[self.target] = _quick(release, self.target, self.task)
        utility = cache[self.target]
        if self.figure != LOSS:
            return _mean(utility, self.figure)
        assert self.raw is not None
        by = _graded(self.task)
        least = next(each.majority for each in utility if each.score == by) or 0.0
        if self.raw <= least:
            raise InputError(
                f"target {self.target!r}: models of raw rows are no better than the baseline"
            )
        share = (self.raw - _mean(utility, by)) / (self.raw - least)
        return min(max(share, 0.0), 1.0)


def learned(table: Table, target: str) -> dict[str, Callable[[Release], float]]:
    """Return the figures of a target by name, the loss first; trains the models of raw rows."""
    same = {column.name: Recoding.identity(column) for column in table.quasi_columns}
    plain = Release(table, same, KAnonymity(2))
    if table[target].role == "quasi":
        raise InputError(
            f"utility: column {target!r} is a quasi-identifier; name one that is released unchanged"
        )
    task = Target.of(plain, target, None).task
    raw = _quick(plain, target, task)
    figures: dict[str, Callable[[Release], float]] = {
        LOSS: Learned(target, task, LOSS, _mean(raw, _graded(task)))
    }
    for score in dict.fromkeys(each.score for each in raw):
        figures[f"utility {score}"] = Learned(target, task, score)
    return figures


def _quick(release: Release, target: str, task: str) -> Utility:
    known = REGRESSORS if task == "regression" else CLASSIFIERS
    models = [name for name in known if name not in _LEFT_OUT]
    return evaluate(release, target, models=models, encoding="weights", folds=_FOLDS, raw=False)


def _mean(utility: Utility, score: str) -> float:
    values = [each.value for each in utility if each.score == score and each.value is not None]
    if not values:
        raise InputError(f"target {utility.target!r}: {score} is not defined")
    return sum(values) / len(values)


def _graded(task: str) -> str:
    return "r2" if task == "regression" else "auroc"
