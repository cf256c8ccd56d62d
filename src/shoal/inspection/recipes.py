"""Draft hierarchies for every quasi-identifier of a table, and the names of their files.

    suggest_recipe        intervals, masks or dates that suit the values of a column
    suggest_hierarchies   the hierarchies that follow, or those that columns have already
    name_files            one portable file name each

A recipe is a suggestion: widths come from the range of the values, not from their meaning.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.inspection.concepts import DEGREES, KIND, NUMBER, PERSON_NUMBER, means
from shoal.inspection.shapes import Shape
from shoal.support.file_names import file_names
from shoal.support.wording import folded_name
from shoal.table.column import Column, Kind
from shoal.table.encoding import is_text
from shoal.table.hierarchy import Hierarchy
from shoal.table.recipes import build, suggest
from shoal.table.table import Table

_CODES = r"zip|post_?code|postal|(^|_)(plz|code)($|_)"  # numbers that are not amounts
_USUAL = (0.05, 0.95)  # quantiles that enclose most rows
_DEGREES = (0.01, 0.1, 1, 10)  # of latitude: about 1, 11, 111 and 1,113 km


def suggest_recipe(column: Column, missing: Collection[str] = ()) -> dict[str, Any] | None:
    """Return a recipe for a hierarchy that suits the values of a column.

    Parameters:
        column: The column.
        missing: Codes that may mean a missing value; interval widths ignore them.

    Returns:
        The recipe, None if none clearly suits.

    >>> from shoal import Column
    >>> suggest_recipe(Column.encode("age", list(range(20, 80))))
    {'intervals': [5, 10, 20, 40]}
    """
    values = column.values[: column.known]
    if pa.types.is_date(values.type):
        return {"dates": ["month", "year", "decade"]}
    if pa.types.is_timestamp(values.type):
        return {"dates": ["day", "month", "year", "decade"]}
    if digits := _code_digits(column.name, values):
        extended = pc.max(pc.utf8_length(values.cast(pa.large_string()))).as_py() > digits
        return {"mask": "right", "keep": digits} if extended else {"mask": "right"}
    if column.kind is not Kind.NUMERIC or pa.types.is_temporal(values.type):
        return None
    if is_coded(column):
        return None
    numbers = column.positions[column.codes[column.codes < column.known]]
    if missing:
        coded = [
            n for n, text in zip(column.positions, column.labels, strict=True) if text in missing
        ]
        numbers = numbers[~np.isin(numbers, coded)]
    if not len(numbers):
        return None
    span = _distance(column, numbers.min(), numbers.max())
    if means(column.name, DEGREES) and span > 2 * _DEGREES[0]:
        return {"intervals": [width for width in _DEGREES if width < span]}
    # widths follow the range of most rows, so that a few extreme values do not widen all intervals
    low, high = np.quantile(numbers, _USUAL)
    usual = _distance(column, low, high) or span
    widths = _widths(span, usual, whole=not Shape.of(column).has_decimals)
    return {"intervals": widths} if len(widths) > 1 else None


def _distance(column: Column, low: float, high: float) -> Fraction:
    """Return the distance of two positions in the column's own unit."""
    return column.ruler.number(float(high)) - column.ruler.number(float(low))


def is_coded(column: Column) -> bool:
    """Return whether whole numbers are codes of a category, by their name and their counts.

    >>> is_coded(Column.encode("admission_type_id", [1, 2, 3] * 10))
    True
    """
    if not pa.types.is_integer(column.values.type):
        return False
    return means(column.name, KIND, NUMBER, PERSON_NUMBER) and Shape.of(column).is_category


def has_code_digits(column: Column) -> bool:
    """Return whether the values are codes with the same number of digits, such as postcodes."""
    return _code_digits(column.name, column.values[: column.known]) is not None


def _code_digits(name: str, values: Any) -> int | None:
    """Return the number of digits of codes, three or more, or None if the values are not codes.

    Codes are text, or numbers with the name of a code, all with the same number of digits. Some may
    have an extension after a hyphen, such as 12345-6789.
    """
    are_integers = pa.types.is_integer(values.type)
    if len(values) < 2 or (are_integers and not re.search(_CODES, folded_name(name))):
        return None
    if not are_integers and not is_text(values.type):
        return None
    texts = values.cast(pa.large_string())
    bare = texts.filter(pc.ascii_is_decimal(texts))
    if 2 * len(bare) < len(texts) or not len(bare):
        return None
    ends = pc.min_max(pc.utf8_length(bare)).as_py()
    digits: int = ends["min"]
    form = f"^[0-9]{{{digits}}}(-[0-9]+)?$"
    alike = digits == ends["max"] >= 3 and pc.all(pc.match_substring_regex(texts, form)).as_py()
    return digits if alike else None


def _widths(span: Fraction, usual: Fraction, *, whole: bool) -> list[int | float]:
    """Return widths such as 5, 10, 20, 40: wider than one value, narrower than the range.

    span: the range of all rows; usual: that of most rows.
    """
    if not 0 < span < sys.float_info.max:
        return []
    # a power of ten below a third of the range: the narrowest width makes 6 to 60 intervals
    unit = Fraction(10) ** math.floor(math.log10(usual / 3))
    widths = [unit / 2, unit, unit * 2, unit * 4]
    return [
        int(width) if width.denominator == 1 else float(width)
        for width in widths
        if (1 if whole else 0) < width < span
    ]


def suggest_hierarchies(table: Table) -> dict[str, Hierarchy]:
    """Return a hierarchy for each quasi-identifier: its own, or one suggested from its values.

    A suggested hierarchy is derived from the values of the table; its origin is the data.

    Parameters:
        table: The table, with roles.

    Returns:
        The hierarchy of each quasi-identifier, to edit or to `write`.

    >>> from shoal import Column, Table
    >>> table = Table((Column.encode("age", list(range(20, 80))),))
    >>> suggest_hierarchies(table)["age"].rows()[0]
    ('20', '[20, 25[', '[20, 30[', '[20, 40[', '[0, 40[', '*')
    """
    return {column.name: _hierarchy(column) for column in table.quasi_columns}


def _hierarchy(column: Column) -> Hierarchy:
    own = column.hierarchy
    if own is not None:
        return own.source if isinstance(own.source, Hierarchy) else _of_known_values(own)
    recipe = suggest_recipe(column)
    tree = suggest(column) if recipe is None else build(column, recipe)
    return replace(tree, origin="data")


def _of_known_values(tree: Hierarchy) -> Hierarchy:
    """Return the hierarchy without the missing value, which needs no entry."""
    pairs = zip(tree.values, tree.rows(), strict=True)
    rows = [row for value, row in pairs if value is not None]
    return Hierarchy.from_rows(rows, origin=tree.origin) if rows else tree


def name_files(columns: Iterable[str]) -> dict[str, str]:
    """Return a unique, portable file name for each column.

    >>> name_files(["age", "Age (years)", "AGE"])
    {'age': 'age.csv', 'Age (years)': 'Age_years.csv', 'AGE': 'AGE_2.csv'}
    """
    return {column: f"{name}.csv" for column, name in file_names(columns, "column").items()}


def schema_entry(file: str, tree: Hierarchy) -> Any:
    """Return the schema entry of a hierarchy file, marked if it was made from the data."""
    return file if tree.origin in ("declared", "file") else {"file": file, "origin": "data"}
