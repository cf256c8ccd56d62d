"""All replacements of identifiers, by the names that schemas use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from shoal.core.publishing.replaced import Replaced
from shoal.core.table import Table
from shoal.errors import InputError, UnknownColumn, unknown
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Replacement, Secrets

_ALL: tuple[type[Replacement], ...] = (Pseudonym,)
REPLACEMENTS: Mapping[str, type[Replacement]] = {each.name: each for each in _ALL}


def as_replacement(stated: Any, column: str) -> Replacement:
    """Return a replacement given as a name, or as a name with its options.

    >>> as_replacement({"pseudonym": {"length": 20}}, "id")
    Pseudonym(length=20, space='')
    """
    if isinstance(stated, Replacement):
        return stated
    if isinstance(stated, str):
        stated = {stated: {}}
    if not isinstance(stated, Mapping) or len(stated) != 1:
        raise InputError(
            f"column {column!r}: replace must be a name such as pseudonym, or a name with options "
            "such as {pseudonym: {length: 20}}"
        )
    [(name, options)] = stated.items()
    if name not in REPLACEMENTS:
        raise unknown(f"column {column!r}: no replacement", name, REPLACEMENTS)
    kind = REPLACEMENTS[name]
    options = {} if options is None else options
    allowed = [field.name for field in fields(kind)]
    if not isinstance(options, Mapping) or not set(options) <= set(allowed):
        raise InputError(
            f"column {column!r}: the options of {name} are {', '.join(allowed) or 'none'}"
        )
    try:
        return kind(**options)
    except InputError as error:
        raise InputError(f"column {column!r}: {error}") from None


def replace_identifiers(table: Table, secrets: Secrets) -> dict[str, Replaced]:
    """Return the identifiers of a table that are published in another form."""
    replaced = {}
    for name, stated in table.replacements.items():
        if name not in table:
            raise UnknownColumn(f"no column {name!r} to replace")
        column = table[name]
        replaced[name] = as_replacement(stated, name).publish(name, column.to_arrow(), secrets)
    return replaced
