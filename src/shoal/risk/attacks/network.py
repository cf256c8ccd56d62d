"""Dataflow networks: wires run through blocks, and each block shuffles its wires.

The attacker knows the network but not what the blocks did. The probability that an entity that
enters on one wire leaves on another is a product of doubly stochastic matrices, one for each block.
Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014,
section 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.risk.attacks.attack import EVERYBODY, MatchingAttack
from shoal.risk.matchings.structure import check_mapping, check_matrix
from shoal.support.arrays import Counts, Floats, frozen
from shoal.support.options import check_whole

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
