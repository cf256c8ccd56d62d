"""Times at midnight are dates: pandas has no type for dates, and stores them as times."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Role

if TYPE_CHECKING:
    from shoal.core.table import Table

_DATE = r"^(\d{4}-\d{2}-\d{2})$"
_MIDNIGHT = r"[ T]00:00:00(\.0+)?$"


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

    generalized: a date in text may be a label, which stands for all times of that day.
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
