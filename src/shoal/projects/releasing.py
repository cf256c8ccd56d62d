"""Release all tables of a project together: one pseudonym per key, one class per person.

    read       every table, after those that it refers to     ┐ MemoryTables, or DiskTables
    link       each row to its person, through foreign keys   │ where DuckDB follows the keys
    anonymize  the table of people, once                      ┘
    publish    every table, without the rows of suppressed people
    check      the written files, by `check_set`

The released folder appears when all its tables have been written and checked, or not at all.

Under kᵐ-anonymity, any m rows of a person, in all tables, match k people. People are then grouped
by their own attributes for several sizes of groups, since larger groups keep more detail of events,
and the release with the least loss is chosen.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal._version import __version__
from shoal.errors import InputError, NotAnonymous, OutputError
from shoal.files.requests import Request, request_of
from shoal.identifiers.keys import Key
from shoal.identifiers.lookup import Lookup
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Coarsening, Context, Drop
from shoal.identifiers.replacements import as_replacement
from shoal.methods import as_model
from shoal.methods.algorithm import Algorithm
from shoal.methods.events import Attempt, EventTable, cell_costs, divide_events, least_loss
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.km_anonymity import KmAnonymity
from shoal.privacy.model import Model
from shoal.projects.cells import (
    ClassCells,
    DiskTable,
    publish_keys,
    publish_on_disk,
    publish_table,
    repeats_person,
    replace_keys,
)
from shoal.projects.checking import SetCheck, check_set, digest, write_published, write_record
from shoal.projects.links import Linked, Published, link_table, refuse_keys, refuse_two_people
from shoal.projects.origins import choose_place, described, ending_of, read_table
from shoal.projects.project import Asked, Project, ProjectTable, file_of, key_replacement
from shoal.release.release import Release
from shoal.rows.choice import draws_records
from shoal.rows.duckdb_links import Foreign, LinkedFiles
from shoal.rows.duckdb_session import Session
from shoal.rows.file_sources import find_files
from shoal.rows.large_table import LargeTable
from shoal.rows.memory import Budget
from shoal.support.arrays import Bools, Codes, Floats
from shoal.support.file_names import new_inside
from shoal.support.files import replace_folder, temporary_folder
from shoal.support.options import check_range, check_seed
from shoal.support.progress import report
from shoal.table.column import Role
from shoal.table.encoding import is_text
from shoal.table.recoding import Recoding
from shoal.table.roles import UnassignedColumns


def release_project(
    project: Project | str | Path,
    output: str | Path,
    model: Model | str | None = None,
    method: str | Algorithm = "mondrian",
    *,
    k: int | None = None,
    key: Key | None = None,
    domain: str = "",
    lookup: Lookup | None = None,
    people: int | None = None,
    max_left_out: float = 0.05,
    seed: int | None = None,
    memory: str | int | None = None,
    engine: str | None = None,
    **options: Any,
) -> SetCheck:
    r"""Anonymize all tables of a project and write them to a new folder, or nothing at all.

    Parameters:
        project: The project, or its YAML file.
        output: The folder to create; it must not exist.
        model: The guarantee for the people, as for `shoal.anonymize`.
        method: The method, as for `shoal.anonymize`.
        k: Adds k-anonymity to the guarantee.
        key: The secret key of pseudonyms.
        domain: The recipient; it takes precedence over the project's.
        lookup: The table of random tokens, if the project uses them.
        people: Draw this many people at random, and keep all their rows in all tables.
        max_left_out: Share of rows of events that `km-anonymity` may leave out, including those of
            suppressed people.
        seed: For methods that draw at random, and for `people`.
        memory: The memory that may be used, such as "4GB"; by default 70 % of the machine's. Tables
            that need more together stay on disk.
        engine: "duckdb" leaves the tables on disk, whatever their size.
        options: Options of the method.

    Returns:
        The outcome of the check of the written files.

    Raises:
        NotAnonymous: The guarantee does not hold on the files; nothing was written.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "people.csv").write_text("id,age\n1,30\n2,31\n3,40\n4,41\n")
    ...     _ = Path(folder, "visits.csv").write_text("id,ill\n1,flu\n1,cold\n3,flu\n")
    ...     people = {"key": "id", "columns": {"age": "quasi"}}
    ...     visits = {"foreign": {"id": "people"}, "columns": {"ill": "sensitive"}}
    ...     tables = {"people": people, "visits": visits}
    ...     project = Project.of({"person": "people", "tables": tables}, Path(folder))
    ...     checked = release_project(project, Path(folder, "out"), k=2, key=Key.new(), domain="a")
    ...     checked.tables["visits"]["rows"]
    3
    """
    if not isinstance(project, Project):
        project = Project.read(project)
    output = Path(output)
    check_new_folder(output)
    check_seed(seed)
    context = Context(key, domain or project.domain, lookup=lookup)
    wanted = as_model(model, k)
    asked = Asked(wanted, method, context, people, max_left_out, seed, options)
    choice = choose_place(project, memory, engine, asked.algorithm)
    limit = choice.budget if choice.on_disk else None
    with _opened(project, asked, limit) as tables, replace_folder(output) as made:
        write_record(made, _write_tables(project, made, tables, context, limit))
        checked = check_set(made, wanted, memory=None if limit is None else limit.size)
        if not checked:
            raise NotAnonymous(f"{checked.problem}; nothing was written")
    return checked


def _opened(
    project: Project, asked: Asked, limit: Budget | None
) -> AbstractContextManager[MemoryTables | DiskTables]:
    """Return the tables with the release of the people, on disk if there is a limit of memory."""
    if limit is not None:
        return tables_on_disk(project, asked, limit)
    return nullcontext(MemoryTables.of(project, asked))


def check_new_folder(output: Path) -> None:
    """Reject a folder that exists: a set of tables replaces nothing."""
    if output.exists():
        raise OutputError(f"{output}: exists already; name a new folder")
    if not output.absolute().parent.is_dir():
        raise OutputError(f"{output}: its folder does not exist; create {output.parent} first")


def _write_tables(
    project: Project,
    folder: Path,
    tables: MemoryTables | DiskTables,
    context: Context,
    limit: Budget | None,
) -> dict[str, Any]:
    """Write every table and return the record of the set."""
    described: dict[str, Any] = {}
    for number, name in enumerate(project.order):
        report("write tables", number, len(project.order))
        published = tables.publish(name)
        file = f"{name}{ending_of(project, project.tables[name])}"
        path = new_inside(folder, file, "table")
        write_published(published, path, limit)
        described[name] = _described(project, name, published, path)
        if name in tables.left_out:
            described[name]["left_out"] = tables.left_out[name]
    release = tables.release
    return {
        "shoal": __version__,
        "model": [str(part) for part in release.model.parts],
        "person": project.person,
        "domain": context.domain,
        "key": None if context.key is None else context.key.fingerprint,
        "method": release.run.method,
        "tables": described,
    }


def _described(project: Project, name: str, published: Published, path: Path) -> dict[str, Any]:
    spec = project.tables[name]
    shown = set(published.columns)
    return {
        "file": path.name,
        "sha256": digest(path),
        "rows": published.rows,
        "key": spec.key if spec.key in shown else None,
        "foreign": {column: to for column, to in spec.foreign.items() if column in shown},
        "joined": dict(published.joined),
        "people": [c for c in project.people_of(name) if c in shown],
        "quasi": list(published.quasi),
        "sensitive": list(published.sensitive),
        "columns": dict(published.treatments),
    }


def release_events(
    project: Project,
    done: Mapping[str, Linked],
    model: Model,
    search: Callable[[Model], Release],
    max_left_out: float,
) -> tuple[Release, dict[str, Codes]]:
    """Return a release of the people, and the groups of events of each table that has events.

    Parameters:
        search: Returns a release of the table of people that meets a model.
        max_left_out: Share of the rows of events that may be left out.

    Raises:
        Infeasible: More rows have to be left out.
    """
    if not isinstance(model, KmAnonymity):
        raise InputError(f"{model}: km-anonymity cannot be joined with other models")
    check_range("max_left_out", max_left_out, 0, 1)
    tables = _event_tables(project, done)
    if not tables:
        return replace(search(KAnonymity(model.k)), model=model), {}

    def attempt(size: int) -> Attempt[tuple[Release, dict[str, Codes]]]:
        release = search(KAnonymity(size))
        divided = divide_events(
            list(tables.values()), release.classes.ids, k=model.k, m=model.m, share=max_left_out
        )
        groups = dict(zip(tables, divided.groups, strict=True))
        loss = _loss(release, tables, groups)
        return Attempt(divided, loss, not release.classes.ids.any(), (release, groups))

    # people are grouped by k-anonymity of some size, and events within these groups
    release, groups = least_loss(model, len(done[project.person].table), attempt).made
    return replace(release, model=model), groups


def _event_tables(project: Project, done: Mapping[str, Linked]) -> dict[str, EventTable]:
    """Return the tables with quasi-identifiers, whose rows an attacker may know of a person.

    Columns that repeat an attribute of the person are recoded with it, the others by events.
    """
    tables = {}
    for name, linked in done.items():
        if name == project.person or linked.people is None or not linked.table.quasi:
            continue
        for other, spec in project.tables.items():
            if name in spec.foreign.values():
                raise InputError(
                    f"table {other!r} refers to events of table {name!r}, so rows of both are "
                    "linked more closely than by the person, which km-anonymity does not cover; "
                    "use k-anonymity"
                )
        columns = [c for c in linked.table.quasi_columns
                   if not repeats_person(project, done, name, c.name)]  # fmt: skip
        tables[name] = EventTable(linked.people, columns)
    return tables


def _loss(release: Release, tables: Mapping[str, EventTable], groups: Mapping[str, Codes]) -> float:
    """Return the mean loss of a row over all tables; suppressed rows have lost everything."""
    losses = [_of_rows(release.recodings.values(), release.classes.ids < 0)]
    for name, table in tables.items():
        ids = groups[name]
        count = int(ids.max(initial=-1)) + 1
        made = [Recoding.of_groups(column, ids, count) for column in table.columns]
        losses.append(_of_rows(made, ids < 0))
    return float(np.mean([each.mean() for each in losses if len(each)]))


def _of_rows(recodings: Iterable[Recoding], hidden: Bools) -> Floats:
    costs = np.zeros(len(hidden))
    each = [cell_costs(recoding) for recoding in recodings]
    if each:
        costs = np.mean(each, axis=0)
    costs[hidden] = 1.0
    return costs


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
            raise InputError(f"table {project.person!r}: it has no quasi-identifier")

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
        return publish_on_disk(
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
                raise InputError(f"table {name!r}: it has no quasi-identifier")
            self._draw(table)
        # the key comes first: the engine stores texts by position
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
