"""A first look at a table: types, suggested roles with the reason, who stands out.

Suggestions come from names and counts; only the owner knows what others know of a person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pyarrow as pa

from shoal.core.column import Column, Role
from shoal.core.grouping import group
from shoal.core.values import is_numeric
from shoal.errors import InputError

_NAMES: tuple[tuple[Role, str, str], ...] = (
    (
        Role.IDENTIFIER,
        r"(^|_)(id|uuid|ssn|nhs|mrn|iban|passport)($|_)|e?mail|phone|mobile|telephone"
        r"|(^|_)(sur|first|last|full)?_?name$|address|insurance_n",
        "the name says that it names a person",
    ),
    (
        Role.SENSITIVE,
        r"diagnos|disease|illness|condition|icd|symptom|treatment|medication|drug|hiv|cancer"
        r"|salary|income|wage|debt|credit|religio|belief|politic|party|union|sexual|crime|convict"
        r"|disab|pregnan|genetic|test_result|grade|score|outcome|chd",
        "the name says that people would not want it known",
    ),
    (
        Role.QUASI,
        r"(^|_|-)(age|sex|gender|race|born|dob|job)($|_|-)|birth|zip|post_?code|postal|city|town"
        r"|county|region|state|country|nation|ethnic|marital|education|school|degree|occupation"
        r"|profession|workclass|employ|household|children|language|height|weight|admission|visit"
        r"|discharge|arrival|(^|_)date|nationality|citizen|department",
        "the name says that others may know it",
    ),
)
_MOST_COMBINATIONS = 12


def describe(data: Any, quasi: Sequence[str] = ()) -> dict[str, Any]:
    """Return columns with suggested roles, and how far combinations of them single people out.

    quasi: the columns to combine; by default those suggested as quasi-identifying.
    """
    for name in quasi:
        if name not in data.column_names:
            raise InputError(f"no column {name!r}; there are {', '.join(data.column_names)}")
    encoded = {name: _encode(name, data.column(name)) for name in data.column_names}
    columns = [_column(name, data.column(name), encoded[name]) for name in data.column_names]
    chosen = list(quasi) or [c["name"] for c in columns if c["role"] == Role.QUASI]
    studied = [column for name in chosen if (column := encoded[name]) is not None]
    return {
        "records": data.num_rows,
        "columns": columns,
        "combinations": standing_out(studied),
    }


def _encode(name: str, cells: Any) -> Column | None:
    try:
        return Column.encode(name, cells)
    except InputError:  # nested values: nothing to count
        return None


def _column(name: str, cells: Any, column: Column | None) -> dict[str, Any]:
    distinct = 0 if column is None else column.known
    role, reason = suggest_role(name, cells, distinct)
    return {
        "name": name,
        "type": str(cells.type),
        "kind": str(column.kind) if column else "nominal",
        "distinct": distinct,
        "missing": cells.null_count,
        "role": str(role),
        "reason": reason,
    }


def suggest_role(name: str, cells: Any, distinct: int) -> tuple[Role, str]:
    """Return a role for a column and why."""
    filled = len(cells) - cells.null_count
    if pa.types.is_nested(cells.type):
        return Role.INSENSITIVE, "nested values cannot be coarsened: leave it out if in doubt"
    for role, pattern, reason in _NAMES:
        if re.search(pattern, name.lower().replace(" ", "_")):
            return role, reason
    if filled > 20 and distinct == filled and not pa.types.is_floating(cells.type):
        return Role.IDENTIFIER, "every value is different"
    if is_numeric(cells.type) and distinct > max(50, filled // 20):
        return Role.SENSITIVE, "a measurement: guard it, or pass it through if harmless"
    return Role.QUASI, "somebody may know it: coarsened, when in doubt"


def standing_out(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return how many people are alone with their values, for single columns up to all.

    Of pairs and triples only those that single out most are listed.
    """
    found: list[dict[str, Any]] = []
    for width in (1, 2, 3):
        subsets = list(combinations(columns, width))
        if width > 1 and (width >= len(columns) or len(subsets) > 500):
            continue
        ranked = sorted((_uniques(s) for s in subsets), key=lambda f: -f["unique"])
        found += ranked if width == 1 else ranked[: _MOST_COMBINATIONS // width]
    if len(columns) > 1:
        found.append(_uniques(columns))
    return found


def _uniques(columns: Sequence[Column]) -> dict[str, Any]:
    sizes = group([c.codes for c in columns], [c.domain for c in columns]).sizes()
    unique = int((sizes == 1).sum())
    return {
        "columns": [column.name for column in columns],
        "unique": unique,
        "share": unique / max(len(columns[0]), 1),
        "smallest": int(sizes.min()) if len(sizes) else 0,
    }


def suggest_schema(described: dict[str, Any]) -> str:
    """Return the suggestions as a YAML schema to start from."""
    import yaml

    columns = {c["name"]: {"role": c["role"]} for c in described["columns"]}
    text: str = yaml.safe_dump(
        {"columns": columns}, sort_keys=False, allow_unicode=True, default_flow_style=None
    )
    return text
