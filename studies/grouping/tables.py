"""Public tables with the attributes of the published census extract, as numbers or as categories.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, table 3.6.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Counts
from shoal.table.column import Column, Kind, Role
from shoal.table.table import Table

# the attributes of each table in the order of table 3.6; for fars in that of appendix A.5, whose
# first attribute, the month, the public copy lacks
FIRST: dict[str, tuple[str, ...]] = {
    "census-income": (
        "sex", "age", "marital_status", "race", "self_birth", "education", "class_of_worker",
        "major_occupation",
    ),
    "fars": (
        "AGE", "SEX", "INJURY_SEVERITY", "PERSON_TYPE", "SEATING_POSITION", "RACE", "CASE_STATE",
        "RESTRAINT_SYSTEM-USE",
    ),
    "adult": (
        "sex", "age", "marital-status", "race", "native-country", "education", "workclass",
        "occupation",
    ),
}  # fmt: skip
# four other attributes: two with many values, and two with few
OTHER_FOUR: dict[str, tuple[str, ...]] = {
    "census-income": ("age", "education", "weeks_worked", "sex"),
    "fars": ("AGE", "CASE_STATE", "SEATING_POSITION", "SEX"),
    "adult": ("age", "education", "occupation", "sex"),
}
# the levels of education, a number as published, from least to most
_EDUCATION: dict[str, tuple[str, ...]] = {
    "census-income": (
        "Children", "Less than 1st grade", "1st 2nd 3rd or 4th grade", "5th or 6th grade",
        "7th and 8th grade", "9th grade", "10th grade", "11th grade", "12th grade no diploma",
        "High school graduate", "Some college but no degree",
        "Associates degree-occup /vocational", "Associates degree-academic program",
        "Bachelors degree(BA AB BS)", "Masters degree(MA MS MEng MEd MSW MBA)",
        "Prof school degree (MD DDS DVM LLB JD)", "Doctorate degree(PhD EdD)",
    ),
    "adult": (
        "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
        "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school",
        "Doctorate",
    ),
}  # fmt: skip


@cache
def _whole(name: str) -> tuple[Table, tuple[str, ...]]:
    from shoal.datasets import load

    roles = {column.name: "quasi" for column in load(name).columns}
    table = load(name, roles)
    rest = sorted(c.name for c in table.columns if c.name not in FIRST[name] and c.domain > 1)
    return table, (*FIRST[name], *rest)


def attributes(name: str) -> int:
    """Return how many attributes a table can be given."""
    return len(_whole(name)[1])


def rows_of(name: str) -> int:
    """Return how many rows a table has."""
    return len(_whole(name)[0])


def draw_table(
    name: str,
    rows: int,
    width: int,
    seed: int = 0,
    *,
    categories: bool = False,
    other: bool = False,
    reverse: bool = False,
) -> Table:
    """Return rows drawn at random, with the first attributes.

    categories: keep attributes without an order as categories; by default they are numbered.
    other: take the four other attributes instead of the first.
    reverse: number attributes without an order from last to first.
    """
    table, names = _whole(name)
    if width > len(names) or rows > len(table):
        raise InputError(f"{name} has {len(table)} rows of {len(names)} attributes")
    picked = np.random.default_rng([seed, rows]).permutation(len(table))[:rows]
    chosen = OTHER_FOUR[name] if other else names[:width]
    return Table(tuple(_draw(name, table[each], picked, categories, reverse) for each in chosen))


def _draw(table: str, column: Column, picked: Counts, categories: bool, reverse: bool) -> Column:
    """Return a column's own numbers if it has them, otherwise the places of its values."""
    numbers: Any = np.arange(column.domain)[:: -1 if reverse else 1]
    ordered = column.kind is Kind.NUMERIC
    if ordered and column.missing is None:
        numbers = column.positions
    elif column.name == "education":
        levels = _EDUCATION[table]
        numbers, ordered = np.array([levels.index(str(label)) for label in column.labels]), True
    kind = Kind.NOMINAL if categories and not ordered else Kind.NUMERIC
    return Column.encode(column.name, numbers[column.codes[picked]], Role.QUASI, kind)
