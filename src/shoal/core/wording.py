"""Counts in words: one record, two records."""

from __future__ import annotations


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with what is counted, thousands apart.

    many: what to say of several; by default the regular plural.

    >>> counted(1, "record"), counted(2000, "class"), counted(0, "person", "people")
    ('1 record', '2,000 classes', '0 people')
    >>> counted(1, "row is", "rows are")
    '1 row is'
    """
    return f"{count:,} {one if count == 1 else many or _plural(one)}"


def _plural(one: str) -> str:
    return f"{one}es" if one.endswith("s") else f"{one}s"
