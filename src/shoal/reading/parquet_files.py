"""Read Parquet files as Arrow tables with their types."""

from __future__ import annotations

import errno
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.core.publishing.parquet_checks import open_parquet
from shoal.core.values.encoding import is_text, without_codes
from shoal.errors import InputError, ShoalError
from shoal.reading.checks import check_names
from shoal.reading.formats import Format, with_dates_checked
from shoal.support.memory import usable_memory
from shoal.support.wording import counted, option

_MIN_CELL_BYTES = 8  # of a cell in memory, as a value and as a code


def read_parquet(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    """Return a Parquet file as an Arrow table; every page and cell is checked."""
    try:
        with open_parquet(path) as file:
            check_names(path, file.schema_arrow.names)
            _check_size(path, file.metadata.num_rows, len(file.schema_arrow.names))
            table = file.read()
        table.validate(full=True)
    except ShoalError:
        raise
    except MemoryError:  # includes that of Arrow
        raise MemoryError from None
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        if getattr(error, "errno", None) == errno.ENOMEM:
            raise MemoryError from None
        # the cause may quote cells
        raise InputError(f"{path}: is damaged or not Parquet; write the file again") from None
    columns = {n: without_codes(table.column(n), form.missing_of(n)) for n in table.column_names}
    texts = {name: cells for name, cells in columns.items() if is_text(cells.type)}
    return with_dates_checked(pa.table(columns), form.dates, texts)


def _check_size(path: Path, rows: int, columns: int) -> None:
    """Reject a file whose cells alone need more memory than there is; it may be small itself."""
    memory = usable_memory()
    if rows * columns * _MIN_CELL_BYTES > memory:
        raise InputError(
            f"{path}: has {rows:,} rows of {counted(columns, 'column')}, too many to be read into "
            f"the {memory / 1e9:,.3g} GB of memory that may be used; leave the file on disk with "
            f"{option('engine', 'duckdb')}"
        )
