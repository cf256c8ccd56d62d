"""The draw of `safe-la`: a node, a sample of each slot, and the classes that are large enough.

Everything that is not random is computed once, so that a draw can be repeated many times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.anonymize.lattice.lattice import Lattice, Node
from shoal.anonymize.lattice.node_choice import NodeChoice, all_published
from shoal.anonymize.lattice.searching import measurable
from shoal.anonymize.lattice.views import unguided
from shoal.core.grouping import Grouping, group
from shoal.core.provenance import Run
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.model import Model
from shoal.support.arrays import Bools, Codes, Counts

if TYPE_CHECKING:
    from shoal.dp.claims import DPUnderSampling

_LEFT_OUT = -1  # the slot of a row without a slot


@dataclass(frozen=True, eq=False)
class SampledDraw:
    """The parts of a release that are not random.

    Parameters:
        records: The table, one row for each record.
        lattice: Its lattice, with classes over all published columns.
        model: The guarantee of the release, with the k below.
        k: Drawn units that a class needs in its slot.
        beta: Probability that a unit of a slot is drawn.
        epsilon: Budget of the choice of the node.
        penalty: Cost of losing all records, relative to hiding all cells.
        n0: Publicly known approximate number of records.
        slots: Number of rows that one unit may have, each sampled separately.
        published: Choose the node on the sample, as published.
        claim: The claim of a release.
        notes: Notes for the owner.
    """

    records: Table
    lattice: Lattice
    model: Model
    k: int
    beta: float
    epsilon: float
    penalty: float
    n0: float
    slots: int
    published: bool
    claim: DPUnderSampling
    notes: tuple[str, ...]
    _choices: dict[bytes, NodeChoice] = field(init=False, repr=False, default_factory=dict)
    _classes: dict[Node, Grouping] = field(init=False, repr=False, default_factory=dict)
    _levels: dict[tuple[str, int], Recoding] = field(init=False, repr=False, default_factory=dict)

    @classmethod
    def of(
        cls,
        table: Table,
        model: Model,
        *,
        notes: tuple[str, ...],
        k: int,
        beta: float,
        epsilon: float,
        penalty: float,
        n0: float,
        slots: int,
        published: bool,
        claim: DPUnderSampling,
    ) -> SampledDraw:
        """Prepare a table; reject a lattice that is too large, by its public shape."""
        records = _one_by_one(table)
        lattice = all_published(records)
        if not measurable(lattice):
            raise InputError(
                f"the lattice has {lattice.nodes:,} nodes, too many to score; use fewer "
                "quasi-identifiers or flatter hierarchies"
            )
        if lattice.apart:
            apart = ", ".join(lattice.apart)
            notes = (f"classes are also counted over the published columns {apart}", *notes)
        notes = (*unguided(lattice), *notes)
        return cls(
            records, lattice, model, k, beta, epsilon, penalty, n0, slots, published, claim, notes
        )

    def draw(self, seed: int | None = None) -> Release:
        """Draw a node and a sample, and return their release; a seed is for testing only."""
        from shoal.dp.mechanisms import bernoulli

        for_node, for_slots, *for_samples = draw_seeds(seed, self.slots)
        slots = self._draw_slots(for_slots)
        samples = []
        for slot, its_seed in enumerate(for_samples):
            rows = np.flatnonzero(slots == slot)
            samples.append(rows[bernoulli(len(rows), self.beta, its_seed)])
        node = self.choice(slots, samples).draw(for_node)
        out = np.ones(len(self.records), dtype=np.bool_)
        for drawn in samples:
            out[drawn[self.in_large_classes(drawn, node)]] = False
        return self._release(node, out)

    def choice(self, slots: Codes, samples: Sequence[Counts]) -> NodeChoice:
        """Return the choice of the node: by the slots of all records, or as published.

        The published choice uses the sample that is then released.
        """
        if self.published:
            return self._scored([all_published(self.records.take(samples[0]))])
        return self._choice(slots)

    def in_large_classes(self, drawn: Counts, node: Node) -> Bools:
        """Return, for each drawn row, whether at least k drawn rows are published like it."""
        if node not in self._classes:
            self._classes[node] = published_classes(self.lattice, node)
        return _large(self._classes[node].ids[drawn], len(self._classes[node]), self.k)

    def _draw_slots(self, seed: int | None) -> Codes:
        """(rows,) the slot of each row: in random order, the first rows of each unit.

        It depends only on a unit's own rows and its own randomness, so an additional unit does not
        change the slots of other units.
        """
        from shoal.dp.mechanisms import random_ranks

        unit = self.records.unit
        if unit is None:  # every row is a unit of its own
            return np.zeros(len(self.records), dtype=np.int32)
        ranks = random_ranks(unit.ids, seed)
        return np.where(ranks < self.slots, ranks, _LEFT_OUT).astype(np.int32)

    def _choice(self, slots: Codes) -> NodeChoice:
        """Return the choice of the node, by the sum of the scores of all slots."""
        key = slots.tobytes()
        if key not in self._choices:
            if self.slots == 1 and not (slots == _LEFT_OUT).any():
                parts = [self.lattice]
            else:
                rows = [np.flatnonzero(slots == slot) for slot in range(self.slots)]
                parts = [all_published(self.records.take(each)) for each in rows]
            self._choices[key] = self._scored(parts)
        return self._choices[key]

    def _scored(self, parts: list[Lattice]) -> NodeChoice:
        return NodeChoice.of(
            parts,
            k=self.k,
            beta=self.beta,
            epsilon=self.epsilon,
            penalty=self.penalty,
            n0=self.n0,
            score="published" if self.published else "expected",
        )

    def _release(self, node: Node, out: Bools) -> Release:
        return Release(
            self.records,
            {
                column.name: self._recoding(index, level).suppress(out)
                for index, (column, level) in enumerate(
                    zip(self.lattice.columns, node, strict=True)
                )
            },
            self.model,
            out if out.any() else None,
            Run(notes=self.notes),
            self.lattice.named(node),
            evaluated=self.lattice.nodes,
            claims=(self.claim,),
        )

    def _recoding(self, index: int, level: int) -> Recoding:
        column = self.lattice.columns[index]
        key = column.name, level
        if key not in self._levels:
            codes = self.records[column.name].codes
            self._levels[key] = Recoding.at_level(replace(column, codes=codes), level)
        return self._levels[key]


def draw_seeds(seed: int | None, slots: int) -> list[int | None]:
    """Return a seed for the node, one for the slots, and one for the sample of each slot."""
    if seed is None:
        return [None] * (slots + 2)
    words = np.random.SeedSequence(seed).generate_state(slots + 2, np.uint64).tolist()
    return [words[0], words[2], words[1], *words[3:]]


def in_large_classes(sample: Table, node: Node, k: int) -> Bools:
    """Return, for each row, whether at least k rows are equal in all published columns."""
    classes = published_classes(all_published(sample), node)
    return _large(classes.ids, len(classes), k)


def published_classes(lattice: Lattice, node: Node) -> Grouping:
    """Return the classes of records with equal published values at a node."""
    others = [lattice.table[name] for name in lattice.apart]
    codes = [*lattice.codes(node), *(c.codes for c in others)]
    return group(codes, [*lattice.domains(node), *(c.domain for c in others)])


def _large(ids: Codes, classes: int, k: int) -> Bools:
    large: Bools = (np.bincount(ids, minlength=classes) >= k)[ids]
    return large


def _one_by_one(table: Table) -> Table:
    """Return the table with a row for each record, as records are drawn one by one."""
    if table.counts is None:
        return table
    rows = np.repeat(np.arange(len(table)), table.counts)
    return replace(table.take(rows), counts=None)
