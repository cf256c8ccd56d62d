"""How DuckDB reads the rows of files: Parquet in place, text as a copy.

Columns are c0, c1, … in the order of the file, whatever their names are: DuckDB ignores case, and a
name could mean something else in a query, such as an alias or a row number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.duckdb_session import Session, literal
from shoal.engines.sources import Scan, check_parquet, parquet_rows
from shoal.reading.csv_files import CsvScan
from shoal.reading.engine import exact_pattern
from shoal.support.progress import report

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
