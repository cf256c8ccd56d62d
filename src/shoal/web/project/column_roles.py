"""The columns of the table: role, reason, kind and how identifiers are replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.errors import InputError, unknown
from shoal.table.column import Role

LEFT_OUT = "left out"  # the choice of a column that gets no role, so that it is not published
KEYED = {"pseudonym", "ff1", "shift"}  # replacements that need a key and a domain
ROLES = (*(str(role) for role in Role), LEFT_OUT)


@dataclass(frozen=True)
class ColumnInfo:
    """One column as the Describe screen shows it.

    Parameters:
        name: Its name in the file.
        role: `identifier`, `quasi`, `sensitive`, `insensitive` or `left out`.
        suggested: The role that `shoal.inspect` suggests.
        reason: Why this role is suggested, in a few words.
        type: Its type in words, such as `whole number`.
        kind: `numeric`, `ordinal` or `nominal`.
        distinct: Number of distinct values.
        missing: Number of missing cells.
        approximate: Whether the numbers of values are approximate.
        common: Share of the filled rows that have the most common value; 0 if it is not known.
        recipe: The suggested recipe for its hierarchy, such as `{"intervals": [5, 10]}`.
        order: The values of an ordinal column from least to greatest, if there is an order.
        replace: The replacement of an identifier as a schema states it, such as
            `{"pseudonym": {}}`; None leaves it out.
        contains: What its cells contain, such as `{"email": 12}`.
        offered_codes: Texts that may mean missing, with the rows that have them.
        declared: What is possible in the column, as a schema states it: type, with bounds or
            values. The owner knows it without the table; differential privacy needs it.
        missing_codes: Texts that the owner says mean missing in this column.
    """

    name: str
    role: str
    suggested: str
    reason: str = ""
    type: str = "text"
    kind: str = "nominal"
    distinct: int = 0
    missing: int = 0
    recipe: Mapping[str, Any] | None = None
    order: tuple[str, ...] | None = None
    replace: Mapping[str, Any] | None = None
    contains: Mapping[str, int] = field(default_factory=dict)
    offered_codes: Mapping[str, int] = field(default_factory=dict)
    missing_codes: tuple[str, ...] = ()
    declared: Mapping[str, Any] = field(default_factory=dict)
    approximate: bool = False
    common: float = 0.0

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> ColumnInfo:
        """Return a column as `shoal.inspection.describe` describes it."""
        ordinal = described["kind"] == "ordinal"
        values = described["values"] if ordinal else None
        role = described["role"] if described["role"] in list(Role) else LEFT_OUT
        return cls(
            name=described["name"],
            role=role,
            suggested=role,
            reason=described["reason"],
            type=described["type"],
            kind=described["kind"],
            distinct=described["distinct"],
            missing=described["missing"],
            recipe=described["hierarchy"],
            order=None if values is None else tuple(values),
            contains=dict(described["contains"]),
            offered_codes=dict(described["missing_codes"]),
            approximate=described.get("approximate", False),
            common=described.get("common", 0.0),
        )

    @property
    def spec(self) -> dict[str, Any] | None:
        """The entry of the column in a schema, without its hierarchy; None if it is left out."""
        if self.role == LEFT_OUT:
            return None
        entry: dict[str, Any] = {"role": self.role}
        if self.role in (Role.QUASI, Role.SENSITIVE):
            if self.order is not None and self.kind == "ordinal":
                entry |= {"kind": "ordinal", "order": list(self.order)}
            elif self.kind == "nominal" and self.type not in ("text", "true/false"):
                entry["kind"] = "nominal"
        if self.role != Role.IDENTIFIER:
            entry |= self.declared
        if self.missing_codes and self.role != Role.IDENTIFIER:
            entry["missing"] = list(self.missing_codes)
        if self.role == Role.IDENTIFIER and self.replace is not None:
            entry["replace"] = dict(self.replace)
        return entry


class Columns:
    """The columns of the opened table, in the order of the file.

    >>> columns = Columns(ColumnInfo(name, "quasi", "quasi") for name in ("age", "name"))
    >>> columns.set_role(["name"], "identifier")
    >>> columns.names("quasi"), columns.names("identifier")
    (('age',), ('name',))
    """

    def __init__(self, columns: Iterable[ColumnInfo] = ()) -> None:
        self._columns = {column.name: column for column in columns}

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[ColumnInfo]:
        return iter(self._columns.values())

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> ColumnInfo:
        if name not in self._columns:
            raise unknown("no column", name, self._columns)
        return self._columns[name]

    def names(self, role: str) -> tuple[str, ...]:
        """Return the names of the columns with this role."""
        return tuple(column.name for column in self if column.role == role)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns that others may know about a person."""
        return self.names(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that others must not learn about a person."""
        return self.names(Role.SENSITIVE)

    @property
    def need_key(self) -> tuple[str, ...]:
        """The identifiers whose replacement needs a key."""
        return tuple(
            column.name
            for column in self
            if column.role == Role.IDENTIFIER and set(column.replace or {}) & KEYED
        )

    def set_role(self, names: Sequence[str], role: str) -> None:
        """Give several columns a role.

        Parameters:
            names: The columns.
            role: One of `ROLES`.

        Raises:
            InputError: There is no such role or column.
        """
        if role not in ROLES:
            raise InputError(f"role must be one of {', '.join(ROLES)}")
        self.change(names, role=role)

    def change(self, names: Sequence[str], **changes: Any) -> None:
        """Change the same fields of several columns.

        Parameters:
            names: The columns.
            changes: Fields of `ColumnInfo` with their new values.
        """
        changed = {name: replace(self[name], **changes) for name in names}
        self._columns |= changed

    @property
    def specs(self) -> dict[str, dict[str, Any]]:
        """The entries of a schema, without columns that are left out and without hierarchies."""
        found = {column.name: column.spec for column in self}
        return {name: spec for name, spec in found.items() if spec is not None}
