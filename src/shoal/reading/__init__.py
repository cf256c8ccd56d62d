"""From a file or a frame to a table with roles."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.core.column import Role
from shoal.core.hierarchy import Hierarchy
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.reading.files import Format, read_arrow
from shoal.reading.schema import Schema


class UnassignedColumns(UserWarning):
    """Columns without a role are left out of what is published."""


def read(
    source: Any,
    schema: str | Path | Mapping[str, Any] | Schema | None = None,
    *,
    roles: Mapping[str, Any] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
) -> Table:
    """Read a table from a file (CSV, Parquet, JSON lines) or a frame (pandas, polars, pyarrow).

    schema: a YAML file, or the same as a mapping.
    roles: `{column: role}`; they win over the schema's. A column that nobody gives a role is not
        published: one warning names such columns.
    hierarchies: `{column: CSV path, Hierarchy or recipe}`, such as `{"age": {"intervals": [5]}}`.
    delimiter, quote, encoding: of a CSV file; found out where not stated.
    missing: texts that mean a missing value, such as `["?", "NA"]`, besides empty fields.
    """
    known = _schema(schema)
    specs = _merged(known, roles)
    trees = {name: _hierarchy(tree) for name, tree in (hierarchies or {}).items()}
    if isinstance(source, (str, Path)):
        path = Path(source)
        stated = {"delimiter": delimiter, "quote": quote, "encoding": encoding, "missing": missing}
        options = {**known.file, **{k: v for k, v in stated.items() if v is not None}}
        options["missing"] = tuple(str(text) for text in options.get("missing") or ())
        data = read_arrow(path, Format(**options), _carried(specs))
        try:
            table = Table.from_arrow(data, specs, trees)
        except InputError as error:
            error.args = (f"{path}: {error}", *error.args[1:])
            raise
    else:
        table = Table.from_arrow(source, specs, trees)
    if table.unassigned:
        warnings.warn(unassigned_message(table.unassigned), UnassignedColumns, stacklevel=2)
    return table


def unassigned_message(names: Sequence[str]) -> str:
    """Say which columns are left out, and how to keep them."""
    return (
        f"no role for {', '.join(names)}: not published; give a column the role insensitive "
        "to pass it through unchanged"
    )


def _schema(schema: Any) -> Schema:
    if schema is None:
        return Schema()
    if isinstance(schema, Schema):
        return schema
    return Schema.of(schema) if isinstance(schema, Mapping) else Schema.read(schema)


def _merged(schema: Schema, roles: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    merged = {name: dict(spec) for name, spec in schema.columns.items()}
    for name, told in (roles or {}).items():
        spec = told if isinstance(told, Mapping) else {"role": told}
        merged.setdefault(name, {}).update(spec)
    if not merged:
        raise InputError(
            "no column has a role; pass a schema, or roles={column: "
            "'quasi' | 'sensitive' | 'identifier' | 'insensitive'}"
        )
    return merged


def _carried(specs: Mapping[str, Mapping[str, Any]]) -> set[str]:
    passing = (Role.INSENSITIVE, Role.IDENTIFIER)
    return {name for name, spec in specs.items() if spec.get("role") in passing}


def _hierarchy(tree: Any) -> Any:
    return Hierarchy.read(tree) if isinstance(tree, (str, Path)) else tree


__all__ = ["Format", "Schema", "UnassignedColumns", "read", "read_arrow", "unassigned_message"]
