"""Anonymize a sample of a table on disk, with a method that draws records.

Such a method publishes declared columns only, and classes are counted over all of them: records
that are equal in all published columns are interchangeable. So the distinct tuples of all published
columns, with their numbers of records, determine how likely each release is. Which nodes may be
drawn never depends on the rows: if the tuples do not fit in memory, there is no release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.privacy.model import Model
from shoal.release.digest import SampledRelease
from shoal.release.release import Release
from shoal.rows.dictionaries import weighted_table
from shoal.rows.store import Packing, Tuples
from shoal.table.column import Column, Kind, Role
from shoal.table.roles import encoding_options
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.rows.large_table import LargeTable


def anonymize_sample(
    source: LargeTable, model: Model, algorithm: Any, search: Callable[[Table], Release]
) -> SampledRelease:
    """Return the release of a method that draws records.

    Parameters:
        source: The table.
        model: The guarantee.
        algorithm: The method.
        search: Runs the method on a weighted table in memory, and checks its release.
    """
    if source.names(Role.WEIGHT):
        raise InputError(
            f"{algorithm.name} on disk uses no sampling weight; leave the column without a role"
        )
    declared = declared_table(source)
    algorithm.check(declared)
    algorithm.price(model, declared)  # rejects options before the rows are grouped
    table = _distinct_tuples(source, algorithm)
    source.engine.rest()
    return SampledRelease.of(search(table), source)


def declared_table(source: LargeTable) -> Table:
    """Return a table without rows that has the declared columns and people of a source."""
    nothing = np.zeros(0, dtype=np.int64)
    return _table(source, Packing.of({}), Tuples(0, [nothing], nothing, nothing, nothing))


def _distinct_tuples(source: LargeTable, algorithm: Any) -> Table:
    """Return the distinct tuples of all published columns, by person if the table names people."""
    source.counts  # noqa: B018  encodes the rows
    packing = Packing.of({name: each.column.domain for name, each in source.encoded.items()})
    people = bool(source.units["person"] or source.units["household"])
    slots = getattr(algorithm, "max_rows_per_person", 1)
    most = source.most_tuples(len(source.encoded) + 2 * slots)
    found = source.engine.tuples(packing, [{}], most, people)
    if isinstance(found, int):
        what = "pairs of a person and a tuple" if people else "distinct tuples"
        raise InputError(
            f"{source.files.name}: has about {found:,} {what} of published columns, too many for "
            f"{algorithm.name} in {source.budget} of memory; state a larger memory, or publish "
            "fewer columns or columns with smaller declared domains"
        )
    return _table(source, packing, found)


def _table(source: LargeTable, packing: Packing, found: Tuples) -> Table:
    """Return tuples as a weighted table, with a stand-in for each identifier."""
    columns, rows = [], len(found)
    for name, role in source.roles.items():
        if name in source.encoded:
            column = source.encoded[name].column
            codes = packing.unpack(found.words, name) if rows else np.zeros(0, dtype=np.int32)
            columns.append(replace(column, codes=codes))
        else:
            columns.append(_stand_in(source, name, role, rows))
    return weighted_table(source, columns, found)


def _stand_in(source: LargeTable, name: str, role: Role, rows: int) -> Column:
    """Return a column without its cells, as it is declared."""
    spec = encoding_options(source.specs.get(name, {"role": role}))
    spec.pop("hierarchy", None)
    try:
        declared = Column.encode(name, pa.array([], pa.string()), **{**spec, "role": role})
    except (InputError, pa.ArrowInvalid):  # a declaration that needs cells of another type
        declared = Column(name, role, Kind.NOMINAL, np.zeros(0, np.int32), pa.array([""]))
    return replace(declared, codes=np.zeros(rows, np.int32), values=pa.array([""]))
