"""Tables of a letter and a sign a row, so small that every one of them can be tried."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement, product

import pyarrow as pa

from shoal import Hierarchy, Table

CELLS = list(product("abc", "xy"))
TREES = {
    "letter": Hierarchy.from_rows([("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")]),
    "sign": Hierarchy.from_rows([("x", "*"), ("y", "*")]),
}
ROLES = {
    "letter": {"role": "quasi", "type": "text", "values": ["a", "b", "c"]},
    "sign": {"role": "quasi", "type": "text", "values": ["x", "y"]},
}


def small(rows):
    """A table of one letter and one sign a row, with every value of both in its hierarchies."""
    return _small(tuple(rows))


@cache
def _small(rows):
    letters, signs = zip(*rows, strict=True) if rows else ((), ())
    data = pa.table(
        {"letter": pa.array(letters, pa.string()), "sign": pa.array(signs, pa.string())}
    )
    return Table.from_arrow(data, ROLES, TREES)


def at(row, node):
    """What is published of a row of the small table at a node."""
    letter, sign = row
    return ((letter, "ab" if letter in "ab" else "c", "*")[node[0]], (sign, "*")[node[1]])


def neighbours(most):
    """Every small table of up to so many records, with each that has one record more."""
    for size in range(most + 1):
        for rows in combinations_with_replacement(CELLS, size):
            yield list(rows), [[*rows, cell] for cell in CELLS]
