"""Queries that return Arrow tables: of a PostgreSQL database, and of files by DuckDB.

`read_query`  through the ADBC driver. Nothing is downloaded at run time. A message never repeats
the address, which may hold a password, nor what the server says, which may quote
cells. Queries run in a transaction that cannot write
`query`       one at a time. The process shares one database of DuckDB, because opening one takes
longer than reading a small file; a large file gets a database of its own, which
returns its memory when it is closed. Both store, download and write nothing
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.files.formats import typed
from shoal.files.requests import check_names
from shoal.support.addresses import DATABASE
from shoal.support.files import utf8_path
from shoal.support.imports import requires
from shoal.table.encoding import combined

_LARGE_BYTES = 1 << 24  # bytes of a file from which a database of its own is worth its memory


def read_query(address: str, query: str | None) -> Any:
    """Return the rows of a query as an Arrow table.

    Parameters:
        address: Such as postgresql://host/database; a path has merged the two slashes.
    """
    stated = DATABASE.match(address)
    if stated is None:
        raise InputError("a database is named like postgresql://host/database")
    if not query:
        raise InputError(
            "a database needs a query (--query, in Python query=), such as 'SELECT * FROM patients'"
        )
    with requires("sql"):
        import adbc_driver_postgresql.dbapi as driver

    try:
        connection = driver.connect(f"postgresql://{stated[1]}")
    except (driver.Error, OSError) as error:
        raise InputError(
            f"the database server cannot be reached{_state(error)}; check the address, the user "
            "and the password"
        ) from None
    with connection, connection.cursor() as cursor:
        try:
            cursor.execute("SET transaction_read_only = on")
            # the types first: some would arrive as bytes
            schema = cursor.adbc_execute_schema(query)
            check_names("the query", schema.names)
            cursor.execute(_readable(query, schema))
            return _plain(cursor.fetch_arrow_table())
        except (driver.Error, OSError) as error:
            raise InputError(f"the database refuses the query{_state(error)}") from None


def _readable(query: str, schema: Any) -> str:
    """Return a query whose columns the driver returns as values, if need be as text.

    Otherwise it returns `inet` and others in the bytes of the server, and `money` in cents.
    """
    texts = [
        field.name
        for field in schema
        if ("arrow.opaque" in str(field.type) and not _is_numeric(field.type))
        or pa.types.is_interval(field.type)
        or (field.metadata or {}).get(b"POSTGRESQL:type") == b"money"
    ]
    if not texts:
        return query
    names = {name: '"' + name.replace('"', '""') + '"' for name in schema.names}
    columns = [
        f"{quoted}::text AS {quoted}" if name in texts else quoted for name, quoted in names.items()
    ]
    return f"SELECT {', '.join(columns)} FROM ({query.rstrip().rstrip(';')}\n) AS rows"


def _plain(table: Any) -> Any:
    """Return a table of plain types: `numeric`, which the driver returns as text, is numbers."""
    columns = []
    for field, cells in zip(table.schema, table.columns, strict=True):
        if not _is_numeric(field.type):
            extended = isinstance(field.type, pa.BaseExtensionType)
            columns.append(combined(cells, field.name) if extended else cells)
            continue
        texts = pa.chunked_array([chunk.storage for chunk in cells.chunks], pa.string())
        missing = pc.is_in(texts, pa.array(["nan"]))
        columns.append(typed(pc.if_else(missing, pa.scalar(None, pa.string()), texts)))
    return pa.Table.from_arrays(columns, table.column_names)


def _is_numeric(kind: Any) -> bool:
    return isinstance(kind, pa.OpaqueType) and kind.type_name == "numeric"


def _state(error: Exception) -> str:
    """Return the standard code of an error, which names its kind and nothing else."""
    state = getattr(error, "sqlstate", None)
    return f" (SQLSTATE {state})" if state and re.fullmatch(r"\w{5}", str(state)) else ""


def query(
    path: Path, statement: str, parameters: Mapping[str, Any], explain: Callable[[str], str]
) -> Any:
    """Return the result of a statement about `$path` as an Arrow table.

    Parameters:
        explain: Converts the message of DuckDB, which quotes cells, to one that does not.
    """
    import duckdb

    large = path.stat().st_size >= _LARGE_BYTES
    cursor = _open() if large else _database(os.getpid()).cursor()
    try:
        asked = cursor.sql(statement, params={"path": exact_pattern(path), **parameters})
        return asked.to_arrow_table()
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except duckdb.Error as error:
        # not chained, because the cause quotes the line
        raise InputError(explain(str(error))) from None
    finally:
        cursor.close()


@cache
def _database(process: int) -> Any:
    """Open the database of this process; a forked child must not use its parent's."""
    return _open()


def _open() -> Any:
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "enable_external_file_cache": "false",
        "preserve_insertion_order": "true",
        "python_enable_replacements": "false",
        "temp_directory": "",
    }
    return duckdb.connect(config=settings)


def exact_pattern(path: Path) -> str:
    """Return a pattern that matches only this file, whatever characters its name contains."""
    return re.sub(r"([*?\[])", r"[\1]", utf8_path(path.absolute()))
