"""The results of a comparison: one tidy row for each run, and their picture.

    Comparison        rows as a table, frame or JSON; the best runs and the front
    pareto            the points that no other point dominates
    draw_comparison   the loss of each release against its risk; the page (.html) shows the figures
                      of a release in a tooltip and lets the reader choose the loss

The picture masks the number of suppressed records, because it may be published.
"""

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
from shoal.errors import InputError
from shoal.files.writing import write_table
from shoal.metrics import METRICS
from shoal.metrics.cell_width import HIERARCHY_NCP
from shoal.report.charts import INK, PAPER, SOFT, check_picture, save_chart, styled
from shoal.report.masking import LEAST, Mask, rounded
from shoal.support.wording import html_table
from shoal.table.frames import to_pandas, to_polars

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
    def of(cls, runs: Sequence[tuple[Trial, Outcome]], measures: Iterable[str] = ()) -> Comparison:
        """Return the comparison of these outcomes."""
        # runs that end without a release, or in a crash, have no figures: None in every column
        results = [_result(trial, outcome) for trial, outcome in runs]
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
        draw_comparison(self.done, self._fronts(loss, risk), Path(path), risk=risk, force=force)

    def chart(self, *, loss: str | None = None, risk: str = "highest risk") -> Any:
        """Return an Altair chart of loss against risk, one point a release.

        Parameters:
            loss: The column to show first; by default `ranking_loss`.
            risk: The column for the other axis.
        """
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
    # from the left: a point stays if it lies below all points so far, of which `last` is the lowest
    undominated = [False] * len(points)
    last = (float("-inf"), float("inf"))
    for i in sorted(range(len(points)), key=lambda i: points[i]):
        if points[i][1] < last[1] or points[i] == last:
            last, undominated[i] = points[i], True
    return undominated


WIDTH, HEIGHT = 680, 440
MAX_LABELS = 14  # labelled points on the front
COLOURS = (
    "#0b6e8a", "#d9822b", "#7a4fa3", "#2f9e62", "#c23b5a", "#8a6d3b", "#3c6fd1",
    "#b0479c", "#5f7d2e", "#13a3a3", "#995544", "#596a7b", "#d1a000", "#404a8f",
)  # fmt: skip
_LOG_RATIO = 5.0  # the risk axis is logarithmic if the risks differ by at least this factor
_TICKS = [1 / n for n in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 10**6)]


def draw_comparison(
    rows: Sequence[Mapping[str, Any]],
    fronts: Mapping[str, Sequence[bool]],
    path: Path,
    *,
    risk: str = "highest risk",
    force: bool = False,
) -> None:
    """Draw one point for each release.

    rows: releases as a comparison lists them.
    fronts: for each column that can be the loss, which rows are on its Pareto front; the first is
        shown, and the page offers the others.
    """
    check_picture(path, force=force)
    pages = path.suffix.lower() == ".html"
    save_chart(comparison_chart(rows, fronts, risk=risk, interactive=pages), path, force=force)


def comparison_chart(
    rows: Sequence[Mapping[str, Any]],
    fronts: Mapping[str, Sequence[bool]],
    *,
    risk: str = "highest risk",
    interactive: bool = True,
) -> Any:
    """Return the Altair chart that `draw_comparison` saves."""
    points = [
        _point(row, name, risk, stays)
        for name, kept in fronts.items()
        for row, stays in zip(rows, kept, strict=True)
        if row[name] is not None and row[risk] is not None
    ]
    losses = list(dict.fromkeys(point["of"] for point in points))
    if next(iter(fronts)) not in losses:
        raise InputError("no release to draw: none has both the requested loss and the risk")
    _name_front(points)
    return _chart(points, losses, risk, interactive=interactive)


def _point(row: Mapping[str, Any], loss: str, risk: str, stays: bool) -> dict[str, Any]:
    options = ", ".join(f"{n} = {_as_text(v)}" for n, v in row["options"].items())
    return {
        "of": loss,
        "loss": rounded(row[loss]),
        "risk": row[risk],
        "front": stays,
        "method": f"{row['method']}, {options}" if options else row["method"],
        "hierarchies": row["hierarchies"],
        "k": row["k"],
        "label": "",
        "model": row["model"],
        "seconds": row["search seconds"],
        "suppressed": _suppressed(row),
    }


def _suppressed(row: Mapping[str, Any]) -> str:
    """Return the number of suppressed records, masked because a picture may be published."""
    if row["people"] != row["records"]:  # many rows may belong to few people
        return "some" if row["suppressed"] else "0"
    count = Mask(max(row["k"] or 1, LEAST)).count(row["suppressed"], row["records"])
    return count if isinstance(count, str) else f"{count:,}"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _name_front(points: list[dict[str, Any]]) -> None:
    """Label the points on a front if there are few; coinciding points share one label."""
    together: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for point in points:
        if point["front"]:
            position = (point["of"], point["loss"], point["risk"])
            together.setdefault(position, []).append(point)
    named = Counter(position[0] for position in together)
    for (loss, *_), alike in together.items():
        if named[loss] <= MAX_LABELS:
            methods = list(dict.fromkeys(point["method"].split(",")[0] for point in alike))
            sizes = sorted({point["k"] for point in alike if point["k"] is not None})
            listed = ", ".join(map(str, sizes))
            alike[0]["label"] = ", ".join(methods) + (f"  k = {listed}" if sizes else "")


def _chart(points: list[dict[str, Any]], losses: list[str], risk: str, *, interactive: bool) -> Any:
    import altair as alt

    shown = alt.param(
        name="shown",
        value=losses[0],
        bind=alt.binding_select(options=losses, name="loss: ")
        if len(losses) > 1
        else alt.Undefined,
    )
    clicked = alt.selection_point(name="clicked", fields=["method"], bind="legend")
    # points of all losses are in the page; the chosen one filters them
    base = alt.Chart(alt.Data(values=points)).transform_filter("datum.of == shown")
    base = base.encode(x=_risk_axis(points, risk), y=_loss_axis())
    line = base.transform_filter("datum.front").mark_line(
        interpolate="step-after", color=SOFT, strokeWidth=1.5, strokeDash=[5, 4]
    )
    heading = (
        alt.Chart(alt.Data(values=[{}]))
        .mark_text(align="left", baseline="bottom", color=INK, fontSize=13, clip=False)
        .encode(
            x=alt.value(-34), y=alt.value(-10), text=alt.value(alt.expr("'loss (' + shown + ')'"))
        )
    )
    many = sum(point["of"] == losses[0] for point in points)
    title = alt.TitleParams(
        f"{many:,} releases" if many > 1 else "one release", subtitle=_subtitle(risk), offset=34
    )
    marks = _marks(base, points, clicked).add_params(shown, clicked)
    if interactive:
        marks = marks.add_params(alt.selection_interval(name="view", bind="scales"))
    layers = [line.encode(order="risk:Q"), *_names(base), marks, heading]
    return styled(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title))


def _risk_axis(points: list[dict[str, Any]], risk: str) -> Any:
    import altair as alt

    risks = [point["risk"] for point in points]
    if min(risks) <= 0 or max(risks) < _LOG_RATIO * min(risks):
        return alt.X("risk:Q", title=risk).scale(zero=False, nice=False, padding=50)
    ticks = [tick for tick in _TICKS if min(risks) / 2 < tick < max(risks) * 2]
    labels = "'1 in ' + format(1 / datum.value, ',.0f')"
    axis = alt.Axis(values=ticks, labelExpr=labels, labelOverlap=True)
    scale = alt.Scale(type="log", nice=False, padding=50)
    return alt.X("risk:Q", title=risk, scale=scale, axis=axis)


def _loss_axis() -> Any:
    import altair as alt

    axis = alt.Axis(title=None, tickCount=6, labelExpr="datum.value < 0 ? '' : datum.label")
    return alt.Y("loss:Q", axis=axis).scale(zero=True, nice=False, padding=30)


def _marks(base: Any, points: list[dict[str, Any]], clicked: Any) -> Any:
    """Draw the releases: a colour and a shape for each method, a dark rim on the front."""
    import altair as alt

    methods = list(dict.fromkeys(point["method"] for point in points))
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(methods))]
    shapes = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
    forms = [shapes[i % len(shapes)] for i in range(len(methods))]
    rim, key = "datum.front", alt.Legend(labelLimit=300, symbolSize=90)
    return base.mark_point(filled=True, size=100).encode(
        fill=alt.Fill("method:N", scale=alt.Scale(domain=methods, range=colours), legend=key),
        shape=alt.Shape("method:N", scale=alt.Scale(domain=methods, range=forms), legend=key),
        stroke=alt.condition(rim, alt.value(INK), alt.value(PAPER)),
        strokeWidth=alt.condition(rim, alt.value(2), alt.value(0.6)),
        opacity=alt.condition(clicked, alt.value(0.88), alt.value(0.1)),
        order=alt.Order("front:N"),
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("model:N"),
            alt.Tooltip("hierarchies:N"),
            alt.Tooltip("loss:Q", format=".3f"),
            alt.Tooltip("risk:Q", format=".4f"),
            alt.Tooltip("suppressed:N", title="records suppressed"),
            alt.Tooltip("seconds:Q", format=".2f"),
        ],
    )


def _names(base: Any) -> list[Any]:
    """Label the releases on the front, below their points."""
    named = base.transform_filter("datum.label").encode(text="label:N")
    form: dict[str, Any] = {"dy": 17, "fontSize": 11}
    halo = named.mark_text(stroke=PAPER, strokeWidth=5, **form)
    return [halo, named.mark_text(color=INK, **form)]


def _subtitle(risk: str) -> list[str]:
    meanings = {
        "highest risk": "Risk: the highest chance of picking a person's own record.",
        "average risk": "Risk: the chance of picking a person's own record, on average.",
        "expected risk": "Risk: the expected share of people found by matching all at once.",
    }
    return [
        "Lower left is better. No release beats one on the front (dark rim) in both.",
        meanings.get(risk, f"Risk: {risk}."),
    ]
