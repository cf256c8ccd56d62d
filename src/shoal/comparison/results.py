"""The results of a comparison: one tidy row for each run."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.comparison.bench import COST, LABELS, RISKS, RUN, SHAPE
from shoal.comparison.grid import Trial
from shoal.comparison.runner import Outcome
from shoal.core.publishing.frames import to_pandas, to_polars
from shoal.core.publishing.writing import write_table
from shoal.errors import InputError
from shoal.metrics import METRICS
from shoal.metrics.hierarchy_ncp import HIERARCHY_NCP
from shoal.support.notebook import html_table

Row = dict[str, Any]
_TEXT = ("method", "options", "model", "status", "reason", *LABELS)
_WHOLE = ("k", "seed", *SHAPE)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Result of `shoal.compare`: one row for each run.

    Attributes:
        rows: A dict for each run, all with the same keys: the run, its cost, the shape and the
            risk of the release, metrics (0 is best), further measures. None if there is no figure.
        metrics: The names of the metrics.
        measures: The names of the further measures.
    """

    rows: tuple[Row, ...]
    metrics: tuple[str, ...]
    measures: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Sequence[tuple[Trial, Outcome]], measures: Iterable[str] = ()) -> Comparison:
        """Return the comparison of these outcomes."""
        results = [_result(trial, outcome) for trial, outcome in found]
        known = {name for result in results for name in result.get("metrics", {})}
        metrics = tuple(name for name in METRICS if name in known)
        further = tuple(measures)
        rows = tuple(
            {
                **{name: result.get(name) for name in (*RUN, *COST, *SHAPE, *RISKS, *LABELS)},
                **{name: result.get("metrics", {}).get(name) for name in metrics},
                **{name: result.get("measures", {}).get(name) for name in further},
            }
            for result in results
        )
        return cls(rows, metrics, further)

    def __repr__(self) -> str:
        counts = Counter(row["status"] for row in self.rows)
        return f"Comparison({', '.join(f'{status}={count}' for status, count in counts.items())})"

    def _repr_html_(self) -> str:
        loss = self.ranking_loss
        shown = ["method", "model", "status", "highest risk"]
        ranked = list(self.rows)
        if loss:
            shown.append(loss)
            ranked.sort(key=lambda row: math.inf if row[loss] is None else row[loss])
        return html_table(
            repr(self),
            shown,
            [[row[name] for name in shown] for row in ranked],
            f"Ranked by {loss}, the least first." if loss else "",
        )

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export the rows to any library that reads the Arrow C stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def done(self) -> tuple[Row, ...]:
        """The rows of runs that produced a release."""
        return tuple(row for row in self.rows if row["status"] == "done")

    @property
    def ranking_loss(self) -> str | None:
        """The loss that ranks releases, None without any metric.

        `hierarchy-ncp`, which is the same function of the published cells whether or not a method
        uses hierarchies, or the first metric if it was not measured.
        """
        if HIERARCHY_NCP.name in self.metrics:
            return HIERARCHY_NCP.name
        return self.metrics[0] if self.metrics else None

    def front(self, loss: str | None = None, risk: str = "highest risk") -> list[Row]:
        """Return the Pareto front: the rows that no other row beats in both loss and risk.

        Parameters:
            loss: The column of the loss; by default `ranking_loss`.
            risk: The column of the risk.

        Returns:
            The rows, by increasing risk.
        """
        lost = self._loss(loss)
        rows = [row for row in self.done if None not in (self._of(row, lost), self._of(row, risk))]
        kept = pareto([(row[risk], row[lost]) for row in rows])
        best = [row for row, stays in zip(rows, kept, strict=True) if stays]
        return sorted(best, key=lambda row: (row[risk], row[lost]))

    def best(
        self,
        by: str | None = None,
        *,
        highest: bool = False,
        at_most: Mapping[str, float] | None = None,
    ) -> Row:
        """Return the row with the smallest value of a column, the first of equal ones.

        Parameters:
            by: The column; by default `ranking_loss`.
            highest: Return the row with the largest value instead.
            at_most: Upper limits of other columns: `{"highest risk": 0.2}`.

        Returns:
            The row.

        Raises:
            InputError: No run produced a release within the limits.
        """
        column, limits = self._loss(by), dict(at_most or {})
        rows = [row for row in self.done if self._of(row, column) is not None]
        for name, limit in limits.items():
            rows = [row for row in rows if self._of(row, name) is not None and row[name] <= limit]
        if not rows:
            raise InputError(
                f"no run produced a release with {column}"
                + (f" within the limits of {' and '.join(limits)}" if limits else "")
            )
        return (max if highest else min)(rows, key=lambda row: row[column])

    def _loss(self, stated: str | None) -> str:
        if stated is None and self.ranking_loss is None:
            raise InputError(f"there is no metric to choose by: {self!r}")
        return str(self.ranking_loss) if stated is None else stated

    @property
    def _columns(self) -> tuple[str, ...]:
        return (*RUN, *COST, *SHAPE, *RISKS, *LABELS, *self.metrics, *self.measures)

    def _of(self, row: Row, name: str) -> Any:
        if name not in self._columns:
            raise InputError(f"no column {name!r}; there are {', '.join(self._columns)}")
        return row[name]

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table; options are JSON text."""
        columns = {}
        for name in self._columns:
            cells = [row[name] for row in self.rows]
            if name == "options":
                cells = [json.dumps(cell, ensure_ascii=False) for cell in cells]
            kind = pa.string() if name in _TEXT else pa.int64() if name in _WHOLE else pa.float64()
            columns[name] = pa.array(cells, kind)
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """Return the rows as a polars data frame."""
        return to_polars(self.to_arrow())

    def write(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rows as CSV or Parquet, as the ending of the path states."""
        write_table(self.to_arrow(), Path(path), force=force)

    def picture(
        self,
        path: str | Path,
        *,
        loss: str | None = None,
        risk: str = "highest risk",
        force: bool = False,
    ) -> None:
        """Draw loss against risk, one point per release, as .html (interactive), .png or .svg."""
        from shoal.report.comparison_picture import draw_comparison

        draw_comparison(self.done, self._fronts(loss, risk), Path(path), risk=risk, force=force)

    def chart(self, *, loss: str | None = None, risk: str = "highest risk") -> Any:
        """Return an Altair chart of loss against risk, one point a release.

        Parameters:
            loss: The column to show first; by default `ranking_loss`.
            risk: The column for the other axis.
        """
        from shoal.report.comparison_picture import comparison_chart

        return comparison_chart(self.done, self._fronts(loss, risk), risk=risk)

    def _fronts(self, loss: str | None, risk: str) -> dict[str, list[bool]]:
        """Return, for each loss, which of the finished runs are on its front."""
        further = [name for name in self.measures if name.endswith(" loss")]
        losses = dict.fromkeys((self._loss(loss), *self.metrics, *further))
        fronts = {name: {id(row) for row in self.front(name, risk)} for name in losses}
        return {name: [id(row) in kept for row in self.done] for name, kept in fronts.items()}


def _result(trial: Trial, outcome: Outcome) -> Mapping[str, Any]:
    if outcome.result is not None:
        return outcome.result
    return {**trial.to_dict(), "status": "failed", "reason": outcome.reason}


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return, for each point, whether no other point dominates it; equal points all stay.

    A point dominates another if it is smaller in one coordinate and not larger in the other.

    >>> pareto([(1, 3), (2, 2), (2, 3), (2, 2), (3, 1)])
    [True, True, False, True, True]
    """
    kept = [False] * len(points)
    last = (float("-inf"), float("inf"))
    for i in sorted(range(len(points)), key=lambda i: points[i]):
        if points[i][1] < last[1] or points[i] == last:
            last, kept[i] = points[i], True
    return kept
