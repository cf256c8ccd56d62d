"""`shoal methods`: list the methods and privacy models."""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import fields
from typing import Any

from rich.padding import Padding
from rich.text import Text

from shoal.cli.shared.console import emit, grid, out
from shoal.cli.shared.options import Json

_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "None": "null",
    "collections.abc.Mapping[str, float]": "{column: number}",
    "collections.abc.Sequence[float]": "[number, …]",
}


def methods(json: Json = False) -> None:
    """List the methods with their options, and the privacy models."""
    from shoal.anonymize import METHODS
    from shoal.privacy import MODELS

    data: dict[str, Any] = {
        "methods": {
            name: {"about": _about(method), "options": _options(method)}
            for name, method in METHODS.items()
        },
        "models": {
            name: {
                "about": _about(model),
                "options": [field.name for field in fields(model)],  # type: ignore[arg-type]
                "monotone": model.monotone,
            }
            for name, model in MODELS.items()
        },
    }
    emit(json, data, lambda: _show(data))


def _about(thing: type[Any]) -> str:
    return inspect.cleandoc(thing.__doc__ or "").splitlines()[0]


def _options(method: type[Any]) -> dict[str, dict[str, Any]]:
    from shoal.anonymize import options_of

    meanings = _meanings(method)
    return {
        option.name: {
            "type": "choice" if option.choices else option.type,
            "default": option.default,
            "choices": list(option.choices),
            "meaning": meanings.get(option.name, ""),
        }
        for option in options_of(method)
    }


def _meanings(thing: type[Any]) -> dict[str, str]:
    """Return the meaning of each option from a docstring: `name: meaning`, more lines indented.

    Options are listed in a `Parameters:` block or without one.
    """
    text = inspect.cleandoc(thing.__doc__ or "")
    block = re.search(r"^Parameters:\n((?: {4}.+\n?)+)", text, re.MULTILINE)
    if block:
        text = textwrap.dedent(block[1])
    found = re.findall(r"^(\w+): (.+(?:\n +.+)*)", text, re.MULTILINE)
    return {name: re.sub(r"\s+", " ", meaning) for name, meaning in found}


def _show(data: dict[str, Any]) -> None:
    for title, method in data["methods"].items():
        out.print(Text.assemble((title, "bold"), f"  {method['about']}"))
        for name, option in method["options"].items():
            values = f"={_default(option)}{_others(option)}"
            out.print(Text.assemble("  -O ", (name, "bold"), values))
            out.print(Padding(Text(option["meaning"]), (0, 0, 0, 6)))
        out.print()
    models = grid("model", "options", "about")
    for name, model in data["models"].items():
        models.add_row(name, ", ".join(model["options"]), model["about"])
    out.print(models)


def _default(option: dict[str, Any]) -> str:
    """Return the default as a user would type it."""
    default = option["default"]
    if default is None:
        return "null"
    return str(default).lower() if isinstance(default, bool) else str(default)


def _others(option: dict[str, Any]) -> str:
    if option["choices"]:
        others = [str(choice) for choice in option["choices"] if choice != option["default"]]
        return f"  (or {', '.join(others)})"
    if option["type"] == "bool":
        return f"  (or {'false' if option['default'] else 'true'})"
    if "Callable" in option["type"]:
        return "  (in Python only)"
    words = [_WORDS.get(part, part) for part in option["type"].split(" | ")]
    return f"  ({' or '.join(words)})"
