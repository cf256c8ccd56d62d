"""Frames to Arrow tables and back: pandas, polars and any Arrow C stream.

`from_frame`                   a frame as an Arrow table; its index is not a column
`Origin`, `origin_of`          the type of the frame, so that a release has the same type
`to_pandas`, `to_polars`       an Arrow table as a frame
`as_dates`, `with_dates_of`    pandas has no type for dates and stores them as times at midnight
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal._compat.messages import is_polars_enum, is_unnamed_index, unconverted_column
from shoal.errors import InputError, MissingExtra
from shoal.table.column import Role
from shoal.table.encoding import is_text

if TYPE_CHECKING:
    from shoal.table.table import Table

_DATE = r"^(\d{4}-\d{2}-\d{2})$"
_MIDNIGHT = r"[ T]00:00:00(\.0+)?$"


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


@dataclass(frozen=True, eq=False)
class Origin:
    """The frame that a table was read from.

    library: `pandas`, `polars` or another one, whose releases are pyarrow tables.
    index: the labels of a pandas frame's rows, None elsewhere.
    """

    library: str = "pyarrow"
    index: Any = None

    def take(self, rows: Any) -> Origin:
        """Return the origin of the rows at these positions."""
        return self if self.index is None else replace(self, index=self.index[rows])


def origin_of(data: Any, table: Table) -> Table:
    """Return the table with the type of the frame that it was read from."""
    library = type(data).__module__.partition(".")[0]
    index = getattr(data, "index", None) if library == "pandas" else None
    return replace(table, origin=Origin(library, index))


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


def as_dates(cells: Any) -> Any:
    """Return times without a time zone as dates if all of them are at midnight.

    >>> as_dates(pa.array(["2024-03-01 00:00:00", None]).cast(pa.timestamp("s"))).type
    DataType(date32[day])
    >>> as_dates(pa.array(["2024-03-01 09:30:00", None]).cast(pa.timestamp("s"))).type
    TimestampType(timestamp[s])
    """
    if not pa.types.is_timestamp(cells.type) or cells.type.tz or cells.null_count == len(cells):
        return cells
    try:
        dates = cells.cast(pa.date32(), safe=False)
        same = pc.all(pc.equal(dates.cast(cells.type), cells)).as_py()
    except pa.ArrowInvalid:  # a date too distant for the unit
        return cells
    return dates if same else cells


def with_text_dates(data: Any, names: Collection[str]) -> Any:
    """Return a frame as an Arrow table in which texts like 2024-03-09 are dates.

    pandas keeps dates of a file as text; an empty text among them is a missing value.

    Parameters:
        data: The frame.
        names: The columns to convert if all their texts are dates.
    """
    table = from_frame(data)
    for place, name in enumerate(table.column_names):
        cells = table.column(place)
        if name not in names or not is_text(cells.type):
            continue
        stated = pc.if_else(pc.equal(cells, ""), None, cells)
        if (
            stated.null_count < len(stated)
            and pc.all(pc.match_substring_regex(stated, _DATE)).as_py()
        ):
            with suppress(pa.ArrowInvalid):  # a date that does not exist
                table = table.set_column(place, name, stated.cast(pa.date32()))
    return table


def with_dates_of(original: Table, data: Any) -> Any:
    """Return released data whose dates and times have the form of the original column."""
    for column in original:
        if data.column_names.count(column.name) != 1:
            continue
        index = data.column_names.index(column.name)
        cells = _in_form(data.column(index), column.values.type, column.role is Role.QUASI)
        if cells is not data.column(index):
            data = data.set_column(index, column.name, cells)
    return data


def _in_form(cells: Any, kind: Any, generalized: bool) -> Any:
    """Return cells as dates or times, by the type of the original.

    Parameters:
        generalized: A date in text may be a label, which stands for all times of that day.
    """
    text = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
    if pa.types.is_date(kind):
        return pc.replace_substring_regex(cells, _MIDNIGHT, "") if text else as_dates(cells)
    if not pa.types.is_timestamp(kind):
        return cells
    if text and not generalized:
        return pc.replace_substring_regex(cells, _DATE, r"\1 00:00:00")
    if pa.types.is_date(cells.type):
        with suppress(pa.ArrowInvalid):  # a date too distant for the unit
            return cells.cast(kind)
    return cells
