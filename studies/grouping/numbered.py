"""Tables with every attribute as a number, as the partition study has them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from shoal.core.column import Column, Kind, Role
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.support.arrays import Counts

# the attributes of each table in the order in which they are added
FIRST: dict[str, tuple[str, ...]] = {
    "census-income": (
        "sex", "age", "marital_status", "education", "race", "self_birth", "class_of_worker",
        "major_occupation",
    ),
    "fars": (
        "AGE", "SEX", "INJURY_SEVERITY", "PERSON_TYPE", "SEATING_POSITION", "RACE", "CASE_STATE",
        "RESTRAINT_SYSTEM-USE",
    ),
    "adult": (
        "sex", "age", "marital-status", "education", "race", "native-country", "workclass",
        "occupation",
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


def numbered(name: str, rows: int, width: int, seed: int = 0) -> Table:
    """Return rows drawn at random, with the first attributes as numbers from 0."""
    table, names = _whole(name)
    if width > len(names) or rows > len(table):
        raise InputError(f"{name} has {len(table)} rows of {len(names)} attributes")
    picked = np.random.default_rng([seed, rows]).permutation(len(table))[:rows]
    return Table(tuple(_number(table[each], picked) for each in names[:width]))


def _number(column: Column, picked: Counts) -> Column:
    """Return a column's own numbers where it has them, else the places of its values."""
    if column.kind is Kind.NUMERIC and column.missing is None:
        numbers: Any = column.positions
    else:
        numbers = np.arange(column.domain)
    return Column.encode(column.name, numbers[column.codes[picked]], Role.QUASI)
