"""δ-presence: nobody learns from a release whether a person of the population is in it.

Nergiz, Atzori & Clifton, "Hiding the presence of individuals from shared databases", SIGMOD 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.core.classes import Classes
from shoal.core.population_fit import PopulationFit
from shoal.errors import InputError
from shoal.privacy.model import ROUNDING, PopulationModel
from shoal.support.arrays import Bools
from shoal.support.options import check_range


@dataclass(frozen=True)
class DeltaPresence(PopulationModel):
    """The probability that a person of the population is in the release lies between two bounds.

    If n released people have the same cells and N people of the population fit these, the
    probability is n / N for each of the N. If a person fits several classes, the sum over these
    classes must not exceed `high`, and the largest must reach `low`. If the table has households,
    the bounds also hold for the presence of a household.

    Parameters:
        low: Least probability, for everyone in the population; 0 allows people who fit no record.
        high: Highest probability.

    >>> import pyarrow as pa
    >>> import shoal
    >>> everyone = pa.table({"age": range(30, 50)})
    >>> ages = pa.table({"age": [31, 33, 47, 48]})
    >>> release = shoal.anonymize(ages, DeltaPresence(0, 0.5), quasi="age", population=everyone)
    >>> release.verify().levels
    {'delta-presence(low=0, high=0.5)': 0.2}
    """

    name: ClassVar[str] = "delta-presence"
    low: float
    high: float

    def __post_init__(self) -> None:
        check_range("low", self.low, 0, 1)
        check_range("high", self.high, 0, 1, above=True)
        if self.low > self.high:
            raise InputError(f"low must be at most high, not {self.low:g} above {self.high:g}")

    @property
    def sufficient(self) -> int:
        """The size of classes to try first; no size is enough for every population."""
        return 2

    def judge_fit(self, classes: Classes, fit: PopulationFit) -> tuple[Bools, float]:
        """Return which rows reveal too much about the presence of someone, and the highest."""
        failing, highest = np.zeros(len(fit.places), dtype=np.bool_), 0.0
        for each in fit.units:
            found = each.presence()
            wrong = (found.highest > self.high + ROUNDING) | (found.lowest < self.low - ROUNDING)
            failing |= each.rows_of(wrong)
            if self.low > 0 and (wrong & ~found.present).any():
                failing[:] = True  # someone fits no record
            highest = max(highest, float(found.highest.max(initial=0.0)))
        return failing, highest

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            "Anyone who knows the quasi-identifiers of the population learns that a person is in "
            f"the release with a probability from {self.low:g} to {self.high:g} only."
        )
