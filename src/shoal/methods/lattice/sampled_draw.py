"""The draw of `safe-la`: a node, a sample of each slot, and the classes that are large enough.

    rows of each unit → slots → a node, drawn over all slots
                      ↘ samples of the slots ──┴→ classes of k drawn records → release

Everything that is not random is computed once, so that a draw can be repeated many times. Records
are drawn in the order of their published values, and of those of their person. A seed then gives
the same release whatever the order of the rows, and whether or not equal records are stored as one
row with a count. Without a seed the order does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError
from shoal.methods.lattice.lattice import Lattice, Node, unguided
from shoal.methods.lattice.node_choice import NodeChoice, all_published
from shoal.methods.lattice.problem import measurable
from shoal.privacy.model import Model
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts
from shoal.table.people import Grouping, Unit, group
from shoal.table.recoding import Recoding
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.dp.claims import DPUnderSampling


@dataclass(frozen=True, eq=False)
class SampledDraw:
    """The parts of a release that are not random.

    Parameters:
        records: The table; a row of a weighted table has several records.
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
        lattice = all_published(table)
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
            table, lattice, model, k, beta, epsilon, penalty, n0, slots, published, claim, notes
        )

    def draw(self, seed: int | None = None) -> Release:
        """Draw a node and a sample, and return their release; a seed is for testing only."""
        for_node, for_slots, *for_samples = draw_seeds(seed, self.slots)
        slots = self._draw_slots(for_slots)
        samples = [self._sample(*each) for each in zip(slots, for_samples, strict=True)]
        node = self.choice(slots, samples).draw(for_node)
        kept = np.sum([self.in_large_classes(drawn, node) for drawn in samples], axis=0)
        return self._release(node, kept)

    def choice(self, slots: Sequence[Counts], samples: Sequence[Counts]) -> NodeChoice:
        """Return the choice of the node: by the slots of all records, or as published.

        The published choice uses the sample that is then released.

        slots, samples: for each slot, (rows,) records of each row that are in it, and the drawn
            ones of these.
        """
        if self.published:
            return self._scored([self._part(samples[0])])
        # equal slots, as in all draws without person columns, give the same choice
        key = b"".join(blake2b(each.astype(np.int64).tobytes()).digest() for each in slots)
        if key not in self._choices:
            self._choices[key] = self._scored([self._part(each) for each in slots])
        return self._choices[key]

    def in_large_classes(self, drawn: Counts, node: Node) -> Counts:
        """Return, of the drawn records of each row, those that at least k are published like."""
        if node not in self._classes:
            self._classes[node] = published_classes(self.lattice, node)
        classes = self._classes[node]
        large = classes.sizes(drawn) >= self.k
        return np.where(large[classes.ids], drawn, 0)

    @cached_property
    def _counts(self) -> Counts:
        """(rows,) the records of each row."""
        counts = self.records.counts
        return np.ones(len(self.records), dtype=np.int64) if counts is None else counts

    @cached_property
    def _tuples(self) -> Codes:
        return order_tuples(self.lattice)

    @cached_property
    def _by_tuple(self) -> Counts:
        return np.argsort(self._tuples, kind="stable")

    @cached_property
    def _by_unit(self) -> tuple[Counts, Counts]:
        """The rows in the order of their units and tuples, and the rank of each one's unit."""
        unit = self.records.unit
        assert unit is not None
        ranks = order_units(unit, self._tuples, self.records.counts)[unit.ids]
        order = np.lexsort((self._tuples, ranks))
        return order, ranks[order]

    def _draw_slots(self, seed: int | None) -> list[Counts]:
        """For each slot, (rows,) the records in it: in random order, the first ones of each unit.

        It depends only on a unit's own rows and its own randomness, so an additional unit does not
        change the slots of other units.
        """
        from shoal.dp import mechanisms

        slots = [np.zeros(len(self.records), dtype=np.int64) for _ in range(self.slots)]
        if self.records.unit is None:  # every record is a unit of its own
            return [self._counts, *slots[1:]]
        source = None if seed is None else np.random.default_rng(seed)
        order, units = self._by_unit
        for block in blocks_of_units(units, self._counts[order]):
            rows = np.repeat(order[block], self._counts[order[block]])
            groups = np.repeat(units[block] - units[block][0], self._counts[order[block]])
            ranks = mechanisms.random_ranks(groups, source)
            for slot, taken in enumerate(slots):
                taken[rows[ranks == slot]] = 1
        return slots

    def _sample(self, slot: Counts, seed: int | None) -> Counts:
        """(rows,) the drawn records of each row, of those in a slot."""
        from shoal.dp import mechanisms

        drawn = np.empty_like(slot)
        drawn[self._by_tuple] = mechanisms.sample_groups(slot[self._by_tuple], self.beta, seed)
        return drawn

    def _part(self, counts: Counts) -> Lattice:
        """Return the lattice of some records: (rows,) how many of each row."""
        if np.array_equal(counts, self._counts):
            return self.lattice
        rows = np.flatnonzero(counts)
        part = self.records.take(rows)
        if part.counts is not None:
            part = replace(part, counts=counts[rows])
        return all_published(part)

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

    def _release(self, node: Node, kept: Counts) -> Release:
        """Return the release of some records of each row at a node."""
        records, out = self._divided(kept)
        return Release(
            records,
            {
                column.name: self._recoding(records, index, level).suppress(out)
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

    def _divided(self, kept: Counts) -> tuple[Table, Bools]:
        """Return the table, and (rows,) whether each row is left out.

        A row of a weighted table of which some records are kept becomes two rows.
        """
        counts = self.records.counts
        if counts is None:
            return self.records, kept == 0
        shown, left = np.flatnonzero(kept), np.flatnonzero(kept < counts)
        records = replace(
            self.records.take(np.concatenate((shown, left))),
            counts=np.concatenate((kept[shown], (counts - kept)[left])),
        )
        return records, np.arange(len(records)) >= len(shown)

    def _recoding(self, records: Table, index: int, level: int) -> Recoding:
        column = self.lattice.columns[index]
        made = replace(column, codes=records[column.name].codes)
        if records is not self.records:
            return Recoding.at_level(made, level)
        key = column.name, level
        if key not in self._levels:
            self._levels[key] = Recoding.at_level(made, level)
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
    large: Bools = (classes.sizes() >= k)[classes.ids]
    return large


def published_classes(lattice: Lattice, node: Node) -> Grouping:
    """Return the classes of records with equal published values at a node."""
    others = [lattice.table[name] for name in lattice.apart]
    codes = [*lattice.codes(node), *(c.codes for c in others)]
    return group(codes, [*lattice.domains(node), *(c.domain for c in others)])


_BLOCK = 1 << 22  # records that are in memory at once


def order_tuples(lattice: Lattice) -> Codes:
    """(rows,) the rank of each row's tuple of published values."""
    columns = lattice.table.columns
    return group([c.codes for c in columns], [c.domain for c in columns]).ids


def order_units(unit: Unit, tuples: Codes, counts: Counts | None) -> Counts:
    """(units,) the rank of each unit by the tuples of its records, equal units in any order.

    The tuples of a unit are compared like the letters of a word, in ascending order, each with its
    number of records. As in a radix sort, units are sorted by their last tuple first.
    """
    pairs = group([unit.ids, tuples], [unit.count, int(tuples.max(initial=0)) + 1])
    of_unit, of_tuple, records = unit.ids[pairs.first], tuples[pairs.first], pairs.sizes(counts)
    domains = [int(each.max(initial=0)) + 1 for each in (of_tuple, records)]
    letters = group([of_tuple, records], domains).ids
    lengths = np.bincount(of_unit, minlength=unit.count)
    first = np.cumsum(lengths) - lengths
    by_length = np.argsort(lengths, kind="stable")
    ends = np.searchsorted(lengths[by_length], np.arange(int(lengths.max(initial=0)) + 2))
    second = int(lengths[by_length[-2]]) if unit.count > 1 else 0
    order = by_length[ends[second + 1] :]  # at most one unit, which needs no sorting
    for place in range(second - 1, -1, -1):
        # units that end here precede those that begin alike and are longer
        order = np.concatenate((by_length[ends[place + 1] : ends[place + 2]], order))
        order = order[np.argsort(letters[first[order] + place], kind="stable")]
    ranks = np.empty(unit.count, dtype=np.int64)
    ranks[order] = np.arange(unit.count)
    return ranks


def blocks_of_units(units: Counts, counts: Counts) -> Iterator[slice]:
    """Yield ranges of rows with the records of whole units.

    A range has at most `_BLOCK` records, or those of one unit.

    units: (rows,) the unit of each row, in ascending order. counts: (rows,) its records.
    """
    starts = np.flatnonzero(np.append(True, units[1:] != units[:-1])) if len(units) else units
    ends = np.append(starts[1:], len(units)) if len(units) else units
    before = np.append(0, np.cumsum(counts))
    first = 0
    while first < len(starts):
        most = before[starts[first]] + _BLOCK
        last = max(int(np.searchsorted(before[ends], most, side="right")), first + 1)
        yield slice(int(starts[first]), int(ends[last - 1]))
        first = last
