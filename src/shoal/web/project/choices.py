"""Alternatives to a release: the Pareto front of a comparison, and three named choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.comparison.results import pareto

DETAIL, BALANCED, PROTECTED = "Most detail", "Balanced", "Most protected"
WHY = {
    DETAIL: "It keeps your guarantee and loses the least detail.",
    BALANCED: "More protection where it costs little detail.",
    PROTECTED: "The lowest risk of all that were tried.",
}


@dataclass(frozen=True)
class Candidate:
    """One alternative release.

    Parameters:
        method: The name of its method.
        options: The options of the method that differ from their defaults.
        model: Its guarantee.
        k: The k of its guarantee, None if it has none.
        risk: The highest risk of a person, from 0 to 1.
        loss: The share of information lost, from 0 to 1.
        suppressed: Share of the records that are left out.
        front: Whether no other candidate has both less risk and less loss.
        names: The named choices that it is.
    """

    method: str
    options: Mapping[str, Any]
    model: str
    k: int | None
    risk: float
    loss: float
    suppressed: float
    front: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choices:
    """The alternatives that were tried.

    Parameters:
        candidates: The releases, by increasing risk and then loss.
        failed: Why runs made no release: the method and the reason.
        loss: The name of the metric.
    """

    candidates: tuple[Candidate, ...]
    failed: tuple[tuple[str, str], ...] = ()
    loss: str = ""

    @property
    def named(self) -> dict[str, Candidate]:
        """The named choices, without those that are the same as an earlier one."""
        found: dict[str, Candidate] = {}
        for name in (DETAIL, BALANCED, PROTECTED):
            one = next((c for c in self.candidates if name in c.names), None)
            if one is not None and all(one is not other for other in found.values()):
                found[name] = one
        return found

    @property
    def recommended(self) -> Candidate | None:
        """The candidate with the most detail: all candidates keep the guarantee that was asked."""
        return next((c for c in self.candidates if DETAIL in c.names), None)


def choices_of(rows: Sequence[Mapping[str, Any]], loss: str) -> Choices:
    """Return the alternatives of a comparison.

    Parameters:
        rows: The rows of `shoal.compare`, each a run.
        loss: The name of the metric that ranks them.

    Returns:
        The candidates, with the Pareto front and the named choices marked.
    """
    done = [
        row
        for row in rows
        if row["status"] == "done"
        and row.get(loss) is not None
        and row.get("highest risk") is not None
    ]
    done = sorted(_distinct(done, loss), key=lambda row: (row["highest risk"], row[loss]))
    points = [(float(row["highest risk"]), float(row[loss])) for row in done]
    front = pareto(points)
    named = _named(points, front)
    candidates = tuple(
        Candidate(
            str(row["method"]),
            dict(row["options"]),
            str(row["model"]),
            row["k"],
            *point,
            suppressed=row["suppressed"] / max(row["records"], 1),
            front=stays,
            names=tuple(name for name, at in named.items() if at == place),
        )
        for place, (row, point, stays) in enumerate(zip(done, points, front, strict=True))
    )
    failed = tuple(
        (f"{row['method']}, k = {row['k']}", str(row["reason"] or row["status"]))
        for row in rows
        if row["status"] != "done"
    )
    return Choices(candidates, failed, loss)


def _distinct(rows: Sequence[Mapping[str, Any]], loss: str) -> list[Mapping[str, Any]]:
    """Drop releases of equal risk and loss by the same method, such as those of a larger k."""
    kept: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for row in rows:
        # a method often returns one release for several k; the largest k describes it best
        key = (row["method"], str(row["options"]), row["highest risk"], row[loss])
        if key not in kept or (row["k"] or 0) > (kept[key]["k"] or 0):
            kept[key] = row
    return list(kept.values())


def _named(points: Sequence[tuple[float, float]], front: Sequence[bool]) -> dict[str, int]:
    """Return the position of each named choice among the points."""
    places = [place for place, stays in enumerate(front) if stays]
    if not places:
        return {}
    detail = min(places, key=lambda place: (points[place][1], points[place][0]))
    protected = min(places, key=lambda place: points[place])
    return {DETAIL: detail, BALANCED: _knee(points, places), PROTECTED: protected}


def _knee(points: Sequence[tuple[float, float]], places: Sequence[int]) -> int:
    """Return the point of the front nearest to the corner of least risk and least loss.

    Both are scaled to the range of the front. Of equal distances, the one with less loss.
    """
    risks, losses = ([points[place][axis] for place in places] for axis in (0, 1))

    def scaled(value: float, values: Sequence[float]) -> float:
        width = max(values) - min(values)
        return (value - min(values)) / width if width else 0.0

    def distance(place: int) -> tuple[float, float]:
        risk, loss = scaled(points[place][0], risks), scaled(points[place][1], losses)
        return round(risk * risk + loss * loss, 12), points[place][1]

    return min(places, key=distance)
