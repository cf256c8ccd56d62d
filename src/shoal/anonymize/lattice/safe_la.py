"""ε-safe lattice anonymization: k-anonymity by a draw that is differentially private.

First a node of the lattice is drawn from all records, by the exponential mechanism over the records
that it is expected to keep. Then each record is drawn with probability β, afresh, recoded to that
node, and classes of fewer than k are dropped. Classes are counted over all published columns, not
the quasi-identifiers alone.

The node spends ε′. For a fixed node the rest is (ε − ε′, δ)-private as soon as ε − ε′ ≥ −ln(1 − β),
with a δ that falls with k; both together spend (ε, δ). Neighbours are tables of which one has one
record more.

Li, Qardaji & Su, "On sampling, anonymization, and differential privacy", ASIACCS 2012; Li,
"Improving a de-identification algorithm that achieves both k-anonymity and differential privacy",
2019. The latter draws the node from the sample that it then releases, by a utility that divides by
the number of records; no proof covers that. It is here under `published`, to be repeated, and its
release says so.

What may depend on records that are not released, and so is not published: the number of records,
what was lost, the order of rows, errors, the time taken. A release may be empty. An error would
tell that every class was small, and going on to a coarser node would tell the same; an empty table
is one result among others, which ε and δ account for. Fewer than k records give one too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.anonymize.algorithm import check_choice
from shoal.anonymize.lattice.lattice import Lattice, Node
from shoal.anonymize.lattice.node_choice import MOST_PENALTY, NodeChoice, all_published
from shoal.anonymize.lattice.searching import measurable
from shoal.anonymize.lattice.views import unguided
from shoal.core.arrays import Bools
from shoal.core.grouping import group
from shoal.core.recoding import Recoding
from shoal.core.release import Release, Run
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import Model, check_range, check_whole

if TYPE_CHECKING:
    from shoal.dp.claims import DPUnderSampling
    from shoal.dp.sampling import Form

_ROUNDING = 1e-12
_PUBLIC = (
    "k",
    "β",
    "the penalty and n0",
    "names, roles and types of columns",
    "the hierarchies, which must not be built from the table",
)


@dataclass(frozen=True, kw_only=True)
class SafeLA:
    """Full-domain generalization of a sample, at a node drawn by chance.

    epsilon: what the release may spend in all.
    choice: the part of epsilon that the draw of the node spends; the sample needs −ln(1 − beta).
    beta: the chance of each record to be drawn.
    delta: the δ to reach, by a larger k than the model's if need be; by default that of its k.
    penalty: how much worse it is to lose all records than to hide all cells.
    n0: about how many records the table is known to have, by those who do not have it. The penalty
        is in proportion to it. Never put the table's own number here, which is not public.
    published: the mechanism as its paper has it, whose claim is unproven.
    seed: repeats a draw, for testing; without one it is secure.
    """

    name: ClassVar[str] = "safe-la"
    any_size: ClassVar[bool] = True  # to refuse a small table would tell that it is one
    epsilon: float = 1.5
    choice: float = 0.1
    beta: float = 0.7
    delta: float | None = None
    penalty: float = 1.0
    n0: float = 10_000
    published: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        check_range("choice", self.choice, 0, above=True)
        check_range("beta", self.beta, 0, 1, above=True)
        check_range("epsilon", self.epsilon, 0, above=True)
        check_range("penalty", self.penalty, 0, above=True)
        check_range("n0", self.n0, 0, above=True)
        check_range("n0 / penalty", self.n0 / self.penalty, 0, MOST_PENALTY)
        check_choice("published", self.published, (True, False))
        if self.seed is not None:
            check_whole("seed", self.seed, 0)
        if self.beta == 1:
            raise InputError("beta must be less than 1: who is drawn must be left to chance")
        least = self.choice - math.log1p(-self.beta)
        if self.epsilon < least - _ROUNDING:
            raise InputError(
                f"epsilon must be at least choice − ln(1 − beta) = {least:.6g}, not "
                f"{self.epsilon:g}; raise epsilon, or lower beta or choice"
            )
        if self.delta is not None:
            check_range("delta", self.delta, 0, 1, above=True)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release of a sample at a node, both drawn by chance."""
        from shoal.dp.mechanisms import bernoulli

        k = self._k(model)
        records = _one_by_one(table)
        for_node, for_sample = self._seeds()
        drawn = np.flatnonzero(bernoulli(len(records), self.beta, for_sample))
        sample = records.take(drawn)
        choice = self._choice(sample if self.published else records, k)
        node = choice.draw(for_node)
        out = np.ones(len(records), dtype=np.bool_)
        out[drawn[in_large_classes(sample, node, k)]] = False
        claim = self.claim(k)
        kept = model if k == model.least_size else _raised(model, k)
        return Release(
            records,
            _recodings(choice.lattice, node, records, out),
            kept,
            out if out.any() else None,
            Run(notes=(*unguided(choice.lattice), *self._notes(choice.lattice, model, claim))),
            choice.lattice.named(node),
            evaluated=choice.lattice.nodes,
            claims=(claim,),
        )

    def price(self, model: Model) -> DPUnderSampling:
        """Return what a release under a model will claim, before anything is drawn."""
        return self.claim(self._k(model))

    def claim(self, k: int) -> DPUnderSampling:
        """Return what a release with classes of at least k claims."""
        from shoal.dp.claims import DPUnderSampling

        return DPUnderSampling.of(
            k,
            self.beta,
            self.choice,
            sampling_epsilon=self._for_sample,
            proven=not self.published,
            seeded=self.seed is not None,
            public=_PUBLIC,
        )

    @property
    def _for_sample(self) -> float:
        return max(self.epsilon - self.choice, -math.log1p(-self.beta))

    def _k(self, model: Model) -> int:
        """Return the least size of a class, by the model and the δ that is to be reached."""
        from shoal.dp.sampling import least_k

        if not model.by_size:
            raise InputError(
                f"safe-la drops classes by their size alone, which does not keep {model}; ask for "
                "k-anonymity"
            )
        k = max(model.least_size, 2)
        if self.delta is None:
            return k
        form: Form = "published" if self.published else "tight"
        return max(k, least_k(self._for_sample, self.delta, self.beta, form=form))

    def _choice(self, table: Table, k: int) -> NodeChoice:
        lattice = all_published(table)
        if not measurable(lattice):
            raise InputError(
                f"the lattice has {lattice.nodes:,} nodes, too many to look at all; use fewer "
                "quasi-identifiers or flatter hierarchies, or publish fewer other columns"
            )
        return NodeChoice.of(
            lattice,
            k=k,
            beta=self.beta,
            epsilon=self.choice,
            penalty=self.penalty,
            n0=self.n0,
            score="published" if self.published else "expected",
        )

    def _seeds(self) -> tuple[int | None, int | None]:
        """Return a seed for the node and another for the sample."""
        if self.seed is None:
            return None, None
        first, second = np.random.SeedSequence(self.seed).generate_state(2, np.uint64).tolist()
        return first, second

    def _notes(self, lattice: Lattice, model: Model, claim: DPUnderSampling) -> Sequence[str]:
        """Return what the owner should know; nothing in it depends on the records."""
        told = []
        if lattice.apart:
            told.append(
                f"classes are counted over {', '.join(lattice.apart)} too, as they are published; "
                "leave out what need not be"
            )
        if claim.k > model.least_size:
            told.append(f"k is {claim.k} instead of {model.least_size}, to reach delta")
        if claim.delta > 1 / self.n0:
            told.append(
                f"delta = {claim.delta:.3g} is more than 1 / n0: single records may show; state a "
                "delta, or ask for a larger k"
            )
        if self.published:
            told.append("drawn by the mechanism as published, whose claim is unproven")
        if self.seed is not None:
            told.append("drawn with a seed, by which it can be repeated: for testing only")
        return told


def _one_by_one(table: Table) -> Table:
    """Return the table with a row for each record, as records are drawn one by one."""
    if table.counts is None:
        return table
    rows = np.repeat(np.arange(len(table)), table.counts)
    return Table(tuple(c.take(rows) for c in table.columns), None, table.unassigned)


def in_large_classes(sample: Table, node: Node, k: int) -> Bools:
    """Tell, row by row, whether at least k rows are alike in all that is published of them."""
    lattice = all_published(sample)
    others = [lattice.table[name] for name in lattice.apart]
    codes = [*lattice.codes(node), *(c.codes for c in others)]
    found = group(codes, [*lattice.domains(node), *(c.domain for c in others)])
    large: Bools = (found.sizes() >= k)[found.ids]
    return large


def _recodings(lattice: Lattice, node: Node, records: Table, out: Bools) -> dict[str, Recoding]:
    """Return what is published of each quasi-identifier at a node."""
    return {
        column.name: Recoding.at_level(
            replace(column, codes=records[column.name].codes), level
        ).suppress(out)
        for column, level in zip(lattice.columns, node, strict=True)
    }


def _raised(model: Model, k: int) -> Model:
    """Return the model with a larger k."""
    others = [part for part in model.parts if part.name != KAnonymity.name]
    return reduce(and_, others, KAnonymity(k))
