"""What was found: each model's scores beside those of the raw table and of the majority."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from shoal.core.frames import to_pandas, to_polars
from shoal.core.wording import rows_about
from shoal.errors import unknown

_NUMBERS = ("value", "low", "high", "raw", "majority", "kept")


@dataclass(frozen=True)
class Score:
    """How well a model does that was trained on a release.

    value: its score on raw rows; low, high: a 95 % interval of it.
    raw: the score of the same model trained on raw rows, None where that was not asked for.
    majority: the score of who always says the commonest class, or the mean.
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
        """The share that is left of what raw rows teach beyond the majority.

        Below 0 where the release misleads; None where raw rows teach nothing.
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
    def telling(self) -> bool:
        """Whether raw rows teach more than chance may, so that a share of it says something.

        They beat the majority by more than half the width of the interval, where there is one.
        """
        if self.kept is None or self.raw is None or self.majority is None:
            return False
        chance = 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2
        return abs(self.raw - self.majority) > chance

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**asdict(self), "kept": self.kept, "telling": self.telling}


@dataclass(frozen=True, repr=False)
class Utility:
    """What can be learned from a release.

    task: classification or regression.
    folds: of the cross-validation, None where a test table was given.
    trained: released rows with a label; trained_people: how many people they are about.
    tested: raw rows that were predicted; tested_people: how many people they are about.
    left_out: rows of the test table that are about people of the original table.
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

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, names: tuple[str, str]) -> Score:
        """Return the score by its model and name: `found["ridge", "r2"]`."""
        for each in self.scores:
            if (each.model, each.score) == tuple(names):
                return each
        known = [f"{each.model}, {each.score}" for each in self.scores]
        raise unknown("no score", ", ".join(names), known)

    def __repr__(self) -> str:
        how = "a test table" if self.folds is None else f"{self.folds} folds"
        head = (
            f"Utility({self.target!r}, {self.task}, {self.encoding}, "
            f"trained on {rows_about(self.trained, self.trained_people, 'released')}, "
            f"tested on {rows_about(self.tested, self.tested_people, 'raw')}, {how})"
        )
        names = ("model", "score", *_NUMBERS)
        rows = [names, *([_told(each.to_dict()[name]) for name in names] for each in self.scores)]
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
        """Return it as plain values."""
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
            "scores": [each.to_dict() for each in self.scores],
        }

    def to_arrow(self) -> Any:
        """Return a row for each model and score as an Arrow table."""
        told = [each.to_dict() for each in self.scores]
        texts = {name: pa.array([row[name] for row in told]) for name in ("model", "score")}
        numbers = {name: pa.array([row[name] for row in told], pa.float64()) for name in _NUMBERS}
        return pa.table({**texts, **numbers})

    def to_pandas(self) -> Any:
        """Return the rows as a pandas frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """Return the rows as a polars frame."""
        return to_polars(self.to_arrow())


def _told(cell: Any) -> str:
    if cell is None:
        return "–"
    return cell if isinstance(cell, str) else f"{cell:.4f}"
