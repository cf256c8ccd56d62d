"""`shoal methods`: list the methods and privacy models."""

from __future__ import annotations

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
    "collections.abc.Mapping[str, int]": "{column: level}",
    "collections.abc.Sequence[float]": "[number, …]",
}


def methods(json: Json = False) -> None:
    """List the methods with their options, and the privacy models."""
    from shoal.anonymize import METHODS
    from shoal.anonymize.algorithm import about
    from shoal.privacy import MODELS

    data: dict[str, Any] = {
        "methods": {
            name: {"about": about(method), "options": described_options(method)}
            for name, method in METHODS.items()
        },
        "models": {
            name: {
                "about": about(model),
                "options": [field.name for field in fields(model)],  # type: ignore[arg-type]
                "monotone": model.monotone,
            }
            for name, model in MODELS.items()
        },
    }
    emit(json, data, lambda: _show(data))


def described_options(method: type[Any]) -> dict[str, dict[str, Any]]:
    """Return type, default, choices and meaning of each option of a method, from its fields."""
    from shoal.anonymize import options_of

    return {
        option.name: {
            "type": "choice" if option.choices else option.type,
            "default": option.default,
            "choices": list(option.choices),
            "meaning": option.meaning,
        }
        for option in options_of(method)
    }


def _show(data: dict[str, Any]) -> None:
    for title, method in data["methods"].items():
        out.print(Text.assemble((title, "bold"), f"  {method['about']}"))
        for name, option in method["options"].items():
            values = f"={default_of(option)}  ({other_values(option)})"
            out.print(Text.assemble("  -O ", (name, "bold"), values))
            out.print(Padding(Text(option["meaning"]), (0, 0, 0, 6)))
        out.print()
    models = grid("model", "options", "about")
    for name, model in data["models"].items():
        models.add_row(name, ", ".join(model["options"]), model["about"])
    out.print(models)


def default_of(option: dict[str, Any]) -> str:
    """Return the default as a user would type it."""
    default = option["default"]
    if default is None:
        return "null"
    return str(default).lower() if isinstance(default, bool) else str(default)


def other_values(option: dict[str, Any]) -> str:
    """Return what else an option may be, in words."""
    if option["choices"]:
        others = [str(choice) for choice in option["choices"] if choice != option["default"]]
        return f"or {', '.join(others)}"
    if option["type"] == "bool":
        return f"or {'false' if option['default'] else 'true'}"
    if "Callable" in option["type"]:
        return "in Python only"
    words = [_WORDS.get(part, part) for part in option["type"].split(" | ")]
    return " or ".join(words)
