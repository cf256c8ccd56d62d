"""Release all tables of a project together: one pseudonym per key, one class per person.

People are anonymized once, by the table of people. Suppressed people disappear from every table.
The released folder appears when all its tables have been written and checked, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal._version import __version__
from shoal.anonymize import anonymize
from shoal.anonymize.algorithm import Algorithm
from shoal.anonymize.requests import as_model
from shoal.core.people import Unit
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError, NotAnonymous, OutputError
from shoal.identifiers.keys import Key
from shoal.identifiers.lookup import Lookup
from shoal.identifiers.replacement import Context
from shoal.privacy.model import Model
from shoal.projects.cells import Published, publish_keys, publish_table
from shoal.projects.checking import SetCheck, check_set
from shoal.projects.events import release_events
from shoal.projects.files import digest, write_published, write_record
from shoal.projects.links import Linked, link_table
from shoal.projects.project import Project
from shoal.projects.sources import ending_of, read_table
from shoal.support.arrays import Codes
from shoal.support.folders import replace_folder
from shoal.support.options import check_seed, check_whole
from shoal.support.progress import report


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
    before_publishing: Callable[[], None] | None = None,
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
        max_left_out: Share of rows of events that `km-anonymity` may leave out.
        seed: For methods that draw at random, and for `people`.
        before_publishing: Called when all tables are checked, before the folder appears, such as to
            write the table of tokens.
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
    done = _linked(project, people, seed)
    first = done[project.person].table
    if not first.quasi:
        raise InputError(f"table {project.person!r}: no column is quasi-identifying")

    def search(model: Model) -> Release:
        return anonymize(_as_people(first), model, method, seed=seed, **options)

    wanted = as_model(model, k)
    if wanted.over_rows:
        release, events = release_events(project, done, wanted, search, max_left_out)
    else:
        release, events = search(wanted), {}
    keys = publish_keys(project, done, context)
    with replace_folder(output) as made:
        record = _write_tables(project, made, done, keys, release, events, context)
        write_record(made, record)
        checked = check_set(made, wanted)
        if not checked:
            raise NotAnonymous(f"{checked.problem}; nothing was written")
        if before_publishing is not None:
            before_publishing()
    return checked


def check_new_folder(output: Path) -> None:
    """Reject a folder that exists: a set of tables replaces nothing."""
    if output.exists():
        raise OutputError(f"{output}: exists already; name a new folder")
    if not output.absolute().parent.is_dir():
        raise OutputError(f"{output}: its folder does not exist; create {output.parent} first")


def _linked(project: Project, people: int | None, seed: int | None) -> dict[str, Linked]:
    """Read all tables, in an order in which each follows those it refers to."""
    done: dict[str, Linked] = {}
    for number, name in enumerate(project.order):
        report("read tables", number, len(project.order))
        spec = project.tables[name]
        table = read_table(project, spec)
        if name == project.person and people is not None:
            table = _sampled(table, people, seed)
        done[name] = link_table(project, spec, table, done)
    return done


def _sampled(table: Table, people: int, seed: int | None) -> Table:
    """Return some people drawn at random; rows of others then belong to nobody."""
    check_whole("people", people, 1)
    if people >= len(table):
        return table
    drawn = np.random.default_rng(seed).choice(len(table), people, replace=False)
    return table.take(np.sort(drawn))


def _as_people(table: Table) -> Table:
    """Return the table of people with its identifiers left to the project."""
    rows = np.arange(len(table), dtype=np.int32)
    return replace(
        table, person=Unit(("key",), rows, len(table)), rows_are_people=False, replacements={}
    )


def _write_tables(
    project: Project,
    folder: Path,
    done: Mapping[str, Linked],
    keys: Mapping[str, Any],
    release: Release,
    events: Mapping[str, Codes],
    context: Context,
) -> dict[str, Any]:
    """Write every table and return the record of the set."""
    tables: dict[str, Any] = {}
    for number, name in enumerate(project.order):
        report("write tables", number, len(project.order))
        published = publish_table(project, name, done, keys, release, events, context)
        path = folder / f"{name}{ending_of(project, project.tables[name])}"
        write_published(published, path)
        tables[name] = _described(project, name, published, path, done[name])
        tables[name]["events"] = name in events
    return {
        "shoal": __version__,
        "model": [str(part) for part in release.model.parts],
        "person": project.person,
        "domain": context.domain,
        "key": None if context.key is None else context.key.fingerprint,
        "method": release.run.method,
        "tables": tables,
    }


def _described(
    project: Project, name: str, published: Published, path: Path, linked: Linked
) -> dict[str, Any]:
    spec = project.tables[name]
    shown = set(published.columns)
    return {
        "file": path.name,
        "sha256": digest(path),
        "rows": len(published.rows),
        "key": spec.key if spec.key in shown else None,
        "foreign": {column: to for column, to in spec.foreign.items() if column in shown},
        "joined": dict(published.joined),
        "people": [c for c in project.people_of(name) if c in shown],
        "quasi": [n for n in linked.table.quasi if n in shown],
        "sensitive": [n for n in linked.table.sensitive if n in shown],
        "columns": dict(published.treatments),
    }
