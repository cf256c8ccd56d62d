"""How DuckDB reads the rows of files: Parquet in place, text as a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.duckdb_session import Session, literal, quoted
from shoal.engines.sources import Scan, check_parquet, parquet_rows
from shoal.reading.csv_files import CsvScan
from shoal.reading.engine import exact_pattern
from shoal.support.progress import report

POSITION = "file_row_number"  # DuckDB's name for the position of a row in its Parquet file


def rows_of(session: Session, scan: Scan, table: str, *, numbered: bool = False) -> str:
    """Return what to select from: Parquet files, or a table with a copy of the text.

    table: a name for the copy. numbered: add the position of each row in all files, `POSITION`.
    """
    if scan.types is not None:
        check_parquet(scan.files.paths, scan.files.named)
        return _numbered_parquet(scan) if numbered else _parquet(scan, scan.types)
    report("read", 0, None)
    if numbered:
        session.run("SET preserve_insertion_order = true")
    for number, (text, cells) in enumerate(zip(scan.texts, scan.files.folders, strict=True)):
        _read_text(session, scan, text, cells, f"INSERT INTO {table}" if number else table)
    if not numbered:
        return table
    session.run("SET preserve_insertion_order = false")
    return f"(SELECT *, rowid AS {POSITION} FROM {table})"


def _parquet(scan: Scan, types: Mapping[str, Any]) -> str:
    """Return the query of Parquet files, with the columns that only folders name."""
    by_cells: dict[tuple[str | None, ...], list[Path]] = {}
    for path, cells in zip(scan.files.paths, scan.files.folders, strict=True):
        by_cells.setdefault(tuple(cells[name] for name in scan.folders), []).append(path)
    parts = []
    for values, paths in by_cells.items():
        source = _files(paths)
        if not values:
            return source
        added = [
            f"{_cast(value, types[name])} AS {quoted(name)}"
            for name, value in zip(scan.folders, values, strict=True)
        ]
        parts.append(f"SELECT *, {', '.join(added)} FROM {source}")
    return f"({' UNION ALL '.join(parts)})"


def _numbered_parquet(scan: Scan) -> str:
    """Return the query of Parquet files with the position of each row."""
    assert scan.types is not None
    parts, before = [], 0
    for path, cells in zip(scan.files.paths, scan.files.folders, strict=True):
        added = [f"{_cast(cells[n], scan.types[n])} AS {quoted(n)}" for n in scan.folders]
        place = f"{POSITION} + {before} AS {POSITION}"
        columns = ", ".join([f"* EXCLUDE {POSITION}", *added, place])
        parts.append(f"SELECT {columns} FROM {_files([path], f', {POSITION}=true')}")
        before += parquet_rows(path)
    return f"({' UNION ALL '.join(parts)})"


def _files(paths: Sequence[Path], more: str = "") -> str:
    listed = ", ".join(literal(exact_pattern(path)) for path in paths)
    return f"read_parquet([{listed}], hive_partitioning=false{more})"


def _read_text(
    session: Session, scan: Scan, text: CsvScan, cells: Mapping[str, str | None], into: str
) -> None:
    """Copy a text file into a table; `into` is its name, or the beginning of an insertion."""
    columns = [f"{key} AS {quoted(name)}" for key, name in zip(text.keys, text.names, strict=True)]
    columns += [f"{_cast(cells[n], pa.string())} AS {quoted(n)}" for n in scan.folders]
    made = into if " " in into else f"CREATE TABLE {into} AS"
    statement = f"{made} SELECT {', '.join(columns)} FROM ({text.statement})"
    options = {"path": exact_pattern(text.path), **text.options}
    session.run(statement, options, text.explain)


def _cast(value: str | None, kind: Any) -> str:
    """Return the value that a folder names as an expression of its type."""
    text = "NULL" if value is None else literal(value)
    return f"CAST({text} AS {'BIGINT' if pa.types.is_integer(kind) else 'VARCHAR'})"
