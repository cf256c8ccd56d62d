"""A metric with all that is told of it: command line, report, comparison and pages read it here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from shoal.core.arrays import Floats
from shoal.core.release import Release

Reason = Callable[[Release], str | None]


@dataclass(frozen=True)
class Metric:
    """One way to count what a release cost.

    function: the loss of a release, 0 for the untouched table to 1 for the fully suppressed one.
    published: the value on the scale of its paper; None where that is the same.
    title: its name in words; meaning: what it counts, in a phrase.
    formula: how it is counted, in a sentence; use: when to ask for it.
    raw_range, raw_best: the published scale, and which end of it is good.
    source: the paper.
    requires: what it asks of a release beyond its cells, in words; lacking: why that is not there,
        for which it is left out unless asked for by name.
    takes_target: whether a column can be named as its target.
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
        """Return why the release has no such value, None if it has."""
        if self.lacking is None or (self.takes_target and target is not None):
            return None
        return self.lacking(release)

    def _options(self, target: str | None) -> dict[str, Any]:
        return {"target": target} if self.takes_target else {}
