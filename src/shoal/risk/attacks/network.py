"""Dataflow networks: wires that run through blocks, each of which shuffles those that enter it.

The attacker knows the network, not what the blocks did. The chance that a wire's entity leaves on
another wire is a product of doubly stochastic matrices, one for each block.
Malik, "Disclosure risk measurement of anonymized datasets after probabilistic attacks", 2014,
section 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.arrays import Counts, Floats, frozen
from shoal.errors import InputError
from shoal.privacy.model import check_whole
from shoal.risk.attacks.attack import EVERYBODY, Attack
from shoal.risk.matchings.structure import check_mapping, check_matrix

_ASSUMED = (
    "The attacker knows how the network is built, what enters it and the labels that leave it.",
    "The attacker knows nothing of what single blocks did.",
    EVERYBODY,
    "The attacker weighs a way to match all entities by the product of its single chances; what "
    "the network does to several entities at once may have other chances.",
)


@dataclass(frozen=True)
class Block:
    """A node that shuffles some wires.

    wires: their numbers, which are those of its ways in and of its ways out.
    chances: (wires, wires) that what enters on one leaves on another; rows and columns sum to 1.
    """

    wires: tuple[int, ...]
    chances: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Network:
    """Blocks in the order in which entities meet them; the wires are numbered from 0.

    wires: how many there are.
    """

    wires: int
    blocks: tuple[Block, ...] = ()

    def __post_init__(self) -> None:
        check_whole("wires", self.wires, 1)

    def mix(self, wires: Sequence[int], chances: Any = "uniform") -> Network:
        """Return the network with one more block at its end.

        chances: "uniform", or a doubly stochastic matrix over these wires.
        """
        chosen = tuple(wires)
        whole = all(isinstance(wire, (int, np.integer)) for wire in chosen)
        inside = whole and all(0 <= wire < self.wires for wire in chosen)
        if not chosen or not inside or len(set(chosen)) < len(chosen):
            raise InputError(
                f"a block names wires from 0 to {self.wires - 1}, each once, and at least one"
            )
        if isinstance(chances, str):
            if chances != "uniform":
                raise InputError(
                    f"chances must be 'uniform' or a doubly stochastic matrix, not {chances!r}"
                )
            chances = np.full((len(chosen), len(chosen)), 1 / len(chosen))
        matrix = np.asarray(check_matrix(chances, sums="both"))
        if len(matrix) != len(chosen):
            raise InputError(f"{len(chosen)} wires enter the block, its matrix has {len(matrix)}")
        block = Block(tuple(map(int, chosen)), tuple(map(tuple, matrix.tolist())))
        return Network(self.wires, (*self.blocks, block))

    def then(self, other: Network) -> Network:
        """Return this network with another behind it, wire by wire."""
        if other.wires != self.wires:
            raise InputError(f"{self.wires} wires cannot run into a network of {other.wires}")
        return Network(self.wires, (*self.blocks, *other.blocks))

    def beside(self, other: Network) -> Network:
        """Return both networks side by side; the other's wires are counted on from this one's."""
        moved = tuple(
            Block(tuple(wire + self.wires for wire in block.wires), block.chances)
            for block in other.blocks
        )
        return Network(self.wires + other.wires, (*self.blocks, *moved))

    @property
    def matrix(self) -> Floats:
        """(wires, wires) the chance that what enters on one leaves on another."""
        chances = np.eye(self.wires)
        for block in self.blocks:
            wires = list(block.wires)
            # not by BLAS, whose sums differ with the number of threads
            chances[:, wires] = np.einsum("ij,jk->ik", chances[:, wires], np.array(block.chances))
        return frozen(chances)

    def attack(
        self, outputs: Sequence[int] | Counts | None = None, *, mapping: Any = None
    ) -> Attack:
        """Return the attack of one who watches both ends of the network.

        outputs: (wires,) the wire that each released entity, in its order, leaves on; by default
            its own number.
        mapping: (wires,) the released entity of each original one, by default its own number.
        """
        order = check_mapping(outputs, self.wires)
        return Attack(self.matrix[:, order], mapping, _ASSUMED)
