"""Anonymize a table on disk partition by partition, with any method that groups records."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.core.column import Role
from shoal.core.counted_classes import Marginals
from shoal.core.provenance import Run
from shoal.core.release import Release
from shoal.engines.cutting import Partition, cut
from shoal.engines.engine import Engine, Tuples
from shoal.engines.packing import Packing, share_drawn
from shoal.engines.partitioned_release import Figures, PartitionedRelease
from shoal.engines.partitions import LOSSES, Numbering, Work
from shoal.errors import InputError
from shoal.privacy.model import Model
from shoal.support.arrays import Counts
from shoal.support.progress import report
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.engines.large_table import LargeTable

GROUPING = ("sorted", "greedy", "k-member", "split-carry", "optimal", "anneal", "mondrian")
_BY_CLASS = (  # models that depend on a class alone, not on the distribution in the table
    "k-anonymity",
    "l-diversity",
    "entropy-l-diversity",
    "recursive-diversity",
    "alpha-k-anonymity",
    "risk",
)
PARTITION_ROWS = 500_000
_SAMPLE = 1_000_000  # tuples from which the cuts are chosen
_WORKERS_SHARE = 0.4  # of the budget, for all workers
_BYTES_PER_ROW = 700  # of a partition in a worker


def runs_on_partitions(algorithm: Any) -> bool:
    """Return whether a method groups records, so that it can run on partitions."""
    return getattr(algorithm, "name", "") in GROUPING


def anonymize_by_partition(
    source: LargeTable,
    model: Model,
    algorithm: Any,
    search: Callable[..., Release],
    partition_rows: int | None,
    processes: int | None,
) -> PartitionedRelease:
    """Return the release of a method that runs on each partition.

    Parameters:
        source: The table.
        model: The guarantee, which must depend on classes alone.
        algorithm: The method.
        search: Runs the method on a table in memory, and checks its release; `part` states that
            the table is one of many partitions.
        partition_rows: Rows of a partition, at most about.
        processes: Number of worker processes; by default one per core.
    """
    for part in model.parts:
        if part.name not in _BY_CLASS:
            raise InputError(
                f"{part} depends on the whole table, so partitions cannot be anonymized on their "
                "own; use k-anonymity or l-diversity, or state a larger memory"
            )
    rows = _partition_rows(source, model, partition_rows, processes)
    quasi = [source.encoded[name].column for name in source.names(Role.QUASI)]
    kept = {c.name: c for c in quasi} | {n: source.encoded[n].column for n in model.columns}
    records = source.records
    packing = Packing.of({column.name: column.domain for column in quasi})
    words, counts = sample_tuples(source.engine, packing, _SAMPLE)
    codes = {column.name: packing.unpack(words, column.name) for column in quasi}
    partitions = cut(quasi, codes, counts, records, rows)
    empty = {name: c.take(np.zeros(0, dtype=np.int64)) for name, c in kept.items()}
    units = source.units
    on_part = partial(search, part=True)
    work = Work(tuple(empty.values()), units["person"], units["household"], on_part)
    runner = _Runner(source, work)
    numbering = Numbering([column.name for column in quasi])
    figures, notes = runner.run(partitions, processes, numbering)
    original = Marginals(tuple(empty.values()), unassigned=source.unassigned, total=records)
    notes = (
        f"anonymized in {counted(len(partitions), 'partition')} of at most about {rows:,} rows",
        *runner.cost_of_cuts(partitions),
        *notes,
    )
    return PartitionedRelease(
        original,
        {},
        model,
        run=Run(notes=notes),
        source=source,
        columns={column.name: column for column in quasi},
        labels=numbering.labels,
        figures=figures,
    )


def sample_tuples(engine: Engine, packing: Packing, most: int) -> tuple[list[Counts], Counts]:
    """Return about `most` of the distinct tuples at random, in order, and the rows of each.

    The mixed words of a tuple decide, so the sample depends on neither rows nor engine.
    """
    about = engine.tuples(packing, [{}], 0)
    assert isinstance(about, int)
    found = engine.tuples(packing, [{}], None, every=share_drawn(about, most))
    assert isinstance(found, Tuples)
    order = np.lexsort(found.words[::-1])
    return [word[order] for word in found.words], found.counts[order]


def _partition_rows(
    source: LargeTable, model: Model, stated: int | None, processes: int | None
) -> int:
    workers = max((os.cpu_count() or 1) if processes is None else processes, 1)
    fits = max(source.budget.share(_WORKERS_SHARE) // workers // _BYTES_PER_ROW, 10_000)
    rows = min(PARTITION_ROWS, fits) if stated is None else stated
    least = 20 * model.least_size
    if rows < least:
        raise InputError(
            f"partition_rows must be at least {least:,}, 20 times the least class size, "
            f"not {rows:,}"
        )
    return rows


class _Runner:
    """Runs the work on every partition; the engine stores the entries of all rows."""

    def __init__(self, source: LargeTable, work: Work) -> None:
        self._source, self._work = source, work
        self._losses: list[float] = []
        self._sizes: list[int] = []

    def run(
        self, partitions: list[Partition], processes: int | None, numbering: Numbering
    ) -> tuple[Figures, tuple[str, ...]]:
        """Return the figures and notes of the method."""
        quasi = [c.name for c in self._work.columns if c.role is Role.QUASI]
        totals = dict.fromkeys(LOSSES, 0.0)
        shares = {n: dict.fromkeys(("kept", "generalized", "hidden"), 0.0) for n in quasi}
        rows, lost = 0, 0
        notes: dict[str, None] = {}
        report("partition", 0, len(partitions))
        outcomes = self._source.engine.map_partitions(
            [[p] for p in partitions], self._work, processes, numbering
        )
        for place, outcome in enumerate(outcomes, 1):
            rows += outcome.rows
            lost += outcome.lost
            self._losses.append(outcome.losses["ncp"])
            self._sizes.append(outcome.rows)
            for name in LOSSES:
                totals[name] += outcome.losses[name] * outcome.rows
            for name, share in outcome.shares.items():
                for kind, value in share.items():
                    shares[name][kind] += value * outcome.rows
            notes |= dict.fromkeys(outcome.notes)
            report("partition", place, len(partitions))
        if rows != self._source.records:
            raise InputError(f"{self._source.files.name}: was changed while it was read")
        figures = Figures(
            {name: total / rows for name, total in totals.items()},
            {n: {kind: value / rows for kind, value in s.items()} for n, s in shares.items()},
            lost,
        )
        return figures, tuple(notes)

    def cost_of_cuts(self, partitions: list[Partition]) -> tuple[str, ...]:
        """Measure what one cut costs: two neighbours anonymized together and apart."""
        if len(partitions) < 2 or len(self._sizes) != len(partitions):
            return ()
        pair = _neighbours(partitions)
        if pair is None:
            return ()
        first, second = pair
        chosen = [partitions[first], partitions[second]]
        pairs = self._source.engine.map_partitions([chosen], self._work, 0)
        together = next(iter(pairs)).losses["ncp"]
        sizes = self._sizes[first], self._sizes[second]
        apart = self._losses[first] * sizes[0] + self._losses[second] * sizes[1]
        apart /= sum(sizes)
        change = (apart / together - 1) if together else 0.0
        return (
            f"cost of a cut, measured on two neighbouring partitions: ncp {apart:.4f} apart and "
            f"{together:.4f} together, a difference of {100 * change:+.1f} %",
        )


def _neighbours(partitions: list[Partition]) -> tuple[int, int] | None:
    """Return two partitions that differ in the side of their last cut only."""
    for place in range(len(partitions) - 1):
        one, other = partitions[place], partitions[place + 1]
        if one and other and one[:-1] == other[:-1]:
            return place, place + 1
    return None
