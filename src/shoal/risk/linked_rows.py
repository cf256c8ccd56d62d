"""Linked rows: people singled out by all their rows together, if a published identifier links them.

The guarantee of such a release covers the quasi-identifiers of the whole person. It covers neither
the number of a person's rows nor the columns that are published unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.column import Column, Role
from shoal.core.grouping import group
from shoal.core.linked_rows import linked_sets, profiles
from shoal.core.release import Release
from shoal.core.values import encoding
from shoal.support.arrays import Codes


@dataclass(frozen=True)
class LinkedRows:
    """People singled out by the rows that a published identifier links.

    Parameters:
        columns: The identifiers that link rows.
        people: Sets of linked rows: people, unless a person has several identifiers.
        by_count: People who are unique by their quasi-identifiers and their number of rows.
        by_values: People who are unique by the set of all values in their rows.
    """

    columns: tuple[str, ...]
    people: int
    by_count: int
    by_values: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "columns": list(self.columns),
            "people": self.people,
            "by_count": self.by_count,
            "by_count_share": self.by_count / max(self.people, 1),
            "by_values": self.by_values,
            "by_values_share": self.by_values / max(self.people, 1),
        }


def count_linked(release: Release) -> LinkedRows | None:
    """Count the people whom linked rows single out; None if no rows are linked.

    >>> import pyarrow as pa
    >>> import shoal
    >>> visits = pa.table({"who": list("aabbccc"), "age": [30, 30, 31, 31, 32, 32, 32]})
    >>> release = shoal.anonymize(visits, k=3, quasi="age", person="who",
    ...     replace={"who": "pseudonym"}, key=shoal.identifiers.Key.new(), domain="a study")
    >>> count_linked(release).by_count
    1
    """
    if release.original.counts is not None:
        return None  # the rows stand for rows on disk, where they are counted
    links = {name: each for name, each in release.replaced.items() if each.links}
    rows = np.flatnonzero(release.classes.ids >= 0)
    sets = linked_sets([each.take(rows) for each in links.values()])
    if sets is None:
        return None
    classes = release.classes.ids[rows]
    shown = profiles(sets, classes)
    people = int(sets.max()) + 1
    first = group([sets], [people]).first
    sizes = np.bincount(sets, minlength=people)
    counted = group([shown[first], sizes], [int(shown.max()) + 1, int(sizes.max()) + 1])
    unchanged = [c for c in release.original if c.role in (Role.SENSITIVE, Role.INSENSITIVE)]
    codes = [classes, *(_codes(column, rows) for column in unchanged)]
    values = group(codes, [int(each.max()) + 1 for each in codes])
    whole = profiles(sets, values.ids)[first]
    return LinkedRows(
        tuple(links),
        people,
        int((counted.sizes() == 1).sum()),
        int((np.bincount(whole) == 1).sum()),
    )


def _codes(column: Column, rows: Any) -> Codes:
    """(rows,) a code for each cell; equal codes are equal values."""
    if column.role is Role.SENSITIVE:
        kept: Codes = column.codes[rows]
        return kept
    codes, _ = encoding.encode(column.take(rows).to_arrow(), column.name)
    return codes
