"""The published cells of one table of a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Role
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.errors import InputError
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Coarsening, Context
from shoal.identifiers.replacements import as_replacement
from shoal.projects.links import Linked, follow
from shoal.projects.project import Project, key_replacement
from shoal.support.arrays import Bools, Codes, Counts

_BATCH = 1 << 19  # rows written at a time


@dataclass(frozen=True, eq=False)
class Published:
    """One table as it is published.

    Attributes:
        columns: For each published column, a function from positions of rows to cells.
        rows: The positions of the published rows.
        dropped: Rows that belong to suppressed people; `alone`: rows that belong to nobody.
        joined: For each foreign key, the published rows whose key joins.
        treatments: How each column is published, in words.
    """

    columns: Mapping[str, Any]
    rows: Counts
    dropped: int
    alone: int
    joined: Mapping[str, int]
    treatments: Mapping[str, str]

    def batches(self) -> Iterator[Any]:
        """Yield the published rows as Arrow tables; there is at least one."""
        for start in range(0, max(len(self.rows), 1), _BATCH):
            rows = self.rows[start : start + _BATCH]
            yield pa.table({name: cells(rows) for name, cells in self.columns.items()})


def publish_keys(project: Project, done: Mapping[str, Linked], context: Context) -> dict[str, Any]:
    """Return, for each table with a key, (rows,) its published keys; None if they are dropped."""
    keys: dict[str, Any] = {}
    for name, linked in done.items():
        if linked.keys is None:
            continue
        kind = key_replacement(project, name)
        if kind is None:
            keys[name] = linked.table[str(project.tables[name].key)].to_arrow()
            continue
        made = kind.publish(str(project.tables[name].key), linked.keys, context)
        referred = any(name in table.foreign.values() for table in project.tables.values())
        if made is None and referred:
            raise InputError(
                f"table {name!r}: other tables refer to its key, so it cannot be left out"
            )
        if isinstance(kind, Coarsening) or (made is not None and not made.links):
            raise InputError(f"table {name!r}: {kind.name} does not keep keys apart; use pseudonym")
        keys[name] = None if made is None else made
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
    rows, dropped, alone = _kept_rows(linked, release, events.get(name))
    columns: dict[str, Any] = {}
    treatments: dict[str, str] = {}
    for column in linked.table.columns:
        made, said = _column(project, name, column.name, done, keys, release, events, context)
        treatments[column.name] = said
        if made is not None:
            columns[column.name] = made
    if not columns:
        raise InputError(f"table {name!r}: no column is published; leave the table out")
    kept = {to: _kept_mask(done[to], release) for to in set(spec.foreign.values())}
    joined = {
        column: int((follow(linked.parents[column][rows], kept[to].astype(np.int32)) > 0).sum())
        for column, to in spec.foreign.items()
    }
    return Published(columns, rows, dropped, alone, joined, treatments)


def _kept_mask(linked: Linked, release: Release) -> Bools:
    """(rows,) whether each row is published."""
    if linked.people is None:
        return np.ones(len(linked.table), dtype=np.bool_)
    kept: Bools = follow(linked.people, release.classes.ids) >= 0
    return kept


def _kept_rows(linked: Linked, release: Release, events: Codes | None) -> tuple[Counts, int, int]:
    kept = _kept_mask(linked, release)
    if events is not None:
        kept &= events >= 0
    alone = 0 if linked.people is None else int((linked.people < 0).sum())
    rows = np.flatnonzero(kept)
    return rows, len(kept) - len(rows) - alone, alone


def _column(
    project: Project,
    name: str,
    column: str,
    done: Mapping[str, Linked],
    keys: Mapping[str, Any],
    release: Release,
    events: Mapping[str, Codes],
    context: Context,
) -> tuple[Any, str]:
    """Return a function from rows to the cells of a column, None to leave it out; and in words."""
    linked, spec = done[name], project.tables[name]
    cells = linked.table[column]
    if column == spec.key:
        return _key(keys[name])
    if column in spec.foreign:
        return _foreign(linked, column, spec.foreign[column], keys, context, project)
    if cells.role is Role.IDENTIFIER:
        stated = spec.schema.columns[column].get("replace")
        if stated is None:
            return None, "left out: it names a person"
        kind = as_replacement(stated, column)
        if isinstance(kind, Coarsening):
            raise InputError(
                f"table {name!r}: column {column!r}: {kind.name} is for a single table; make the "
                "column quasi-identifying, with a hierarchy"
            )
        people = done[project.person].keys
        owned = (
            None if linked.people is None else people.take(pa.array(np.maximum(linked.people, 0)))
        )
        made = kind.publish(column, cells.to_arrow(), replace(context, person=owned))
        return (None, "left out") if made is None else (made.take, made.treatment)
    if cells.role is not Role.QUASI:
        return (lambda rows: cells.take(rows).to_arrow()), "released unchanged"
    if linked.people is None:
        raise InputError(
            f"table {name!r}: column {column!r} is quasi-identifying, but the table is not about "
            "people; make it insensitive, or add a foreign key"
        )
    return _quasi(project, name, column, done, release, events)


def _key(made: Any) -> tuple[Any, str]:
    if made is None:
        return None, "left out: it identifies a row"
    if hasattr(made, "treatment"):
        return made.take, made.treatment
    return (lambda rows: made.take(pa.array(rows))), "released unchanged"


def _foreign(
    linked: Linked,
    column: str,
    to: str,
    keys: Mapping[str, Any],
    context: Context,
    project: Project,
) -> tuple[Any, str]:
    """Return a foreign key in the form of the key; one that refers to nothing still does not join.

    A key that exists nowhere gets a pseudonym of its own, or is left empty if it cannot have one.
    """
    made, said = _key(keys[to])
    kind = key_replacement(project, to)
    parents = linked.parents[column]
    lost = np.flatnonzero(parents < 0)
    if kind is None:
        return (lambda rows: linked.table[column].take(rows).to_arrow()), said
    if isinstance(kind, Pseudonym) and len(lost):
        strays = kind.publish(column, linked.table[column].take(lost).to_arrow(), context).cells
        place = np.zeros(len(parents), np.int64)
        place[lost] = np.arange(len(lost))

    def cells(rows: Counts) -> Any:
        inside = pa.array(parents[rows], mask=parents[rows] < 0)  # missing where nothing joins
        found = made(inside)
        if not isinstance(kind, Pseudonym) or not len(lost):
            return found
        return pa.compute.coalesce(found, strays.take(pa.array(place[rows])))

    return cells, said


def _quasi(
    project: Project,
    name: str,
    column: str,
    done: Mapping[str, Linked],
    release: Release,
    events: Mapping[str, Codes],
) -> tuple[Any, str]:
    """Return a quasi-identifier, recoded like the person's own or to cover the person's class."""
    linked, owners = done[name], done[name].people
    assert owners is not None
    if name == project.person:
        return _recoded(release.recodings[column], release.classes.ids >= 0), "generalized"
    if repeats_person(project, done, name, column):
        own = _recoded(release.recodings[column], release.classes.ids >= 0)
        return (lambda rows: own(owners[rows])), "generalized as in the table of people"
    if name in events:
        ids, groups = events[name], int(events[name].max(initial=-1)) + 1
        cover = Recoding.of_groups(linked.table[column], ids, groups)
        return _recoded(cover, ids >= 0), "generalized to what any known events of a person allow"
    ids, groups = _dense(follow(owners, release.classes.ids))
    cover = Recoding.of_groups(linked.table[column], ids, groups)
    return _recoded(cover, ids >= 0), "generalized to what all rows of a group hold"


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
