"""`shoal methods`: what there is to choose from."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rich.text import Text

from shoal.cli.console import Json, emit, grid, out


def methods(json: Json = False) -> None:
    """List the methods with their options, and the privacy models."""
    from shoal.anonymize import METHODS, options_of
    from shoal.privacy import MODELS

    data: dict[str, Any] = {
        "methods": {
            name: {
                "about": (method.__doc__ or "").strip().splitlines()[0],
                "options": {
                    option.name: {
                        "type": option.type,
                        "default": option.default,
                        "choices": list(option.choices),
                    }
                    for option in options_of(method)
                },
            }
            for name, method in METHODS.items()
        },
        "models": {
            name: {
                "about": (model.__doc__ or "").strip().splitlines()[0],
                "options": [field.name for field in fields(model)],  # type: ignore[arg-type]
                "monotone": model.monotone,
            }
            for name, model in MODELS.items()
        },
    }
    emit(json, data, lambda: _show(data))


def _show(data: dict[str, Any]) -> None:
    for name, method in data["methods"].items():
        out.print(Text.assemble((name, "bold"), f"  {method['about']}"))
        options = grid("  option", "default", "choices")
        for option, told in method["options"].items():
            choices = ", ".join(map(str, told["choices"])) or told["type"]
            options.add_row(f"  {option}", str(told["default"]), choices)
        out.print(options)
        out.print()
    models = grid("model", "options", "about")
    for name, model in data["models"].items():
        models.add_row(name, ", ".join(model["options"]), model["about"])
    out.print(models)
