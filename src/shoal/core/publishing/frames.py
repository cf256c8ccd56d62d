"""Frames to Arrow tables and back: pandas, polars and any Arrow C stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from shoal._compat.messages import is_polars_enum, is_unnamed_index, unconverted_column
from shoal.errors import InputError, MissingExtra


def to_pandas(table: Any) -> Any:
    """Return an Arrow table as a pandas frame."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise MissingExtra("pandas", "frames") from None
    try:
        return table.to_pandas()
    except pa.ArrowInvalid:  # the cause may quote a cell
        raise InputError(
            "a column has values that pandas cannot represent, such as times with nanoseconds; "
            "use to_arrow or to_polars"
        ) from None


def to_polars(table: Any) -> Any:
    """Return an Arrow table as a polars frame."""
    try:
        import polars
    except ImportError:
        raise MissingExtra("polars", "frames") from None
    return polars.from_arrow(table)


def is_spark_frame(data: Any) -> bool:
    """Return whether something is a frame of Spark, without importing Spark.

    >>> is_spark_frame([1, 2])
    False
    """
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "sparkSession")


def from_frame(source: Any) -> Any:
    """Return a frame as an Arrow table; a pandas index without a name is not a column."""
    if isinstance(source, pa.Table):
        return source
    if not hasattr(source, "__arrow_c_stream__"):
        raise InputError(
            f"cannot read a table from {type(source).__name__}; "
            "pass a file, or a pandas, polars or pyarrow table"
        )
    names = [str(name) for name in getattr(source, "columns", ())]
    check_unique(names)
    try:
        table = pa.table(source)
    except MemoryError:
        raise MemoryError from None
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        # the cause may quote cells
        raise InputError(_explain(error, names)) from None
    index = [name for name in table.column_names if is_unnamed_index(name)]
    return _with_ordered_enums(table.drop_columns(index))  # rows are identified by position


def _with_ordered_enums(table: Any) -> Any:
    """Return a table whose enums of polars are ordered categories."""
    for place, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_dictionary(kind) and not kind.ordered and is_polars_enum(field):
            ordered = pa.dictionary(kind.index_type, kind.value_type, ordered=True)
            table = table.set_column(place, field.name, table.column(place).cast(ordered))
    return table


def check_unique(names: Iterable[str]) -> None:
    """Reject two columns with the same name."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise InputError(f"column {twice[0]!r} occurs more than once; rename one of them")


def _explain(error: Exception, names: list[str]) -> str:
    column = unconverted_column(str(error), names)
    where = "a column of the frame" if column is None else f"column {column!r}"
    return f"{where}: mixes types that Arrow cannot store in one column; give it one type"
