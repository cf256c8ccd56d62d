"""The tables of a project that stay on disk, linked by DuckDB.

People are anonymized by their distinct tuples, and DuckDB follows the keys of all tables to them.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Role
from shoal.core.release import Release
from shoal.core.roles import UnassignedColumns
from shoal.core.values.encoding import is_text
from shoal.engines.duckdb_links import Foreign, LinkedFiles
from shoal.engines.duckdb_session import Session
from shoal.engines.large_table import LargeTable
from shoal.engines.memory import Budget
from shoal.engines.methods_on_disk import draws_records
from shoal.engines.sources import find_files
from shoal.errors import InputError
from shoal.identifiers.drop import Drop
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Coarsening
from shoal.identifiers.replacements import as_replacement
from shoal.projects.disk_cells import ClassCells, DiskTable, publish_table, replace_keys
from shoal.projects.links import refuse_keys, refuse_two_people
from shoal.projects.project import Project, ProjectTable, file_of, key_replacement
from shoal.projects.requests import Asked
from shoal.projects.sources import described
from shoal.projects.treatments import Published
from shoal.reading.requests import Request, request_of
from shoal.support.arrays import Codes
from shoal.support.progress import report
from shoal.support.temporaries import temporary_folder

_BYTES_PER_PERSON = 16  # drawn at random
_SHARE = 0.3  # of the budget, for these


class DiskTables:
    """All tables of a project, with the release of the people; `tables_on_disk` opens them."""

    left_out: Mapping[str, int] = {}  # km-anonymity needs the rows in memory
    release: Release

    def __init__(self, project: Project, asked: Asked) -> None:
        self._project, self._asked = project, asked
        self._tables: dict[str, DiskTable] = {}
        self._repeated: dict[str, set[str]] = {}
        self._treatments: dict[str, str] = {}

    def open(self, session: Session, stack: ExitStack) -> None:
        """Read and link all tables, in an order in which each follows those it refers to."""
        project, order = self._project, self._project.order
        for number, name in enumerate(order):
            report("read tables", number, len(order))
            spec = project.tables[name]
            request = _request(project, spec)
            files = find_files(file_of(Path(project.source), spec))
            source = LinkedFiles(files, session, f"table{number}")
            with warnings.catch_warnings(action="ignore", category=UnassignedColumns):
                large = LargeTable(source, request, session.budget, in_project=True)
            stack.enter_context(large)
            if name != project.person:
                request = _without_dictionaries(request, large.types or {})
                large = large.described(request)
            self._tables[name] = DiskTable(spec, large, request)
            self._link(name)

    def anonymize(self) -> None:
        """Anonymize the people, and replace the keys of all tables."""
        people = self._people
        self._repeated = {name: self._attributes_of_people(name) for name in self._tables}
        self.release = self._asked.anonymize(people.large, self._asked.model)
        self._classes = ClassCells.of(self.release, people)
        for name, table in self._tables.items():
            kind = None if table.spec.key is None else key_replacement(self._project, name)
            if isinstance(kind, Pseudonym):
                self._treatments[name] = replace_keys(table, kind, self._asked.context)

    def publish(self, name: str) -> Published:
        """Return one table as it is published; once, since its working files are then removed."""
        return publish_table(
            self._project, self._tables, name, self._classes, self._repeated[name],
            self._treatments, self._asked.context,
        )  # fmt: skip

    @property
    def _people(self) -> DiskTable:
        return self._tables[self._project.person]

    def _link(self, name: str) -> None:
        """Encode the rows of a table, and link them to those that they refer to."""
        project, table = self._project, self._tables[name]
        spec, engine = table.spec, table.engine
        if name == project.person:
            if not table.large.names(Role.QUASI):
                raise InputError(f"table {name!r}: no column is quasi-identifying")
            self._draw(table)
        columns = [*([] if spec.key is None else [spec.key]), *spec.foreign]
        engine.read_texts(columns, table.texts)
        if spec.key is not None:
            refuse_keys(spec, *engine.count_bad_keys())
        owners = project.people_of(name) if name != project.person else ()
        foreign = [
            Foreign(
                self._tables[to].engine,
                column in owners,
                isinstance(key_replacement(project, to), Pseudonym),
            )
            for column, to in spec.foreign.items()
        ]
        own = name == project.person
        refuse_two_people(spec, engine.link(foreign, key=spec.key is not None, people=own))
        table.large.counts  # noqa: B018  encodes the rows

    def _draw(self, table: DiskTable) -> None:
        """Leave out people who are not drawn; their values still belong to the domains."""
        if self._asked.people is None:
            return
        table.large.encoded  # noqa: B018  before people are left out
        rows, budget = table.engine.count_rows(), table.large.budget
        if rows * _BYTES_PER_PERSON > budget.share(_SHARE):
            raise InputError(
                f"table {table.spec.name!r}: {budget} of memory are not enough to draw from "
                f"{rows:,} people; state a larger memory"
            )
        drawn = self._asked.drawn(rows)
        if drawn is not None:
            table.engine.keep_rows(drawn)

    def _attributes_of_people(self, name: str) -> set[str]:
        """Return the columns of a table that repeat a quasi-identifier of the people."""
        people, table = self._people, self._tables[name]
        if table is people or not self._project.people_of(name):
            return set()
        maps: dict[str, Codes] = {}
        for column in table.large.names(Role.QUASI):
            if column in people.large.names(Role.QUASI):
                own, theirs = (t.large.encoded[column].column.values for t in (table, people))
                if own.type == theirs.type:
                    places = pc.index_in(own, value_set=theirs).fill_null(-1)
                    maps[column] = places.to_numpy(zero_copy_only=False).astype(np.int32)
        differing = table.engine.count_differing(people.engine, maps)
        return {column for column, rows in differing.items() if not rows}


@contextmanager
def tables_on_disk(project: Project, asked: Asked, budget: Budget) -> Iterator[DiskTables]:
    """Yield the tables of a project, with a release of the people; working files are removed."""
    _refuse(project, asked)
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder(Path(tempfile.gettempdir())))
        session = Session(folder, budget, Path(project.source), budget.for_duckdb)
        stack.callback(session.close)
        tables = DiskTables(project, asked)
        tables.open(session, stack)
        tables.anonymize()
        yield tables


def _refuse(project: Project, asked: Asked) -> None:
    """Reject, before anything is read, what needs all rows in memory."""
    remedy = "leave out engine and memory, or state a larger memory"
    if asked.model.over_rows:
        raise InputError(f"{asked.model} needs the rows of all tables in memory; {remedy}")
    if draws_records(asked.algorithm):
        raise InputError(
            f"{asked.algorithm.name} draws people, whose rows in other tables must be in memory; "
            f"{remedy}"
        )
    for name, table in project.tables.items():
        key = None if table.key is None else key_replacement(project, name)
        if isinstance(key, Pseudonym):  # a missing key or domain is an error before hours of work
            key.publish(str(table.key), pa.array([], pa.string()), asked.context)
        for column, spec in table.schema.columns.items():
            kind = as_replacement(spec["replace"], column) if "replace" in spec else None
            if kind is not None and not isinstance(kind, (Pseudonym, Drop, Coarsening)):
                raise InputError(
                    f"table {name!r}: column {column!r}: {kind.name} needs the rows in memory; use "
                    f"pseudonym or drop, {remedy}"
                )


def _request(project: Project, spec: ProjectTable) -> Request:
    """Return how a table is read; foreign keys that stay as they are count as other columns."""
    request = request_of(described(spec), None, None, (), (), True, {})
    specs: dict[str, Mapping[str, Any]] = dict(request.specs)
    for column, to in spec.foreign.items():
        if key_replacement(project, to) is None:
            specs[column] = {**specs[column], "role": Role.INSENSITIVE}
    return replace(request, specs=specs)


def _without_dictionaries(request: Request, types: Mapping[str, Any]) -> Request:
    """Return how a table is read whose sensitive values no model uses: numbers and dates stay.

    Only columns with few values have a dictionary then. The types of a text file depend on all its
    values, and so does the meaning of an empty text.
    """
    specs: dict[str, Mapping[str, Any]] = dict(request.specs)
    for name, spec in request.specs.items():
        if spec == {"role": Role.SENSITIVE} and name in types and not is_text(types[name]):
            specs[name] = {"role": Role.INSENSITIVE}
    return replace(request, specs=specs)
