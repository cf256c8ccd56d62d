"""The project file: tables about the same people, their keys, and how they refer to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import yaml

from shoal.core.column import Role
from shoal.core.values.specs import checked_words
from shoal.errors import InputError, unknown
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacements import as_replacement
from shoal.reading.schema import Schema
from shoal.reading.yaml_files import load_yaml
from shoal.support.file_names import below, check_file_names
from shoal.support.files import is_database, read_text

_TOP = ("person", "source", "domain", "tables")
_TABLE = ("from", "key", "foreign", "columns", "file")
_ENDINGS = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class ProjectTable:
    """One table of a project.

    Attributes:
        name: Its name, which is also the name of its released file.
        origin: The file in the folder, relative to it, or the table in the database.
        key: The column that identifies its rows, None if it has none.
        foreign: The table that each foreign key refers to, by column.
        schema: The roles and other options of its columns.
    """

    name: str
    origin: str
    key: str | None
    foreign: Mapping[str, str]
    schema: Schema


@dataclass(frozen=True)
class Project:
    """Several tables about the same people; `Project.read` reads one from a YAML file.

    Attributes:
        source: The folder of files, the database file, or the address of a PostgreSQL server.
        person: The table with one row per person; its key identifies people in all tables.
        tables: The tables by name.
        domain: The recipient or project in which pseudonyms join; "" if it is stated elsewhere.

    >>> table = {"key": "id", "columns": {"id": "identifier", "age": "quasi"}}
    >>> Project.of({"person": "people", "tables": {"people": table}}).order
    ('people',)
    """

    source: str
    person: str
    tables: Mapping[str, ProjectTable]
    domain: str = ""
    order: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        check_file_names("table", self.tables)
        graph = {name: set(table.foreign.values()) for name, table in self.tables.items()}
        try:
            order = tuple(TopologicalSorter(graph).static_order())
        except CycleError:
            raise InputError(
                "the foreign keys form a circle, so rows refer to several people; leave one out"
            ) from None
        object.__setattr__(self, "order", order)

    @classmethod
    def read(cls, path: str | Path) -> Project:
        """Read a project file; its folder is the default source.

        Parameters:
            path: The YAML file.

        Returns:
            The project.

        Raises:
            InputError: The file is not a valid project.
        """
        path = Path(path)
        try:
            data = load_yaml(read_text(path))
        except yaml.YAMLError:
            raise InputError(f"{path}: is not valid YAML") from None
        try:
            return cls.of(data, path.parent)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @classmethod
    def of(cls, data: Any, folder: Path | None = None) -> Project:
        """Return a project given as plain data.

        Parameters:
            data: The content of a project file.
            folder: The folder to which paths are relative.

        Returns:
            The project.
        """
        if not isinstance(data, Mapping) or not isinstance(data.get("tables"), Mapping):
            raise InputError("a project needs  person: TABLE  and  tables: {name: {columns: …}}")
        for name in data:
            if name not in _TOP:
                raise unknown("no entry", name, _TOP)
        tables = {
            str(n): _table(str(n), each, data["tables"]) for n, each in data["tables"].items()
        }
        person = data.get("person")
        if person not in tables:
            raise unknown("person must name a table: no table", person, tables)
        if tables[person].key is None:
            raise InputError(f"table {person!r}: the table of people needs a key")
        return cls(_source(data.get("source"), folder), person, tables, str(data.get("domain", "")))

    def people_of(self, name: str) -> tuple[str, ...]:
        """Return the foreign keys of a table through which its rows belong to people."""
        foreign = self.tables[name].foreign
        return tuple(c for c, to in foreign.items() if to == self.person or self.people_of(to))


def _source(stated: Any, folder: Path | None) -> str:
    if stated is None:
        return str(folder or Path())
    if is_database(stated):
        return str(stated)
    return str((folder or Path()) / str(stated))


def _table(name: str, data: Any, others: Mapping[str, Any]) -> ProjectTable:
    where = f"table {name!r}"
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: needs a mapping with columns")
    for entry in data:
        if entry not in _TABLE:
            raise unknown(f"{where}: no entry", entry, _TABLE)
    key, foreign = data.get("key"), data.get("foreign") or {}
    if not isinstance(foreign, Mapping):
        raise InputError(f"{where}: foreign must be a mapping such as  patient_id: patients")
    for column, to in foreign.items():
        if to not in others:
            raise unknown(f"{where}: column {column!r} refers to no table", to, others)
        if not isinstance(others[to], Mapping) or not others[to].get("key"):
            raise InputError(f"{where}: column {column!r} refers to {to!r}, which has no key")
        if column == key:
            raise InputError(f"{where}: column {column!r} is its key and a foreign key")
    columns = dict(data.get("columns") or {})
    _refuse_weights(where, columns)
    if key is not None:
        columns.setdefault(str(key), "identifier")
    for column in foreign:
        if columns.setdefault(str(column), "identifier") not in (
            "identifier",
            {"role": "identifier"},
        ):
            raise InputError(
                f"{where}: foreign key {column!r} is published like the key that it refers to; "
                "give it the role identifier and no replacement"
            )
    schema = Schema.of({"columns": columns, "file": data.get("file") or {}})
    return ProjectTable(
        name, str(data.get("from", name)), None if key is None else str(key), dict(foreign), schema
    )


def _refuse_weights(where: str, columns: Mapping[str, Any]) -> None:
    """Reject sampling weights, which are for single tables."""
    for name, spec in columns.items():
        stated = spec.get("role") if isinstance(spec, Mapping) else spec
        if isinstance(stated, str) and checked_words(name, {"role": stated})["role"] is Role.WEIGHT:
            raise InputError(
                f"{where}: column {name!r}: a project has no sampling weights; leave the column "
                "out, or give it the role insensitive to publish it unchanged"
            )


def key_replacement(project: Project, name: str) -> Any:
    """Return how the key of a table is published; None if it is published unchanged.

    By default it becomes a pseudonym. Keys of the table of people have the pseudonyms that a
    release of a single table gives them; other keys have a space of their own.
    """
    table = project.tables[name]
    assert table.key is not None
    spec = table.schema.columns[table.key]
    if spec["role"] == Role.INSENSITIVE:
        return None
    if spec["role"] != Role.IDENTIFIER:
        raise InputError(f"table {name!r}: key {table.key!r} must be an identifier or insensitive")
    default = Pseudonym() if name == project.person else Pseudonym(space=name)
    return as_replacement(spec.get("replace", default), table.key)


def file_of(source: Path, table: ProjectTable) -> Path:
    """Return the file of a table in a folder: by its name, or by its name with an ending."""
    named = below(source, table.origin, f"table {table.name!r}: from")
    if named.suffix.lower() in _ENDINGS:
        return named
    found = [file for ending in _ENDINGS if (file := source / f"{table.origin}{ending}").exists()]
    if len(found) != 1:
        raise InputError(
            f"table {table.name!r}: {source} has {len(found) or 'no'} files {table.origin} with an "
            f"ending of {', '.join(_ENDINGS)}; name one with  from:"
        )
    return found[0]
