"""The options that commands share, and what is read out of them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from shoal.cli.examples import EXAMPLES
from shoal.errors import InputError, OutputError, unknown

if TYPE_CHECKING:
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
Person = Annotated[
    str,
    typer.Option(
        metavar="COLUMNS",
        help="What identifies the person behind a row: guarantees count people, not rows.",
    ),
]
Household = Annotated[
    str, typer.Option(metavar="COLUMNS", help="What identifies a household; k counts them too.")
]
RowsArePeople = Annotated[
    bool,
    typer.Option(
        "--rows-are-people",
        help="State that every row is a different person, although identifiers repeat.",
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE", help="A YAML schema: roles, kinds, hierarchies."),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Field delimiter of a CSV file.")
]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="Text encoding of a CSV file.")]
Decimal = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Decimal sign of a CSV file's numbers: , or .")
]
Dates = Annotated[
    str | None, typer.Option(metavar="ORDER", help="How dates are written, such as DD.MM.YYYY.")
]
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
    """Help as it reads best: paragraphs flow, and a flag, which takes no value, has no type.

    An option that is not repeatable is not repeated.
    """

    epilog: str | None

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

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments as the manual writes them."""
        pieces = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [piece[1:-1] if piece.startswith("{") else piece for piece in pieces]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, with examples at its end."""
        from rich.markup import escape

        shown = EXAMPLES.get(" ".join(["shoal", *path_of(ctx)]))
        if shown:
            self.epilog = "\n\n".join(["Examples:", *(f"$ {escape(line)}" for line in shown)])
        super().format_help(ctx, formatter)  # type: ignore[misc]

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Refuse an option that is given twice, where only the last would count."""
        seen = set()
        *_, given = self.make_parser(ctx).parse_args(args=list(args))  # type: ignore[attr-defined]
        for option in given:
            if option in seen and not (option.multiple or option.is_flag):
                listed = "," in (option.metavar or "") or option.metavar in ("COLUMNS", "NAMES")
                once = "name all in one, apart by commas" if listed else "give it once"
                raise InputError(f"{option.opts[0]} is given twice; {once}")
            seen.add(option)
        return super().parse_args(ctx, args)  # type: ignore[misc]


class Command(_Plain, TyperCommand):
    """A command with plain help."""


class Group(_Plain, TyperGroup):
    """A group of commands with plain help."""


def path_of(context: Any) -> list[str]:
    """Return the names of a command and of the groups it is in."""
    if context.parent is None:
        return []
    return [*path_of(context.parent), context.info_name or ""]


def names(text: str) -> list[str]:
    """Split `a,b,c`."""
    return [name.strip() for name in text.split(",") if name.strip()]


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


_EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")  # 1e-6 is text to YAML


def method_options(options: list[str] | None) -> dict[str, Any]:
    """Read `name=value` pairs; values are read as YAML, so numbers are numbers."""
    import yaml

    found = {}
    for text in options or []:
        name, mark, value = text.partition("=")
        if not mark:
            raise InputError(f"option {text!r} must be written name=value")
        try:
            read = float(value) if _EXPONENT.fullmatch(value.strip()) else yaml.safe_load(value)
            found[name.strip().replace("-", "_")] = read
        except yaml.YAMLError:
            raise InputError(f"option {name.strip()!r}: its value cannot be read") from None
    return found


def check_method(name: str) -> None:
    """Refuse, before any work, a method that is not there."""
    from shoal.anonymize import METHODS

    if name not in METHODS:
        raise unknown("no method", name, METHODS)


def check_outputs(
    file: Path, table: Path | None, picture: Path | None, report: Path | None = None, *, force: bool
) -> None:
    """Refuse, before any work, an output that could not be written, or would replace the input."""
    from shoal.core.files import check_writable, same_file
    from shoal.core.writing import check_ending

    for path in (table, picture, report):
        if path is not None and same_file(path, file):
            raise OutputError(f"{path}: is the table itself; choose another name for the output")
    if table is not None:
        check_ending(table)
        check_writable(table, force=force)
    if picture is not None:
        from shoal.report.charts import check_picture

        check_picture(picture, force=force)
    if report is not None:
        from shoal.report.document import check_report

        check_report(report, force=force)
