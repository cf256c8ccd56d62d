"""Risk record by record: the prosecutor, the journalist and the marketer.

The prosecutor knows that a certain person is in the release, the journalist only that somebody of
the population is, the marketer wants as many as possible, right or wrong.
El Emam & Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008; for the marketer Dankar
& El Emam, "A method for evaluating marketer re-identification risk", PAIS 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.arrays import Counts, Floats, weighted_sum
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import ROUNDING, check_range
from shoal.risk.k_map import KMap, k_map
from shoal.risk.population.frequencies import Frequencies, class_sizes
from shoal.risk.population.pitman import Pitman
from shoal.risk.reidentification import Reidentification

THRESHOLD = 0.2  # five candidates, the custom of health data


@dataclass(frozen=True, eq=False)
class Attacker:
    """What one kind of attacker may expect.

    name: prosecutor or journalist; knows: what is assumed of them, in words.
    risks, weights: one pair for each kind of record: the chance of a right link, how many records.
    highest: the chance for the record worst off.
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
    def records(self) -> int:
        """Released records."""
        return int(self.weights.sum())

    @property
    def average(self) -> float:
        """The chance of a right link, averaged over records: the share that is expected right."""
        return weighted_sum(self.risks, self.weights) / max(self.records, 1)

    @property
    def at_risk(self) -> int:
        """Records whose risk is above the threshold."""
        return int(self.weights[self.risks > self.threshold + ROUNDING].sum())

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "attacker": self.name,
            "knows": self.knows,
            "highest": self.highest,
            "average": self.average,
            "at_risk": self.at_risk,
            "share_at_risk": self.at_risk / max(self.records, 1),
        }


@dataclass(frozen=True, eq=False)
class RecordRisk:
    """The three attackers on one release or table.

    marketer: the share of records that they link rightly, on average.
    basis: where the population comes from, in words; short: records that stand for more people
        than the population table has: it cannot be whole, and their own number is taken.
    """

    records: int
    threshold: float
    prosecutor: Attacker
    journalist: Attacker | None
    marketer: float
    basis: str
    short: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        told = (self.prosecutor, self.journalist)
        return {
            "records": self.records,
            "threshold": self.threshold,
            "basis": self.basis,
            "short": self.short,
            "attackers": [attacker.to_dict() for attacker in told if attacker is not None],
            "marketer": {"knows": _MARKETER, "average": self.marketer},
        }


_KNOWS = {
    "prosecutor": "knows the quasi-identifiers of a person, and that the person is in the release",
    "journalist": "knows the quasi-identifiers of everybody, and not who is in the release",
}
_MARKETER = "knows the quasi-identifiers of everybody, and links every record to somebody"


def record_risk(
    source: Release | Table,
    *,
    population: Table | KMap | None = None,
    sampling_fraction: float | None = None,
    columns: Sequence[str] | None = None,
    threshold: float = THRESHOLD,
) -> RecordRisk:
    """Return the risk of each record, to three kinds of attacker.

    population: a table that holds everybody, the people released among them, or what `k_map`
        counted in it.
    sampling_fraction: instead of it, the share of the population that is released; how many people
        are like a record is then estimated by Pitman's model.
    columns: of a table, what others know; by default its quasi-identifiers.
    threshold: the risk that a record should not exceed.

    With neither, the released are all there are: there is no journalist, and the marketer's
    people are the prosecutor's.
    """
    check_range("threshold", threshold, 0, 1)
    if population is not None and sampling_fraction is not None:
        raise InputError("give a population or a sampling fraction, not both")
    own = _own(source, columns)
    prosecutor = _attacker("prosecutor", 1 / own.sizes, own.weights, threshold, own.highest_risk)
    short, basis = 0, "the released people are taken for the population"
    risks, weights = prosecutor.risks, own.weights
    if population is not None:
        found = _found(source, population, columns)
        records = _record_sizes(source, columns)
        short = int(found.weights[found.people < records].sum())
        risks, weights = 1 / np.maximum(found.people, records), found.weights
        basis = "the people of the population table"
    elif sampling_fraction is not None:
        check_range("sampling_fraction", sampling_fraction, 0, 1, above=True)
        risks, basis = _estimated(own, sampling_fraction)
    beyond = population is not None or sampling_fraction is not None
    return RecordRisk(
        own.people,
        threshold,
        prosecutor,
        _attacker("journalist", risks, weights, threshold) if beyond else None,
        weighted_sum(risks, weights) / max(own.people, 1),
        basis,
        short,
    )


def _found(source: Release | Table, population: Table | KMap, on: Sequence[str] | None) -> KMap:
    return population if isinstance(population, KMap) else k_map(source, population, on=on)


def _attacker(
    name: str, risks: Floats, weights: Counts, threshold: float, highest: float | None = None
) -> Attacker:
    most = float(risks.max(initial=0.0)) if highest is None else highest
    return Attacker(name, _KNOWS[name], risks, weights, most, threshold)


def _own(source: Release | Table, columns: Sequence[str] | None) -> Reidentification:
    if isinstance(source, Release):
        if columns is not None:
            raise InputError("columns can be chosen of a table only; a release has its classes")
        return Reidentification.of(source)
    sizes = class_sizes(source, columns)
    return Reidentification(True, sizes, sizes, float(sizes.min()) if len(sizes) else 0.0)


def _record_sizes(source: Release | Table, columns: Sequence[str] | None) -> Counts:
    """(released rows,) the released records that look like each."""
    if isinstance(source, Release):
        ids = source.classes.ids
        sizes: Counts = source.classes.sizes[ids[ids >= 0]]
        return sizes
    from shoal.core.grouping import group
    from shoal.risk.population.frequencies import chosen_columns

    chosen = [source[name] for name in chosen_columns(source, columns)]
    found = group([c.codes for c in chosen], [c.domain for c in chosen])
    return found.sizes(source.counts)[found.ids]


def _estimated(own: Reidentification, fraction: float) -> tuple[Floats, str]:
    """Return the expected 1 / F of each kind of record, and where it comes from."""
    if not own.by_class:
        raise InputError(
            "everybody has an own box here, so that there are no classes to estimate from; give "
            "a population table"
        )
    sample = Frequencies.of_sizes(own.sizes)
    people = own.people / fraction
    fitted = Pitman.fit(sample)
    if fraction == 1:
        return 1 / own.sizes, "the sampling fraction is 1: the released people are all"
    if fitted is None:
        return 1 / own.sizes, (
            "the classes say nothing about the population: the released people are taken for it, "
            "which is the worst case"
        )
    inverse = fitted.inverse_sizes(sample.sizes, own.people, people)
    place = np.searchsorted(sample.sizes, own.sizes)
    return inverse[place], (
        f"a population of about {people:,.0f} people; how many are like a record is estimated by "
        "Pitman's model, on average over records of equal classes, without an interval"
    )
