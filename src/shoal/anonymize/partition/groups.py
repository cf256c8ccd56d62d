"""Shared code of methods that group records: from a table to a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymize.partition.judging import check_feasible
from shoal.core.column import MAX_WEIGHT
from shoal.core.provenance import Run
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import Model
from shoal.support.arrays import Codes
from shoal.support.options import check_range

if TYPE_CHECKING:
    from shoal.anonymize.partition.records import Records

    Cluster = Callable[[Records, int, Table], Codes]
    Improve = Callable[[Records, int, Table, Codes], Codes]
Weights = Mapping[str, float] | Sequence[float] | None


def release_groups(
    table: Table,
    model: Model,
    cluster: Cluster,
    weights: Weights = None,
    notes: Sequence[str] = (),
    improve: Improve | None = None,
) -> Release:
    """Group the records of a table and publish each group with its ranges and value sets.

    cluster: given records, k and the table of their rows, returns the group of each record, from 0
        without gaps, with at least k records each. Groups that break a further model are merged
        with their cheapest neighbours.
    improve: for people with several rows, improves the groups that were found slice by slice.
    """
    from shoal.anonymize.partition.merging import Merger
    from shoal.anonymize.partition.records import lay_out

    table = reweighted(table, weights)
    check_divisible(table)
    check_feasible(table, model)
    if table.unit is not None:
        release = _release_people(table, model, cluster, improve)
    else:
        records = lay_out(table, model.columns)
        k = max(model.least_size, 2)
        alone = len(records) < 2 * k
        ids = np.zeros(len(records), dtype=np.int32) if alone else cluster(records, k, table)
        ids = Merger.of(records, table).merge(ids, model)
        release = _publish(table, records.by_row(ids), model)
    return replace(release, run=Run(notes=tuple(notes))) if notes else release


def _release_people(
    table: Table, model: Model, cluster: Cluster, improve: Improve | None
) -> Release:
    """Group the appearances of people who may have several rows."""
    from shoal.anonymize.partition.appearances import Appearances
    from shoal.anonymize.partition.merging import Merger
    from shoal.anonymize.partition.records import lay_out

    people, k = Appearances.of(table), max(model.least_size, 2)
    records = lay_out(people.table)
    merger = Merger.of(records, table, people.of_row)
    ids = merger.merge(people.cluster(records, k, cluster), KAnonymity(k))
    if improve is not None and int(ids.max()):
        ids = improve(records, k, people.table, ids)
    return merger.settle(ids, model, lambda rows: _publish(table, rows, model))


def _publish(table: Table, ids: Codes, model: Model) -> Release:
    return Release.of_groups(table, ids, int(ids.max()) + 1, model, use_hierarchies=False)


def check_divisible(table: Table) -> None:
    """Reject a weighted table: the records of a row could be separated here."""
    if table.counts is not None:
        raise InputError(
            "a weighted table cannot be grouped record by record; use mondrian or a lattice method"
        )


def reweighted(table: Table, weights: Weights) -> Table:
    """Return the table with other attribute weights: by name, or one for each in order."""
    if weights is None:
        return table
    _check_weights(weights)
    if not isinstance(weights, Mapping):
        if len(weights) != len(table.quasi):
            raise InputError(
                f"weights has {len(weights)} numbers for {len(table.quasi)} quasi-identifiers"
            )
        weights = dict(zip(table.quasi, weights, strict=True))
    for name in weights:
        if name not in table.quasi:
            raise InputError(f"weights: {name!r} is not a quasi-identifier")
    columns = (replace(c, weight=float(weights.get(c.name, c.weight))) for c in table.columns)
    return replace(table, columns=tuple(columns))


def _check_weights(weights: Any) -> None:
    listed = isinstance(weights, Sequence) and not isinstance(weights, (str, bytes))
    if not isinstance(weights, Mapping) and not listed:
        raise InputError("weights must be {column: number}, or a list of numbers")
    for number in weights.values() if isinstance(weights, Mapping) else weights:
        check_range("weights: each", number, 0, MAX_WEIGHT)
