"""What is asked of a table before it is read: roles, units, hierarchies and the file format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.core.column import Role
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.roles import as_names
from shoal.errors import InputError
from shoal.reading.checks import is_declared
from shoal.reading.formats import Format
from shoal.reading.schema import Schema, check_spec


@dataclass(frozen=True)
class Request:
    """The specification of each column, merged from schema and options.

    specs: the options of each column with a role.
    trees: hierarchies that were given apart from the specifications.
    units: the columns that identify people and households, and whether rows are people.
    settings: the file format as far as it is stated; `stated`: those that are not from the schema.
    """

    specs: Mapping[str, Mapping[str, Any]]
    trees: Mapping[str, Any]
    units: Mapping[str, Any]
    settings: Mapping[str, Any]
    stated: tuple[str, ...] = ()

    @cached_property
    def form(self) -> Format:
        """The file format."""
        missing_in = {n: spec["missing"] for n, spec in self.specs.items() if "missing" in spec}
        return Format(**self.settings, missing_in=missing_in)

    @property
    def text(self) -> set[str]:
        """The columns whose type is not inferred: unchanged, declared and identifying ones."""
        passing = (Role.INSENSITIVE, Role.IDENTIFIER)
        unchanged = {
            name
            for name, spec in self.specs.items()
            if spec.get("role") in passing or is_declared(spec)
        }
        return {*unchanged, *self.units["person"], *self.units["household"]}

    @property
    def declared(self) -> bool:
        """Whether every column has a declared type, so that a file without rows is a table."""
        return all(
            "type" in spec or spec["role"] == Role.IDENTIFIER for spec in self.specs.values()
        )

    @property
    def expected(self) -> set[str]:
        """The columns that a file should have."""
        return {*self.specs, *self.units["person"], *self.units["household"], *self.trees}


def request_of(
    schema: str | Path | Mapping[str, Any] | Schema | None,
    roles: Mapping[str, Any] | None,
    hierarchies: Mapping[str, Any] | None,
    person: str | Sequence[str],
    household: str | Sequence[str],
    rows_are_people: bool,
    form: Mapping[str, Any],
) -> Request:
    """Return the request of `read`, whose parameters have the same names.

    form: settings of the file format; None is not stated.
    """
    known = _schema(schema)
    specs = _merged(known, roles)
    if rows_are_people and as_names(person):
        raise InputError("person and rows_are_people cannot be combined; state one of them")
    units: dict[str, Any] = {
        "person": as_names(person) or (() if rows_are_people else known.person),
        "household": as_names(household) or known.household,
        "rows_are_people": rows_are_people,
    }
    trees = {name: _hierarchy(tree) for name, tree in (hierarchies or {}).items()}
    stated = {name: value for name, value in form.items() if value is not None}
    return Request(specs, trees, units, {**known.file, **stated}, tuple(stated))


def _schema(schema: Any) -> Schema:
    if schema is None:
        return Schema()
    if isinstance(schema, Schema):
        return schema
    return Schema.of(schema) if isinstance(schema, Mapping) else Schema.read(schema)


def _merged(schema: Schema, roles: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    if not isinstance(roles, Mapping | None):
        raise InputError("roles must be a mapping such as {column: 'quasi'}")
    merged = {name: dict(spec) for name, spec in schema.columns.items()}
    for name, stated in (roles or {}).items():
        spec = check_spec("roles: ", str(name), stated)
        merged.setdefault(str(name), {}).update(spec)
    if not merged:
        raise InputError(
            "no column has a role; pass a schema, or roles={column: "
            "'quasi' | 'sensitive' | 'identifier' | 'insensitive' | 'weight'}"
        )
    for name, spec in merged.items():
        if "role" not in spec:
            source = schema.source if name in schema.columns else "roles"
            raise InputError(f"{source}: column {name!r}: no role; give one of {', '.join(Role)}")
    return merged


def _hierarchy(tree: Any) -> Any:
    return Hierarchy.read(tree) if isinstance(tree, (str, Path)) else tree
