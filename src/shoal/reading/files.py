"""Read files as Arrow tables by the ending of the name: CSV, Parquet, JSON lines and others.

The types of CSV and JSON are inferred from text; Parquet keeps its types. Errors name the line,
never its content.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from shoal.reading.checks import check_rows
from shoal.reading.csv_files import read_csv
from shoal.reading.databases import read_query
from shoal.reading.formats import Format
from shoal.reading.json_lines import read_json_lines
from shoal.reading.parquet_files import read_parquet
from shoal.reading.spreadsheets import ENDINGS as SPREADSHEETS
from shoal.reading.spreadsheets import read_spreadsheet
from shoal.reading.survey_files import ENDINGS as SURVEYS
from shoal.reading.survey_files import read_survey
from shoal.reading.text_files import check_unpacked
from shoal.support.files import check_readable, is_database


def read_arrow(
    path: Path,
    form: Format,
    keep_text: Collection[str] | None = None,
    *,
    may_be_empty: bool = False,
    expected: Collection[str] = (),
) -> Any:
    r"""Return a file as an Arrow table.

    Parameters:
        path: The file; its ending sets the format. A database is `postgresql://host/database`.
        form: The format of a text file, as far as it is known.
        keep_text: Columns that are released unchanged, which stay text; None infers the types of
            all columns.
        may_be_empty: Accept a file without rows.
        expected: Columns that the file should have; if it has one, its first line is a header.

    Returns:
        The table.

    Raises:
        InputError: The file cannot be read, or has no rows.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     size = Path(folder, "ages.csv").write_text("age;sex\n31;f\n47;m\n")
    ...     read_arrow(Path(folder, "ages.csv"), Format(delimiter=";")).to_pydict()
    {'age': [31, 47], 'sex': ['f', 'm']}
    """
    if is_database(path):
        table = read_query(str(path), form.query)
        return table if may_be_empty else _with_rows("the query", table)
    check_readable(path)
    reader = reader_of(path)
    if reader in (read_csv, read_json_lines):
        check_unpacked(path)
    if reader is read_csv:
        table = read_csv(path, form, keep_text or (), expected)
    else:
        table = reader(path, form, keep_text or ())
    return table if may_be_empty else _with_rows(path, table)


def _with_rows(path: Path | str, table: Any) -> Any:
    check_rows(path, table)
    return table


def reader_of(path: Path) -> Callable[[Path, Format, Collection[str]], Any]:
    """Return the function that reads a file, by its ending or its first bytes."""
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    if ending in SPREADSHEETS:
        return read_spreadsheet
    if ending in SURVEYS:
        return read_survey
    if ending in (".parquet", ".pq"):
        return read_parquet
    if ending in (".jsonl", ".ndjson", ".json"):
        return read_json_lines
    with path.open("rb") as handle:
        return read_parquet if handle.read(4) == b"PAR1" else read_csv


__all__ = ["Format", "read_arrow"]
