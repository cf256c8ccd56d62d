"""Tables to files: CSV or Parquet, by the ending of the name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.publishing.parquet_checks import parquet_writer
from shoal.core.values.encoding import combined, texts
from shoal.core.values.midnights import as_dates
from shoal.errors import OutputError
from shoal.support.files import replace_file
from shoal.support.outputs import as_output
from shoal.support.progress import report

BATCH = 1 << 18  # rows handed over at once
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ENDINGS = (*_DELIMITERS, ".parquet")


def write_table(table: Any, path: Path, *, force: bool = False, private: bool = False) -> None:
    """Write an Arrow table, completely or not at all; private: only the owner may read it."""
    if check_ending(path) in _DELIMITERS:
        table = dates_at_midnight(table)
    with as_output(replace_file(path, force=force, private=private), path) as temporary:
        try:
            with open_writer(temporary, decoded(table.slice(0, 0)).schema) as writer:
                for start in range(0, table.num_rows, BATCH):
                    writer.write_table(decoded(table.slice(start, BATCH)))
                    report("write", min(start + BATCH, table.num_rows), table.num_rows)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise OutputError(
                f"{path}: a column's type does not fit this format; write Parquet instead"
            ) from None


def dates_at_midnight(table: Any) -> Any:
    """Return a table for a text file: times that are all at midnight are dates."""
    columns = [as_dates(table.column(name)) for name in table.column_names]
    return pa.table(columns, names=table.column_names)


def check_ending(path: Path) -> str:
    """Return the ending, which decides the format, or reject it."""
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise OutputError(
            f"{path}: cannot write this kind of file; end the name in {', '.join(_ENDINGS)}"
        )
    return ending


def open_writer(path: Path, schema: Any) -> Any:
    """Return a writer with `write_table` and `close`, by the file's ending."""
    ending = check_ending(path)
    if ending == ".parquet":
        return parquet_writer(path, schema)
    return _TextWriter(path, schema, _DELIMITERS[ending])


class _TextWriter:
    """Writes CSV with quotes only where needed, numbers and times in full."""

    def __init__(self, path: Path, schema: Any, delimiter: str) -> None:
        self._delimiter = delimiter
        signs = f"{delimiter}'"  # a name in single quotes would be read as quoted
        header = _lines([_quoted(pa.array([name]), signs) for name in schema.names], delimiter)
        self._handle = path.open("wb")
        self._handle.write(header)

    def __enter__(self) -> _TextWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write_table(self, table: Any) -> None:
        """Write some more rows."""
        if table.num_rows:
            cells = [_text(table.column(name), self._delimiter) for name in table.column_names]
            self._handle.write(_lines(cells, self._delimiter))

    def close(self) -> None:
        """Finish the file."""
        self._handle.close()


def _lines(columns: list[Any], delimiter: str) -> Any:
    """Join columns of text to the bytes of complete lines."""
    kind = pa.large_string()
    nothing = '""' if len(columns) == 1 else ""  # an empty line would not be read as a row
    cells = [column.cast(kind).fill_null(nothing) for column in columns]
    lines = pc.binary_join_element_wise(*cells, pa.scalar(delimiter, kind))
    every = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return pc.binary_join(every, pa.scalar("\n", kind))[0].as_buffer().to_pybytes() + b"\n"


def decoded(table: Any) -> Any:
    """Return the table with its dictionaries decoded."""
    columns = [
        combined(table.column(name), name)
        if pa.types.is_dictionary(table.schema.field(name).type)
        else table.column(name)
        for name in table.column_names
    ]
    return pa.table(columns, names=table.column_names)


def _text(cells: Any, delimiter: str) -> Any:
    """Return cells as text for the file, converted once for each distinct value."""
    plain = combined(cells, "")
    if pa.types.is_nested(plain.type):
        raise pa.ArrowNotImplementedError("nested values have no text")
    encoded = plain.dictionary_encode()
    distinct = pa.array(texts(encoded.dictionary), pa.string())
    return _quoted(distinct, delimiter).take(encoded.indices)


def _quoted(distinct: Any, signs: str) -> Any:
    """Return texts, quoted if they are empty or contain a delimiter, a quote or a line break."""
    special = pc.match_substring_regex(distinct, f'^$|[{re.escape(signs)}"\r\n]')
    doubled = pc.replace_substring(distinct, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), distinct)
