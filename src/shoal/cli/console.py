"""What every command shares: printing, progress bars, notes, reading its input."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.progress import Progress
    from shoal.core.table import Table

# names of files and columns are shown as they are: no markup in them, no emoji codes
out = Console(highlight=False, soft_wrap=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]
File = Annotated[Path, typer.Argument(help="A CSV, Parquet or JSON lines file.")]
Quasi = Annotated[str, typer.Option(help="Quasi-identifying columns: a,b,c.")]
Sensitive = Annotated[str, typer.Option(help="Sensitive columns: a,b.")]
Identifier = Annotated[str, typer.Option(help="Identifying columns, which never leave: a,b.")]
Insensitive = Annotated[str, typer.Option(help="Columns to pass through unchanged: a,b.")]
SchemaFile = Annotated[
    Path | None, typer.Option("--schema", help="A YAML schema with roles, kinds, hierarchies.")
]
Delimiter = Annotated[str | None, typer.Option(help="Field delimiter of a CSV file.")]
Encoding = Annotated[str | None, typer.Option(help="Text encoding of a CSV file.")]
Missing = Annotated[
    list[str] | None, typer.Option(help="Text that means a missing value, such as NA. Repeatable.")
]


def emit(as_json: bool, data: Mapping[str, Any], show: Callable[[], None]) -> None:
    """Print data as JSON, or let `show` draw it."""
    if as_json:
        sys.stdout.write(json.dumps(plain(data), indent=2, ensure_ascii=False) + "\n")
    else:
        show()


def one_line(message: object) -> str:
    """Return a message without line breaks and control signs that a name in it may hold."""
    return "".join(sign if sign.isprintable() else " " for sign in str(message))


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; infinity and NaN become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def grid(*headings: str, title: str | None = None) -> Grid:
    """Return an empty table in the house's look."""
    table = Grid(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def verdict(model: str, kept: bool, told: str) -> Text:
    """Return a model with what became of it, in the colour of the outcome."""
    return Text.assemble((model, "bold"), "  ", (told, "green" if kept else "red"))


def note(message: str) -> None:
    """Tell the user something in passing."""
    err.print(f"note: {one_line(message)}")


@contextmanager
def notes(*, unless: type[Warning] | None = None) -> Iterator[None]:
    """Print Python warnings raised inside as notes, each once, `unless` of a kind."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if unless is not None:
            warnings.simplefilter("ignore", unless)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        note(message)


@contextmanager
def bars() -> Iterator[None]:
    """Draw progress reported inside, on the error stream and only for people."""
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    from shoal.core.progress import listening

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=err, transient=True, disable=not err.is_terminal) as drawn:
        tasks: dict[str, Any] = {}

        def listener(event: Progress) -> None:
            if event.stage not in tasks:
                tasks[event.stage] = drawn.add_task(event.stage, total=event.total)
            drawn.update(tasks[event.stage], completed=event.done, total=event.total)

        with listening(listener):
            yield


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


def load(
    file: Path,
    schema: Path | None,
    roles: Mapping[str, Any],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: list[str] | None = None,
) -> Table:
    """Read a file with its roles; what is left out is said as a note."""
    from shoal.reading import read

    with notes():
        return read(
            file,
            schema,
            roles=roles,
            delimiter=delimiter,
            encoding=encoding,
            missing=missing,
        )


@contextmanager
def about(file: Path) -> Iterator[None]:
    """Say of the file what is found wrong inside."""
    try:
        yield
    except InputError as error:
        error.args = (f"{file}: {error}", *error.args[1:])
        raise


def number(value: float) -> str:
    """Return a number for people: four significant digits, thousands apart."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.4g}"


def share(value: float) -> str:
    """Return a share 0–1 for people."""
    return f"{value:.4f}"
