"""The project file: tables about the same people, their keys, and how they refer to each other.

    project.yaml → Project → ProjectTable, one for each table, in an order in which every table
                             follows those that its foreign keys refer to

`Asked` is what a release of the project is asked to be: the guarantee, the method, the secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError, unknown
from shoal.files.schema import Schema, read_yaml
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Context
from shoal.identifiers.replacements import as_replacement
from shoal.methods import anonymize
from shoal.methods.algorithm import Algorithm, make
from shoal.methods.registry import METHODS
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.support.addresses import is_database
from shoal.support.arrays import Counts
from shoal.support.documents import check_shape
from shoal.support.file_names import below, check_file_names
from shoal.support.options import check_whole
from shoal.table.column import Role

_TABLE = {
    "from?": (str, None),
    "key?": (str, None),
    "foreign?": ({str: str}, None),
    "columns?": ({str: object}, None),
    "file?": ({str: object}, None),
}
_PROJECT = {"person": str, "source?": (str, None), "domain?": (str, None), "tables": {str: _TABLE}}
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
                "the foreign keys form a cycle, so rows refer to several people; remove one of them"
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
        return cls.of(read_yaml(path), path.parent, str(path))

    @classmethod
    def of(cls, data: Any, folder: Path | None = None, source: str = "project") -> Project:
        """Return a project given as plain data.

        Parameters:
            data: The content of a project file.
            folder: The folder to which paths are relative.
            source: The name of the project in messages.

        Returns:
            The project.

        Raises:
            InputError: The data is not a valid project; the message names the part.
        """
        check_shape(data, _PROJECT, source)
        try:
            return cls._of(data, folder)
        except InputError as error:
            raise InputError(f"{source}: {error}") from None

    @classmethod
    def _of(cls, data: Mapping[str, Any], folder: Path | None) -> Project:
        tables = {name: _table(name, each, data["tables"], folder)
                  for name, each in data["tables"].items()}  # fmt: skip
        person = data["person"]
        if person not in tables:
            raise unknown("person must name a table: no table", person, tables)
        if tables[person].key is None:
            raise InputError(f"table {person!r}: the table of people needs a key")
        return cls(_source(data.get("source"), folder), person, tables, data.get("domain") or "")

    def people_of(self, name: str) -> tuple[str, ...]:
        """Return the foreign keys of a table through which its rows belong to people."""
        foreign = self.tables[name].foreign
        return tuple(c for c, to in foreign.items() if to == self.person or self.people_of(to))


def _source(stated: str | None, folder: Path | None) -> str:
    if stated is None:
        return str(folder or Path())
    return stated if is_database(stated) else str((folder or Path()) / stated)


def _table(
    name: str, data: Mapping[str, Any], others: Mapping[str, Any], folder: Path | None
) -> ProjectTable:
    where = f"table {name!r}"
    key, foreign = data.get("key"), data.get("foreign") or {}
    for column, to in foreign.items():
        if to not in others:
            raise unknown(f"{where}: column {column!r} refers to no table", to, others)
        if not others[to].get("key"):
            raise InputError(f"{where}: column {column!r} refers to {to!r}, which has no key")
        if column == key:
            raise InputError(f"{where}: column {column!r} is its key and a foreign key")
    columns = dict(data.get("columns") or {})
    if key is not None:
        columns.setdefault(key, "identifier")
    for column in foreign:
        if columns.setdefault(column, "identifier") not in ("identifier", {"role": "identifier"}):
            raise InputError(
                f"{where}: foreign key {column!r} is published like the key that it refers to; "
                "give it the role identifier and no replacement"
            )
    stated = {"columns": columns, "file": data.get("file") or {}}
    schema = Schema.of(stated, None if folder is None else folder / name, where)
    for column, spec in schema.columns.items():
        if "role" not in spec:
            raise InputError(f"{where}: column {column!r}: no role; it is one of {', '.join(Role)}")
        if spec["role"] is Role.WEIGHT:
            raise InputError(
                f"{where}: column {column!r}: a project has no sampling weights; leave the column "
                "out, or give it the role insensitive to publish it unchanged"
            )
    return ProjectTable(name, data.get("from") or name, key, dict(foreign), schema)


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


@dataclass(frozen=True)
class Asked:
    """The guarantee, the method and the secrets of a release; as for `release_project`.

    options: options of the method.
    """

    model: Model
    method: str | Algorithm
    context: Context
    people: int | None = None
    max_left_out: float = 0.05
    seed: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def algorithm(self) -> Any:
        """The method, with its options."""
        if isinstance(self.method, str) and self.method in METHODS:
            return make(METHODS[self.method], self.options)
        return self.method

    def anonymize(self, people: Any, model: Model) -> Release:
        """Return a release of the table of people that meets a model."""
        return anonymize(people, model, self.method, seed=self.seed, **self.options)

    def drawn(self, rows: int) -> Counts | None:
        """Return the positions of people drawn at random; None if all of them are released.

        Rows of others then belong to nobody.
        """
        if self.people is None:
            return None
        check_whole("people", self.people, 1)
        if self.people >= rows:
            return None
        drawn = np.random.default_rng(self.seed).choice(rows, self.people, replace=False)
        return np.sort(drawn)
