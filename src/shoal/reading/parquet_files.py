"""Parquet files to Arrow tables, types kept."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError, ShoalError
from shoal.reading.checks import check_names
from shoal.reading.formats import Format
from shoal.reading.inference import without


def read_parquet(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    """Return a Parquet file as an Arrow table, every page of it checked."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            check_names(path, file.schema_arrow.names)
            table = file.read()
        table.validate(full=True)
    except ShoalError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError):
        # the cause may quote cells
        raise InputError(f"{path}: is damaged or not Parquet; write the file anew") from None
    return pa.table({n: without(table.column(n), form.missing) for n in table.column_names})
