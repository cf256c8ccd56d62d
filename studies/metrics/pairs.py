"""Of two releases, does the better score belong to the more useful one? Rates over all pairs.

A pair whose utilities are equal has no better one and does not count; equal scores guess, and are
right half of the time. So utility itself is always right, a random or constant score half of the
time. de Spoelberch (2020), 4.1.3, draws 1000 pairs and does not say what ties count; with
`ties_agree` they count as right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.support.arrays import Floats

_RESAMPLES = 200
_SAME = 12  # decimals to which equal figures agree


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of releases of one table by one algorithm.

    right: (releases, releases) 1 where the score names the more useful one, ½ where it is equal.
    counted: (releases, releases) whether the pair counts.
    """

    right: Floats
    counted: Floats

    @classmethod
    def of(cls, score: Any, utility: Any, *, ties_agree: bool = False) -> Pairs:
        """Compare all releases with each other; more is better in both.

        ties_agree: every pair counts, and is right where neither contradicts the other.
        """
        said, true = (_signs(values) for values in (score, utility))
        if ties_agree:
            return cls(_but_itself(said * true >= 0), _but_itself(np.ones_like(said)))
        counted = (true != 0).astype(np.float64)
        return cls(counted * (1 + said * true) / 2, counted)

    @classmethod
    def apart(cls, parts: Sequence[Pairs]) -> Pairs:
        """Put several side by side; releases of different parts are not compared."""
        ends = np.cumsum([0, *(len(part.right) for part in parts)])
        right, counted = np.zeros((2, int(ends[-1]), int(ends[-1])))
        for part, begin, end in zip(parts, ends[:-1], ends[1:], strict=True):
            right[begin:end, begin:end] = part.right
            counted[begin:end, begin:end] = part.counted
        return cls(right, counted)

    @property
    def rate(self) -> float | None:
        """Share of pairs that the score is right on, None where no pair counts."""
        counted = float(self.counted.sum())
        return float(self.right.sum()) / counted if counted else None

    def resampled(self, generator: np.random.Generator) -> Floats:
        """(resamples,) the rate over resampled releases, nan where no pair counts."""
        releases = len(self.right)
        drawn = generator.multinomial(releases, np.full(releases, 1 / releases), _RESAMPLES)
        drawn = drawn.astype(np.float64)
        right, counted = (((drawn @ m) * drawn).sum(axis=1) for m in (self.right, self.counted))
        rates: Floats = np.divide(
            right, counted, out=np.full(_RESAMPLES, np.nan), where=counted > 0
        )
        return rates


def mean_rate(cells: Sequence[Pairs], seed: int = 0) -> dict[str, Any]:
    """Return the mean rate over cells, with a 95 % interval over resampled releases.

    They are drawn alike in all cells: those of one algorithm share their releases, and for others
    this errs on the wide side.
    """
    known = [pairs for pairs in cells if pairs.rate is not None]
    if not known:
        return {"rate": None, "low": None, "high": None, "releases": 0}
    drawn = np.array([pairs.resampled(np.random.default_rng(seed)) for pairs in known])
    there = ~np.isnan(drawn)
    means = np.where(there, drawn, 0).sum(axis=0)[there.any(axis=0)]
    means /= there.sum(axis=0)[there.any(axis=0)]
    low, high = np.quantile(means, [0.025, 0.975])
    rate = float(np.mean([pairs.rate for pairs in known]))
    releases = min(len(pairs.right) for pairs in known)
    return {"rate": rate, "low": float(low), "high": float(high), "releases": releases}


def _signs(values: Any) -> Floats:
    rounded = np.round(np.asarray(values, dtype=np.float64), _SAME)
    signs: Floats = np.sign(rounded[:, None] - rounded[None, :])
    return signs


def _but_itself(pairs: Any) -> Floats:
    found = np.asarray(pairs, dtype=np.float64)
    np.fill_diagonal(found, 0.0)
    return found
