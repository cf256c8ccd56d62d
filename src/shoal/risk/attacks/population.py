"""Populations, and networks that shuffle: attacks on more people than records, and on mixed wires.

    population_attack   the journalist, who does not know which people of a population are released:
                        a person who is not in the table is matched with an empty place, of which
                        there is one for each such person; each person has a prior probability of
                        presence
    Network             wires run through blocks, each of which shuffles its wires; the attacker
                        knows the network but not the shuffles, so the probability that an entity
                        leaves on a wire is a product of doubly stochastic matrices, one for each
                        block

Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014,
section 3.1 (networks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.risk.attacks.matching_attack import EVERYBODY, MatchingAttack
from shoal.risk.matchings.structure import (
    NOWHERE,
    Component,
    Structure,
    check_mapping,
    check_matrix,
    split,
)
from shoal.support.arrays import Bools, Counts, Floats, frozen
from shoal.support.options import check_whole
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.risk.matchings.psi import Psi


@dataclass(frozen=True, eq=False)
class PopulationAttack(MatchingAttack):
    """An attack on a table that contains part of a population.

    Parameters:
        present: (people,) who is in the table; only they can be re-identified. After the records,
            the matrix has one empty column for each person who is not.
    """

    present: Bools = field(repr=False)

    @property
    def structure(self) -> Structure:
        """The components of the attack; people who are not in the table have no true record."""
        structure = split(self.matrix, self.mapping)
        components = tuple(map(self._without_absent, structure.components))
        return Structure(structure.mapping, components)

    def psi(self, **options: Any) -> Psi:
        """Return how many people in the table the attacker is expected to re-identify."""
        from shoal.risk.matchings.psi import psi

        return psi(self.structure, **options)

    def with_prior(self, prior: Any, why: str) -> PopulationAttack:
        """Return the attack with prior weights for each person and column, empty ones included."""
        changed = super().with_prior(prior, why)
        return replace(self, matrix=changed.matrix, assumptions=changed.assumptions)

    def _without_absent(self, component: Component) -> Component:
        """Return the component without true pairs of people who are not in the table."""
        mapping = np.where(self.present[component.rows], component.mapping, NOWHERE)
        return replace(component, mapping=frozen(mapping))


def population_attack(weights: Any, presence: Any, truth: Any) -> PopulationAttack:
    """Return the attack of an attacker who knows a population and the presence probabilities.

    Parameters:
        weights: (people, records) how well each record fits each person, if they are in the table;
            only ratios matter.
        presence: (people,) the prior probability that each is in the table. The same probability
            for everyone changes nothing, because the number of records is known.
        truth: (records,) the person of each record, a row of `weights`.
    """
    fit = _check_weights(weights)
    people, records = fit.shape
    chances = _check_chances(presence, people)
    person = _check_truth(truth, people, records)
    #             records           empty places
    # person i    chance · fit      1 − chance, in each
    empty = np.repeat((1 - chances)[:, None], people - records, axis=1)
    matrix = np.hstack([chances[:, None] * fit, empty])
    present = np.zeros(people, dtype=np.bool_)
    present[person] = True
    mapping = np.empty(people, dtype=np.int64)
    mapping[person] = np.arange(records)
    mapping[~present] = np.arange(records, people)
    assumptions = (
        f"The attacker knows a population of {counted(people, 'person', 'people')} that includes "
        "everyone in the table, and that each person has at most one record.",
        f"The attacker knows that the table has {counted(records, 'record')}.",
        "Each person is in the table with some probability, independently of the others.",
    )
    return PopulationAttack(matrix, mapping, assumptions, frozen(present))


def _check_weights(weights: Any) -> Floats:
    try:
        fit = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        fit = np.empty(0)
    if fit.ndim != 2 or not 0 < fit.shape[1] <= fit.shape[0]:
        raise InputError(
            "weights must have one row for each person and one column for each record, and no more "
            "records than people"
        )
    return fit


def _check_chances(presence: Any, people: int) -> Floats:
    try:
        chances = np.broadcast_to(np.asarray(presence, dtype=np.float64), (people,))
    except (TypeError, ValueError):
        raise InputError(
            f"presence must be one probability for each of the {people} people"
        ) from None
    wrong = int((~((chances >= 0) & (chances <= 1))).sum())
    if wrong:
        raise InputError(
            f"presence must be from 0 to 1; {counted(wrong, 'value is', 'values are')} missing or "
            "outside"
        )
    return chances


def _check_truth(truth: Any, people: int, records: int) -> Counts:
    person = np.asarray(truth)
    fits = person.dtype.kind in "iu" and person.shape == (records,)
    if not fits or len(np.unique(person)) < records or person.min() < 0 or person.max() >= people:
        raise InputError(
            f"truth must name a person from 0 to {people - 1} for each of the {records} records, "
            "each person at most once"
        )
    return person.astype(np.int64)


_ASSUMED = (
    "The attacker knows the structure of the network, its inputs and its output labels.",
    "The attacker does not know what individual blocks did.",
    EVERYBODY,
    "The attacker weights a matching of all entities by the product of its individual "
    "probabilities; the true joint probabilities of the network may differ.",
)


@dataclass(frozen=True)
class Block:
    """A node that shuffles some wires.

    Parameters:
        wires: The numbers of its wires, the same for inputs and outputs.
        chances: (wires, wires) the probability that an entity that enters on one wire leaves on
            another; rows and columns sum to 1.
    """

    wires: tuple[int, ...]
    chances: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Network:
    """A network of blocks; wires are numbered from 0.

    Parameters:
        wires: Number of wires.
        blocks: Blocks in the order in which entities pass them.
    """

    wires: int
    blocks: tuple[Block, ...] = ()

    def __post_init__(self) -> None:
        check_whole("wires", self.wires, 1)

    def mix(self, wires: Sequence[int], chances: Any = "uniform") -> Network:
        """Return the network with one more block at its end.

        Parameters:
            wires: The wires of the block.
            chances: "uniform", or a doubly stochastic matrix over these wires.
        """
        chosen = tuple(wires)
        integers = all(isinstance(wire, (int, np.integer)) for wire in chosen)
        inside = integers and all(0 <= wire < self.wires for wire in chosen)
        if not chosen or not inside or len(set(chosen)) < len(chosen):
            raise InputError(
                f"a block must name at least one wire from 0 to {self.wires - 1}, each once"
            )
        if isinstance(chances, str):
            if chances != "uniform":
                raise InputError(
                    f"chances must be 'uniform' or a doubly stochastic matrix, not {chances!r}"
                )
            chances = np.full((len(chosen), len(chosen)), 1 / len(chosen))
        matrix = np.asarray(check_matrix(chances, sums="both"))
        if len(matrix) != len(chosen):
            raise InputError(
                f"the matrix of a block must have one row for each of its {len(chosen)} wires, not "
                f"{len(matrix)}"
            )
        block = Block(tuple(map(int, chosen)), tuple(map(tuple, matrix.tolist())))
        return Network(self.wires, (*self.blocks, block))

    def then(self, other: Network) -> Network:
        """Return this network followed by another, wire by wire."""
        if other.wires != self.wires:
            raise InputError(
                f"a network with {self.wires} wires cannot feed a network with {other.wires}"
            )
        return Network(self.wires, (*self.blocks, *other.blocks))

    def beside(self, other: Network) -> Network:
        """Return both networks in parallel; the wires of the other follow those of this one."""
        moved = tuple(
            Block(tuple(wire + self.wires for wire in block.wires), block.chances)
            for block in other.blocks
        )
        return Network(self.wires + other.wires, (*self.blocks, *moved))

    @property
    def matrix(self) -> Floats:
        """(wires, wires) the probability that an entity on one wire leaves on another."""
        chances = np.eye(self.wires)
        for block in self.blocks:
            wires = list(block.wires)
            # no BLAS: its sums depend on the number of threads
            chances[:, wires] = np.einsum("ij,jk->ik", chances[:, wires], np.array(block.chances))
        return frozen(chances)

    def attack(
        self, outputs: Sequence[int] | Counts | None = None, *, mapping: Any = None
    ) -> MatchingAttack:
        """Return the attack of an attacker who observes both ends of the network.

        Parameters:
            outputs: (wires,) the output wire of each released entity, by default its own number.
            mapping: (wires,) the released entity of each original entity, by default its own
                number.
        """
        order = check_mapping(outputs, self.wires)
        return MatchingAttack(self.matrix[:, order], mapping, _ASSUMED)
