"""Read the tables of a project: folders of files, DuckDB, SQLite and PostgreSQL databases."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError
from shoal.files.formats import Format
from shoal.files.reading import read, read_arrow
from shoal.files.schema import Schema
from shoal.projects.project import Project, ProjectTable, file_of
from shoal.rows.choice import Choice, choose_all
from shoal.rows.memory import Budget
from shoal.support.addresses import is_database
from shoal.support.files import check_readable
from shoal.table.column import Role
from shoal.table.roles import UnassignedColumns
from shoal.table.table import Table

_DUCKDB = (".duckdb", ".ddb")
_SQLITE = (".sqlite", ".sqlite3", ".db")
_BATCH = 100_000  # rows of SQLite at a time
_EXACT = 2**53  # whole numbers up to this are floats too


def read_table(project: Project, table: ProjectTable) -> Table:
    """Return a table of a project; the rows count as people until they are linked to them."""
    schema = described(table)
    source = _rows(project.source, table)
    if isinstance(source, Path) and not _has_rows(source):
        names = list(schema.columns)
        form = Format(**schema.file)
        source = read_arrow(source, form, names, may_be_empty=True, expected=names)
        schema = replace(schema, file={})
    with warnings.catch_warnings(action="ignore", category=UnassignedColumns):
        return read(source, schema, rows_are_people=True)


def described(table: ProjectTable) -> Schema:
    """Return the columns of a table as they are read: the project replaces identifiers itself."""
    columns = {
        name: {option: value for option, value in spec.items() if option != "replace"}
        for name, spec in table.schema.columns.items()
    }
    return Schema(columns, dict(table.schema.file), f"table {table.name!r}")


def _has_rows(path: Path) -> bool:
    """Return whether a file has more than a header; a table of a project may be empty."""
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        check_readable(path)
        return bool(pq.read_metadata(path).num_rows)
    check_readable(path)
    with path.open("rb") as handle:
        filled = (line for line in handle if line.strip())
        return len(list(islice(filled, 2))) > 1


def choose_place(
    project: Project, memory: str | int | None, engine: str | None, algorithm: Any
) -> Choice:
    """Return whether the tables of a project are read into memory, or stay on disk.

    Parameters: as for `shoal.rows.choice.choose`.
    """
    if Path(project.source).is_dir():
        files = {
            file_of(Path(project.source), table): len(table.schema.columns)
            for table in project.tables.values()
        }
        for path in files:
            check_readable(path)
        return choose_all(files, memory, engine, algorithm)
    if memory is None and engine is None:
        return Choice(False, Budget.parse(None))
    raise InputError(
        f"{project.source}: tables of a database are read into memory, whatever their size; leave "
        "out memory and engine, or write the tables to a folder of CSV or Parquet files"
    )


def ending_of(project: Project, table: ProjectTable) -> str:
    """Return the ending of a released file: that of the original, Parquet for a database."""
    folder = Path(project.source)
    return file_of(folder, table).suffix.lower() if folder.is_dir() else ".parquet"


def _rows(source: str, table: ProjectTable) -> Any:
    """Return the path of a table's file, or the rows of a table in a database."""
    if is_database(source):
        query = f"SELECT * FROM {_quoted(table.origin)}"
        return read_arrow(Path(source), Format(query=query), may_be_empty=True)
    path = Path(source)
    if path.is_dir():
        return file_of(path, table)
    check_readable(path)
    if path.suffix.lower() in _DUCKDB:
        return _read_duckdb(path, table)
    if path.suffix.lower() in _SQLITE:
        return _read_sqlite(path, table)
    raise InputError(
        f"{path}: the source must be a folder, a DuckDB file ({', '.join(_DUCKDB)}), an SQLite "
        f"file ({', '.join(_SQLITE)}) or postgresql://host/database"
    )


def _read_duckdb(path: Path, table: ProjectTable) -> Any:
    """Return a table or a view of DuckDB, which reads nothing but the database file."""
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "allow_persistent_secrets": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",
        "temp_directory": "",
    }
    try:  # by its absolute path, since a relative one can begin like the name of an extension
        with duckdb.connect(str(path.absolute()), read_only=True, config=settings) as database:
            database.execute("SET enable_external_access = false")
            database.execute("SET lock_configuration = true")
            return database.sql(f"SELECT * FROM {_quoted(table.origin)}").to_arrow_table()
    except duckdb.PermissionException:
        raise InputError(
            f"{path}: {table.origin!r} reads files or addresses outside of the database; store its "
            "rows as a table"
        ) from None
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except duckdb.Error:
        raise InputError(f"{path}: no readable table {table.origin!r}") from None


def _read_sqlite(path: Path, table: ProjectTable) -> Any:
    """Return a table of SQLite; a column of one type keeps it, others become text."""
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as database:
            cursor = database.execute(f"SELECT * FROM {_quoted(table.origin)}")
            names = [column[0] for column in cursor.description]
            parts: list[list[Any]] = [[] for _ in names]
            for rows in _batches(cursor):
                for part, cells in zip(parts, zip(*rows, strict=True), strict=True):
                    part.append(cells)
    except sqlite3.Error:
        raise InputError(f"{path}: no readable table {table.origin!r}") from None
    identifiers = {n for n, spec in table.schema.columns.items() if spec["role"] == Role.IDENTIFIER}
    return pa.table(
        {
            name: _column([cell for cells in part for cell in cells], text=name in identifiers)
            for name, part in zip(names, parts, strict=True)
        }
    )


def _batches(cursor: sqlite3.Cursor) -> Iterator[list[Any]]:
    while rows := cursor.fetchmany(_BATCH):
        yield rows


def _column(cells: list[Any], *, text: bool) -> Any:
    """Return cells in one type; identifiers and cells of different types are text."""
    types = {type(cell) for cell in cells if cell is not None}
    whole = [cell for cell in cells if isinstance(cell, int)] if types == {int, float} else []
    if any(abs(cell) > _EXACT for cell in whole):  # not every one of them is a float
        text = True
    if text or (len(types) > 1 and types != {int, float}):
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    return pa.array(cells)


def _quoted(name: str) -> str:
    """Return the quoted name of a table, with its schema if it has one."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))
