"""A metric and its description, used by the command line, reports, comparisons and the docs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from shoal.core.release import Release
from shoal.support.arrays import Floats

Reason = Callable[[Release], str | None]


@dataclass(frozen=True)
class Metric:
    """An information-loss metric.

    function: loss of a release, from 0 (the original table) to 1 (the fully suppressed table).
    published: the value on the scale of its paper; None if that is the same.
    title: name in words; meaning: what it counts, in a phrase.
    formula: how it is computed, in a sentence; use: when to use it.
    raw_range, raw_best: the scale of the paper, and which end of it is good.
    source: the paper.
    requires: what it needs from a release beyond its cells, in words; lacking: a function that
        returns why a release lacks it. Such a metric is omitted unless it is named.
    takes_target: whether it takes a target column.
    by_attribute, by_record: the loss of each attribute, and (rows,) of each record.
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
        if self.lacking is None or (self.takes_target and target is not None):
            return None
        return self.lacking(release)

    def _options(self, target: str | None) -> dict[str, Any]:
        return {"target": target} if self.takes_target else {}
