"""`shoal datasets` lists example tables, and `shoal methods` lists methods and privacy models."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from shoal.cli.shared.console import bars, emit, grid, out
from shoal.cli.shared.options import Command, Force, Group, Json, seed_option
from shoal.errors import InputError
from shoal.support.wording import counted

_MAX_ROWS = 100_000_000
app = typer.Typer(cls=Group, help="List example tables, or generate one.")


@app.callback(invoke_without_command=True)
def catalogue(context: typer.Context, json: Json = False) -> None:
    """List example tables, or generate one."""
    if context.invoked_subcommand is not None:
        return
    from shoal.datasets import catalogue as listed
    from shoal.datasets.public import SOURCES

    data: dict[str, dict[str, Any]] = {}
    for name, about in listed().items():
        file = SOURCES[name].file if name in SOURCES else None
        data[name] = {"about": about, "file": file, "state": _state(file)}
    emit(json, data, lambda: _show_tables(data))


def _state(file: str | None) -> str:
    """Return whether the file of a public table exists; tables of Shoal itself have no file."""
    folder = os.environ.get("SHOAL_DATA")
    if file is None:
        return "built in"
    if not folder:
        return "SHOAL_DATA not set"
    return "present" if (Path(folder) / file).is_file() else "absent"


def _show_tables(data: dict[str, dict[str, Any]]) -> None:
    rows = grid("name", "description", "state")
    for name, entry in data.items():
        rows.add_row(name, entry["about"], entry["state"])
    rows.add_row("patients", "a generated hospital table with any number of rows", "generated")
    out.print(rows)
    out.print("\ngenerate patients with  shoal datasets patients 10000 -o patients.csv")
    out.print("public tables are read from these files in the folder that SHOAL_DATA names:")
    files = grid("", "")
    for name, entry in data.items():
        if entry["file"]:
            files.add_row(f"  {name}", entry["file"])
    out.print(files)


@app.command(cls=Command)
def patients(
    rows: Annotated[
        int,
        typer.Argument(metavar="ROWS", help="Number of rows, up to 100 million."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write: .csv, .tsv or .parquet."
        ),
    ],
    seed: Annotated[int, seed_option("The same seed gives the same table.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generate a hospital table, and write its schema to the same folder."""
    from shoal.datasets.hospital import write_patients
    from shoal.files.writing import check_ending

    if not 1 <= rows <= _MAX_ROWS:
        raise InputError(f"rows must be from 1 to {_MAX_ROWS:,}, not {rows:,}")
    check_ending(output)
    with bars():
        schema = write_patients(output, rows, seed, force=force)
    data = {"output": str(output), "schema": str(schema), "rows": rows, "seed": seed}
    emit(
        json,
        data,
        lambda: out.print(f"{counted(rows, 'row')} written to {output}, roles to {schema}"),
    )


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
    from shoal.methods.algorithm import about
    from shoal.methods.registry import METHODS
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
    emit(json, data, lambda: _show_methods(data))


def described_options(method: type[Any]) -> dict[str, dict[str, Any]]:
    """Return type, default, choices and meaning of each option of a method, from its fields."""
    from shoal.methods.algorithm import options_of

    return {
        option.name: {
            "type": "choice" if option.choices else option.type,
            "default": option.default,
            "choices": list(option.choices),
            "meaning": option.meaning,
        }
        for option in options_of(method)
    }


def _show_methods(data: dict[str, Any]) -> None:
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
