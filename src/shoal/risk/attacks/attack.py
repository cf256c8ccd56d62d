"""An attack: the weight that the attacker gives each pair, the truth, and the assumptions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.risk.matchings.structure import check_mapping, check_matrix
from shoal.support.arrays import Counts, frozen

if TYPE_CHECKING:
    from shoal.risk.matchings.psi import Psi
    from shoal.risk.matchings.set_psi import SetPsi

EVERYBODY = "Every original entity has exactly one released entity, and the attacker knows that."
TRUE = "Every match that the attacker considers impossible is impossible."


@dataclass(frozen=True, eq=False)
class MatchingAttack:
    """The beliefs of an attacker about a release.

    Parameters:
        matrix: (n, n) weights, rows original entities, columns released entities; only ratios
            matter.
        mapping: (n,) the true column of each row.
        assumptions: Assumptions about the attacker, one sentence each.
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
        """Return the expected number of re-identified entities; options as in `shoal.risk.psi`."""
        from shoal.risk.matchings.psi import psi

        return psi(self.matrix, self.mapping, **options)

    def set_psi(self, sets: Sequence[Hashable] | Counts, **options: Any) -> SetPsi:
        """Return the expected number of sets that are found as a whole.

        Parameters:
            sets: (n,) the label of each original entity's set.
            options: As in `shoal.risk.set_psi`.
        """
        from shoal.risk.matchings.set_psi import set_psi

        return set_psi(self.matrix, sets, self.mapping, **options)

    def with_prior(self, prior: Any, why: str) -> MatchingAttack:
        """Return the attack of an attacker who also has prior weights for each pair.

        Parameters:
            prior: (n, n) weights. One number per row would change nothing, because every row is
                matched; see `population_attack` for people who may be absent.
            why: The basis of the prior, as a sentence.
        """
        weights = check_matrix(prior)
        if weights.shape != self.matrix.shape:
            raise InputError(
                f"the prior must have {len(self)} rows and columns, like the attack, not "
                f"{weights.shape[0]}"
            )
        product = (
            weights * self.matrix if hasattr(weights, "flags") else weights.multiply(self.matrix)
        )
        return MatchingAttack(product, self.mapping, (*self.assumptions, why))
