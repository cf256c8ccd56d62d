"""Show the first rows of a file as text, and the settings they were read with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.core.publishing.parquet_checks import open_parquet
from shoal.core.values import encoding
from shoal.reading.csv_files import read_csv, scan_csv
from shoal.reading.engine import query
from shoal.reading.files import read_arrow, reader_of
from shoal.reading.formats import Format
from shoal.reading.parquet_files import read_parquet
from shoal.support.files import check_readable


@dataclass(frozen=True)
class FilePreview:
    """The first rows of a file.

    Parameters:
        names: The column names.
        rows: The first rows as text; None is a missing value.
        settings: Of a CSV file: its delimiter, quote, encoding and header, stated or detected.
        warnings: What the reader reports about the file, without cell values.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...] = field(default=(), repr=False)
    settings: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def preview(path: str | Path, form: Format | None = None, rows: int = 1_000) -> FilePreview:
    r"""Return the first rows of a file, as text.

    Parameters:
        path: The file.
        form: Its format, as far as it is known.
        rows: The number of rows.

    Returns:
        The preview.

    Raises:
        InputError: The file cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     size = Path(folder, "ages.csv").write_text("age;sex\n31;f\n47;\n")
    ...     found = preview(Path(folder, "ages.csv"))
    >>> found.names, found.settings["delimiter"]
    (('age', 'sex'), ';')
    """
    path, form = Path(path), form or Format()
    check_readable(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reader = reader_of(path)
        if reader is read_csv:
            found = _csv(path, form, rows)
        else:
            data = _head(path, form, rows) if reader is read_parquet else read_arrow(path, form)
            found = FilePreview(tuple(data.column_names), _texts(data.slice(0, rows)))
    reported = tuple(str(each.message).removeprefix(f"{path}: ") for each in caught)
    return FilePreview(found.names, found.rows, found.settings, reported)


def _csv(path: Path, form: Format, rows: int) -> FilePreview:
    with scan_csv(path, form) as scan:
        statement = f"{scan.statement.rstrip()} LIMIT {int(rows)}"
        data = query(scan.path, statement, scan.options, scan.explain)
        settings = {
            "delimiter": scan.options["delim"],
            "quote": scan.options["quote"],
            "encoding": form.encoding or scan.guesses.get("encoding", "utf-8"),
            "header": scan.options["header"],
        }
    columns = [data.column(key).to_pylist() for key in scan.keys]
    return FilePreview(scan.names, tuple(zip(*columns, strict=True)), settings)


def _head(path: Path, form: Format, rows: int) -> Any:
    """Return the first rows of a Parquet file; one that is damaged is read whole, for its error."""
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            batches = [next(file.iter_batches(batch_size=rows))] if file.metadata.num_rows else []
            return pa.Table.from_batches(batches, file.schema_arrow)
    except (pa.ArrowException, OSError, ValueError):
        return read_arrow(path, form)


def _texts(data: Any) -> tuple[tuple[str | None, ...], ...]:
    columns = [_text(data.column(name)) for name in data.column_names]
    return tuple(zip(*columns, strict=True))


def _text(cells: Any) -> list[str | None]:
    import pyarrow as pa

    if pa.types.is_nested(cells.type):
        return [None if cell is None else "[…]" for cell in cells.to_pylist()]
    return list(encoding.texts(cells.combine_chunks()))
