"""The tables of a project in memory: read, linked, and anonymized by the table of people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.core.release import Release
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
        done = _linked(project, asked)
        first = done[project.person].table
        if not first.quasi:
            raise InputError(f"table {project.person!r}: no column is quasi-identifying")

        def search(model: Model) -> Release:
            return asked.anonymize(first, model)

        events: Mapping[str, Codes] = {}
        if asked.model.over_rows:
            release, events = release_events(project, done, asked.model, search, asked.max_left_out)
        else:
            release = search(asked.model)
        keys = publish_keys(project, done, asked.context)
        return cls(project, done, keys, release, events, asked.context)

    @property
    def left_out(self) -> dict[str, int]:
        """The number of rows of people that are left out of each table of events."""
        found = {}
        for name, ids in self.events.items():
            owners = self.done[name].people
            assert owners is not None
            found[name] = int(((owners >= 0) & (ids < 0)).sum())
        return found

    def publish(self, name: str) -> Published:
        """Return one table as it is published."""
        return publish_table(
            self.project, name, self.done, self.keys, self.release, self.events, self.context
        )


def _linked(project: Project, asked: Asked) -> dict[str, Linked]:
    """Read all tables, in an order in which each follows those it refers to."""
    done: dict[str, Linked] = {}
    for number, name in enumerate(project.order):
        report("read tables", number, len(project.order))
        spec = project.tables[name]
        table = read_table(project, spec)
        drawn = asked.drawn(len(table)) if name == project.person else None
        table = table if drawn is None else table.take(drawn)
        done[name] = link_table(project, spec, table, done)
    return done
