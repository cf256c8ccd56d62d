"""Levels taken from other columns of the same table: city, county, state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal.core.column import Column
from shoal.core.hierarchies.hierarchy import ROOT, Hierarchy
from shoal.core.hierarchies.recipe_arguments import check_height, is_list, known_labels, refusal
from shoal.core.values import encoding
from shoal.errors import InputError
from shoal.support.arrays import Counts


def source_columns(hierarchy: Any, name: str) -> tuple[str, ...]:
    """Return the columns that a recipe `{from: [county, state]}` names; none for other recipes."""
    if not isinstance(hierarchy, Mapping) or "from" not in hierarchy:
        return ()
    stated = hierarchy["from"]
    sources = [stated] if isinstance(stated, str) else stated
    fit = is_list(sources) and sources and all(isinstance(each, str) for each in sources)
    if not fit or len(hierarchy) > 1 or len({name, *sources}) <= len(sources):
        raise InputError(
            f"column {name!r}: from must be a list of other columns, finest first, such as "
            "[county, state]"
        )
    return tuple(sources)


def from_columns(column: Column, levels: Mapping[str, Any]) -> Hierarchy:
    """Group the values of a column by the values of other columns in the same rows.

    Each value needs exactly one parent in each of them. A label of two groups is qualified:
    by the label above it, `Washington (Oregon)`, or by the name of its column, `New York (state)`.

    Parameters:
        column: The column to generalize.
        levels: For each other column, from the finest to the coarsest, its cells.

    Returns:
        The hierarchy; its origin is the data.

    Raises:
        InputError: A value has no parent or several; the message counts such values.

    >>> city = Column.encode("city", ["Salem", "Bend", "Salem"])
    >>> from_columns(city, {"state": ["Oregon", "Oregon", "Oregon"]}).rows()
    [('Bend', 'Oregon', '*'), ('Salem', 'Oregon', '*')]
    """
    check_height(column, len(levels))
    labels = known_labels(column)
    parents = [_parents(column, name, cells) for name, cells in levels.items()]
    named = _distinct_labels(labels, parents, list(levels))
    rows = list(zip(labels, *named, [ROOT] * len(labels), strict=True))
    empty = [("", *([""] * len(levels)), ROOT)]
    return Hierarchy.from_rows(rows or empty, origin="data")


def _parents(column: Column, name: str, cells: Any) -> list[str]:
    """Return the label that each known value has in another column."""
    codes, values = encoding.encode(cells, name)
    texts = encoding.texts(values)
    filled = (column.codes < column.known) & np.isin(codes, _known_codes(texts))
    low = np.full(column.known, len(texts), dtype=np.int64)
    high = np.full(column.known, -1, dtype=np.int64)
    np.minimum.at(low, column.codes[filled], codes[filled])
    np.maximum.at(high, column.codes[filled], codes[filled])
    several, none = int((low < high).sum()), int((high < 0).sum())
    if several:
        raise refusal(
            column,
            "from",
            f"{several:,} of {column.known:,} values occur with more than one value of {name!r}; "
            f"make them distinct, leave out {name!r}, or use a hierarchy file",
        )
    if none:
        raise refusal(
            column,
            "from",
            f"{none:,} of {column.known:,} values have no value of {name!r}; fill it in",
        )
    return [str(texts[code]) for code in high]


def _known_codes(texts: Sequence[str | None]) -> Counts:
    return np.array([code for code, text in enumerate(texts) if text], dtype=np.int64)


def _distinct_labels(
    labels: Sequence[str], parents: Sequence[Sequence[str]], names: Sequence[str]
) -> list[list[str]]:
    """Return the labels of each level, qualified so that different groups have different labels."""
    members: dict[str, tuple[int, ...]] = {ROOT: tuple(range(len(labels)))}
    members |= {label: (i,) for i, label in enumerate(labels)}
    above = [ROOT] * len(labels)
    found: list[list[str]] = []
    for texts, name in zip(reversed(parents), reversed(names), strict=True):
        groups: dict[tuple[str, str], list[int]] = {}
        for i, (text, parent) in enumerate(zip(texts, above, strict=True)):
            groups.setdefault((text, parent), []).append(i)
        counts = Counter(text for text, _ in groups)
        level = [""] * len(labels)
        for (text, parent), values in groups.items():
            plain = text if counts[text] == 1 else f"{text} ({parent})"
            label = _free_label(plain, name, tuple(values), members)
            members[label] = tuple(values)
            for i in values:
                level[i] = label
        found.insert(0, level)
        above = level
    return found


def _free_label(
    plain: str, name: str, values: tuple[int, ...], members: Mapping[str, tuple[int, ...]]
) -> str:
    """Return the label, qualified if it is already the label of other values."""
    label, count = plain, 1
    while members.get(label, values) != values:
        label = f"{plain} ({name})" if count == 1 else f"{plain} ({name} {count})"
        count += 1
    return label
