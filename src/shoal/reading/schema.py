"""The schema file: roles, types, domains, weights and hierarchies."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.core.column import MAX_WEIGHT
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.roles import as_names
from shoal.core.values.data_types import TYPES, DataType
from shoal.core.values.specs import checked_words
from shoal.errors import InputError
from shoal.identifiers.replacement import Replacement
from shoal.identifiers.replacements import as_replacement
from shoal.reading.formats import Format
from shoal.reading.yaml_files import read_yaml

_UNITS = ("person", "household")
_TOP = (*_UNITS, "columns", "file")
_FILE = (
    "delimiter",
    "quote",
    "encoding",
    "missing",
    "decimal",
    "dates",
    "header",
    "trim",
    "sheet",
    "query",
)
_SPEC: dict[str, tuple[tuple[type, ...], str]] = {
    "role": ((str,), "quasi, sensitive, identifier, insensitive or weight"),
    "type": ((str,), f"one of {', '.join(TYPES)}, or decimal(2)"),
    "kind": ((str,), "numeric, ordinal or nominal"),
    "weight": ((int, float), f"a number from 0 to {MAX_WEIGHT:g}"),
    "bounds": ((list, tuple), "two values, [least, greatest]"),
    "values": ((list, tuple), "a list of all values that may occur"),
    "order": ((list, tuple), "the values, [least, …, greatest]"),
    "missing": ((list, tuple), "a list of texts such as ['?', 'NA']"),
    "hierarchy": ((str, Path, Mapping, Hierarchy), "a file, or a recipe such as {mask: right}"),
    "replace": ((str, Mapping, Replacement), "a replacement such as pseudonym"),
    "publish": ((bool,), "true or false"),
}


@dataclass(frozen=True)
class Schema:
    """The declared properties of a table, as `shoal.read` takes them.

    `Schema.read` reads a YAML file, and `Schema.of` takes the same as plain data.

    Parameters:
        columns: The role and further options of each column.
        file: The stated format of the data file: delimiter, quote, encoding, missing, decimal,
            dates, header, trim, sheet, query.
        source: The name of the schema in messages.
        person: The columns that identify the person of a row, if stated.
        household: The columns that identify the household of a row, if stated.

    >>> schema = Schema.of({"person": "id", "columns": {"id": "identifier", "age": "quasi"}})
    >>> schema.person, schema
    (('id',), Schema(columns=['id', 'age']))
    """

    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    file: dict[str, Any] = field(default_factory=dict)
    source: str = "schema"
    person: tuple[str, ...] = ()
    household: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Schema(columns={list(self.columns)})"

    @classmethod
    def read(cls, path: str | Path) -> Schema:
        """Read a YAML schema; paths of hierarchy files are relative to it.

        Parameters:
            path: The file.

        Returns:
            The schema.

        Raises:
            InputError: The file cannot be read, or is not a valid schema.
        """
        path = Path(path)
        return cls.of(read_yaml(path), path)

    @classmethod
    def of(cls, data: Any, path: Path | None = None, source: str = "") -> Schema:
        """Return a schema given as plain data.

        Parameters:
            data: The content of a schema file.
            path: The file, to which paths of hierarchy files are relative.
            source: The name of the schema in messages, by default the file.

        Returns:
            The schema.

        Raises:
            InputError: The data is not a valid schema.
        """
        source = source or (str(path) if path else "schema")
        where = f"{source}: "
        if not isinstance(data, Mapping) or not isinstance(data.get("columns"), Mapping):
            raise InputError(f"{where}needs a mapping  columns: {{name: {{role: …}}}}")
        for key in data:
            if key not in _TOP:
                raise InputError(f"{where}unknown entry {key!r}; there are {', '.join(_TOP)}")
        columns = {
            str(name): _with_hierarchy(where, str(name), check_spec(where, str(name), spec), path)
            for name, spec in data["columns"].items()
        }
        file = data.get("file") or {}
        if not isinstance(file, Mapping):
            raise InputError(f"{where}file needs a mapping such as  delimiter: ';'")
        unknown = [key for key in file if key not in _FILE]
        if unknown:
            raise InputError(
                f"{where}unknown file option {unknown[0]!r}; there are {', '.join(_FILE)}"
            )
        try:
            Format(**file)
        except InputError as error:
            raise InputError(f"{where}file: {error}") from None
        units = [_unit(where, what, data.get(what)) for what in _UNITS]
        return cls(columns, dict(file), source, *units)


def _unit(where: str, what: str, stated: Any) -> tuple[str, ...]:
    """Return the columns that a schema names as person or household."""
    names = [stated] if isinstance(stated, str) else [] if stated is None else stated
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{where}{what} must be a column name, or a list of them")
    return as_names(names)


def check_spec(where: str, name: str, entry: Any) -> dict[str, Any]:
    """Return the options of a column; unknown options and wrong types are errors."""
    spec = {"role": entry} if isinstance(entry, str) else entry
    if not isinstance(spec, Mapping):
        raise InputError(f"{where}column {name!r} needs a mapping such as  role: quasi")
    for option, value in spec.items():
        if option not in _SPEC:
            raise InputError(
                f"{where}column {name!r}: unknown option {option!r}; there are {', '.join(_SPEC)}"
            )
        if value is not None and not _is_allowed(option, value):
            raise InputError(f"{where}column {name!r}: {option} must be {_SPEC[option][1]}")
        if option == "bounds" and _is_out_of_range(value):
            raise InputError(
                f"{where}column {name!r}: {option} contains a number that is too large"
            )
    stated = {option: value for option, value in spec.items() if value is not None}
    try:
        stated = checked_words(name, stated)
        if "type" in stated:
            stated["type"] = str(DataType.parse(stated["type"], name))
        if "replace" in stated:
            stated["replace"] = as_replacement(stated["replace"], name)
    except InputError as error:
        raise InputError(f"{where}{error}") from None
    return stated


def _is_allowed(option: str, value: Any) -> bool:
    types: Any = _SPEC[option][0]
    if option == "publish":
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, types):
        return False
    if option == "weight":
        return bool(0 <= value <= MAX_WEIGHT)
    return option != "bounds" or len(value) == 2


def _is_out_of_range(limits: Any) -> bool:
    """Return whether a whole number is larger than any float."""
    return any(isinstance(n, int) and abs(n) > sys.float_info.max for n in limits or ())


def _with_hierarchy(
    where: str, name: str, spec: dict[str, Any], schema: Path | None
) -> dict[str, Any]:
    """Read the file that a column's hierarchy names: `town.csv`, or `{file: town.csv}`.

    With `origin: data` the owner has not yet stated that the file may be public.
    """
    stated = spec.get("hierarchy")
    entry = {"file": stated} if isinstance(stated, (str, Path)) else stated
    if not isinstance(entry, Mapping) or "file" not in entry:
        return spec
    origin: Any = entry.get("origin", "file")
    fit = isinstance(entry["file"], (str, Path)) and origin in ("file", "data")
    if not fit or not set(entry) <= {"file", "origin"}:
        raise InputError(
            f"{where}column {name!r}: hierarchy must be a file, {{file: name.csv, origin: data}} "
            "for one made from the data, or a recipe"
        )
    folder = schema.parent if schema else Path()
    spec["hierarchy"] = replace(Hierarchy.read(folder / entry["file"]), origin=origin)
    return spec
