"""The options that commands share, and what is read out of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from shoal.cli.console import notes
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.table import Table
    from shoal.privacy.model import Model

File = Annotated[Path, typer.Argument(metavar="FILE", help="A CSV, Parquet or JSON lines file.")]
K = Annotated[int | None, typer.Option("-k", metavar="N", help="k of k-anonymity.")]
Quasi = Annotated[
    str, typer.Option(metavar="COLUMNS", help="What others know of a person: age,sex,town.")
]
Sensitive = Annotated[
    str, typer.Option(metavar="COLUMNS", help="What nobody should learn of a person: a,b.")
]
Identifier = Annotated[
    str, typer.Option(metavar="COLUMNS", help="What names a person, and never leaves: a,b.")
]
Insensitive = Annotated[
    str, typer.Option(metavar="COLUMNS", help="What passes through unchanged: a,b.")
]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE", help="A YAML schema: roles, kinds, hierarchies."),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Field delimiter of a CSV file.")
]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="Text encoding of a CSV file.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(metavar="TEXT", help="Text that means a missing value, such as NA. Repeatable."),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=FILE",
        help="How to coarsen a column: a CSV hierarchy, or a recipe such as "
        "'age=intervals: [5, 10]'. Repeatable.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="A column of both files that tells the rows apart, to line them up."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]


class _Plain:
    """Help as it reads best: paragraphs flow, and a flag, which takes no value, has no type."""

    def __init__(self, *arguments: Any, help: str | None = None, **options: Any) -> None:
        paragraphs = inspect.cleandoc(help or "").split("\n\n")
        flowing = "\n\n".join(" ".join(text.split()) for text in paragraphs)
        super().__init__(*arguments, help=flowing, **options)  # type: ignore[call-arg]

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, flags bare."""
        found = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
        return found


class Command(_Plain, TyperCommand):
    """A command with plain help."""


class Group(_Plain, TyperGroup):
    """A group of commands with plain help."""


def names(text: str) -> list[str]:
    """Split `a,b,c`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def roles_of(quasi: str, sensitive: str, identifier: str, insensitive: str) -> dict[str, str]:
    """Return `{column: role}` from the options, refusing a column with two roles."""
    told = {
        "quasi": quasi,
        "sensitive": sensitive,
        "identifier": identifier,
        "insensitive": insensitive,
    }
    roles: dict[str, str] = {}
    for role, listed in told.items():
        for name in names(listed):
            if roles.get(name, role) != role:
                raise InputError(
                    f"column {name!r} is named as {roles[name]} and as {role}; choose one"
                )
            roles[name] = role
    return roles


def check_roles(columns: Mapping[str, Any], roles: Mapping[str, Any]) -> None:
    """Refuse to go on where neither the schema's columns nor the options give a role."""
    if not columns and not roles:
        raise InputError(
            "no column has a role; name a schema with --schema, or with --quasi the columns "
            "that others know (`shoal inspect FILE` suggests some)"
        )


def wanted_model(k: int | None, models: list[str] | None) -> Model:
    """Join what -k and --model ask for."""
    from shoal.privacy import KAnonymity, parse

    parts: list[Model] = [] if k is None else [KAnonymity(k)]
    parts += [parse(text) for text in models or []]
    if not parts:
        raise InputError("no guarantee asked for; give -k 5, or --model 'l-diversity(3, column)'")
    joined = parts[0]
    for part in parts[1:]:
        joined = joined & part
    return joined


def method_options(options: list[str] | None) -> dict[str, Any]:
    """Read `name=value` pairs; values are read as YAML, so numbers are numbers."""
    import yaml

    found = {}
    for text in options or []:
        name, mark, value = text.partition("=")
        if not mark:
            raise InputError(f"option {text!r} must be written name=value")
        try:
            found[name.strip().replace("-", "_")] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise InputError(f"option {name.strip()!r}: its value cannot be read") from None
    return found


def hierarchies_of(stated: list[str] | None) -> dict[str, Any]:
    """Read `column=file` and `column=recipe` pairs; what is neither is taken for a file."""
    found: dict[str, Any] = {}
    for text in stated or []:
        name, mark, told = (part.strip() for part in text.partition("="))
        if not (name and mark and told):
            raise InputError(
                f"hierarchy {text!r} must be written column=file or column=recipe, "
                "such as 'age=intervals: [5, 10]'"
            )
        if name in found:
            raise InputError(f"column {name!r} is given two hierarchies; choose one")
        recipe = None if _is_file(told) else recipe_of(told)
        found[name] = Path(told) if recipe is None else recipe
    return found


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long, or a character that no name can have
        return False


def recipe_of(text: str) -> dict[str, Any] | None:
    """Return a recipe such as `intervals: [5, 10]` or `ordering`, None where it reads otherwise."""
    import yaml

    from shoal.core.recipes import RECIPES
    from shoal.reading.yaml_files import load_yaml

    try:
        found = load_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if isinstance(found, str) and found in RECIPES:
        return {found: None}
    return found if isinstance(found, dict) else None


def load(
    file: Path,
    schema: Path | None,
    roles: Mapping[str, Any],
    *,
    hierarchies: Mapping[str, Any] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: list[str] | None = None,
) -> Table:
    """Read a file with its roles; what is left out is said as a note."""
    from shoal.reading import Schema, read

    known = Schema() if schema is None else Schema.read(schema)
    check_roles(known.columns, roles)
    with notes():
        return read(
            file,
            known,
            roles=roles,
            hierarchies=hierarchies,
            delimiter=delimiter,
            encoding=encoding,
            missing=missing,
        )
