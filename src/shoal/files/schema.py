"""The schema file: roles, types, domains, weights and hierarchies, in YAML.

`Schema.read`, `Schema.of`   entries, options and types of values checked; errors name the column
`check_spec`                 the options of one column
`read_yaml`, `load_yaml`     YAML read strictly: names are text, and listed values are the text in
the file. Plain YAML reads a column `no` as false and a value 007 as
seven, allows duplicate names, creates objects from tags, and lets a
few lines of aliases expand to more values than fit in memory
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from shoal.errors import InputError
from shoal.files.formats import Format
from shoal.identifiers.replacement import Replacement
from shoal.identifiers.replacements import as_replacement
from shoal.support.files import read_text
from shoal.table.column import MAX_WEIGHT
from shoal.table.hierarchy import Hierarchy
from shoal.table.roles import as_names, checked_words
from shoal.table.types import TYPES, DataType

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
_VERBATIM = ("order", "values", "missing", "tree")
_MAX_NODES = 2_000_000  # names, values and lists of a text, with aliases expanded
_MAX_DEPTH = 100
_MAX_BITS = 1023  # of a whole number, so that it fits a float
_TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")


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
        if option == "bounds" and any(
            isinstance(limit, int) and abs(limit) > sys.float_info.max for limit in value or ()
        ):
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


class Refused(yaml.MarkedYAMLError):
    """Valid YAML that Shoal does not accept; `problem` gives the reason, without quoting it."""


def load_yaml(text: str) -> Any:
    """Return the data of a YAML text.

    Names are text, and so is everything under order, values, missing and tree. Tags other than
    `!!str` are an error.

    Raises:
        yaml.YAMLError: The text is not valid YAML, or not accepted by Shoal; `problem_mark` has the
            line if it is known.

    >>> load_yaml("columns: {no: {order: [007, yes]}}")
    {'columns': {'no': {'order': ['007', 'yes']}}}
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except (RecursionError, ValueError):  # too deep, or a character that YAML does not allow
        raise yaml.YAMLError("not readable") from None


def read_yaml(path: Path) -> Any:
    """Return the data of a YAML file.

    Raises:
        InputError: The file cannot be read, or is not valid YAML; the message names the line.
    """
    try:
        return load_yaml(read_text(path))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}" if mark else "a line"
        why = f"; {error.problem}" if isinstance(error, Refused) else ""
        raise InputError(f"{path}: {where} is not valid YAML{why}; fix that line") from None
    except yaml.YAMLError:
        raise InputError(f"{path}: is not valid YAML; see the example in the manual") from None


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        tag = getattr(event, "tag", None)
        if not isinstance(event, yaml.AliasEvent) and tag not in _TEXT_TAGS:
            raise Refused(
                problem="tags such as !!int are not accepted", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)

    def get_single_node(self) -> Any:
        node = super().get_single_node()
        if node is not None:
            _count_nodes(node, {}, 0)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, int) and value.bit_length() > _MAX_BITS:
                raise ValueError
            return value
        except (ValueError, ArithmeticError, LookupError, TypeError):
            raise Refused(
                problem="a date or number is out of range", problem_mark=node.start_mark
            ) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        stated = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(stated)) < len(stated):
            raise Refused(problem="a name is given twice", problem_mark=node.start_mark)
        self.flatten_mapping(node)
        found: dict[Hashable, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise Refused(problem="a name must be text", problem_mark=key.start_mark)
            verbatim = key.value in _VERBATIM
            found[key.value] = _texts(value) if verbatim else self.construct_object(value, deep)
        return found


def _count_nodes(node: yaml.Node, counts: dict[int, int], depth: int) -> int:
    """Return the number of nodes with all aliases expanded; too many are an error.

    Parameters:
        counts: The counts by id of a node; 0 while a node is being counted, to detect an alias to
            an enclosing node.
    """
    if isinstance(node, yaml.ScalarNode):
        return 1
    known = counts.get(id(node))
    if known:
        return known
    if known == 0 or depth > _MAX_DEPTH:
        raise Refused(problem="lists are nested too deep", problem_mark=node.start_mark)
    counts[id(node)] = 0
    mapping = isinstance(node, yaml.MappingNode)
    parts = [part for pair in node.value for part in pair] if mapping else node.value
    total = 1
    for part in parts:
        total += _count_nodes(part, counts, depth + 1)
        if total > _MAX_NODES:
            raise Refused(
                problem=f"it contains more than {_MAX_NODES:,} values",
                problem_mark=node.start_mark,
            )
    counts[id(node)] = total
    return total


def _texts(node: yaml.Node) -> Any:
    """Return a node with every scalar as written; an empty value or ~ is None."""
    if isinstance(node, yaml.MappingNode):
        return {_name(key): _texts(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_texts(value) for value in node.value]
    plain = isinstance(node, yaml.ScalarNode) and not node.style
    return None if plain and node.value in ("", "~") else node.value


def _name(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise Refused(problem="a name must be text", problem_mark=node.start_mark)
    return str(node.value)
