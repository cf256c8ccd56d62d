"""k-anonymity and its weaker relatives: each bounds how many people a record could belong to.

    k-anonymity          k people of the release look exactly like a person
    └─ freeform          k perfect matchings of people and records, no pair in two of them
       ├─ k-concealment  a person matches k records, while everyone else is matched to one too
       └─ (k,k)          a person fits records of k people, and a record fits k people
          ├─ (1,k)       only the first
          └─ (k,1)       only the second
    k-map                a record fits k people of a population, released or not

Each implies those that hang from it. Below k-anonymity the records of the k people differ, so other
knowledge may favour one of them.

Samarati & Sweeney, "Protecting privacy when disclosing information", 1998; Sweeney, "k-Anonymity: a
model for protecting privacy", IJUFKS 10(5), 2002 (k-anonymity and k-map).
Doka, Xue, Tsoumakos & Karras, "k-Anonymization by freeform generalization", ASIACCS 2015.
Tassa, Mazza & Gionis, "k-Concealment: an alternative model of k-type anonymity", Transactions on
Data Privacy 5(1), 2012.
Gionis, Mazza & Tassa, "k-Anonymization revisited", ICDE 2008 ((1,k), (k,1) and (k,k)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.privacy.model import CoverageModel, PopulationModel, SizeModel
from shoal.support.arrays import Bools
from shoal.support.options import check_whole
from shoal.table.classes import Classes
from shoal.table.coverage import Coverage

if TYPE_CHECKING:
    from shoal.release.verification import PopulationFit


@dataclass(frozen=True)
class KAnonymity(SizeModel):
    """Each record has the same quasi-identifiers as records of at least k − 1 other people.

    If the table has households, also the same as records of at least k − 1 other households.

    Parameters:
        k: Minimum number of people, and of households if the table has them, in a class.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": ["30-39", "30-39", "40-49", "40-49", "40-49"]})
    >>> shoal.check(rows, KAnonymity(2), quasi="age").smallest
    2
    """

    name: ClassVar[str] = "k-anonymity"

    @property
    def equivalent_size(self) -> int:
        """The least class size that is the same condition: k."""
        return self.k

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Anyone who knows a person's quasi-identifiers finds at least {self.k} matching "
            "people."
        )


@dataclass(frozen=True)
class FreeformAnonymity(CoverageModel):
    """People and records can be paired so that each has k different partners.

    Such a pairing consists of k perfect matchings without a common pair (König's theorem). Each of
    them could be the true one.

    Parameters:
        k: Number of partners of each person and each record.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, FreeformAnonymity(2), "doka-greedy", seed=1)
    >>> release.verify().levels
    {'freeform-anonymity(k=2)': 2.0}
    """

    name: ClassVar[str] = "freeform-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether its person and its cells get k partners each."""
        return np.logical_not(coverage.short_of(self.k))

    def level_for(self, coverage: Coverage) -> float:
        """Return the largest k that holds for everyone."""
        return float(coverage.most_partners())

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Even an attacker who knows everyone's quasi-identifiers finds {self.k} ways to "
            f"match people to records, in which each record belongs to {self.k} different people. "
            "Weaker than k-anonymity: the records differ, and other knowledge may favour one."
        )


@dataclass(frozen=True)
class KConcealment(CoverageModel):
    """Each person can be matched to k released records while everyone else is matched to one too.

    Parameters:
        k: Minimum number of records that a person can be matched to.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, KConcealment(2))
    >>> release.verify().levels
    {'k-concealment(k=2)': 2.0}
    """

    name: ClassVar[str] = "k-concealment"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether its person can be matched to k different records."""
        return coverage.matchable() >= self.k

    def level_for(self, coverage: Coverage) -> float:
        """Return the least number of records that a person can be matched to."""
        return float(coverage.matchable().min())

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Even an attacker who knows everyone's quasi-identifiers finds records of at least "
            f"{self.k} people that could belong to a person, with everyone else matched to some "
            "record. Weaker than k-anonymity: the records differ, and some may be more likely."
        )


@dataclass(frozen=True)
class KMap(PopulationModel):
    """Each released record fits at least k people of a stated population.

    k counts people of the population, not of the table, and households of the population too if
    the table has households. The published cells are compared with the population table, which must
    have all quasi-identifiers. A person with several rows in it counts once if its person column is
    declared.

    Parameters:
        k: Minimum number of people of the population that a record fits.

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
        """A class size that is enough if the population contains everyone in the table."""
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


@dataclass(frozen=True)
class OneKAnonymity(CoverageModel):
    """(1,k)-anonymity: each person fits released records of at least k people.

    Parameters:
        k: Minimum number of people whose released records a person fits.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, OneKAnonymity(2))
    >>> release.verify().levels
    {'one-k-anonymity(k=2)': 2.0}
    """

    name: ClassVar[str] = "one-k-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether its person fits released records of k people."""
        return coverage.released() >= self.k

    def level_for(self, coverage: Coverage) -> float:
        """Return the least number of people whose records a person fits."""
        return float(coverage.released().min())

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            "Anyone who knows a person's quasi-identifiers finds fitting records of at least "
            f"{self.k} people. Weaker than k-anonymity: a record may fit only one person, and an "
            "attacker who knows many people can rule records out."
        )


@dataclass(frozen=True)
class KOneAnonymity(CoverageModel):
    """(k,1)-anonymity: each released record fits at least k people.

    Parameters:
        k: Minimum number of people that a released record fits.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, KOneAnonymity(2))
    >>> release.verify().levels
    {'k-one-anonymity(k=2)': 2.0}
    """

    name: ClassVar[str] = "k-one-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether k people fit its cells."""
        return coverage.originals() >= self.k

    def level_for(self, coverage: Coverage) -> float:
        """Return the least number of people that fit a record."""
        return float(coverage.originals().min())

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            f"Each released record fits at least {self.k} people of the table. Weaker than "
            "k-anonymity: a person may fit only one record, and an attacker who knows many people "
            "can rule some of them out."
        )


@dataclass(frozen=True)
class KKAnonymity(CoverageModel):
    """(k,k)-anonymity: each person fits records of k people, and each record fits k people.

    Parameters:
        k: Minimum number of people, in both directions.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> release = shoal.anonymize(table, KKAnonymity(2))
    >>> release.verify().levels
    {'k-k-anonymity(k=2)': 2.0}
    """

    name: ClassVar[str] = "k-k-anonymity"

    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each row, whether its person and its cells both fit k people."""
        fits: Bools = (coverage.released() >= self.k) & (coverage.originals() >= self.k)
        return fits

    def level_for(self, coverage: Coverage) -> float:
        """Return the least number of partners of a person or a record."""
        return float(min(coverage.released().min(), coverage.originals().min()))

    def describe(self) -> str:
        """Return what the model guarantees."""
        return (
            "Anyone who knows a person's quasi-identifiers finds fitting records of at least "
            f"{self.k} people, and each record fits at least {self.k} people. Weaker than "
            "k-anonymity: an attacker who knows everyone in the table can rule some of them out."
        )
