"""All replacements of identifiers, by the names that schemas use, and their use on a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, unknown
from shoal.identifiers.coarsening import Clip, Mask, Round, Shift
from shoal.identifiers.codes import distinct_texts
from shoal.identifiers.content import Redact
from shoal.identifiers.fake import Fake
from shoal.identifiers.format_preserving import FormatPreserving
from shoal.identifiers.lookup import Token
from shoal.identifiers.pseudonym import Pseudonym
from shoal.identifiers.replacement import Coarsening, Context, Drop, Replacement
from shoal.table.column import Column, Role
from shoal.table.linked import Replaced
from shoal.table.table import Table

_ALL: tuple[type[Replacement], ...] = (
    *(Pseudonym, Token, FormatPreserving, Fake, Shift, Mask, Round, Clip, Redact, Drop),
)
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
    if name == "hash":  # common elsewhere, so it gets an answer of its own
        raise InputError(
            f"column {column!r}: a hash without a key is no replacement, because anyone can hash "
            "all values that may occur and compare; use pseudonym, which needs a key"
        )
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


def coarsened(table: Table) -> Table:
    """Return a table in which identifiers with a coarsening are quasi-identifiers."""
    for name, stated in table.replacements.items():
        kind = as_replacement(stated, name)
        if isinstance(kind, Coarsening) and table[name].role is Role.IDENTIFIER:
            cells = kind.coarsen(name, table[name].to_arrow())
            table = table.with_column(Column.encode(name, cells, Role.QUASI))
    return table


def replace_identifiers(table: Table, context: Context) -> dict[str, Replaced]:
    """Return the identifiers of a table that are published in another form."""
    person = table.person
    if person is not None and all(name in table for name in person.columns):
        columns = {name: table[name].to_arrow() for name in person.columns}
        context = replace(context, person=people_of(columns))
    else:
        context = replace(context, person=None)
    replaced = {}
    for name, stated in table.replacements.items():
        kind = as_replacement(stated, name)
        if not isinstance(kind, Coarsening):
            made = kind.publish(name, table[name].to_arrow(), context)
            if made is not None:
                replaced[name] = made
    return replaced


def people_of(columns: Mapping[str, Any]) -> Any:
    """(rows,) the person of each row as text; several columns are joined by a unit separator.

    Parameters:
        columns: The cells of the columns that identify people, as Arrow arrays.
    """
    parts = []
    for name, cells in columns.items():
        indices, texts = distinct_texts(cells, name)
        parts.append(texts.cast(pa.string()).take(indices))
    return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, "\x1f")
