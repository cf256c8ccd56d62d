"""Documents that people may edit, such as project files, checked against a shape before use.

A shape is plain data. Types stand for values, a list for a list of equal shapes, a mapping for the
entries of a mapping, and a tuple for one of several shapes:

    {"name": str, "rows": int, "key?": (str, None), "tables": {str: {"file": str}}, "notes?": [str]}

An entry with ? may be missing, `str` as a name stands for all other names, and `object` for
anything. Numbers are finite; true and false are not numbers. Messages name the part, never its
content.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import InputError, unknown
from shoal.support.files import read_text

Shape = Any
_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    None: "null",
}


def check_shape(data: Any, shape: Shape, source: str) -> None:
    """Reject plain data that does not have a shape.

    Parameters:
        source: The name of the document in messages.

    >>> shape = {"person": str, "tables": {str: {"key?": (str, None)}}}
    >>> check_shape({"person": "a", "tables": {"a": {"key": "id"}, "b": {}}}, shape, "p.yaml")
    >>> for tables in (None, {1: {}}, {"a": {"key": []}}, {"a": {"kei": "id"}}):
    ...     try:
    ...         check_shape({"person": "a", "tables": tables}, shape, "p.yaml")
    ...     except InputError as error:
    ...         print(error)
    p.yaml: tables must be a mapping
    p.yaml: tables: the name of an entry must be text; put it in quotes
    p.yaml: tables.a.key must be text or null
    p.yaml: tables.a: no entry 'kei' (did you mean 'key'?); there are key
    """
    _check(data, shape, source, "")


def read_json(path: Path, shape: Shape) -> Any:
    """Return the content of a JSON file that has a shape.

    Raises:
        InputError: The file cannot be read, is not valid JSON, or has another shape.
    """
    text = read_text(path)
    try:
        data = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno} is not valid JSON; fix that line") from None
    except (ValueError, RecursionError):
        raise InputError(
            f"{path}: is not valid JSON: a name is given twice, a number is out of range, or lists "
            "are nested too deep"
        ) from None
    check_shape(data, shape, str(path))
    return data


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(entries := dict(pairs)) < len(pairs):
        raise ValueError
    return entries


def _refuse_constant(_: str) -> None:
    raise ValueError  # NaN and Infinity are not valid JSON


def _check(data: Any, shape: Shape, source: str, path: str) -> None:
    """Raise an error for the first part that differs; `path` leads to this part."""
    if isinstance(shape, tuple):
        nested = [each for each in shape if isinstance(each, (dict, list))]
        if any(isinstance(data, type(each)) for each in nested):
            shape = next(each for each in nested if isinstance(data, type(each)))
        elif any(_is(data, each) for each in shape):
            return
    if isinstance(shape, dict) and isinstance(data, Mapping):
        _check_entries(data, shape, source, path)
    elif isinstance(shape, list) and isinstance(data, (list, tuple)):
        for number, part in enumerate(data):
            _check(part, shape[0], source, f"{path}[{number}]")
    elif not _is(data, shape):
        text = shape is str or (isinstance(shape, tuple) and str in shape)
        hint = "; put it in quotes" if text and isinstance(data, (int, float)) else ""
        raise InputError(f"{source}: {path + ' ' if path else ''}must be {_described(shape)}{hint}")


def _check_entries(data: Mapping[Any, Any], shape: Shape, source: str, path: str) -> None:
    known = {name.removesuffix("?"): part for name, part in shape.items() if name is not str}
    where = f"{source}: {path}: " if path else f"{source}: "
    for name, part in data.items():
        if not isinstance(name, str):
            raise InputError(f"{where}the name of an entry must be text; put it in quotes")
        if name not in known and str not in shape:
            raise unknown(f"{where}no entry", name, known)
        inside = f"{path}.{name}" if path else name
        _check(part, known.get(name, shape.get(str)), source, inside)
    for name in shape:
        if name is not str and not name.endswith("?") and name not in data:
            raise InputError(f"{source}: {f'{path}.{name}' if path else name} is missing")


def _is(data: Any, shape: Shape) -> bool:
    """Return whether a value has a shape that is a type."""
    if shape is object:
        return True
    if shape is None:
        return data is None
    if isinstance(data, bool):
        return shape is bool
    if shape is float:
        return isinstance(data, (int, float)) and _is_finite(data)
    return isinstance(shape, type) and isinstance(data, shape)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number that is no float
        return False


def _described(shape: Shape) -> str:
    """Return a shape in words."""
    if isinstance(shape, tuple):
        return " or ".join(dict.fromkeys(map(_described, shape)))
    if isinstance(shape, list):
        return f"a list of {_plural(shape[0])}"
    if isinstance(shape, dict):
        names = [name.removesuffix("?") for name in shape if name is not str]
        return f"a mapping with {', '.join(names)}" if names else "a mapping"
    return _WORDS.get(shape, "a value")


def _plural(shape: Shape) -> str:
    plurals = {str: "texts", int: "whole numbers", float: "numbers"}
    return plurals.get(shape, "values") if isinstance(shape, type) else "mappings"
