"""A metric and its description, used by the command line, reports, comparisons and the docs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from shoal.core.release import Release, Scope
from shoal.support.arrays import Floats

Reason = Callable[[Release], str | None]
_TOO_MANY = "there are too many distinct tuples for the memory"
COARSER = f"values were read at a coarser level: {_TOO_MANY}"
APART = f"needs all values of a record together: {_TOO_MANY}"
UNMATCHED = f"needs the original value of each cell: {_TOO_MANY}"


@dataclass(frozen=True)
class Metric:
    """An information-loss metric; `METRICS` has all by name.

    Attributes:
        name: Name on the command line and in `evaluate`.
        function: Loss of a release, from 0 (the original table) to 1 (the fully suppressed table).
        title: Name in words.
        meaning: What it counts, in a phrase.
        formula: How it is computed, in a sentence.
        use: When to use it.
        source: The paper.
        published: The value on the scale of its paper; None if that is the same.
        raw_range: The scale of the paper.
        raw_best: Which end of that scale is good.
        requires: What it needs from a release beyond its cells, in words.
        lacking: Returns why a release lacks it. Such a metric is omitted unless it is named.
        takes_target: Whether it takes a target column.
        by_attribute: The loss of each attribute.
        by_record: (rows,) the loss of each record.
        by_cell: Whether it depends on published cells alone, not on the values behind them.
        scope: What of the original it needs: each column, the values of each column beside their
            cells, the values inside each class, or all values of a record together.

    >>> import shoal
    >>> shoal.metrics.METRICS["ncp"].formula
    'mean over cells: width of a range / extent, or (values − 1) / domain'
    """

    name: str
    function: Callable[..., float]
    title: str
    meaning: str
    formula: str
    use: str
    source: str
    published: Callable[..., float] | None = None
    raw_range: str = "0 to 1"
    raw_best: Literal["low", "high"] = "low"
    requires: str = ""
    lacking: Reason | None = None
    takes_target: bool = False
    by_attribute: Callable[[Release], dict[str, float]] | None = None
    by_record: Callable[[Release], Floats] | None = None
    by_cell: bool = False
    scope: Scope = "tuple"

    def __call__(self, release: Release) -> float:
        """Return the loss, from 0 (best) to 1."""
        return self.function(release)

    def scaled(self, release: Release, target: str | None = None) -> float:
        """Return the loss, from 0 (best) to 1."""
        return self.function(release, **self._options(target))

    def raw(self, release: Release, target: str | None = None) -> float:
        """Return the value on the scale of its paper."""
        return (self.published or self.function)(release, **self._options(target))

    def undefined(self, release: Release, target: str | None = None) -> str | None:
        """Return why the metric is undefined for the release, None if it is defined."""
        if not self.by_cell and any(c.floor for c in release.original.quasi_columns):
            return COARSER
        if not release.knows(self.scope):
            return APART if release.knows("column") else UNMATCHED
        if self.lacking is None or (self.takes_target and target is not None):
            return None
        return self.lacking(release)

    def _options(self, target: str | None) -> dict[str, Any]:
        return {"target": target} if self.takes_target else {}
