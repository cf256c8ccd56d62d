"""Rows in a DuckDB session: how queries find them, how files are read, what written files contain.

Parquet is read in place, text is copied. Columns of files are c0, c1, … in the order of the file,
whatever their names are: DuckDB ignores case, and a name could mean something else in a query, such
as an alias or a row number.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.files.csv_files import CsvScan
from shoal.files.query import exact_pattern
from shoal.files.writing import unescape_names
from shoal.rows.duckdb_session import Session, literal
from shoal.rows.file_sources import Scan, check_parquet, parquet_rows
from shoal.rows.memory import Budget
from shoal.rows.queries import count_files
from shoal.rows.store import Counted
from shoal.support.files import temporary_folder, utf8_path
from shoal.support.progress import report


class DuckDBRows:
    """Rows of a session; name: a table, a view, or another expression to select from."""

    def __init__(self, session: Session, name: str) -> None:
        self.session, self.name = session, name

    def arrow(self, query: str, **small: Any) -> Any:
        """Return the result of a query as an Arrow table."""
        with self._stored(query, small) as statement:
            return self.session.arrow(statement)

    def sorted(self, query: str, size: int, **small: Any) -> Iterator[Any]:
        """Yield the result of a query in its order, as Arrow batches of at most this many rows."""
        with self._stored(query, small) as statement:
            yield from self.session.batches(statement, size)

    def select(self, query: str, **small: Any) -> DuckDBRows:
        """Return the result of a query as a view; its small tables stay in the database."""
        view = self.session.fresh("rows")
        statement, _ = self._filled(query, small)
        self.session.run(f"CREATE VIEW {view} AS {statement}")
        return DuckDBRows(self.session, view)

    def matches(self, cell: str, pattern: str) -> str:
        """Return the expression of whether a text has a part that matches a pattern."""
        escaped = literal(pattern).replace("{", "{{").replace("}", "}}")
        return f"regexp_matches({cell}, {escaped})"

    @contextmanager
    def _stored(self, query: str, small: Mapping[str, Any]) -> Iterator[str]:
        """Yield the statement of a query, whose small tables are stored until the end."""
        statement, tables = self._filled(query, small)
        yield statement
        for table in tables:
            self.session.run(f"DROP TABLE {table}")

    def _filled(self, query: str, small: Mapping[str, Any]) -> tuple[str, list[str]]:
        """Store small tables, and return the statement of a query and the names of the tables."""
        names = {key: self.session.fresh("small") for key in small}
        for key, table in small.items():  # a table has statistics, which a registered one lacks
            self.session.store(names[key], table)
        return query.format(rows=self.name, **names), list(names.values())


POSITION = "file_row_number"  # DuckDB's name for the position of a row in its Parquet file


def places_of(names: Iterable[str]) -> dict[str, str]:
    """Return the column of each name.

    >>> places_of(["age", "count(*)"])
    {'age': 'c0', 'count(*)': 'c1'}
    """
    return {name: f"c{place}" for place, name in enumerate(names)}


def parquet_files(paths: Sequence[Path], columns: int) -> str:
    """Return what to select from Parquet files with this number of columns, as a table r."""
    listed = ", ".join(literal(exact_pattern(path)) for path in paths)
    named = ", ".join(f"c{place}" for place in range(columns))
    return f"read_parquet([{listed}], hive_partitioning=false) AS r({named})"


def rows_of(session: Session, scan: Scan, table: str, *, numbered: bool = False) -> str:
    """Return what to select from: Parquet files, or a table with a copy of the text.

    table: a name for the copy. numbered: add the position of each row in all files, `POSITION`.
    """
    if scan.types is not None:
        check_parquet(scan.files.paths, scan.files.named)
        return _numbered_parquet(scan) if numbered else _parquet(scan)
    report("read", 0, None)
    if numbered:
        session.run("SET preserve_insertion_order = true")
    for number, (text, cells) in enumerate(zip(scan.texts, scan.files.folders, strict=True)):
        _read_text(session, scan, text, cells, f"INSERT INTO {table}" if number else table)
    if not numbered:
        return table
    session.run("SET preserve_insertion_order = false")
    return f"(SELECT *, rowid AS {POSITION} FROM {table})"


def _parquet(scan: Scan) -> str:
    """Return the query of Parquet files, with the columns that only folders name."""
    by_cells: dict[tuple[str | None, ...], list[Path]] = {}
    for path, cells in zip(scan.files.paths, scan.files.folders, strict=True):
        by_cells.setdefault(tuple(cells[name] for name in scan.folders), []).append(path)
    parts = []
    for values, paths in by_cells.items():
        source = parquet_files(paths, _inside(scan))
        added = _from_folders(scan, dict(zip(scan.folders, values, strict=True)))
        parts.append(f"SELECT {', '.join(['*', *added])} FROM {source}")
    return f"({' UNION ALL '.join(parts)})"


def _numbered_parquet(scan: Scan) -> str:
    """Return the query of Parquet files with the position of each row."""
    parts, before = [], 0
    for path, cells in zip(scan.files.paths, scan.files.folders, strict=True):
        place = f"{POSITION} + {before} AS {POSITION}"
        columns = ", ".join(["*", *_from_folders(scan, cells), place])
        parts.append(f"SELECT {columns} FROM {parquet_files([path], _inside(scan))}")
        before += parquet_rows(path)
    return f"({' UNION ALL '.join(parts)})"


def _inside(scan: Scan) -> int:
    """Return the number of columns that are in the files; those of folders follow them."""
    return len(scan.names) - len(scan.folders)


def _from_folders(scan: Scan, cells: Mapping[str, str | None]) -> list[str]:
    """Return the columns that the folders of a file name."""
    types = scan.types or dict.fromkeys(scan.folders, pa.string())
    return [
        f"{_cast(cells[name], types[name])} AS c{place}"
        for place, name in enumerate(scan.folders, _inside(scan))
    ]


def _read_text(
    session: Session, scan: Scan, text: CsvScan, cells: Mapping[str, str | None], into: str
) -> None:
    """Copy a text file into a table; `into` is its name, or the beginning of an insertion."""
    columns = ", ".join([*text.keys, *_from_folders(scan, cells)])
    made = into if " " in into else f"CREATE TABLE {into} AS"
    options = {"path": exact_pattern(text.path), **text.options}
    session.run(f"{made} SELECT {columns} FROM ({text.statement})", options, text.explain)


def _cast(value: str | None, kind: Any) -> str:
    """Return the value that a folder names as an expression of its type."""
    text = "NULL" if value is None else literal(value)
    return f"CAST({text} AS {'BIGINT' if pa.types.is_integer(kind) else 'VARCHAR'})"


def count_written(
    session: Session,
    files: Sequence[Path],
    labels: Mapping[str, Any],
    value: str | None,
    text: bool,
) -> Counted:
    """Count the classes of written files, as in `Engine.count_written`."""
    if not text:
        check_parquet(files, files)
    expected = [*(name for name in labels if name != value), *([] if value is None else [value])]
    names, source = written_rows(files, expected)
    return count_files(DuckDBRows(session, source), places_of(names), labels, value)


def count_on_disk(
    files: Sequence[Path], labels: Mapping[str, Any], value: str | None, text: bool, budget: Budget
) -> Counted:
    """Count the classes of written files in a database of their own."""
    with temporary_folder(Path(tempfile.gettempdir())) as folder:
        session = Session(folder, budget, files[0].parent)
        try:
            return count_written(session, files, labels, value, text)
        finally:
            session.close()


def written_rows(
    files: Sequence[Path], expected: Sequence[str], *, missing: bool = False
) -> tuple[list[str], str]:
    """Return the names of the columns of written files, and what to select from; c0, c1, … there.

    Nothing about a text file is detected. A missing cell is empty, and an empty text is quoted; a
    missing cell of the only column is quoted too, because an empty line would not be a row.

    expected: the names before formulas in them were escaped.
    missing: whether quoted empty texts are missing in all files.
    """
    if files[0].suffix == ".parquet":
        names = list(pq.read_schema(utf8_path(files[0])).names)
        return names, parquet_files(files, len(names))
    sign = "\t" if files[0].suffix == ".tsv" else ","
    with files[0].open(encoding="utf-8", newline="") as handle:
        names = list(unescape_names(next(csv.reader(handle, delimiter=sign), []), expected))
    paths = ", ".join(literal(exact_pattern(path)) for path in files)
    columns = ", ".join(f"{place}: 'VARCHAR'" for place in places_of(names).values())
    quoted_nulls = "true" if missing or len(names) == 1 else "false"
    return names, (
        f"read_csv([{paths}], auto_detect=false, header=true, columns={{{columns}}}, "
        f"delim={literal(sign)}, quote='\"', escape='\"', nullstr='', strict_mode=true, "
        "null_padding=false, hive_partitioning=false, new_line='\\n', compression='none', "
        f"allow_quoted_nulls={quoted_nulls})"
    )
