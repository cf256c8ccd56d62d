"""Read YAML strictly: names are text, and listed values are the text in the file.

Plain YAML reads a column `no` as false and a value 007 as seven, allows duplicate names, creates
objects from tags, and lets a few lines of aliases expand to more values than fit in memory.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from shoal.errors import InputError
from shoal.support.files import read_text

_VERBATIM = ("order", "values", "missing", "tree")
_MAX_NODES = 2_000_000  # names, values and lists of a text, with aliases expanded
_MAX_DEPTH = 100
_MAX_BITS = 1023  # of a whole number, so that it fits a float
_TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")


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
            found = super().construct_object(node, deep)
            if isinstance(found, int) and found.bit_length() > _MAX_BITS:
                raise ValueError
            return found
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

    counts: the counts by id of a node; 0 while a node is being counted, to detect an alias to an
        enclosing node.
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
