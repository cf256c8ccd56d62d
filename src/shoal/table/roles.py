"""What users state about columns: roles by name, and specifications checked before encoding."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import InputError, did_you_mean
from shoal.table.column import Kind, Role
from shoal.table.encoding import without_codes

_NOT_OF_ENCODING = ("missing", "replace", "publish")  # applied before or after the encoding
_OPTIONS = (
    *("role", "kind", "weight", "bounds", "order", "hierarchy", "type", "values"),
    *_NOT_OF_ENCODING,
)


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


def checked_spec(name: str, stated: Role | str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a column, given as a role or a mapping, as options."""
    spec = dict(stated) if isinstance(stated, Mapping) else {"role": stated}
    unknown = [key for key in spec if key not in _OPTIONS]
    if unknown:
        raise InputError(
            f"column {name!r}: unknown option {unknown[0]!r}; there are {', '.join(_OPTIONS)}"
        )
    if "role" not in spec:
        raise InputError(f"column {name!r}: no role; it is one of {', '.join(Role)}")
    return checked_words(name, spec)


def checked_words(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a column with its role and kind in canonical form.

    Raises:
        InputError: There is no such role, or kind.
    """
    checked = dict(spec)
    if "role" in spec:
        try:
            checked["role"] = Role(spec["role"])
        except InputError as error:
            raise InputError(f"column {name!r}: {error}") from None
    allowed = [str(kind) for kind in Kind]
    if spec.get("kind") is not None and spec["kind"] not in allowed:
        raise InputError(
            f"column {name!r}: kind {spec['kind']!r}{did_you_mean(spec['kind'], allowed)} "
            f"is not one of {', '.join(allowed)}"
        )
    if "missing" in spec:
        checked["missing"] = missing_texts(spec["missing"], f"column {name!r}: ")
    if "replace" in spec and checked.get("role", Role.IDENTIFIER) != Role.IDENTIFIER:
        raise InputError(
            f"column {name!r}: replace applies to the role identifier, not to {checked['role']}"
        )
    if "publish" in spec and checked.get("role", Role.WEIGHT) != Role.WEIGHT:
        raise InputError(
            f"column {name!r}: publish applies to the role weight, not to {checked['role']}"
        )
    return checked


def missing_texts(listed: Any, where: str = "") -> tuple[str, ...]:
    """Return the texts that mean missing; numbers are used as they are printed.

    Parameters:
        where: Prefix of an error message.
    """
    if not isinstance(listed, (list, tuple, set, frozenset)) or not all(
        isinstance(text, (str, int, float, type(None))) and not isinstance(text, bool)
        for text in listed
    ):
        raise InputError(f"{where}missing must be a list of texts such as ['?', 'NA']")
    return tuple(str(text) for text in listed if text not in (None, ""))


def without_missing(data: Any, specs: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return an Arrow table with nulls for the texts that columns declare as missing."""
    for index, name in enumerate(data.column_names):
        missing = specs.get(name, {}).get("missing")
        if missing and data.column_names.count(name) == 1:
            data = data.set_column(index, name, without_codes(data.column(name), missing))
    return data


def encoding_options(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for encoding a column, without those that apply before or after it."""
    return {name: value for name, value in spec.items() if name not in _NOT_OF_ENCODING}
