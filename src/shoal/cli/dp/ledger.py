"""`shoal dp ledger`: the privacy budget that the releases of one table spend."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from shoal.cli.shared.console import emit, grid, number, one_line, out
from shoal.cli.shared.options import Command, Group, Json

if TYPE_CHECKING:
    from shoal.dp.ledger import Ledger

app = typer.Typer(cls=Group, help="Track the privacy budget of one table.", no_args_is_help=True)
LedgerFile = Annotated[Path, typer.Argument(metavar="LEDGER", help="The file of the ledger.")]
Epsilon = Annotated[float, typer.Option(metavar="X", help="The epsilon.")]
Delta = Annotated[float, typer.Option(metavar="X", help="The delta.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file", metavar="FILE", help="A secret key that protects the ledger from changes."
    ),
]


@app.command(cls=Command)
def grant(
    ledger: LedgerFile,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    slack: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="The part of delta reserved for advanced composition, with which many small "
            "releases cost less than their sum.",
        ),
    ] = 0.0,
    table: Annotated[str, typer.Option(metavar="NAME", help="The name of the table.")] = "",
    unit: Annotated[
        str,
        typer.Option(metavar="UNIT", help="The unit of protection: record, person or household."),
    ] = "record",
    change: Annotated[
        bool,
        typer.Option("--change", help="Change the budget; earlier grants stay on record."),
    ] = False,
    when: Annotated[str | None, typer.Option(metavar="TEXT", help="A date or time.")] = None,
    key_file: KeyFile = None,
    json: Json = False,
) -> None:
    """Create a ledger with a budget of epsilon and delta."""
    from shoal.dp.ledger import Ledger
    from shoal.errors import InputError

    if change:
        if slack:
            raise InputError("--slack cannot be changed: it is fixed when the ledger is created")
        found = Ledger.open(ledger, table=table, key=_key(key_file))
        found.regrant(epsilon, delta, when=when)
    else:
        found = Ledger.open(
            ledger,
            (epsilon, delta),
            slack=slack,
            neighbours=f"add or remove one {unit}",
            table=table,
            key=_key(key_file),
            when=when,
        )
    emit(json, _data(found), lambda: _show(found))


@app.command(cls=Command)
def spend(
    ledger: LedgerFile,
    epsilon: Epsilon,
    what: Annotated[str, typer.Option(metavar="TEXT", help="The release, in your own words.")],
    delta: Delta = 0.0,
    when: Annotated[str | None, typer.Option(metavar="TEXT", help="A date or time.")] = None,
    key_file: KeyFile = None,
    json: Json = False,
) -> None:
    """Charge a release to the ledger before making it.

    The exit status is 1 if the remaining budget is too small.
    """
    from shoal.dp.claims import DP

    found = opened(ledger, key_file)
    found.reserve(DP(epsilon, delta, what), what=what, when=when)
    emit(json, _data(found), lambda: _show(found))


@app.command(cls=Command)
def show(ledger: LedgerFile, key_file: KeyFile = None, json: Json = False) -> None:
    """Show the granted, spent and remaining budget, and the releases charged."""
    found = opened(ledger, key_file)
    emit(json, _data(found), lambda: _show(found))


def opened(ledger: Path, key_file: Path | None) -> Ledger:
    """Open an existing ledger."""
    from shoal.dp.ledger import Ledger

    return Ledger.open(ledger, key=_key(key_file))


def _key(path: Path | None) -> bytes | None:
    from shoal.support.files import check_readable

    if path is None:
        return None
    check_readable(path)
    return path.read_bytes()


def _data(ledger: Ledger) -> dict[str, Any]:
    book = ledger.book
    epsilon, delta = book.left()
    return {
        **asdict(book),
        "grant": asdict(book.grant),
        "spent": asdict(book.spent()),
        "left": {"epsilon": epsilon, "delta": delta},
    }


def _show(ledger: Ledger) -> None:
    book = ledger.book
    spent, left = book.spent(), book.left()
    rows = grid("", "epsilon", "delta")
    rows.add_row("granted", _figure(book.grant.epsilon), _figure(book.grant.delta))
    rows.add_row("spent", _figure(spent.epsilon), _figure(spent.delta))
    rows.add_row("left", _figure(left[0]), _figure(left[1]))
    out.print(rows)
    if book.entries:
        out.print()
        listed = grid("release", "epsilon", "delta", "", "")
        for entry in book.entries:
            mark = Text("") if entry.proven else Text("unproven", "yellow")
            name = one_line(entry.what if entry.when is None else f"{entry.what} ({entry.when})")
            listed.add_row(name, _figure(entry.epsilon), _figure(entry.delta), entry.state, mark)
        out.print(listed)
    if book.grant.slack:
        out.print(f"\ncomposition: {spent.rule}; delta of {_figure(book.grant.slack)} is reserved")
    for index, grant in enumerate(book.grants[:-1], start=1):
        stated = "" if grant.when is None else f" ({one_line(grant.when)})"
        out.print(f"\nearlier grant {index}: {grant}{stated}")
    out.print(f"\nneighbours: {book.neighbours}" + (f"; table: {book.table}" if book.table else ""))
    if book.schemas:
        out.print(f"schema: {', '.join(schema[:12] for schema in book.schemas)}")


def _figure(value: float) -> str:
    return number(value) if value >= 1e-3 or not value else f"{value:.2e}"
