"""Shared code of methods that group records: checks of table and model, merging, and the release.

    release_groups    table → records → groups of a method → merged for the model → release
    Judge             a model on both sides of many divided nodes at once, for Mondrian

A node is a row of five numbers: low, high and records of a range of rows, and, if it was divided,
the middle and the records before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import Infeasible, InputError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import Model
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.options import check_range
from shoal.table.classes import Classes
from shoal.table.column import MAX_WEIGHT
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.methods.partition.records import Records

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
    from shoal.methods.partition.merging import Merger
    from shoal.methods.partition.records import lay_out

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
    from shoal.methods.partition.merging import Merger
    from shoal.methods.partition.records import Appearances, lay_out

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


def sides(nodes: Counts) -> Counts:
    """Return the two sides of each divided node as nodes."""
    low, high, records, middle, left = nodes.T
    zero = np.zeros_like(low)
    first = np.stack([low, middle, left, zero, zero], axis=1)
    second = np.stack([middle, high, records - left, zero, zero], axis=1)
    return np.concatenate([first, second])


class Judge:
    """Checks a model on both sides of many divided nodes at once."""

    def __init__(self, tuples: Table, table: Table, model: Model) -> None:
        kept = tuple(tuples[name] for name in model.columns) or tuples.columns[:1]
        self._tuples = replace(tuples, columns=kept)
        self._table, self._model = table, model

    def both_sides(self, where: Codes | Counts, nodes: Counts) -> Bools:
        """Return, for each node, whether both sides meet the model."""
        low, high, middle = nodes[:, 0], nodes[:, 1], nodes[:, 3]
        lengths = np.stack([middle - low, high - middle], axis=1).ravel()
        starts = np.stack([low, middle], axis=1).ravel()
        ids = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        offsets = np.cumsum(lengths) - lengths
        rows = where[np.arange(len(ids)) - np.repeat(offsets - starts, lengths)]
        classes = Classes.of(self._tuples.take(rows), ids, origin=self._table)
        kept = self._model.holds(classes)
        return kept[0::2] & kept[1::2]


def check_feasible(table: Table, model: Model) -> None:
    """Reject a model that the whole table as one class breaks."""
    whole = Classes.of(table, np.zeros(len(table), dtype=np.int32))
    if not model.holds(whole).all():
        broken = next(part for part in model.parts if not part.holds(whole).all())
        raise Infeasible(f"{broken} cannot be met: even the whole table as one class breaks it")
