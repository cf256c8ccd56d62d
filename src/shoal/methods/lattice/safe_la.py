"""ε-safe lattice anonymization: k-anonymity by a draw that is differentially private.

First a node of the lattice is drawn from all records, by the exponential mechanism over the number
of records that each node is expected to keep. Then each record is drawn independently with
probability β and recoded to that node; classes with fewer than k drawn records are dropped. Classes
are counted over all published columns, not only the quasi-identifiers.

The choice of the node spends ε′. For a fixed node the rest is (ε − ε′, δ)-private with a δ that
falls as k grows; together they spend (ε, δ). Neighbouring tables differ by one additional record.

If the table has person columns, a person is protected with all their rows. Each person has at most
`max_rows_per_person` rows in the mechanism, chosen at random, one for each slot. The node is drawn
over the sum of the slots' scores. Each slot is then sampled separately, so the claim is
ε = ε′ + slots · ε of one slot, δ = slots · δ of one slot.

Li, Qardaji & Su, "On sampling, anonymization, and differential privacy", ASIACCS 2012; Li,
"Improving a de-identification algorithm that achieves both k-anonymity and differential privacy",
2019. The latter draws the node from the sample that it then releases, with a utility that divides
by the number of records; no proof covers that. It is available as `published`, for comparison, and
its release states so.

The number of records, the loss, the order of rows and errors may depend on records that are not
released, so none of them is published. A release may be empty: an error, or a coarser node, would
reveal that every class is small. Fewer than k records also give an empty release.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, ClassVar

from shoal.errors import InputError
from shoal.methods.lattice.node_choice import MOST_PENALTY
from shoal.methods.lattice.sampled_draw import SampledDraw
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.support.options import check_choice, check_range, check_whole
from shoal.table.declared import undeclared
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.dp.claims import DPUnderSampling, ProtectedUnit
    from shoal.dp.planning import SampleBudget
    from shoal.dp.sampling import Form

_PUBLIC = (
    "k",
    "β",
    "the penalty and n0",
    "names, roles, types and domains of columns, as declared",
    "the hierarchies, which the owner declares to be built without the table",
)


@dataclass(frozen=True, kw_only=True)
class SafeLA:
    """Full-domain generalization of a sample, at a node drawn at random.

    Parameters:
        epsilon: Total budget of the release.
        choice: The part of epsilon for the draw of the node; the rest is for sampling, and the
            smaller the rest, the larger δ.
        beta: Probability that a record is drawn.
        delta: The δ to reach, with a larger k than the model's if needed; by default the δ of its
            k.
        penalty: Cost of losing all records, relative to hiding all cells.
        n0: Publicly known approximate number of records. The penalty is proportional to it. Never
            use the table's own number, which is not public.
        max_rows_per_person: Rows of one person that may be released, if the table has person
            columns. Each further row divides the budget of the sample.
        allow_large_delta: Release even if δ exceeds 1/n0, so that single records may be revealed;
            otherwise such a release is refused, and the error names the k that avoids it.
        published: Run the mechanism as published; its claim is not proven.
        seed: Repeats a draw, for testing only; without a seed the draw is secure.

    >>> import shoal
    >>> options = {"type": "integer", "bounds": [0, 99], "hierarchy": {"intervals": [50]}}
    >>> table = shoal.Table((shoal.Column.encode("age", [*range(100)] * 2, **options),))
    >>> release = shoal.anonymize(table, k=20, method=SafeLA(beta=0.5, n0=250, seed=1))
    >>> print(release.claims[0])
    differential privacy under sampling(0.5, 1.5, 1.802e-05) (for testing only)
    """

    name: ClassVar[str] = "safe-la"
    by_level: ClassVar[bool] = True
    any_size: ClassVar[bool] = True  # refusing a small table would reveal that it is small
    epsilon: float = 1.5
    choice: float = 0.1
    beta: float = 0.7
    delta: float | None = None
    penalty: float = 1.0
    n0: float = 10_000
    max_rows_per_person: int = 1
    allow_large_delta: bool = False
    published: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        check_range("choice", self.choice, 0, above=True)
        check_range("beta", self.beta, 0, 1, above=True)
        check_range("epsilon", self.epsilon, 0, above=True)
        check_range("penalty", self.penalty, 0, above=True)
        check_range("n0", self.n0, 0, above=True)
        check_range("n0 / penalty", self.n0 / self.penalty, 0, MOST_PENALTY)
        check_whole("max_rows_per_person", self.max_rows_per_person, 1)
        check_choice("published", self.published, (True, False))
        check_choice("allow_large_delta", self.allow_large_delta, (True, False))
        if self.seed is not None:
            check_whole("seed", self.seed, 0)
        if self.beta == 1:
            raise InputError("beta must be less than 1: each record must be drawn at random")
        if self.delta is not None:
            check_range("delta", self.delta, 0, 1, above=True)
        if self.published and self.max_rows_per_person > 1:
            raise InputError("the published mechanism supports only one row per person")
        self._budget  # noqa: B018  rejects an epsilon that leaves too little for the sample

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of a sample at a node, both drawn at random."""
        return self.prepare(table, model).draw(self.seed)

    def prepare(self, table: Table, model: Model) -> SampledDraw:
        """Return the draw of a table: everything about it that does not depend on chance."""
        self.check(table)
        k = self._k(model)
        claim = self.claim(k, protected_unit(table))
        return SampledDraw.of(
            table,
            model if k == model.least_size else _raised(model, k),
            k=k,
            beta=self.beta,
            epsilon=self.choice,
            penalty=self.penalty,
            n0=self.n0,
            slots=self.max_rows_per_person,
            published=self.published,
            claim=claim,
            notes=self._notes(model, claim),
        )

    def check(self, table: Table) -> None:
        """Reject a table whose claim would depend on something inferred from its records.

        Raises:
            InputError: Something is undeclared, or `max_rows_per_person` is given without person
                columns.
        """
        gaps = undeclared(table)
        if gaps:
            raise InputError(
                "safe-la publishes only what is declared independently of the records; "
                f"in the schema: {'; '.join(gaps)}"
            )
        if self.max_rows_per_person > 1 and protected_unit(table) == "record":
            raise InputError(
                "max_rows_per_person needs a table with person columns; add  person:  to the "
                "schema, or leave the option out"
            )

    def price(self, model: Model, table: Table | None = None) -> DPUnderSampling:
        """Return the claim of a release under a model, before anything is drawn."""
        return self.claim(self._k(model), "record" if table is None else protected_unit(table))

    def claim(self, k: int, unit: ProtectedUnit = "record") -> DPUnderSampling:
        """Return the claim of a release with classes of at least k."""
        from shoal.dp.claims import DPUnderSampling

        return DPUnderSampling.of(
            k,
            self.beta,
            self.choice,
            sampling_epsilon=self._budget.per_sample,
            proven=not self.published,
            seeded=self.seed is not None,
            public=_PUBLIC,
            unit=unit,
            max_rows_per_person=self.max_rows_per_person,
        )

    @property
    def _budget(self) -> SampleBudget:
        from shoal.dp.planning import SampleBudget

        form: Form = "published" if self.published else "tight"
        samples = self.max_rows_per_person
        return SampleBudget(self.epsilon, self.choice, self.beta, samples, form=form)

    def _k(self, model: Model) -> int:
        """Return the least size of a class, given the model and the δ to reach."""
        if not model.by_size:
            raise InputError(
                f"safe-la drops classes only by their size, which does not meet {model}; use "
                "k-anonymity"
            )
        k = max(model.least_size, 2)
        if self.delta is not None:
            k = max(k, self._budget.least_k(self.delta))
        delta = self._budget.delta(k)
        if delta > 1 / self.n0 and not self.allow_large_delta:
            raise InputError(
                f"delta = {delta:.3g} exceeds 1/n0 = {1 / self.n0:.3g}, so single records may be "
                f"revealed; use k = {self._budget.least_k(1 / self.n0)} or more, or set "
                "allow_large_delta to release anyway"
            )
        return k

    def _notes(self, model: Model, claim: DPUnderSampling) -> tuple[str, ...]:
        """Return notes for the owner, which do not depend on the records."""
        notes = []
        if claim.k > model.least_size:
            notes.append(f"k is {claim.k} instead of {model.least_size} to reach delta")
        if claim.delta > 1 / self.n0:
            notes.append(
                f"delta = {claim.delta:.3g} exceeds 1/n0, as allow_large_delta permits: single "
                "records may be revealed"
            )
        if self.published:
            notes.append("drawn by the mechanism as published; its claim is not proven")
        if self.seed is not None:
            notes.append("drawn with a seed, so the draw can be repeated: for testing only")
        return tuple(notes)


def protected_unit(table: Table) -> ProtectedUnit:
    """Return the unit in which neighbouring tables differ, by the schema of the table."""
    if table.household is not None:
        return "household"
    return "record" if table.person is None else "person"


def _raised(model: Model, k: int) -> Model:
    """Return the model with a larger k."""
    others = [part for part in model.parts if part.name != KAnonymity.name]
    return reduce(and_, others, KAnonymity(k))
