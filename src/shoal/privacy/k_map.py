"""k-map: each released record fits at least k people of the population.

Weaker than k-anonymity against attackers who know that a person is in the release, and sufficient
against those who do not.
Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.core.classes import Classes
from shoal.core.population_fit import PopulationFit
from shoal.privacy.model import PopulationModel
from shoal.support.arrays import Bools
from shoal.support.options import check_whole


@dataclass(frozen=True)
class KMap(PopulationModel):
    """Each released record fits at least k people of a stated population.

    k counts people of the population, not of the table, and households of the population too if
    the table has households. The published cells are compared with the population table, which must
    have all quasi-identifiers. A person with several rows in it counts once if its person column is
    declared.

    Parameters:
        k: Least number of people of the population that a record fits.

    >>> import pyarrow as pa
    >>> import shoal
    >>> everyone = pa.table({"age": range(30, 50)})
    >>> ages = pa.table({"age": [31, 33, 47, 48]})
    >>> release = shoal.anonymize(ages, KMap(3), quasi="age", population=everyone)
    >>> release.verify().levels
    {'k-map(k=3)': 20.0}
    """

    name: ClassVar[str] = "k-map"
    k: int

    def __post_init__(self) -> None:
        check_whole("k", self.k, 2)

    @property
    def sufficient(self) -> int:
        """A number of people in each class that is enough, if the population has all of them."""
        return self.k

    def judge_fit(self, classes: Classes, fit: PopulationFit) -> tuple[Bools, float]:
        """Return which rows fit fewer than k people, and the least number that a row fits."""
        return fit.people < self.k, float(fit.people.min()) if len(fit.people) else float("inf")

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Each released record fits at least {self.k} people of the population. It protects "
            "from attackers who do not know who is in the release; k counts the population, not "
            "the released people."
        )
