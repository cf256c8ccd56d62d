"""Release all tables of a project together: one pseudonym per key, one class per person.

People are anonymized once, by the table of people. Suppressed people disappear from every table.
The released folder appears when all its tables have been written and checked, or not at all.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.anonymize.algorithm import Algorithm
from shoal.anonymize.requests import as_model
from shoal.engines.memory import Budget
from shoal.errors import NotAnonymous, OutputError
from shoal.identifiers.keys import Key
from shoal.identifiers.lookup import Lookup
from shoal.identifiers.replacement import Context
from shoal.privacy.model import Model
from shoal.projects.checking import SetCheck, check_set
from shoal.projects.files import digest, write_published, write_record
from shoal.projects.in_memory import MemoryTables
from shoal.projects.on_disk import DiskTables, tables_on_disk
from shoal.projects.project import Project
from shoal.projects.requests import Asked
from shoal.projects.sources import choose_place, ending_of
from shoal.projects.treatments import Published
from shoal.support.file_names import new_inside
from shoal.support.folders import replace_folder
from shoal.support.options import check_seed
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
