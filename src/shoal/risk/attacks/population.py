"""Populations: more people than records, and a prior chance that each is in the table at all.

Whoever is not in the table is matched with one of as many empty places as there are such people.
A journalist's attacker: who finds a person in the population need not know that they are released.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.core.arrays import Bools, Counts, Floats, frozen
from shoal.core.wording import counted
from shoal.errors import InputError
from shoal.risk.attacks.attack import Attack
from shoal.risk.matchings.structure import NOWHERE, Component, Structure, split

if TYPE_CHECKING:
    from shoal.risk.matchings.psi import Psi


@dataclass(frozen=True, eq=False)
class PopulationAttack(Attack):
    """An attack on a table that holds part of a population.

    present: (people,) who is in the table; only they can be found. The matrix has an empty place as
        a column for each who is not, after the records.
    """

    present: Bools = field(repr=False)

    @property
    def structure(self) -> Structure:
        """The attack taken apart, with nobody to find among those who are not in the table."""
        whole = split(self.matrix, self.mapping)
        return Structure(whole.mapping, tuple(map(self._without_absent, whole.components)))

    def psi(self, **options: Any) -> Psi:
        """Return how many people in the table the attacker is expected to find."""
        from shoal.risk.matchings.psi import psi

        return psi(self.structure, **options)

    def with_prior(self, prior: Any, why: str) -> PopulationAttack:
        """Return the attack with each person and column, empty places included, weighed anew."""
        changed = super().with_prior(prior, why)
        return replace(self, matrix=changed.matrix, assumptions=changed.assumptions)

    def _without_absent(self, part: Component) -> Component:
        found = np.where(self.present[part.rows], part.mapping, NOWHERE)
        return replace(part, mapping=frozen(found))


def population_attack(weights: Any, presence: Any, truth: Any) -> PopulationAttack:
    """Return the attack of one who knows the population and how likely each is in the table.

    weights: (people, records) how well each record fits each person, if they are in the table;
        only ratios count.
    presence: (people,) the prior chance that each is in the table. One chance for all changes
        nothing, for the number of records is known.
    truth: (records,) the person that each record is of, a row of `weights`.
    """
    fit = _check_weights(weights)
    people, records = fit.shape
    chances = _check_chances(presence, people)
    person = _check_truth(truth, people, records)
    empty = np.repeat((1 - chances)[:, None], people - records, axis=1)
    matrix = np.hstack([chances[:, None] * fit, empty])
    present = np.zeros(people, dtype=np.bool_)
    present[person] = True
    mapping = np.empty(people, dtype=np.int64)
    mapping[person] = np.arange(records)
    mapping[~present] = np.arange(records, people)
    told = (
        f"The attacker knows a population of {counted(people, 'person', 'people')}, all of "
        "those in the table among them, and that each has one record at most.",
        f"The attacker knows that the table has {counted(records, 'record')}.",
        "Each person has a chance of being in the table, independent of the others.",
    )
    return PopulationAttack(matrix, mapping, told, frozen(present))


def _check_weights(weights: Any) -> Floats:
    try:
        fit = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        fit = np.empty(0)
    if fit.ndim != 2 or not 0 < fit.shape[1] <= fit.shape[0]:
        raise InputError(
            "weights need a row for each person and a column for each record, no more records "
            "than people"
        )
    return fit


def _check_chances(presence: Any, people: int) -> Floats:
    try:
        chances = np.broadcast_to(np.asarray(presence, dtype=np.float64), (people,))
    except (TypeError, ValueError):
        raise InputError(f"presence must be a chance for each of {people} people") from None
    wrong = int((~((chances >= 0) & (chances <= 1))).sum())
    if wrong:
        raise InputError(f"{counted(wrong, 'chance')} of presence missing or outside 0 to 1")
    return chances


def _check_truth(truth: Any, people: int, records: int) -> Counts:
    person = np.asarray(truth)
    whole = person.dtype.kind in "iu" and person.shape == (records,)
    if not whole or len(np.unique(person)) < records or person.min() < 0 or person.max() >= people:
        raise InputError(
            f"truth must name a person from 0 to {people - 1} for each of {records} records, each "
            "person once at most"
        )
    return person.astype(np.int64)
