"""Roles of columns from lists of names, and a warning about columns without a role."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from shoal.core.column import Role
from shoal.errors import InputError


class UnassignedColumns(UserWarning):
    """Warns that columns without a role are not published; `read` and `anonymize` give it.

    Ignore it if that is intended:

    >>> import warnings
    >>> import pyarrow as pa
    >>> import shoal
    >>> ages = pa.table({"age": [31, 33, 47, 48], "cost": [10, 20, 30, 40]})
    >>> with warnings.catch_warnings(action="ignore", category=UnassignedColumns):
    ...     release = shoal.anonymize(ages, k=2, quasi="age")
    >>> release.to_native().column_names
    ['age']
    """


def unassigned_message(names: Sequence[str]) -> str:
    """Return a message about columns that are not published, and how to publish them.

    Parameters:
        names: The columns without a role.

    Returns:
        The text of an `UnassignedColumns` warning.

    >>> unassigned_message(["cost"]).partition(";")[0]
    'no role for cost: not published'
    """
    return (
        f"no role for {', '.join(names)}: not published; give a column the role insensitive "
        "to pass it through unchanged"
    )


def warn_unassigned(names: Sequence[str], stacklevel: int) -> None:
    """Warn about columns without a role."""
    if names:
        warnings.warn(unassigned_message(names), UnassignedColumns, stacklevel=stacklevel + 1)


def as_names(columns: str | Sequence[str]) -> tuple[str, ...]:
    """Return one or several column names as a tuple without duplicates."""
    return tuple(dict.fromkeys([columns] if isinstance(columns, str) else columns))


def roles_of(
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    insensitive: str | Sequence[str] = (),
    identifier: str | Sequence[str] = (),
    weight: str | Sequence[str] = (),
) -> dict[str, Role]:
    """Return the role of each named column.

    >>> roles_of(["age", "sex"], "disease")["disease"]
    <Role.SENSITIVE: 'sensitive'>
    """
    named = {
        Role.QUASI: quasi,
        Role.SENSITIVE: sensitive,
        Role.INSENSITIVE: insensitive,
        Role.IDENTIFIER: identifier,
        Role.WEIGHT: weight,
    }
    roles: dict[str, Role] = {}
    for role, columns in named.items():
        for name in as_names(columns):
            if name in roles:
                raise InputError(f"column {name!r} is named as {roles[name]} and as {role}")
            roles[name] = role
    return roles
