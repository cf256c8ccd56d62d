"""Anonymize a table whose rows stay where they are: on disk or in Spark.

    draws records (safe-la)         distinct tuples of all published columns → a sample of them
    hierarchies (flash, ola)        distinct tuples of the quasi-identifiers → one node
    groups records (anneal, …)      partitions of similar tuples → each one anonymized on its own,
                                    by several processes; also if distinct tuples do not fit

A method that draws records publishes declared columns only, and classes are counted over all of
them: records that are equal in all published columns are interchangeable. So the distinct tuples of
all published columns, with their numbers of records, determine how likely each release is. Which
nodes may be drawn never depends on the rows: if the tuples do not fit in memory, there is no
release.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.methods import versions
from shoal.methods.registry import Shape
from shoal.privacy.model import Model
from shoal.release.digest import base_nodes
from shoal.release.drawn_rows import DrawnRows
from shoal.release.large_release import LargeRelease
from shoal.release.partitioned_release import LOSSES, Figures, PartitionedRelease, PartitionWork
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.rows.choice import (
    draws_records,
    refusal,
    runs_on_disk,
    runs_on_partitions,
    runs_on_tuples,
)
from shoal.rows.dictionaries import stand_in, weighted_table
from shoal.rows.layout import Cells
from shoal.rows.packing import Packing
from shoal.rows.partitions import Partition, PublishedTexts, bins, cut
from shoal.rows.replacing import with_links
from shoal.rows.store import Tuples
from shoal.support.arrays import Counts
from shoal.support.progress import report
from shoal.support.wording import counted
from shoal.table.classes import Marginals
from shoal.table.column import Column, Role
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.identifiers.replacement import Context
    from shoal.rows.large_table import LargeTable

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


def anonymize_stored(
    source: LargeTable,
    model: Model,
    algorithm: Any,
    search: Callable[..., Release],
    secrets: Context,
) -> Release:
    """Return the release of a method, whose rows are written from where they are.

    Parameters:
        source: The table.
        model: The guarantee.
        algorithm: The method.
        search: Runs the method on a table in memory, and checks its release.
        secrets: The key and the domain of replaced identifiers.
    """
    source.prepare_identifiers(secrets)
    identifiers = source.published_identifiers
    if identifiers and draws_records(algorithm):
        raise InputError(
            f"{algorithm.name} claims differential privacy, which published identifiers "
            f"({', '.join(identifiers)}) would break; leave replace out"
        )
    release = _anonymized(source, model, algorithm, search)
    return replace(release, replaced=source.replaced) if identifiers else release


def shape_of(source: LargeTable, model: Model) -> Shape:
    """Return what the choice of a method for a table outside memory depends on."""
    quasi = source.names(Role.QUASI)
    hierarchies = any(source.encoded[name].column.hierarchy is not None for name in quasi)
    parts = depends_on_classes(model)
    return Shape(source.records, len(quasi), hierarchies, on_disk=True, in_parts=parts)


def _anonymized(
    source: LargeTable, model: Model, algorithm: Any, search: Callable[..., Release]
) -> Release:
    """Run the method on a sample, on distinct tuples, or on partitions."""
    if draws_records(algorithm):
        return anonymize_sample(source, model, algorithm, search)
    if not runs_on_tuples(algorithm) and runs_on_partitions(algorithm):
        return _by_partition(source, model, algorithm, search)
    if not runs_on_disk(algorithm):
        raise refusal(algorithm)
    try:
        table, floor, linked = weighted_tuples(source, model, algorithm)
    except TooManyTuples as error:
        if not runs_on_partitions(algorithm):
            raise
        release = _by_partition(source, model, algorithm, search)
        why = f"about {error.tuples:,} distinct tuples do not fit in {source.budget} of memory"
        return replace(release, run=replace(release.run, notes=(*release.run.notes, why)))
    source.engine.rest()
    if linked is None:
        return LargeRelease.of(search(table), source, floor)
    table, links = with_links(table, source.linking, linked)
    return LargeRelease.of(search(table, linked=links), source, floor, linked)


def _by_partition(
    source: LargeTable, model: Model, algorithm: Any, search: Callable[..., Release]
) -> Release:
    if source.linking:
        raise InputError(
            f"{', '.join(source.linking)} links the rows of a person, which can be in different "
            f"partitions; use flash or ola, leave out replace, or state a larger memory"
        )
    begun = time.perf_counter()
    rows, processes = source.partition_rows, source.processes
    release = anonymize_by_partition(source, model, algorithm, search, rows, processes)
    run = Run(
        algorithm.name,
        asdict(algorithm),
        getattr(algorithm, "seed", None),
        versions(),
        {"search": time.perf_counter() - begun},
        release.run.notes,
    )
    return replace(release, run=run)


class TooManyTuples(InputError):  # noqa: N818
    """The distinct tuples of a table do not fit in memory.

    tuples: their approximate number.
    """

    def __init__(self, message: str, tuples: int) -> None:
        super().__init__(message)
        self.tuples = tuples


def weighted_tuples(
    source: LargeTable, model: Model, algorithm: Any
) -> tuple[Table, Mapping[str, int], Counts | None]:
    """Return the distinct tuples with the columns of the model, and the levels they are at.

    The last part is the set of linked rows of each tuple, None if no rows are linked.
    """
    records = source.records
    quasi = [source.encoded[name].column for name in source.names(Role.QUASI)]
    if not quasi:
        raise InputError(
            "no column is quasi-identifying; give the role quasi to columns that others may know"
        )
    chosen = {column.name: column for column in quasi}
    for name in model.columns:
        if name in source.encoded:
            chosen[name] = source.encoded[name].column
    packing = Packing.of({name: column.domain for name, column in chosen.items()})
    most = source.most_tuples(len(chosen))
    nodes = base_nodes(quasi, source.encoded, model, algorithm, records)
    units = source.units
    people = bool(units["person"] or units["household"] or source.linking)
    tuples = source.engine.tuples(packing, [node.maps for node in nodes], most, people)
    if isinstance(tuples, int):
        raise TooManyTuples(_too_many(source, tuples, people, algorithm), tuples)
    columns = [
        replace(
            chosen[name],
            codes=packing.unpack(tuples.words, name),
            floor=nodes[tuples.node].levels.get(name, 0),
        )
        for name in source.roles
        if name in chosen
    ]
    table = weighted_table(source, columns, tuples)
    return table, nodes[tuples.node].levels, tuples.linked


def _too_many(source: LargeTable, tuples: int, people: bool, algorithm: Any) -> str:
    what = "pairs of a person and a tuple" if people else "distinct tuples"
    return (
        f"{source.files.name}: has about {tuples:,} {what}, too many for a search with "
        f"{algorithm.name} in {source.budget} of memory; state a larger memory, use fewer or "
        "coarser quasi-identifiers, or method flash or ola, which can begin at a coarser level"
    )


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
    columns = {c.name: c for c in quasi} | {n: source.encoded[n].column for n in model.columns}
    records = source.records
    partitions = _partitions(source, quasi, rows, _MIN_CLASSES * model.least_size)
    empty = {name: c.take(np.zeros(0, dtype=np.int64)) for name, c in columns.items()}
    units = source.units
    on_part = partial(search, part=True)
    work = PartitionWork(tuple(empty.values()), units["person"], units["household"], on_part)
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


def _partitions(source: LargeTable, quasi: list[Column], rows: int, least: int) -> list[Partition]:
    """Return partitions of similar tuples, with at least and at most some rows where possible.

    They are cut on tuples of bins of values: the finest bins that give few enough tuples.
    """
    packing = Packing.of({column.name: column.domain for column in quasi})
    maps = bins({column.name: source.encoded[column.name].counts for column in quasi})
    tuples = source.engine.tuples(packing, maps, _MAX_TUPLES)
    if isinstance(tuples, int):  # even with two bins a column
        tuples = source.engine.tuples(packing, maps[-1:], None)
    assert isinstance(tuples, Tuples)
    codes = {column.name: packing.unpack(tuples.words, column.name) for column in quasi}
    return cut(quasi, codes, tuples.counts, rows, least)


def _partition_rows(
    source: LargeTable, model: Model, stated: int | None, processes: int | None
) -> int:
    workers = max((os.cpu_count() or 1) if processes is None else processes, 1)
    # each worker holds one partition at a time
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

    def __init__(self, source: LargeTable, work: PartitionWork, processes: int | None) -> None:
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
        for done, outcome in enumerate(outcomes, 1):
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
            report("partition", done, len(partitions))
        if rows != self._source.records:
            raise InputError(f"{self._source.files.name}: was changed while it was read")
        figures = Figures(
            {name: total / rows for name, total in totals.items()},
            {n: {kind: value / rows for kind, value in s.items()} for n, s in shares.items()},
            lost,
        )
        return figures, tuple(notes)

    def cost_of_cuts(self, partitions: list[Partition]) -> tuple[str, ...]:
        """Estimate the extra loss at a cut: anonymize two neighbouring partitions also together.

        The neighbours are the two whose loss is closest to that of the table.
        """
        if len(partitions) < 2 or len(self._sizes) != len(partitions):
            return ()
        pairs = [(first, first + 1) for first in range(len(partitions) - 1)
                 if partitions[first][:-1] == partitions[first + 1][:-1]]  # fmt: skip
        if not pairs:
            return ()
        mean = self._loss(range(len(self._sizes)))
        first, second = min(pairs, key=lambda pair: abs(self._loss(pair) - mean))
        chosen = [partitions[first], partitions[second]]
        worker = 1 if self._processes is None else min(self._processes, 1)  # frees its memory
        outcomes = self._source.engine.map_partitions([chosen], self._work, worker)
        together = next(iter(outcomes)).losses["ncp"]
        apart = self._loss([first, second])
        change = (apart / together - 1) if together else 0.0
        return (
            f"cost of a cut, measured on two neighbouring partitions: ncp {apart:.4f} separately "
            f"and {together:.4f} together, a difference of {100 * change:+.1f} %",
        )

    def _loss(self, chosen: Sequence[int]) -> float:
        """Return the mean loss of the rows of some partitions."""
        sizes = [self._sizes[index] for index in chosen]
        lost = sum(self._losses[index] * self._sizes[index] for index in chosen)
        return lost / max(sum(sizes), 1)


def anonymize_sample(
    source: LargeTable, model: Model, algorithm: Any, search: Callable[[Table], Release]
) -> Release:
    """Return the release of a method that draws records.

    Parameters:
        source: The table.
        model: The guarantee.
        algorithm: The method.
        search: Runs the method on a weighted table in memory, and checks its release.
    """
    if source.names(Role.WEIGHT):
        raise InputError(
            f"{algorithm.name} does not support sampling weights on disk; remove the role of the "
            "weight column"
        )
    declared = source.declared
    algorithm.check(declared)
    algorithm.price(model, declared)  # rejects options before the rows are grouped
    table = _distinct_tuples(source, algorithm)
    source.engine.rest()
    return replace(search(table), rows=DrawnRows(source))


def _distinct_tuples(source: LargeTable, algorithm: Any) -> Table:
    """Return the distinct tuples of all published columns, by person if the table names people."""
    source.counts  # noqa: B018  encodes the rows
    packing = Packing.of({name: each.column.domain for name, each in source.encoded.items()})
    people = bool(source.units["person"] or source.units["household"])
    slots = getattr(algorithm, "max_rows_per_person", 1)
    most = source.most_tuples(len(source.encoded) + 2 * slots)
    tuples = source.engine.tuples(packing, [{}], most, people)
    if isinstance(tuples, int):
        what = "pairs of a person and a tuple" if people else "distinct tuples"
        raise InputError(
            f"{source.files.name}: has about {tuples:,} {what} of published columns, too many for "
            f"{algorithm.name} in {source.budget} of memory; state a larger memory, or publish "
            "fewer columns or columns with smaller declared domains"
        )
    return stand_in(source, packing, tuples)
