"""A draft schema: roles, types, the values of small categories, and the order of bands.

    suggest_type, suggest_values   what to declare of a column
    suggest_order, band            bands such as `20-29`, `[0-10)`, `65+` or `Under 5`, from low to
                                   high
    suggest_schema                 everything as YAML, one line per column

The data owner completes it. Bounds are never taken from the data, because the smallest and largest
values would reveal something about two people: a comment asks for them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.inspection.concepts import Advice
from shoal.inspection.recipes import is_coded
from shoal.table.column import Column, Kind, Role
from shoal.table.encoding import is_spelled, is_text

_MAX_VALUES = 20  # of a category that is listed
_MAX_BANDS = 60
_LISTED = "# The values listed here come from the data: protect this file like the data.\n"
_HEADER = (
    "# Check every role, and replace each ? with what you know, not with what the data shows.\n"
)
_TYPES = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "float"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "datetime"),
    (is_text, "text"),
    (pa.types.is_string_view, "text"),
)
_BOUNDED = ("integer", "decimal", "float", "date", "datetime")


def suggest_type(kind: Any) -> str | None:
    """Return the type to declare for an Arrow type, or None if there is none.

    >>> suggest_type(pa.decimal128(38, 2)), suggest_type(pa.time64("us"))
    ('decimal(2)', None)
    """
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return suggest_type(kind.value_type)
    if is_spelled(kind):
        return "float" if pa.types.is_floating(kind.number) else "decimal"
    if pa.types.is_decimal(kind):
        return f"decimal({max(kind.scale, 0)})"
    return next((name for is_such, name in _TYPES if is_such(kind)), None)


def suggest_values(column: Column | None, role: Role | Advice) -> list[str] | None:
    """Return the values of a small category, None for anything else.

    Identifiers and free text are never listed: a category is text or codes with at most 20 values,
    each of which has two rows on average.
    """
    if column is None or role not in (Role.QUASI, Role.SENSITIVE):
        return None
    filled = int((column.codes < column.known).sum())
    listable = is_text(column.values.type) or is_coded(column)
    if not listable or not 0 < column.known <= min(_MAX_VALUES, filled // 2):
        return None
    if np.bincount(column.codes, minlength=column.known)[: column.known].max() < 2:
        return None
    return [str(label) for label in column.labels[: column.known]]


def suggest_order(
    column: Column | None, role: Role | Advice, missing: Collection[str]
) -> list[str] | None:
    """Return the bands of a column from the lowest to the highest, None for other columns.

    missing: codes that may mean missing, which are not part of the order.
    """
    if column is None or role not in (Role.QUASI, Role.SENSITIVE):
        return None
    filled = int((column.codes < column.known).sum())
    if not is_text(column.values.type) or not 0 < column.known <= min(_MAX_BANDS, filled // 2):
        return None
    return order_bands([str(x) for x in column.labels[: column.known] if x not in missing])


def suggest_schema(
    described: dict[str, Any], file: Mapping[str, Any] | None = None, *, list_values: bool = True
) -> str:
    r"""Return the suggestions as a YAML schema, one line per column.

    Parameters:
        described: The result of `describe`.
        file: The file format, as far as it was stated or detected.
        list_values: Whether to list the values of small categories, for a file that is protected
            like the data.

    Returns:
        The text of the schema file.

    >>> import pyarrow as pa
    >>> from shoal.inspection import describe
    >>> people = pa.table({"name": ["Ann", "Bob", "Cid"], "age": [31, 42, 53]})
    >>> print(suggest_schema(describe(people)).partition("columns:\n")[2], end="")
      name: {role: identifier, type: text}
      age: {role: quasi, type: integer, hierarchy: {intervals: [2, 4]}}  # bounds: [?, ?]
    """
    form = {option: list(v) if isinstance(v, tuple) else v for option, v in (file or {}).items()}
    head = _dump({"file": _Line(form)}) if form else ""
    units = {what: described[what] for what in ("person", "household") if described[what]}
    head += "".join(_dump({what: _one_or_all(names)}) for what, names in units.items())
    lines = "".join(_line(column, list_values) for column in described["columns"])
    listed = any(column["values"] for column in described["columns"]) and list_values
    return f"{_LISTED if listed else ''}{_HEADER}{head}columns:\n{lines}"


def dump_schema(data: Mapping[str, Any]) -> str:
    """Return a schema as YAML, one line per column.

    >>> print(dump_schema({"person": "id", "columns": {"age": {"role": "quasi"}}}), end="")
    person: id
    columns:
      age: {role: quasi}
    """
    listed = {name: list(part) if isinstance(part, tuple) else part for name, part in data.items()}
    head = {
        name: _Line(part) if isinstance(part, Mapping) else part
        for name, part in listed.items()
        if name != "columns" and part
    }
    lines = "".join(f"  {_entry(name, spec)}\n" for name, spec in data["columns"].items())
    return f"{_dump(head) if head else ''}columns:\n{lines}"


def _entry(name: str, spec: Mapping[str, Any]) -> str:
    return _dump({name: _Line(spec)}).rstrip("\n").replace("\n", "\n  ")


def _one_or_all(names: list[str]) -> Any:
    return names[0] if len(names) == 1 else names


def _line(column: dict[str, Any], list_values: bool) -> str:
    # an order is a list of values: a schema that lists no values leaves the order to a comment
    ordered = column["kind"] == Kind.ORDINAL and bool(column["values"])
    listed = list_values or not ordered
    advised = column["role"] not in list(Role)
    options = {
        "role": "?" if advised else column["role"],
        "type": column["declare"],
        "kind": "ordinal" if ordered and list_values else None,
        "values": column["values"] if list_values else None,
        "missing": _missing(column, ordered and list_values),
        "hierarchy": column["hierarchy"] if listed else None,
    }
    spec = {option: value for option, value in options.items() if value is not None}
    if advised:  # a comment, so that the column is not published
        reason = f"{column['role']}: {column['reason']}"
        return f"  # {_dump({column['name']: _Line(spec)}).rstrip()}  # {reason}\n"
    return f"  {_entry(column['name'], spec)}{_comment(column, list_values)}\n"


def _missing(column: dict[str, Any], offered: bool) -> list[str] | None:
    """Return the codes that were read as missing, and those offered of a list of all values."""
    codes = [*column.get("read_as_missing", ()), *(column["missing_codes"] if offered else ())]
    return codes or None


def _comment(column: dict[str, Any], list_values: bool) -> str:
    """Return a comment that asks for what is still undeclared."""
    ordered = column["kind"] == Kind.ORDINAL and bool(column["values"])
    asked = [_undeclared(column, list_values)]
    if column["missing_codes"] and not (ordered and list_values):
        asked.append(f"missing: {list(column['missing_codes'])}, if it means that")
    if ordered and not list_values:
        asked.insert(0, "kind: ordinal")
    comment = "; ".join(each for each in asked if each)
    return f"  # {comment}" if comment else ""


def _undeclared(column: dict[str, Any], list_values: bool) -> str:
    if column["declare"] is None:
        return "type: ?"
    name = column["declare"].partition("(")[0]
    if column["role"] == Role.IDENTIFIER or name == "boolean":
        return ""
    if name in _BOUNDED:
        return "bounds: [?, ?]"
    return "" if column["values"] and list_values else "values: [?]"


class _Line(dict[str, Any]):
    """A mapping that YAML writes on one line."""


def _dump(data: dict[str, Any]) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    Dumper.add_representer(
        _Line,
        lambda dumper, line: dumper.represent_mapping(
            "tag:yaml.org,2002:map", line, flow_style=True
        ),
    )
    Dumper.add_representer(  # a line break in a name is shown as \n, not as a line of the file
        str,
        lambda dumper, text: dumper.represent_scalar(
            "tag:yaml.org,2002:str", text, style='"' if "\n" in text else None
        ),
    )
    text: str = yaml.dump(
        data,
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=math.inf,
    )
    return text


_N = r"(-?\d+(?:\.\d+)?)\s*([km]?)"
_UNITS = r"\b(years?|yrs?|y/?o|old|ages?|aged|jahre?|ans|anos|eur|usd|gbp|kg|cm|mm|days?|months?)\b"
_RANGE = re.compile(
    rf"[\[(\]]?\s*{_N}\s*(?:-|–|—|−|/|,|;|to|through|bis|a|until|and under)\s*"
    rf"(?:<|under|less than)?\s*{_N}\s*[\])\[]?"
)
_BELOW = re.compile(
    rf"(?:<=?|≤|under|below|less than|up to|at most|younger than|fewer than|unter)\s*{_N}"
    rf"|{_N}\s*(?:and|or|&|und)\s*(?:under|below|less|younger|fewer|lower|juenger)"
)
_ABOVE = re.compile(
    rf"(?:>=?|≥|over|above|more than|at least|older than|greater than|ueber|über|ab)\s*{_N}"
    rf"|{_N}\s*(?:\+|plus|(?:and|or|&|und)\s*(?:over|above|more|older|up|upwards?|greater|higher"
    r"|aelter|mehr))"
)
_ONE = re.compile(_N)
_SCALE = {"": 1.0, "k": 1e3, "m": 1e6}


def band(text: str) -> tuple[float, float] | None:
    """Return the ends of a band, or None if the text is not a band; a number is a band.

    >>> band("20 to 29 Years"), band("$10,000 - $19,999"), band("85 and over"), band("red")
    ((20.0, 29.0), (10000.0, 19999.0), (85.0, inf), None)
    """
    # without separators of thousands, units and currencies, bands of many spellings are alike
    plain = re.sub(r"(?<=\d)[,'](?=\d{3}\b)", "", text.strip().casefold())
    plain = re.sub(r"[$€£]", "", re.sub(_UNITS, "", plain)).strip()
    if match := _ONE.fullmatch(plain):
        return (_number(*match.groups()),) * 2
    if match := _RANGE.fullmatch(plain):
        low, low_scale, high, high_scale = match.groups()
        ends = _number(low, low_scale or high_scale), _number(high, high_scale)
        return ends if ends[0] < ends[1] else None
    if match := _BELOW.fullmatch(plain):
        return -math.inf, _number(*[part for part in match.groups() if part is not None])
    if match := _ABOVE.fullmatch(plain):
        return _number(*[part for part in match.groups() if part is not None]), math.inf
    return None


def _number(digits: str, scale: str = "") -> float:
    return float(digits) * _SCALE[scale]


def order_bands(labels: Sequence[str]) -> list[str] | None:
    """Return bands from the lowest to the highest, or None if some overlap or are not bands.

    >>> order_bands(["65+", "<18", "18-64"]), order_bands(["1-5", "3-9"])
    (['<18', '18-64', '65+'], None)
    """
    ends = {label: band(label) for label in labels}
    bands = {label: pair for label, pair in ends.items() if pair is not None}
    # not for labels that are only numbers: their order needs no suggestion
    if len(bands) < max(len(ends), 2) or all(low == high for low, high in bands.values()):
        return None
    ordered = sorted(bands, key=lambda label: bands[label])
    apart = all(bands[one][1] <= bands[next_one][0] for one, next_one in pairwise(ordered))
    return ordered if apart and len(set(bands.values())) == len(bands) else None
