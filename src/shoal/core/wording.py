"""Words for messages: counts with their nouns, and column names to compare."""

from __future__ import annotations

import re
import unicodedata


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with what is counted, thousands apart.

    many: what to say of several; by default the regular plural.

    >>> counted(1, "record"), counted(2000, "class"), counted(0, "person", "people")
    ('1 record', '2,000 classes', '0 people')
    >>> counted(1, "row is", "rows are")
    '1 row is'
    """
    return f"{count:,} {one if count == 1 else many or _plural(one)}"


def people_in_rows(people: int, rows: int) -> str:
    """Return how many people and rows there are; records where each row is one person.

    >>> people_in_rows(1204, 6010), people_in_rows(1, 5), people_in_rows(7, 7)
    ('1,204 people in 6,010 rows', '1 person in 5 rows', '7 records')
    """
    if people == rows:
        return counted(rows, "record")
    return f"{counted(people, 'person', 'people')} in {counted(rows, 'row')}"


def rows_about(rows: int, people: int, kind: str = "") -> str:
    """Return how many rows of a kind there are and how many people they are about.

    >>> rows_about(6010, 1204, "released"), rows_about(7, 7, "raw"), rows_about(7, 7)
    ('6,010 released rows about 1,204 people', '7 raw records', '7 records')
    """
    before = f"{kind} " if kind else ""
    if people == rows:
        return counted(rows, f"{before}record")
    return f"{counted(rows, f'{before}row')} about {counted(people, 'person', 'people')}"


def _plural(one: str) -> str:
    return f"{one}es" if one.endswith("s") else f"{one}s"


def folded_name(name: str) -> str:
    """Return a column name without capitals and accents, its words separated by underscores.

    >>> folded_name(" Straße"), folded_name("birthDate"), folded_name("Âge (années)")
    ('strasse', 'birth_date', 'age_annees_')
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).casefold()
    letters = unicodedata.normalize("NFKD", apart)
    bare = "".join(sign for sign in letters if not unicodedata.combining(sign))
    return re.sub(r"[\W_]+", "_", bare)
