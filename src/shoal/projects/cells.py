"""The published cells of the tables of a project: keys, identifiers, and what covers a class.

`publish_table` takes the rows from memory, `publish_on_disk` streams them from DuckDB; both return
the same bytes, as `Published`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.files.requests import Request
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Context
from shoal.projects.links import (
    UNCHANGED,
    How,
    Linked,
    Published,
    Treatment,
    as_texts,
    follow,
    is_about_people,
    key_treatment,
    refuse_nothing,
    treatment_of,
)
from shoal.projects.project import Project, ProjectTable
from shoal.release.large_release import LargeRelease
from shoal.release.partitioned_release import PartitionedRelease
from shoal.release.publishing import plan_of
from shoal.release.release import Release
from shoal.rows.dictionaries import Encoder, as_source
from shoal.rows.duckdb_links import LinkedEngine
from shoal.rows.large_table import LargeTable
from shoal.rows.layout import Cells
from shoal.rows.store import Filled
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.memory import return_memory
from shoal.table.column import Role
from shoal.table.encoding import combined
from shoal.table.recoding import Recoding

_BATCH = 1 << 19  # rows written at a time
_EVENTS = "generalized to what any known events of a person allow"


def publish_keys(project: Project, done: Mapping[str, Linked], context: Context) -> dict[str, Any]:
    """Return the published keys of each table whose keys are replaced."""
    keys: dict[str, Any] = {}
    for name, linked in done.items():
        if linked.keys is not None:
            treatment = key_treatment(project, name)
            if treatment.how is How.KEY:
                key = str(project.tables[name].key)
                keys[name] = treatment.kind.publish(key, linked.keys, context)
    return keys


def publish_table(
    project: Project,
    name: str,
    done: Mapping[str, Linked],
    keys: Mapping[str, Any],
    release: Release,
    events: Mapping[str, Codes],
    context: Context,
) -> Published:
    """Return one table as it is published.

    release: the release of the table of people.
    events: for each table of events (rows,) the group that is published alike, −1 if left out.
    """
    linked, spec = done[name], project.tables[name]
    kept = kept_mask(linked, release)
    if name in events:
        kept &= events[name] >= 0
    rows = np.flatnonzero(kept)
    columns: dict[str, Any] = {}
    treatments: dict[str, str] = {}
    for column in linked.table.columns:
        repeats = partial(repeats_person, project, done, name, column.name)
        treatment = treatment_of(project, name, column.name, column.role, repeats)
        made, treatments[column.name] = _column(
            treatment, column.name, linked, done[project.person], keys.get(treatment.to or name),
            release, events.get(name), context,
        )  # fmt: skip
        if made is not None:
            columns[column.name] = made
    refuse_nothing(name, columns)
    shown = {to: kept_mask(done[to], release) for to in set(spec.foreign.values())}
    joined = {
        column: int((follow(linked.parents[column][rows], shown[to].astype(np.int32)) > 0).sum())
        for column, to in spec.foreign.items()
    }
    quasi, sensitive = (
        tuple(n for n in linked.table.names(role) if n in columns)
        for role in (Role.QUASI, Role.SENSITIVE)
    )
    batches = partial(_batches, columns, rows)
    return Published(treatments, tuple(columns), quasi, sensitive, len(rows), joined, batches)


def _batches(columns: Mapping[str, Any], every: Counts) -> Iterator[Any]:
    for start in range(0, max(len(every), 1), _BATCH):
        rows = every[start : start + _BATCH]
        yield pa.table({name: cells(rows) for name, cells in columns.items()})


def kept_mask(linked: Linked, release: Release) -> Bools:
    """(rows,) whether the person of each row is released; rows of nobody are not."""
    if linked.people is None:
        return np.ones(len(linked.table), dtype=np.bool_)
    kept: Bools = follow(linked.people, release.classes.ids) >= 0
    return kept


def _column(
    treatment: Treatment,
    column: str,
    linked: Linked,
    people: Linked,
    keys: Any,
    release: Release,
    events: Codes | None,
    context: Context,
) -> tuple[Any, str]:
    """Return a function from rows to the cells of a column, None to leave it out; and in words."""
    cells = linked.table[column]
    if treatment.how is How.LEFT_OUT:
        return None, treatment.words
    if treatment.how is How.UNCHANGED or (treatment.how is How.FOREIGN and treatment.kind is None):
        return (lambda rows: cells.take(rows).to_arrow()), UNCHANGED
    if treatment.how is How.KEY:
        return keys.take, keys.treatment
    if treatment.how is How.FOREIGN:
        return _foreign(linked, column, treatment.kind, keys, context), keys.treatment
    if treatment.how is How.REPLACED:
        owned = None
        if linked.people is not None:
            owned = people.keys.take(pa.array(np.maximum(linked.people, 0)))
        made = treatment.kind.publish(column, cells.to_arrow(), replace(context, person=owned))
        return made.take, made.treatment
    assert linked.people is not None
    owners = linked.people
    if treatment.how is How.PERSON:
        own = _recoded(release.recodings[column], release.classes.ids >= 0)
        return (lambda rows: own(owners[rows])), treatment.words
    words = treatment.words if events is None else _EVENTS
    if events is None:
        ids, groups = _dense(follow(owners, release.classes.ids))
    else:
        ids, groups = events, int(events.max(initial=-1)) + 1
    return _recoded(Recoding.of_groups(cells, ids, groups), ids >= 0), words


def _foreign(linked: Linked, column: str, kind: Any, keys: Any, context: Context) -> Any:
    """Return a foreign key in the form of the key; one that refers to nothing still does not join.

    A key that exists nowhere gets a pseudonym of its own, or is left empty if it cannot have one.
    """
    parents = linked.parents[column]
    lost = np.flatnonzero(parents < 0)
    if isinstance(kind, Pseudonym) and len(lost):
        # place: (rows,) the position of a key that exists nowhere among the strays
        strays = kind.publish(column, linked.table[column].take(lost).to_arrow(), context).cells
        place = np.zeros(len(parents), np.int64)
        place[lost] = np.arange(len(lost))

    def cells(rows: Counts) -> Any:
        inside = pa.array(parents[rows], mask=parents[rows] < 0)  # missing where nothing joins
        found = keys.take(inside)
        if not isinstance(kind, Pseudonym) or not len(lost):
            return found
        return pa.compute.coalesce(found, strays.take(pa.array(place[rows])))

    return cells


def _recoded(recoding: Recoding, kept: Bools) -> Any:
    """Return a function from rows to published cells, of one type for all kept rows."""
    rows = np.flatnonzero(kept)
    cells = recoding.published(rows)
    codes = np.zeros(len(recoding.codes), np.int32)
    codes[rows] = cells.indices.to_numpy(zero_copy_only=False)
    return lambda wanted: cells.dictionary.take(pa.array(codes[wanted]))


def _dense(ids: Codes) -> tuple[Codes, int]:
    """Return ids without gaps, −1 unchanged, and their number."""
    used = np.unique(ids[ids >= 0])
    dense = np.where(ids >= 0, np.searchsorted(used, ids), -1).astype(np.int32)
    return dense, len(used)


def repeats_person(project: Project, done: Mapping[str, Linked], name: str, column: str) -> bool:
    """Return whether a column repeats a quasi-identifier of the table of people."""
    linked, people = done[name], done[project.person].table
    assert linked.people is not None
    if column not in people or people[column].role is not Role.QUASI:
        return False
    rows = np.flatnonzero(linked.people >= 0)
    own = linked.table[column].take(rows).to_arrow()
    theirs = people[column].take(linked.people[rows]).to_arrow()
    return bool(own.type == theirs.type and own.equals(theirs))


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
            kept = release.kept_rows
            found = {}
            for name, recoding in release.recodings.items():
                made = recoding.published(kept)
                indices = made.indices.to_numpy(zero_copy_only=False)
                found[name] = (indices, Cells.of(made.dictionary))
            cells = {name: each for name, (_, each) in found.items()}
            rows = people.engine.release(plan_of(release, found, kept))
        codes = people.engine.store_people(rows)
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


def publish_on_disk(
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
    batches = partial(_batches_on_disk, table, shown, classes)
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


def _batches_on_disk(
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
    # only classes with rows in this table get a cell; the others are never looked up
    used, ids = np.unique(owners, return_inverse=True)
    cover = Recoding.of_groups(replace(encoded, codes=values), ids.astype(np.int32), len(used))
    made = cover.published()
    codes = np.zeros(classes, np.int32)
    codes[owners] = made.indices.to_numpy(zero_copy_only=False)
    return codes, made.dictionary
