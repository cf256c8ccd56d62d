"""Anonymize a table whose rows stay where they are, with any method that runs there."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from shoal.anonymize import versions
from shoal.core.column import Role
from shoal.core.provenance import Run
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.engines.by_partition import anonymize_by_partition
from shoal.engines.large_release import LargeRelease
from shoal.engines.methods_on_disk import (
    draws_records,
    refusal,
    runs_on_disk,
    runs_on_partitions,
    runs_on_tuples,
)
from shoal.engines.packing import Packing
from shoal.engines.people import weighted_table
from shoal.engines.replacing import with_links
from shoal.engines.rolling import base_nodes
from shoal.engines.sampling import anonymize_sample
from shoal.errors import InputError
from shoal.privacy.model import Model
from shoal.support.arrays import Counts

if TYPE_CHECKING:
    from shoal.engines.large_table import LargeTable


class TooManyTuples(InputError):  # noqa: N818
    """The distinct tuples of a table do not fit in memory.

    tuples: their approximate number.
    """

    def __init__(self, message: str, tuples: int) -> None:
        super().__init__(message)
        self.tuples = tuples


def anonymize_rows(
    source: LargeTable, model: Model, algorithm: Any, search: Callable[..., Release]
) -> Release:
    """Return the release of a method: on a sample, on distinct tuples, or on partitions.

    search: runs the method on a table in memory, and checks its release.
    """
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
    kept = {column.name: column for column in quasi}
    for name in model.columns:
        if name in source.encoded:
            kept[name] = source.encoded[name].column
    packing = Packing.of({name: column.domain for name, column in kept.items()})
    most = source.most_tuples(len(kept))
    nodes = base_nodes(quasi, source.encoded, model, algorithm, records)
    units = source.units
    people = bool(units["person"] or units["household"] or source.linking)
    found = source.engine.tuples(packing, [node.maps for node in nodes], most, people)
    if isinstance(found, int):
        raise TooManyTuples(_too_many(source, found, people, algorithm), found)
    columns = [
        replace(
            kept[name],
            codes=packing.unpack(found.words, name),
            floor=nodes[found.node].levels.get(name, 0),
        )
        for name in source.roles
        if name in kept
    ]
    table = weighted_table(source, columns, found)
    return table, nodes[found.node].levels, found.linked


def _too_many(source: LargeTable, tuples: int, people: bool, algorithm: Any) -> str:
    what = "pairs of a person and a tuple" if people else "distinct tuples"
    return (
        f"{source.files.name}: has about {tuples:,} {what}, too many for a search with "
        f"{algorithm.name} in {source.budget} of memory; state a larger memory, use fewer or "
        "coarser quasi-identifiers, or method flash or ola, which can begin at a coarser level"
    )
