"""The tables of a project in memory: read, linked, and anonymized by the table of people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.core.people import Unit
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.identifiers.replacement import Context
from shoal.privacy.model import Model
from shoal.projects.cells import publish_keys, publish_table
from shoal.projects.events import release_events
from shoal.projects.links import Linked, link_table
from shoal.projects.project import Project
from shoal.projects.requests import Asked
from shoal.projects.sources import read_table
from shoal.projects.treatments import Published
from shoal.support.arrays import Codes
from shoal.support.options import check_whole
from shoal.support.progress import report


@dataclass(frozen=True, eq=False)
class MemoryTables:
    """All tables of a project, with the release of the people.

    done: the linked tables. keys: the published keys. events: the groups of events of each table.
    """

    project: Project
    done: Mapping[str, Linked]
    keys: Mapping[str, Any]
    release: Release
    events: Mapping[str, Codes]
    context: Context

    @classmethod
    def of(cls, project: Project, asked: Asked) -> MemoryTables:
        """Read and link all tables, and anonymize the people."""
        done = _linked(project, asked.people, asked.seed)
        first = done[project.person].table
        if not first.quasi:
            raise InputError(f"table {project.person!r}: no column is quasi-identifying")

        def search(model: Model) -> Release:
            return asked.anonymize(_as_people(first), model)

        events: Mapping[str, Codes] = {}
        if asked.model.over_rows:
            release, events = release_events(project, done, asked.model, search, asked.max_left_out)
        else:
            release = search(asked.model)
        keys = publish_keys(project, done, asked.context)
        return cls(project, done, keys, release, events, asked.context)

    def publish(self, name: str) -> Published:
        """Return one table as it is published."""
        return publish_table(
            self.project, name, self.done, self.keys, self.release, self.events, self.context
        )


def _linked(project: Project, people: int | None, seed: int | None) -> dict[str, Linked]:
    """Read all tables, in an order in which each follows those it refers to."""
    done: dict[str, Linked] = {}
    for number, name in enumerate(project.order):
        report("read tables", number, len(project.order))
        spec = project.tables[name]
        table = read_table(project, spec)
        if name == project.person and people is not None:
            drawn = draw_people(len(table), people, seed)
            table = table if drawn is None else table.take(drawn)
        done[name] = link_table(project, spec, table, done)
    return done


def draw_people(rows: int, people: int, seed: int | None) -> Any:
    """Return the positions of people drawn at random; None if there are no more than asked for.

    Rows of others then belong to nobody.
    """
    check_whole("people", people, 1)
    if people >= rows:
        return None
    return np.sort(np.random.default_rng(seed).choice(rows, people, replace=False))


def _as_people(table: Table) -> Table:
    """Return the table of people with its identifiers left to the project."""
    rows = np.arange(len(table), dtype=np.int32)
    return replace(
        table, person=Unit(("key",), rows, len(table)), rows_are_people=False, replacements={}
    )
