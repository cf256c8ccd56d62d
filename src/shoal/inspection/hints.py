"""Hints about what to fix or declare before a table is published.

Hints contain counts only, never a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.files.csv_files import BLANKS
from shoal.files.formats import Notation, date_pattern, number_pattern
from shoal.inspection.concepts import NUMBER, PERSON_NUMBER, means
from shoal.inspection.people import People
from shoal.inspection.shapes import Codes, offer_codes
from shoal.support.wording import counted, option, rows_about
from shoal.table.column import Column
from shoal.table.encoding import is_text, without_codes
from shoal.table.people import group

_DATES = ("DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "YYYY/MM/DD")
_CODE = r"^0[0-9]+$"  # 01234: not a number, and neither are the other values of its column
_SAMPLE_ROWS = 1_000  # rows that decide whether the whole column is examined
_NEARLY_ALL = 0.9  # share of the values of a column, for the rest to be exceptions
_PLAIN = {
    "numbers": number_pattern("."),
    "dates like 2024-03-09": date_pattern("YYYY-MM-DD"),
}


def noticed(
    encoded: Mapping[str, Column | None],
    people: People,
    codes: Mapping[str, Codes],
) -> list[dict[str, Any]]:
    """Return the hints about a table, each with its columns and what to do.

    codes: for each column, the codes that may mean missing.
    """
    known = [column for column in encoded.values() if column is not None]
    numbered = any(means(name, PERSON_NUMBER, NUMBER) for name in encoded)
    offered = [_hint(columns, text) for columns, text in offer_codes(codes, encoded)]
    return [*(_repeated(known) if numbered else ()), *_people(people), *offered]


def recognized(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return which columns contain identifiers by their content, with counts.

    columns: as `describe` returns them.
    """
    return [
        _hint(
            [column["name"]],
            f"cells contain {', '.join(f'{kind} ({n:,})' for kind, n in counts.items())}; leave "
            "the column out, or replace it",
        )
        for column in columns
        if set(counts := column["contains"]) - {"date"}
    ]


def _repeated(known: Sequence[Column]) -> list[dict[str, Any]]:
    """Return how many rows repeat; without numbers of records, rows may be equal by chance."""
    if not known or not len(known[0]):
        return []
    alike = len(known[0]) - len(group([c.codes for c in known], [c.domain for c in known]).first)
    if not alike:
        return []
    rows = counted(alike, "row repeats", "rows repeat")
    return [_hint([], f"{rows} another row in every column; remove them if they are duplicates")]


def _people(people: People) -> list[dict[str, Any]]:
    """Return what to check if people have several rows, or may have."""
    if people.person and people.people < people.rows:
        rows = rows_about(people.rows, people.people)
        text = f"{rows}; k counts people, so check that this column identifies them"
        return [_hint(people.person, text)]
    if (found := people.repeated) is not None:
        blank = people.rows - found.filled
        if blank and means(found.column, PERSON_NUMBER):
            text = (
                f"identifies people, but {counted(blank, 'row has', 'rows have')} no value in it, "
                f"so rows are counted: fill them in and add {option('person', found.column)}"
            )
            return [_hint([found.column], text)]
        text = (
            "an identifier that repeats: declare the column that identifies people with "
            f"{option('person')}, or state with {option('rows_are_people', True)} that every row "
            "is a different person"
        )
        return [_hint([found.column], text)]
    return []


def padded(data: Any) -> list[dict[str, Any]]:
    """Return a hint about columns whose names or nearly all texts have spaces around them."""
    names = [
        name
        for name in data.column_names
        if name != name.strip(BLANKS) or _are_padded(data.column(name).slice(0, _SAMPLE_ROWS))
    ]
    hint = f"spaces around names or cells: add {option('trim', True)}"
    return [_hint(names, hint)] if names else []


def _are_padded(cells: Any) -> bool:
    if not is_text(cells.type):
        return False
    values = cells.unique().drop_null()
    spaced = pc.not_equal(values, pc.utf8_trim(values, BLANKS))
    return (pc.mean(spaced).as_py() or 0.0) >= _NEARLY_ALL


def misread_texts(data: Any, codes: Mapping[str, Codes]) -> list[dict[str, Any]]:
    """Return hints about text columns that are nearly numbers or dates.

    codes: for each column to examine, the codes that may mean missing; they are ignored.
    """
    by_hint: dict[str, list[str]] = {}
    options: dict[str, dict[str, str]] = {}
    for name, coded in codes.items():
        cells = data.column(name)
        if not is_text(cells.type):
            continue
        missing = tuple(coded.rows)
        # the first rows decide whether the whole column is worth examining
        if _looks_like(without_codes(cells.slice(0, _SAMPLE_ROWS), missing).unique()) is None:
            continue
        if seen := _looks_like(without_codes(cells, missing).unique()):
            hint, options[hint] = seen
            by_hint.setdefault(hint, []).append(name)
    return [{**_hint(names, hint), "options": options[hint]} for hint, names in by_hint.items()]


def _looks_like(values: Any) -> tuple[str, dict[str, str]] | None:
    """Return how to read text values as numbers or dates, or None if they are only text.

    The options are those that read all values, and that are not one of several ways.
    """
    values = values.drop_null().cast(pa.large_string())
    if len(values) < 2:
        return None
    # a leading zero would be lost: such a column is made of codes
    if pc.any(pc.match_substring_regex(values, _CODE)).as_py():
        return None
    for what, pattern in _PLAIN.items():
        if share := _share(values, pattern):
            return (f"{what}, {_but(share, values)}", {}) if share < 1 else None
    trimmed = pc.utf8_trim_whitespace(values)
    if _share(trimmed, _PLAIN["numbers"]):
        return f"numbers with spaces around them: add {option('trim', True)}", {}
    comma = _share(values, number_pattern(","))
    if comma and pc.any(pc.match_substring(values, ",")).as_py():
        hint = f"numbers with a decimal comma{_except(comma, values)}: add {option('decimal', ',')}"
        return hint, {"decimal": ","} if comma == 1 else {}
    orders = [order for order in _DATES if _is_calendar(values, order)]
    if orders:
        share = _share(values, date_pattern(orders[0]))
        asked = " or ".join(option("dates", order) for order in orders)
        sure = {"dates": orders[0]} if share == 1 and len(orders) == 1 else {}
        return f"dates{_except(share, values)}: add {asked}", sure
    return None


def _share(values: Any, pattern: str) -> float:
    """Return the share of values that match a pattern, 0 if it is not nearly all."""
    matching: float = pc.mean(pc.match_substring_regex(values, pattern)).as_py()
    return matching if matching >= _NEARLY_ALL else 0.0


def _is_calendar(values: Any, order: str) -> bool:
    """Return whether nearly all values are valid dates in this order."""
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


def _except(share: float, values: Any) -> str:
    return f", {_but(share, values)}" if share < 1 else ""


def _but(share: float, values: Any) -> str:
    others = counted(len(values) - round(share * len(values)), "value")
    return f"except for {others}; fix or declare with {option('missing')}"


def _hint(columns: Sequence[str], hint: str) -> dict[str, Any]:
    return {"columns": list(columns), "hint": hint}
