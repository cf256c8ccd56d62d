"""Tables to files: CSV or Parquet, by the ending of the name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.core.files import replace_file
from shoal.core.progress import report
from shoal.errors import OutputError

_BATCH = 1 << 18  # rows handed over at once
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ENDINGS = (*_DELIMITERS, ".parquet")


def write_table(table: Any, path: Path, *, force: bool = False) -> None:
    """Write an Arrow table, whole or not at all."""
    writer_for(path)
    with replace_file(path, force=force) as temporary:
        try:
            with open_writer(temporary, table.schema) as writer:
                for start in range(0, table.num_rows, _BATCH):
                    writer.write_table(table.slice(start, _BATCH))
                    report("write", start, table.num_rows)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise OutputError(
                f"{path}: a column's type does not fit this format; write Parquet instead"
            ) from None


def writer_for(path: Path) -> str:
    """Return the ending that decides the format, or refuse it."""
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise OutputError(
            f"{path}: cannot write this kind of file; end the name in {', '.join(_ENDINGS)}"
        )
    return ending


def open_writer(path: Path, schema: Any) -> Any:
    """Return a writer with `write_table` and `close`, by the file's ending."""
    ending = writer_for(path)
    if ending == ".parquet":
        import pyarrow.parquet as pq

        return pq.ParquetWriter(path, schema.remove_metadata(), compression="zstd")
    return _TextWriter(path, schema, _DELIMITERS[ending])


class _TextWriter:
    """Writes CSV with quotes only where needed, decimals and times in full."""

    def __init__(self, path: Path, schema: Any, delimiter: str) -> None:
        import pyarrow.csv as pacsv

        special = any(sign in name for name in schema.names for sign in f'{delimiter}"\r\n')
        options = pacsv.WriteOptions(
            quoting_style="needed",
            quoting_header="needed" if special else "none",
            delimiter=delimiter,
        )
        plain = _plain(schema.empty_table())
        self._writer = pacsv.CSVWriter(path, plain.schema, write_options=options)

    def __enter__(self) -> _TextWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write_table(self, table: Any) -> None:
        """Write some more rows."""
        self._writer.write_table(_plain(table))

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


def _plain(table: Any) -> Any:
    return pa.table({name: _cells(table.column(name)) for name in table.column_names})


def _cells(cells: Any) -> Any:
    if pa.types.is_decimal(cells.type):
        return cells.cast(pa.string())
    if pa.types.is_timestamp(cells.type):
        return _whole_seconds(cells).cast(pa.string())
    return cells


def _whole_seconds(cells: Any) -> Any:
    try:
        return cells.cast(pa.timestamp("s", cells.type.tz))
    except pa.ArrowInvalid:  # fractions of a second matter
        return cells
