"""What in a table should be mended or stated before it is published.

Counts only: no cell is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column, Role
from shoal.core.grouping import group
from shoal.core.values import is_text
from shoal.core.wording import counted
from shoal.inspection.roles import is_numbered
from shoal.reading.notations import Notation, date_pattern, number_pattern

_DATES = ("DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "YYYY/MM/DD")
_CODE = r"^0[0-9]+$"  # 01234: not a number, nor is what stands beside it
_FIRST = 1_000  # rows that show whether the others are worth a look
_NEARLY = 0.9  # of the values of a column, for the rest to be exceptions
_PLAIN = {
    "numbers": number_pattern("."),
    "dates like 2024-03-09": date_pattern("YYYY-MM-DD"),
}


def noticed(
    data: Any, encoded: Mapping[str, Column | None], columns: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return what to look at first, each with the columns and what to do.

    columns: as they are described, with their roles.
    """
    known = [column for column in encoded.values() if column is not None]
    return [*_repeated(known, columns), *_texts(data)]


def _repeated(
    known: Sequence[Column], columns: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    if not known or not len(known[0]):
        return []
    rows = len(known[0])
    alike = rows - len(group([c.codes for c in known], [c.domain for c in known]).first)
    several = [
        column["name"]
        for column in columns
        if column["role"] == Role.IDENTIFIER
        and is_numbered(column["name"])
        and rows < 2 * column["distinct"] < 2 * (rows - column["missing"])
    ]
    found = []
    if alike:
        told = counted(alike, "row repeats", "rows repeat")
        found.append(
            _hint(
                [], f"{told} another in every column; k counts rows, not people: take repeats out"
            )
        )
    if several:
        told = "some have several rows; k counts rows, so a class may hold fewer people than k"
        found.append(_hint(several, told))
    return found


def _texts(data: Any) -> list[dict[str, Any]]:
    """Return the columns of text that are nearly numbers or dates, by what would make them such."""
    found: dict[str, list[str]] = {}
    for name in data.column_names:
        cells = data.column(name)
        if not is_text(cells.type) or _looks_like(cells.slice(0, _FIRST).unique()) is None:
            continue
        if told := _looks_like(cells.unique()):
            found.setdefault(told, []).append(name)
    return [_hint(names, told) for told, names in found.items()]


def _looks_like(values: Any) -> str | None:
    """Say what text would be if it were read otherwise, None where it is but text."""
    values = values.drop_null().cast(pa.large_string())
    if len(values) < 2:
        return None
    if pc.any(pc.match_substring_regex(values, _CODE)).as_py():
        return None
    for what, pattern in _PLAIN.items():
        if share := _share(values, pattern):
            return f"{what}, {_but(share, values)}" if share < 1 else None
    comma = _share(values, number_pattern(","))
    if comma and pc.any(pc.match_substring(values, ",")).as_py():
        return f"numbers with a decimal comma{_save(comma, values)}: add --decimal ,"
    orders = [order for order in _DATES if _is_calendar(values, order)]
    if orders:
        share = _share(values, date_pattern(orders[0]))
        asked = " or ".join(f"--dates {order}" for order in orders)
        return f"dates{_save(share, values)}: add {asked}"
    return None


def _share(values: Any, pattern: str) -> float:
    """Return the share of values of a form, 0 where it is not nearly all."""
    found: float = pc.mean(pc.match_substring_regex(values, pattern)).as_py()
    return found if found >= _NEARLY else 0.0


def _is_calendar(values: Any, order: str) -> bool:
    """Whether nearly all values are days of the calendar in this order."""
    pattern = date_pattern(order)
    if not _share(values, pattern):
        return False
    fitting = values.filter(pc.match_substring_regex(values, pattern))
    plain = Notation(dates=order).plain(fitting)
    try:
        plain.cast(pa.timestamp("s") if pc.max(pc.utf8_length(plain)).as_py() > 10 else pa.date32())
    except pa.ArrowInvalid:
        return False
    return True


def _save(share: float, values: Any) -> str:
    return f", {_but(share, values)}" if share < 1 else ""


def _but(share: float, values: Any) -> str:
    others = counted(len(values) - round(share * len(values)), "value")
    return f"save {others}, to be mended or named with --missing"


def _hint(columns: Sequence[str], told: str) -> dict[str, Any]:
    return {"columns": list(columns), "hint": told, "options": re.findall(r"--\w+ \S+", told)}
