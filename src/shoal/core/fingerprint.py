"""A fingerprint of the declared schema of a table, for a ledger that belongs to one table.

It depends on the schema only, not on the records.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from shoal.core.column import Column, Role
from shoal.core.table import Table


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
