"""Results: the scores of each model with those of the raw table and of the majority baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from shoal.core.publishing.frames import to_pandas, to_polars
from shoal.errors import unknown
from shoal.support.wording import rows_about

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
