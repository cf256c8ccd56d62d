"""The published cells of one table of a project, whose rows are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Role
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Context
from shoal.projects.links import Linked, follow
from shoal.projects.project import Project
from shoal.projects.treatments import (
    UNCHANGED,
    How,
    Published,
    Treatment,
    key_treatment,
    refuse_nothing,
    treatment_of,
)
from shoal.support.arrays import Bools, Codes, Counts

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
