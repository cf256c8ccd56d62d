"""A DuckDB database in a private folder, within a memory budget.

It downloads nothing, and its messages, which quote cells, never leave this module.
"""

from __future__ import annotations

import copy
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError, OutputError
from shoal.rows.memory import Budget

_NO_SPACE = ("No space left", "File too large", "Disk quota exceeded")
_BATCH = 500_000  # rows that are changed at once
SHARE = 0.8  # of the budget: DuckDB's limit is not a limit of the process


class Session:
    """One connection; tables of the session are stored in its folder.

    budget: the memory that may be used. source: the name of what is read, for messages.
    limit: the bytes of it that DuckDB may use.
    """

    def __init__(
        self, folder: Path, budget: Budget, source: Path, limit: int | None = None
    ) -> None:
        self._folder, self.budget, self._source = folder, budget, source
        self._limit = limit or budget.share(SHARE)
        self._schema = "main"
        self._home, self._guests = self, list[Session]()
        self._names = itertools.count()
        self._connection = self._connect()

    def beside(self, schema: str, source: Path) -> Session:
        """Return a session with tables of its own in the same database, under a new schema.

        All sessions of a database rest together, and end when this one is closed.
        """
        self.run(f"CREATE SCHEMA {schema}")
        other = copy.copy(self)
        other._schema, other._source = schema, source
        other._connection = other._cursor()
        self._home._guests.append(other)
        return other

    def _connect(self) -> Any:
        import duckdb

        settings: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "enable_external_file_cache": "false",
            "memory_limit": f"{self._limit}B",
            "preserve_insertion_order": "false",
            "python_enable_replacements": "false",
            "temp_directory": str(self._folder / "spill"),
            "threads": os.cpu_count() or 1,
        }
        connection = duckdb.connect(str(self._folder / "rows.duckdb"), config=settings)
        connection.execute("SET enable_progress_bar = false")  # it would print to standard output
        return connection

    def _cursor(self) -> Any:
        """Return another connection to the same database and schema."""
        cursor = self._home._connection.cursor()
        cursor.execute("SET enable_progress_bar = false")
        cursor.execute(f"SET schema = '{self._schema}'")
        return cursor

    def run(
        self,
        statement: str,
        parameters: Mapping[str, Any] | None = None,
        explain: Callable[[str], str] | None = None,
    ) -> None:
        """Run a statement.

        explain: converts the message of DuckDB, which quotes cells, to one that does not.
        """
        with self._explained(explain):
            self._connection.execute(statement, parameters or None)

    def arrow(self, statement: str) -> Any:
        """Return the result of a query as an Arrow table."""
        with self._explained():
            return self._connection.sql(statement).to_arrow_table()

    def value(self, statement: str) -> Any:
        """Return the only value of a query."""
        with self._explained():
            return self._connection.execute(statement).fetchall()[0][0]

    def columns(self, name: str) -> list[str]:
        """Return the names of the columns of a stored table."""
        return list(self.arrow(f"SELECT * FROM {name} LIMIT 0").column_names)

    def batches(self, statement: str, size: int, given: Any = None) -> Iterator[Any]:
        """Yield the result of a query in order, as Arrow batches of at most this many rows.

        given: Arrow rows that the query reads under this name.
        """
        with self._explained():
            if given is not None:
                self._connection.register("given", given)
            self._connection.execute("SET preserve_insertion_order = true")
            reader = self._connection.sql(statement).to_arrow_reader(size)
            yield from reader
            self._connection.execute("SET preserve_insertion_order = false")

    def store(self, name: str, table: Any) -> None:
        """Store an Arrow table under a name, replacing an earlier one."""
        with self._explained():
            self._connection.register("given", table)
            self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM given")
            self._connection.unregister("given")

    def pour(self, statement: str, name: str, change: Callable[[Any], Any]) -> None:
        """Store the result of a query under a name, after each batch of its rows was changed.

        change: returns the Arrow table to store for one of the result.
        """
        batches = self.stream(statement, _BATCH)
        self.store(name, change(next(batches)))
        for batch in batches:
            self.append(name, change(batch))

    def stream(self, statement: str, size: int) -> Iterator[Any]:
        """Yield the result of a query in any order, as Arrow tables; the first one is empty."""
        with self._explained():
            reading = self._cursor()
            try:
                batches = reading.sql(statement).to_arrow_reader(size)
                yield batches.schema.empty_table()
                for batch in batches:
                    yield pa.Table.from_batches([batch])
            finally:
                reading.close()

    def append(self, name: str, table: Any, query: str = "SELECT * FROM given") -> None:
        """Append an Arrow table, or the result of a query of it, to a stored one."""
        with self._explained():
            self._connection.register("given", table)
            self._connection.execute(f"INSERT INTO {name} {query}")
            self._connection.unregister("given")

    def fresh(self, prefix: str) -> str:
        """Return a name that no table and no view of the database has."""
        return f"{prefix}_{next(self._names)}"

    def limit(self, share: float = SHARE) -> None:
        """Limit the memory of the database to a share of the budget."""
        size = min(self.budget.share(share), self._limit)
        self.run(f"SET memory_limit = '{size}B'")

    def rest(self) -> None:
        """Free the memory of the database while others need it."""
        home = self._home
        for each in (*home._guests, home):
            each.close()
        home._connection = home._connect()
        for each in home._guests:
            each._connection = each._cursor()

    def interrupt(self) -> None:
        """Stop the running statement, from another thread; it raises KeyboardInterrupt."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _explained(self, explain: Callable[[str], str] | None = None) -> Any:
        return explained(self._source, self._folder.parent, str(self.budget), explain)


@contextmanager
def explained(
    source: Path, folder: Path, budget: str, explain: Callable[[str], str] | None = None
) -> Iterator[None]:
    """Turn errors of DuckDB, whose messages quote cells, into errors that do not.

    Parameters:
        source: What is read, for messages.
        folder: The folder of working files.
        budget: The memory that may be used.
        explain: Returns a message without cells for another one.
    """
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.OutOfMemoryException as error:
        if "max_temp_directory_size" in str(error) or "disk" in str(error).lower():
            raise disk_full(folder) from None
        raise InputError(
            f"{source}: {budget} of memory are not enough; state a larger memory"
        ) from None
    except duckdb.Error as error:
        if any(why in str(error) for why in _NO_SPACE):  # also of a commit
            raise disk_full(folder) from None
        if isinstance(error, duckdb.IOException):
            raise InputError(
                f"{source}: cannot be read; a file is damaged or was changed"
            ) from None
        if explain is not None:
            raise InputError(explain(str(error))) from None
        raise InputError(
            f"{source}: cannot be read; a file is damaged, or a value has another type than the "
            "others of its column"
        ) from None


def disk_full(folder: Path) -> OutputError:
    """Return the error of a disk without space for working files."""
    return OutputError(
        f"{folder}: has no space left for temporary files; name another folder in TMPDIR"
    )


def quoted(name: str) -> str:
    """Return a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
