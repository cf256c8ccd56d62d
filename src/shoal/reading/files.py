"""Read files as Arrow tables by the ending of the name: CSV, Parquet, JSON lines.

The types of CSV and JSON are inferred from text; Parquet keeps its types. Errors name the line,
never its content.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from shoal.core.files import check_readable
from shoal.errors import InputError
from shoal.reading.checks import check_rows
from shoal.reading.csv_files import read_csv
from shoal.reading.formats import Format
from shoal.reading.json_lines import read_json_lines
from shoal.reading.parquet_files import read_parquet


def read_arrow(
    path: Path,
    form: Format,
    keep_text: Collection[str] | None = None,
    *,
    may_be_empty: bool = False,
    expected: Collection[str] = (),
) -> Any:
    """Return a file as an Arrow table.

    keep_text: columns released unchanged, which stay text; None infers the types of all columns.
    expected: columns that the file should have; if it has one, its first line is a header.
    may_be_empty: accept a file without rows.
    """
    check_readable(path)
    reader = _reader(path)
    if reader is read_csv:
        table = read_csv(path, form, keep_text or (), expected)
    else:
        table = reader(path, form, keep_text or ())
    if not may_be_empty:
        check_rows(path, table)
    return table


def _reader(path: Path) -> Callable[[Path, Format, Collection[str]], Any]:
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    if ending in (".xlsx", ".xls", ".ods"):
        raise InputError(f"{path}: spreadsheets cannot be read; save the sheet as CSV")
    if ending in (".parquet", ".pq"):
        return read_parquet
    if ending in (".jsonl", ".ndjson", ".json"):
        return read_json_lines
    with path.open("rb") as handle:
        return read_parquet if handle.read(4) == b"PAR1" else read_csv


__all__ = ["Format", "read_arrow"]
