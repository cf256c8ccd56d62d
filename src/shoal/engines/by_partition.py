"""Anonymize a table on disk partition by partition, with any method that groups records."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Role
from shoal.core.counted_classes import Marginals
from shoal.core.provenance import Run
from shoal.core.release import Release
from shoal.engines.cutting import Partition, bins, cut
from shoal.engines.engine import Tuples
from shoal.engines.packing import Packing
from shoal.engines.partitioned_release import Figures, PartitionedRelease
from shoal.engines.partitions import LOSSES, Work
from shoal.engines.published import Cells
from shoal.engines.published_texts import PublishedTexts
from shoal.errors import InputError
from shoal.privacy.model import Model
from shoal.support.progress import report
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.engines.large_table import LargeTable

_BY_CLASS = (  # models that depend on a class alone, not on the distribution in the table
    "k-anonymity",
    "l-diversity",
    "entropy-l-diversity",
    "recursive-diversity",
    "alpha-k-anonymity",
    "risk",
)
PARTITION_ROWS = 500_000
_MIN_CLASSES = 10  # of the least size, in a partition
_MAX_TUPLES = 1_000_000  # from which the cuts are chosen
_WORKERS_SHARE = 0.4  # of the budget, for all workers
_BYTES_PER_ROW = 700  # of a partition in a worker


def depends_on_classes(model: Model) -> bool:
    """Return whether a model depends on each class alone, so that partitions can meet it."""
    return all(part.name in _BY_CLASS for part in model.parts)


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
        partition_rows: Rows of a partition, at most.
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
    maps = bins({column.name: source.encoded[column.name].counts for column in quasi})
    tuples = source.engine.tuples(packing, maps, _MAX_TUPLES)
    if isinstance(tuples, int):  # even with two bins a column
        tuples = source.engine.tuples(packing, maps[-1:], None)
    assert isinstance(tuples, Tuples)
    codes = {column.name: packing.unpack(tuples.words, column.name) for column in quasi}
    partitions = cut(quasi, codes, tuples.counts, rows, _MIN_CLASSES * model.least_size)
    empty = {name: c.take(np.zeros(0, dtype=np.int64)) for name, c in kept.items()}
    units = source.units
    on_part = partial(search, part=True)
    work = Work(tuple(empty.values()), units["person"], units["household"], on_part)
    runner = _Runner(source, work, processes)
    texts = PublishedTexts([column.name for column in quasi], source.new_folder(), source.budget)
    figures, notes = runner.run(partitions, texts)
    original = Marginals(tuple(empty.values()), unassigned=source.unassigned, total=records)
    notes = (
        f"anonymized in {counted(len(partitions), 'partition')} of at most {rows:,} rows",
        *runner.cost_of_cuts(partitions),
        *notes,
    )
    source.engine.rest()  # sorting the published texts needs its memory
    return PartitionedRelease(
        original,
        {},
        model,
        run=Run(notes=notes),
        source=source,
        columns={column.name: column for column in quasi},
        labels={name: _sorted(labels) for name, labels in texts.in_order()},
        figures=figures,
    )


def _sorted(labels: Any) -> Any:
    """Return a dictionary array whose dictionary is sorted, as published cells are."""
    cells = Cells.of(labels.dictionary)
    codes = cells.ranks[labels.indices.to_numpy(zero_copy_only=False)]
    return pa.DictionaryArray.from_arrays(pa.array(codes), cells.values)


def _partition_rows(
    source: LargeTable, model: Model, stated: int | None, processes: int | None
) -> int:
    workers = max((os.cpu_count() or 1) if processes is None else processes, 1)
    fits = max(source.budget.share(_WORKERS_SHARE) // workers // _BYTES_PER_ROW, 10_000)
    rows = min(PARTITION_ROWS, fits) if stated is None else stated
    least = 2 * _MIN_CLASSES * model.least_size
    if rows < least:
        raise InputError(
            f"partition_rows must be at least {least:,}, 20 times the least class size, "
            f"not {rows:,}"
        )
    return rows


class _Runner:
    """Runs the work on every partition; the engine stores the entries of all rows."""

    def __init__(self, source: LargeTable, work: Work, processes: int | None) -> None:
        self._source, self._work, self._processes = source, work, processes
        self._losses: list[float] = []
        self._sizes: list[int] = []

    def run(
        self, partitions: list[Partition], texts: PublishedTexts
    ) -> tuple[Figures, tuple[str, ...]]:
        """Return the figures and notes of the method."""
        quasi = [c.name for c in self._work.columns if c.role is Role.QUASI]
        totals = dict.fromkeys(LOSSES, 0.0)
        shares = {n: dict.fromkeys(("kept", "generalized", "hidden"), 0.0) for n in quasi}
        rows, lost = 0, 0
        notes: dict[str, None] = {}
        report("partition", 0, len(partitions))
        outcomes = self._source.engine.map_partitions(
            [[p] for p in partitions], self._work, self._processes, texts
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
        """Measure what one cut costs: two neighbours anonymized together and apart.

        Of all neighbours, two whose loss is close to that of the table.
        """
        if len(partitions) < 2 or len(self._sizes) != len(partitions):
            return ()
        pairs = [(first, first + 1) for first in range(len(partitions) - 1)
                 if partitions[first][:-1] == partitions[first + 1][:-1]]  # fmt: skip
        if not pairs:
            return ()
        first, second = min(pairs, key=self._distance_from_mean)
        chosen = [partitions[first], partitions[second]]
        worker = 1 if self._processes is None else min(self._processes, 1)  # frees its memory
        outcomes = self._source.engine.map_partitions([chosen], self._work, worker)
        together = next(iter(outcomes)).losses["ncp"]
        apart = self._loss([first, second])
        change = (apart / together - 1) if together else 0.0
        return (
            f"cost of a cut, measured on two neighbouring partitions: ncp {apart:.4f} apart and "
            f"{together:.4f} together, a difference of {100 * change:+.1f} %",
        )

    def _loss(self, chosen: Sequence[int]) -> float:
        """Return the mean loss of the rows of some partitions."""
        sizes = [self._sizes[place] for place in chosen]
        lost = sum(self._losses[place] * self._sizes[place] for place in chosen)
        return lost / max(sum(sizes), 1)

    def _distance_from_mean(self, pair: tuple[int, int]) -> float:
        """Return how far the loss of two partitions is from that of the table."""
        return abs(self._loss(pair) - self._loss(range(len(self._sizes))))
