"""Cells that a spreadsheet would run as a formula: detect, escape and unescape them.

A text that begins with =, +, -, @, their full-width forms, a tab or a line break is a formula
unless it is a number. It is escaped with a single quote in front. A spreadsheet that expects
semicolons splits the cells of a file with commas, so a formula after a semicolon, a tab or a line
break inside a text gets a quote too. Names of columns are cells like others. Where a text already
has such quotes it gets one more, so that different cells stay different.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column, Role
from shoal.core.table import Table
from shoal.core.values import encoding

_FIRST = r"[=@＝＠+\-＋－\t\r\n](?s:.)"  # a cell that begins so is run
_SPLIT = r'[;\t\r\n][ "]*'  # where another spreadsheet would begin a new cell
# what is run there; a number up to the next cell, the end or a bracket, as in [-5;-3], is not
_INSIDE = r"(?:[=@＝＠]|[+\-＋－](?:[^0-9.,:;\t\r\n]|[0-9.,:]+[^0-9.,:;\t\r\n\])}]))"
FORMULA = rf"^{_FIRST}|{_SPLIT}{_INSIDE}"
_ESCAPABLE = rf"^'*{_FIRST}"
_ESCAPED = rf"^'+{_FIRST}"
_ESCAPED_INSIDE = rf"({_SPLIT})'('*{_INSIDE})"
NUMBER = r"^[+-][0-9.,:]+([eE][+-]?[0-9]+)?%?$"


def count_formulas(data: Any) -> dict[str, int]:
    """Return for each column of an Arrow table how many cells a spreadsheet would run.

    The name of a column is one of its cells.

    >>> count_formulas(pa.table({"note": ["=1+1", "-5", "+a", "@x", "a"], "sum": [1, 2, 3, 4, 5]}))
    {'note': 3}
    """
    found = dict.fromkeys(data.column_names, 0)
    for name in data.column_names:
        found[name] += has_formulas(pa.array([name], pa.string()))
        cells = _distinct(data.column(name))
        if cells is not None:
            runs = _matches(cells.dictionary, FORMULA).take(cells.indices)
            found[name] += pc.sum(runs).as_py() or 0
    return {name: count for name, count in found.items() if count}


def escape_formulas(data: Any) -> Any:
    """Return an Arrow table whose cells and names of columns no spreadsheet runs.

    >>> escape_formulas(pa.table({"note": ["=1+1", "'=1+1", "-5"]})).column("note").to_pylist()
    ["'=1+1", "''=1+1", '-5']
    """
    for place, name in enumerate(data.column_names):
        cells = _distinct(data.column(name))
        if cells is None:
            continue
        data = data.set_column(place, name, escape_texts(cells.dictionary).take(cells.indices))
    return data.rename_columns(escape_names(data.column_names))


def has_formulas(texts: Any) -> bool:
    """Return whether a spreadsheet would run one of the distinct cells of a column."""
    return encoding.is_text(texts.type) and bool(pc.any(_matches(texts, FORMULA)).as_py())


def escape_names(names: Sequence[str]) -> list[str]:
    """Return names of columns that no spreadsheet runs.

    >>> escape_names(["age", "=1+1", "a;=1+1"])
    ['age', "'=1+1", "a;'=1+1"]
    """
    escaped: list[str] = escape_texts(pa.array(names, pa.string())).to_pylist()
    return escaped


def unescape_names(names: Sequence[str], expected: Collection[str]) -> tuple[str, ...]:
    """Return the names of a file's columns without the quotes that escape them.

    They count as escaped if more of the expected names are found without these quotes.

    >>> unescape_names(["age", "'=1+1"], expected=["=1+1"])
    ('age', '=1+1')
    """
    plain = _unescaped(pa.array(names, pa.string())).to_pylist()
    known = [len(set(expected).intersection(each)) for each in (names, plain)]
    return tuple(plain if known[1] > known[0] else names)


def escape_texts(texts: Any) -> Any:
    """Return an Arrow array of texts that no spreadsheet runs."""
    texts = pc.replace_substring_regex(texts, rf"({_SPLIT})('*{_INSIDE})", r"\1'\2")
    quoted = pc.binary_join_element_wise(pa.scalar("'", texts.type), texts, "")
    return pc.if_else(_matches(texts, _ESCAPABLE), quoted, texts)


def unescape_formulas(data: Any, original: Table) -> Any:
    """Return released cells without the quotes that escape them, if they are escaped.

    They count as escaped if none of them would run and some have a quote that neither the values
    nor the labels of the original have.
    """
    columns = {column.name: column for column in original if column.role is not Role.IDENTIFIER}
    named = [name for name in columns if data.column_names.count(name) == 1]
    distinct = (_distinct(data.column(name)) for name in named)
    if any(has_formulas(cells.dictionary) for cells in distinct if cells is not None):
        return data
    quoted = {name: cells for name in named if (cells := _quoted(data.column(name))) is not None}
    if all(_are_known(cells, columns[name]) for name, cells in quoted.items()):
        return data
    for name, cells in quoted.items():
        read = _unescaped(cells.dictionary).take(cells.indices)
        data = data.set_column(data.column_names.index(name), name, read)
    return data


def _quoted(cells: Any) -> Any:
    """Return the distinct cells of a column if one of them is escaped, else None."""
    found = _distinct(cells)
    if found is None or not pc.any(_looks_escaped(found.dictionary)).as_py():
        return None
    return found


def _unescaped(texts: Any) -> Any:
    """Return an Arrow array of texts without the quotes that `escape_texts` adds."""
    plain = pc.utf8_slice_codeunits(texts, 1)
    bare = pc.if_else(_matches(texts, _ESCAPED), plain, texts)
    return pc.replace_substring_regex(bare, _ESCAPED_INSIDE, r"\1\2")


def _looks_escaped(texts: Any) -> Any:
    inside = pc.match_substring_regex(texts, _ESCAPED_INSIDE)
    return pc.or_(_matches(texts, _ESCAPED), pc.fill_null(inside, False))


def _are_known(cells: Any, column: Column) -> bool:
    """Return whether all texts that look escaped occur in the original as they are."""
    levels = () if column.hierarchy is None else column.hierarchy.levels
    known = {*encoding.texts(column.values), *(text for each in levels for text in each.labels)}
    looks = cells.dictionary.filter(_looks_escaped(cells.dictionary))
    return set(looks.to_pylist()) <= known


def _distinct(cells: Any) -> Any:
    """Return text cells as a dictionary array, None for cells that are not text."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if not encoding.is_text(kind):
        return None
    joined = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if isinstance(joined, pa.ChunkedArray):  # no chunks
        joined = pa.array([], kind)
    return joined if pa.types.is_dictionary(joined.type) else joined.dictionary_encode()


def _matches(texts: Any, pattern: str) -> Any:
    """Return which texts match and are not numbers; a missing text does not match."""
    found = pc.match_substring_regex(texts, pattern)
    number = pc.match_substring_regex(texts, NUMBER)
    return pc.fill_null(pc.and_not(found, number), False)
