"""Public tables with the domains that they happen to have, taken as declared.

For studies of public data only: a domain that is read from the records reveals them.
"""

from __future__ import annotations

from dataclasses import replace

from shoal.core.column import Column, Role
from shoal.core.table import Table


def take_domains_as_public(table: Table) -> Table:
    """Return a public table whose types, domains and hierarchies count as declared.

    A claim of differential privacy about such a table does not cover what its domains reveal.
    """
    columns = [_declared(c) if c.role is not Role.IDENTIFIER else c for c in table]
    return replace(table, columns=tuple(columns), guessed=())


def _declared(column: Column) -> Column:
    tree = column.hierarchy
    return replace(
        column,
        type="text" if column.type in (None, "decimal") else column.type,
        declared=True,
        hierarchy=None if tree is None else replace(tree, origin="declared"),
    )
