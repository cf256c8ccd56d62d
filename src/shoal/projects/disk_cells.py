"""The published cells of one table of a project, whose rows stay on disk.

Every generalized cell of every table depends on the class of a person alone, so there is one cell
for each class and column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Role
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.values.encoding import combined
from shoal.engines.dictionaries import Encoder, as_source
from shoal.engines.duckdb_links import LinkedEngine
from shoal.engines.engine import Filled
from shoal.engines.large_release import LargeRelease
from shoal.engines.large_table import LargeTable
from shoal.engines.partitioned_release import PartitionedRelease
from shoal.engines.published import Cells, plan_of
from shoal.errors import InputError
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Context
from shoal.projects.links import as_texts
from shoal.projects.project import Project, ProjectTable
from shoal.projects.treatments import (
    How,
    Published,
    Treatment,
    is_about_people,
    refuse_nothing,
    treatment_of,
)
from shoal.reading.requests import Request
from shoal.support.arrays import Codes
from shoal.support.memory import return_memory

_BYTES_PER_PAIR = 60  # of a class and a value
_SHARE = 0.5  # of the budget, for these


@dataclass(frozen=True, eq=False)
class DiskTable:
    """One table of a project, with its rows on disk, and how it is read."""

    spec: ProjectTable
    large: LargeTable
    request: Request

    @property
    def engine(self) -> LinkedEngine:
        """The rows."""
        engine = self.large.engine
        assert isinstance(engine, LinkedEngine)
        return engine

    def texts(self, column: str, cells: Any) -> Any:
        """(rows,) cells of an identifier as text."""
        return as_texts(self.identifiers(column, cells), column)

    def identifiers(self, column: str, cells: Any) -> Any:
        """(rows,) cells of an identifier as a file in memory has them."""
        encoder = Encoder(self.request, self.large.types, self.large.files.name)
        return encoder.identifiers(column, cells)


@dataclass(frozen=True, eq=False)
class ClassCells:
    """The published cells of the people by class.

    people: the rows of the people, whose classes are stored.
    values: for each quasi-identifier its cells. codes: (classes,) the cell of each class.
    """

    people: LinkedEngine
    values: Mapping[str, Any]
    codes: Mapping[str, Codes]

    @classmethod
    def of(cls, release: Release, people: DiskTable) -> ClassCells:
        """Store the class of each person of a release, and return the cells of each class."""
        assert isinstance(release, LargeRelease)
        if isinstance(release, PartitionedRelease):
            cells, rows = release.published_rows(text=False)
        else:
            kept = release.kept_tuples
            found = {}
            for name, recoding in release.recodings.items():
                made = recoding.published(kept)
                indices = made.indices.to_numpy(zero_copy_only=False)
                found[name] = (indices, Cells.of(made.dictionary))
            cells = {name: each for name, (_, each) in found.items()}
            rows = people.engine.release(plan_of(release, found, kept))
        codes = rows.store_classes("people")
        return cls(people.engine, {name: each.values for name, each in cells.items()}, codes)

    def __len__(self) -> int:
        return len(next(iter(self.codes.values())))


def replace_keys(table: DiskTable, kind: Pseudonym, context: Context) -> str:
    """Store the pseudonyms of all keys of a table, and return how they were made, in words."""
    column, engine = str(table.spec.key), table.engine
    words = [""]
    context = replace(context, values=table.large.records)

    def publish(texts: Any) -> Any:
        made = kind.publish(column, texts, context)
        words[0] = made.treatment
        return made.cells

    shared = engine.replace_keys(publish)
    if shared:
        kind.refuse_shared(column, shared)
    return words[0]


def publish_table(
    project: Project,
    tables: Mapping[str, DiskTable],
    name: str,
    classes: ClassCells,
    repeated: set[str],
    treatments: Mapping[str, str],
    context: Context,
) -> Published:
    """Return one table as it is published.

    repeated: its columns that repeat a quasi-identifier of the people.
    treatments: how the keys of each table were replaced, in words.
    """
    table = tables[name]
    spec, engine, columns = table.spec, table.engine, table.spec.schema.columns
    roles = {n: Role(columns[n]["role"]) for n in table.large.roles}
    found = {
        column: treatment_of(project, name, column, role, partial(repeated.__contains__, column))
        for column, role in roles.items()
    }
    words = {
        column: each.words or treatments.get(each.to or name, "") for column, each in found.items()
    }
    replaced = [column for column, each in found.items() if each.how is How.REPLACED]
    for column in replaced:
        words[column] = _replace_cells(table, column, found[column].kind, context)
    shown = {column: each for column, each in found.items() if each.how is not How.LEFT_OUT}
    refuse_nothing(name, shown)
    people = classes.people if is_about_people(project, name) else None
    rows = engine.store_rows(people, replaced)
    joined = {
        column: engine.count_joined(j, classes.people if is_about_people(project, to) else None)
        for j, (column, to) in enumerate(spec.foreign.items())
    }
    quasi, sensitive = (
        tuple(n for n in shown if roles[n] is role) for role in (Role.QUASI, Role.SENSITIVE)
    )
    batches = partial(_batches, table, shown, classes)
    return Published(words, tuple(shown), quasi, sensitive, rows, joined, batches)


def _replace_cells(table: DiskTable, column: str, kind: Pseudonym, context: Context) -> str:
    """Store the pseudonyms of an identifier that is no key; return how they were made, in words."""
    filled = table.engine.statistics({}, [column])[column]
    assert isinstance(filled, Filled)
    words = [""]
    context = replace(context, values=filled.distinct)

    def publish(cells: Any) -> Any:
        made = kind.publish(column, table.identifiers(column, cells), context)
        words[0] = made.treatment
        return made.cells

    shared = filled.distinct - table.engine.replace_cells(column, publish, filled.distinct)
    if shared > 0:
        kind.refuse_shared(column, shared)
    return words[0]


def _batches(
    table: DiskTable, shown: Mapping[str, Treatment], classes: ClassCells
) -> Iterator[Any]:
    """Yield the published rows as Arrow tables."""
    large, foreign = table.large, list(table.spec.foreign)
    decoders: dict[str, Callable[[Any], Any]] = {}
    codes: dict[str, Codes] = {}
    keys: dict[str, int | None] = {}
    for column, treatment in shown.items():
        if treatment.how is How.PERSON:
            codes[column] = classes.codes[column]
            decoders[column] = partial(_decoded, classes.values[column])
        elif treatment.how is How.COVER:
            codes[column], values = _cover(table, column, len(classes))
            decoders[column] = partial(_decoded, values)
        elif treatment.kind is not None:
            decoders[column] = partial(as_source, kind=pa.string())
            if treatment.how is not How.REPLACED:
                keys[column] = foreign.index(column) if column in foreign else None
        elif column in large.encoded:
            decoders[column] = partial(_decoded, large.encoded[column].column.values)
        else:
            decoders[column] = partial(_plain, column, large.type_of(column))
    for batch in table.engine.stream(list(shown), codes, keys):
        cells = {name: decode(batch.column(j)) for j, (name, decode) in enumerate(decoders.items())}
        yield pa.table(cells)
    return_memory(large.records)


def _decoded(values: Any, codes: Any) -> Any:
    return values.take(codes)


def _plain(column: str, kind: Any, cells: Any) -> Any:
    return combined(as_source(cells, kind), column)


def _cover(table: DiskTable, column: str, classes: int) -> tuple[Codes, Any]:
    """Return (classes,) the cell of each class that covers all its rows, and the cells."""
    encoded, budget = table.large.encoded[column].column, table.large.budget
    if encoded.ordered and encoded.hierarchy is None:
        pairs = table.engine.ends_by_class(column, encoded.missing)
    else:
        most = budget.share(_SHARE) // _BYTES_PER_PAIR
        found = table.engine.values_by_class(column, most)
        if found is None:
            raise InputError(
                f"table {table.spec.name!r}: column {column!r} has more than {most:,} values in "
                f"all classes of people together, too many for {budget} of memory; state a larger "
                "memory, or give the column fewer values"
            )
        pairs = found
    owners, values = pairs
    used, ids = np.unique(owners, return_inverse=True)
    cover = Recoding.of_groups(replace(encoded, codes=values), ids.astype(np.int32), len(used))
    made = cover.published()
    codes = np.zeros(classes, np.int32)
    codes[owners] = made.indices.to_numpy(zero_copy_only=False)
    return codes, made.dictionary
