"""YAML as its author means it: a name is a name, a listed value the text that stands there.

Plain YAML reads a column `no` as false and a value 007 as seven, and lets a name occur twice.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml

_VERBATIM = ("order", "values", "missing", "tree")


def load_yaml(text: str) -> Any:
    """Return the data of a YAML text.

    Names are text, and so is all under order, values, missing and tree.

    >>> load_yaml("columns: {no: {order: [007, yes]}}")
    {'columns': {'no': {'order': ['007', 'yes']}}}
    """
    return yaml.load(text, Loader=_Loader)


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        stated = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(stated)) < len(stated):
            raise yaml.constructor.ConstructorError(
                None, None, "a name is given twice", node.start_mark
            )
        self.flatten_mapping(node)
        found: dict[Hashable, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a name must be text", key.start_mark
                )
            verbatim = key.value in _VERBATIM
            found[key.value] = _texts(value) if verbatim else self.construct_object(value, deep)
        return found


def _texts(node: yaml.Node, above: int = 0) -> Any:
    """Return a node with every scalar as it is written; nothing, or ~, is None."""
    if above > 100:
        raise RecursionError
    if isinstance(node, yaml.MappingNode):
        return {_name(key): _texts(value, above + 1) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_texts(value, above + 1) for value in node.value]
    plain = isinstance(node, yaml.ScalarNode) and not node.style
    return None if plain and node.value in ("", "~") else node.value


def _name(node: yaml.Node) -> str:
    return str(node.value)
