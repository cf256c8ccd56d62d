"""Risk of each record, to a prosecutor, a journalist and a marketer.

    prosecutor   knows that a certain person is in the release: 1 / people in the class
    journalist   knows the population, but not who is in the release: 1 / people of the population
                 with the values, counted in a table or estimated by Pitman's model
    marketer     links as many records as possible, right or wrong: the expected share

A person is found if one of their records is found. El Emam & Dankar, "Protecting privacy using
k-anonymity", JAMIA 15(5), 2008; for the marketer Dankar & El Emam, "A method for evaluating
marketer re-identification risk", PAIS 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.privacy.model import ROUNDING
from shoal.release.release import Release
from shoal.risk.individual_risk import KMap, k_map
from shoal.risk.population.frequencies import Frequencies, Pitman, classes_by
from shoal.risk.reidentification import (
    HouseholdRisk,
    Reidentification,
    at_least_once,
    by_person,
    fitting_people,
    household_risk,
    row_weights,
)
from shoal.support.arrays import Counts, Floats, weighted_sum
from shoal.support.options import check_range
from shoal.table.classes import Classes
from shoal.table.people import Unit
from shoal.table.table import Table

THRESHOLD = 0.2  # five candidates, as is customary for health data


@dataclass(frozen=True, eq=False)
class Attacker:
    """The risk to one kind of attacker, from `record_risk`.

    Attributes:
        name: "prosecutor" or "journalist".
        knows: What the attacker is assumed to know, in words.
        risks: The probability that people are found. For a person with several records, the
            highest probability counts.
        weights: How many people have each of these probabilities.
        highest: Highest risk of a person.
        threshold: The risk that a person should not exceed.
    """

    name: str
    knows: str
    risks: Floats
    weights: Counts
    highest: float
    threshold: float

    def __repr__(self) -> str:
        return f"Attacker({self.name}, highest={self.highest:.4g}, average={self.average:.4g})"

    @property
    def people(self) -> int:
        """Number of people with a released record."""
        return int(self.weights.sum())

    @property
    def average(self) -> float:
        """Average risk of a person."""
        return weighted_sum(self.risks, self.weights) / max(self.people, 1)

    @property
    def at_risk(self) -> int:
        """Number of people whose risk exceeds the threshold."""
        return int(self.weights[self.risks > self.threshold + ROUNDING].sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "attacker": self.name,
            "knows": self.knows,
            "highest": self.highest,
            "average": self.average,
            "at_risk": self.at_risk,
            "share_at_risk": self.at_risk / max(self.people, 1),
        }


@dataclass(frozen=True, eq=False)
class RecordRisk:
    """Result of `record_risk`: the risk of a release or table to three kinds of attacker.

    Attributes:
        records: Number of released records.
        people: Number of people behind them.
        k: Number of people in the smallest class, or the smallest number that fits a record.
        threshold: The risk that a person should not exceed.
        prosecutor: The risk to the prosecutor.
        journalist: The risk to the journalist, None without a population.
        marketer: Expected share of people with at least one correctly linked record.
        basis: The source of the population, in words.
        short: People with a record that matches more released people than people of the population
            table, which then is incomplete; the number of released people is used instead.
        household: The risk of households to the prosecutor, None if the table declares none.
    """

    records: int
    people: int
    k: int
    threshold: float
    prosecutor: Attacker
    journalist: Attacker | None
    marketer: float
    basis: str
    short: int = 0
    household: HouseholdRisk | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        attackers = (self.prosecutor, self.journalist)
        return {
            "records": self.records,
            "people": self.people,
            "k": self.k,
            "threshold": self.threshold,
            "basis": self.basis,
            "short": self.short,
            "attackers": [attacker.to_dict() for attacker in attackers if attacker is not None],
            "marketer": {"knows": _MARKETER, "average": self.marketer},
            "household": None if self.household is None else self.household.to_dict(),
        }


_KNOWS = {
    "prosecutor": "knows the quasi-identifiers of a person, and that the person is in the release",
    "journalist": "knows the quasi-identifiers of everyone, but not who is in the release",
}
_RELEASED = "the released people are treated as the population"
_MARKETER = "knows the quasi-identifiers of everyone, and links every record to someone"


def record_risk(
    source: Release | Table | Frequencies,
    *,
    population: Table | KMap | None = None,
    sampling_fraction: float | None = None,
    known: Sequence[str] | None = None,
    threshold: float = THRESHOLD,
) -> RecordRisk:
    """Return the risk of people by their records, to three kinds of attacker.

    If people have several records, the highest probability over a person's records counts. The
    prosecutor picks one of the m records of the person among the n records of a class with
    probability m/n, or names the right one of its people with probability 1/people, whichever is
    larger. The journalist names one of the people of the population who fit the record. The
    marketer names someone for every record, and finds the person if one of these names is right.

    Without a population and a sampling fraction, the released people are the population: there is
    no journalist, and the marketer chooses among the released people.

    Parameters:
        source: A release, an unprotected table, or the sizes of classes in which each record is
            another person.
        population: A table of everyone, including the released people, or the result of `k_map`.
        sampling_fraction: Instead of it, the share of the population that is released; the number
            of people who match a record is then estimated by Pitman's model.
        known: For a table, the columns that others know; by default its quasi-identifiers.
        threshold: The risk that a person should not exceed.

    Returns:
        The risk to each attacker.

    Raises:
        InputError: Both a population and a sampling fraction are given, or columns of a release.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48], "ill": ["no", "no", "yes", "no"]})
    >>> record_risk(shoal.anonymize(rows, k=2, quasi="age", sensitive="ill")).prosecutor
    Attacker(prosecutor, highest=0.5, average=0.5)
    """
    check_range("threshold", threshold, 0, 1)
    if population is not None and sampling_fraction is not None:
        raise InputError("give a population or a sampling fraction, not both")
    if isinstance(source, Frequencies):
        return _of_sizes(source, population, sampling_fraction, threshold)
    own = _prosecuted(source, known)
    view = classes_by(source, known) if isinstance(source, Table) else source.classes
    prosecutor = _attacker("prosecutor", own.risks, own.weights, threshold, own.highest_risk)
    short, basis = 0, _RELEASED
    rows, table = np.flatnonzero(view.ids >= 0), view.table
    candidates = view.people[view.ids[rows]]
    named = 1 / candidates  # (released rows,) the probability of naming the right person
    if not own.by_class and isinstance(source, Release):
        named = 1 / fitting_people(source.coverage.take(rows), table.take(rows))
    if population is not None:
        mapped = (
            population if isinstance(population, KMap) else k_map(source, population, known=known)
        )
        # people whose record fits fewer people of the population than of the release, which shows
        # that the population table is incomplete
        lacking = by_person(
            (mapped.people < candidates).astype(np.int64), mapped.weights, mapped.person, np.maximum
        )
        short = int((lacking[0] * lacking[1]).sum())
        named = 1 / np.maximum(mapped.people, candidates)
        basis = "the people of the population table"
    elif sampling_fraction is not None:
        check_range("sampling_fraction", sampling_fraction, 1e-9, 1)
        sample = Frequencies.of_sizes(view.people)
        by_class, basis = _estimated(own, sample, view.people, sampling_fraction)
        named = by_class[view.ids[rows]]
    beyond = population is not None or sampling_fraction is not None
    person = None if table.person is None else table.person.take(rows)
    weights = row_weights(table)[rows]
    journalist = by_person(named, weights, person, np.maximum)
    return RecordRisk(
        int(weights.sum()),
        own.people,
        int(own.fewest),
        threshold,
        prosecutor,
        _attacker("journalist", *journalist, threshold) if beyond else None,
        _marketer(named, weights, person),
        basis,
        short,
        household_risk(table, _by_row(own, view), view),
    )


def _of_sizes(
    sample: Frequencies,
    population: Table | KMap | None,
    sampling_fraction: float | None,
    threshold: float,
) -> RecordRisk:
    """Return the risk of people who are alone in their records, from the sizes of their classes."""
    if population is not None:
        raise InputError("sizes of classes cannot be compared with a population; give a table")
    weights, fewest = sample.sizes * sample.classes, int(sample.sizes.min(initial=sample.records))
    own = Reidentification(True, sample.sizes, weights, 1 / sample.sizes, float(fewest))
    named, basis = own.risks, _RELEASED
    if sampling_fraction is not None:
        check_range("sampling_fraction", sampling_fraction, 1e-9, 1)
        named, basis = _estimated(own, sample, sample.sizes, sampling_fraction)
    return RecordRisk(
        sample.records,
        sample.records,
        fewest,
        threshold,
        _attacker("prosecutor", own.risks, weights, threshold, own.highest_risk),
        None if sampling_fraction is None else _attacker("journalist", named, weights, threshold),
        _marketer(named, weights, None),
        basis,
    )


def _marketer(named: Floats, weights: Counts, person: Unit | None) -> float:
    """Return the expected share of people with a correctly linked record."""
    if person is None:
        return weighted_sum(named, weights) / max(int(weights.sum()), 1)
    chances = at_least_once(np.repeat(named, weights), np.repeat(person.ids, weights), person.count)
    return float(chances.sum()) / max(person.count, 1)


def _by_row(own: Reidentification, view: Classes) -> Floats:
    """(rows,) the risk of each row's person to the prosecutor, 0 if they are not released."""
    person = view.table.person
    if not own.by_class and person is None:
        risks = np.zeros(len(view.ids))
        risks[view.ids >= 0] = own.risks
        return risks
    if person is None:
        return np.append(own.risks, 0.0)[view.ids]
    risks = np.zeros(person.count)
    risks[np.unique(person.ids[view.ids >= 0])] = own.risks
    return risks[person.ids]


def _attacker(
    name: str, risks: Floats, weights: Counts, threshold: float, highest: float | None = None
) -> Attacker:
    if highest is None:
        highest = float(risks.max(initial=0.0))
    return Attacker(name, _KNOWS[name], risks, weights, highest, threshold)


def _prosecuted(source: Release | Table, known: Sequence[str] | None) -> Reidentification:
    if isinstance(source, Table):
        return Reidentification.of_classes(classes_by(source, known))
    if known is not None:
        raise InputError("columns can only be chosen for a table; a release has fixed classes")
    return Reidentification.of(source)


def _estimated(
    own: Reidentification, sample: Frequencies, sizes: Counts, fraction: float
) -> tuple[Floats, str]:
    """Return the expected 1 / F of classes, and its source in words.

    sample: the sizes of all classes. sizes: those of the classes that are asked for. A person
    counts once in each of their classes, in the sample and in the population.
    """
    if not own.by_class:
        raise InputError(
            "this release has no classes to estimate from, because each record is generalized on "
            "its own; give a population table"
        )
    people = sample.records / fraction
    fitted = Pitman.fit(sample)
    if fraction == 1:
        return 1 / sizes, "the sampling fraction is 1: the released people are the population"
    if fitted is None:
        return 1 / sizes, (
            "the classes give no information about the population: the released people are treated "
            "as the population, which is the worst case"
        )
    inverse = fitted.inverse_sizes(sample.sizes, sample.records, people)
    return inverse[np.searchsorted(sample.sizes, sizes)], (
        f"a population of about {people:,.0f} people; Pitman's model estimates how many of them "
        "match a record, averaged over records in classes of equal size, without an interval"
    )
