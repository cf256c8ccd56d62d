"""What a table declares, and what it does not; and keys, which identify the rows of a file.

`undeclared`               types, domains, hierarchies and file settings that were inferred: a
differential-privacy claim must not depend on them
`schema_fingerprint`       a digest of the declared schema, not of the records, for a ledger that
belongs to one table
`unique_keys`, `find_keys` columns whose values identify rows, compared as text
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.support.arrays import Counts
from shoal.support.wording import counted
from shoal.table.column import Column, Role
from shoal.table.encoding import texts, with_missing
from shoal.table.table import Table


def undeclared(table: Table) -> tuple[str, ...]:
    """Return what must be declared before a differential-privacy claim about a table.

    Every published column needs a declared type and a closed domain, and every hierarchy an origin
    other than the data. An empty result means that another record changes no type, label,
    hierarchy level or file setting.

    Parameters:
        table: The table that a method is about to publish.

    Returns:
        One short fragment for the file and for each column with a gap, such as
        `column 'age': declare its type`.

    >>> undeclared(Table((Column.encode("age", [31, 47], type="integer"),)))
    ("column 'age': declare its values or bounds",)
    """
    found = [f"file: declare its {each}" for each in table.guessed]
    for column in table:
        if column.role is not Role.IDENTIFIER:
            gaps = " and ".join(_gaps(column))
            found += [f"column {column.name!r}: declare {gaps}"] if gaps else []
    return tuple(found)


def _gaps(column: Column) -> Iterator[str]:
    if column.type is None:
        yield "its type"
    elif column.type == "decimal":
        yield "its number of places, such as decimal(2)"
    if not column.closed:
        yield "its values or bounds"
    if column.role is not Role.QUASI or column.hierarchy is None:
        return
    if column.hierarchy.origin == "data":
        yield "a hierarchy that is not made from the data"
    elif column.hierarchy.origin == "values":
        yield "its hierarchy as a recipe over its declared values or bounds"


def schema_fingerprint(table: Table) -> str:
    """Return a digest of the names, roles, declared domains, hierarchies and people of a table.

    Parameters:
        table: The table. Its records do not matter if its domains are declared.

    Returns:
        64 hexadecimal digits.

    >>> ages = [Column.encode("age", cells, type="integer", bounds=[0, 99]) for cells in ([1], [2])]
    >>> len({schema_fingerprint(Table((age,))) for age in ages})
    1
    """
    stated = {
        "columns": [_stated(column) for column in table],
        "person": None if table.person is None else table.person.columns,
        "household": None if table.household is None else table.household.columns,
    }
    return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()


def _stated(column: Column) -> dict[str, Any]:
    """Return what is declared of a column, without cells that are passed through unchanged."""
    studied = column.role in (Role.QUASI, Role.SENSITIVE)
    return {
        "name": column.name,
        "role": column.role,
        "kind": column.kind,
        "type": column.type,
        "closed": column.closed,
        "values": column.labels if studied and column.declared else None,
        "bounds": column.bounds,
        "hierarchy": None if column.hierarchy is None else column.hierarchy.digest(),
    }


def unique_keys(cells: Any, key: str, file: str) -> Any:
    """Return the keys of a file as an Arrow array of text.

    Parameters:
        cells: The key column, as Arrow.
        key: Its name.
        file: What to call the file in an error.

    Raises:
        InputError: A key is missing or repeated.
    """
    keys = pa.array(texts(with_missing(cells, key)), pa.string())
    repeated = len(keys) - len(pc.unique(keys.drop_null()))
    if repeated:
        raise InputError(
            f"key {key!r}: {repeated:,} of {counted(len(keys), 'row')} of {file} have no key or "
            "the key of another row; name a column with unique values"
        )
    return keys


def find_keys(wanted: Any, known: Any) -> Counts:
    """Return, for each wanted key, its position among the known keys, or −1."""
    positions = pc.index_in(wanted, value_set=known).fill_null(-1)
    return np.asarray(positions.to_numpy().astype(np.int64))
