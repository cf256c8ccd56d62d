"""An attack: how much the attacker holds each pair for, what is true, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.core.arrays import Counts, frozen
from shoal.errors import InputError
from shoal.risk.matchings.structure import check_mapping, check_matrix

if TYPE_CHECKING:
    from shoal.risk.matchings.psi import Psi

EVERYBODY = "Every original entity has exactly one released one, and the attacker knows that."
TRUE = "What the attacker holds for impossible is impossible."


@dataclass(frozen=True, eq=False)
class Attack:
    """What an attacker makes of a release.

    matrix: (n, n) weights, rows original entities, columns released ones; only ratios count.
    mapping: (n,) the column that each row truly has.
    assumptions: on the attacker, a sentence each.
    """

    matrix: Any = field(repr=False)
    mapping: Counts = field(repr=False)
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        checked = check_matrix(self.matrix)
        if hasattr(checked, "flags"):
            checked = frozen(checked)
        object.__setattr__(self, "matrix", checked)
        object.__setattr__(self, "mapping", check_mapping(self.mapping, checked.shape[0]))

    def __len__(self) -> int:
        return len(self.mapping)

    def psi(self, **options: Any) -> Psi:
        """Return how many entities are expected to be found; options as `shoal.risk.psi`."""
        from shoal.risk.matchings.psi import psi

        return psi(self.matrix, self.mapping, **options)

    def with_prior(self, prior: Any, why: str) -> Attack:
        """Return the attack of one who also held each pair for more or less likely beforehand.

        prior: (n, n) weights. One number for each row would change nothing, for every row is
            matched: see `population_attack` for people who may be missing.
        why: what the prior rests on, a sentence.
        """
        weights = check_matrix(prior)
        if weights.shape != self.matrix.shape:
            raise InputError(
                f"the prior has {weights.shape[0]} rows and columns, the attack {len(self)}"
            )
        product = (
            weights * self.matrix if hasattr(weights, "flags") else weights.multiply(self.matrix)
        )
        return Attack(product, self.mapping, (*self.assumptions, why))
