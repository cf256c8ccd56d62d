"""Frames to Arrow tables: pandas, polars, pyarrow, and whatever speaks the Arrow C stream."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from shoal.errors import InputError


def from_frame(source: Any) -> Any:
    """Return a frame as an Arrow table; a pandas index without a name is no column."""
    if isinstance(source, pa.Table):
        return plain(source)
    if not hasattr(source, "__arrow_c_stream__"):
        raise InputError(
            f"cannot read a table from {type(source).__name__}; "
            "pass a file, or a pandas, polars or pyarrow table"
        )
    try:
        table = pa.table(source)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        # the cause may quote cells
        raise InputError(_explain(error, source)) from None
    index = [name for name in table.column_names if re.fullmatch(r"__index_level_\d+__", name)]
    return plain(table.drop_columns(index)).replace_schema_metadata(None)


def _explain(error: Exception, source: Any) -> str:
    column = re.search(r"Conversion failed for column (.+) with type", str(error), re.DOTALL)
    known = {str(name) for name in getattr(source, "columns", ())}
    where = f"column {column[1]!r}" if column and column[1] in known else "a column of the frame"
    return f"{where}: mixes types that Arrow cannot hold together; give it one type"


def plain(table: Any) -> Any:
    """Return the table with the newer layouts of text and bytes in the common ones."""
    for place, field in enumerate(table.schema):
        held = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string_view(held) or pa.types.is_binary_view(held):
            kind = pa.large_string() if pa.types.is_string_view(held) else pa.large_binary()
            chunks = [_cast(chunk, kind) for chunk in table.column(place).chunks]
            cells = pa.chunked_array(chunks, kind)
            table = table.set_column(place, pa.field(field.name, kind), cells)
    return table


def _cast(chunk: Any, kind: Any) -> Any:
    if not isinstance(chunk, pa.DictionaryArray):
        return chunk.cast(kind)
    return chunk.dictionary.cast(kind).take(chunk.indices)
