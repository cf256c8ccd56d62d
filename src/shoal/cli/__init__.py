"""The command line: one command a file, `shoal --help` is the manual."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import typer

from shoal._version import __version__
from shoal.cli import (
    anonymize,
    compare,
    datasets,
    demo,
    dp,
    experiment,
    hierarchy,
    inspect,
    methods,
    metrics,
    risk,
    robust,
    utility,
    verify,
)
from shoal.cli.options import Command, Group

app = typer.Typer(
    name="shoal",
    cls=Group,
    help="Publish tables about people safely: anonymized, verified, measured.",
    epilog="New here? `shoal demo` goes the whole way on made-up patients; "
    "`shoal inspect FILE` looks at a table of yours.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_MAKE, _JUDGE, _MORE, _LIST = "Make a release", "Judge a release", "Other promises", "Look up"
app.command(cls=Command, rich_help_panel=_MAKE)(demo.demo)
app.command(cls=Command, rich_help_panel=_MAKE)(inspect.inspect)
app.command(cls=Command, rich_help_panel=_MAKE)(anonymize.anonymize)
app.command(cls=Command, rich_help_panel=_MAKE)(compare.compare)
app.command(cls=Command, rich_help_panel=_JUDGE)(verify.verify)
app.command(cls=Command, rich_help_panel=_JUDGE)(metrics.metrics)
app.command(cls=Command, rich_help_panel=_JUDGE)(utility.utility)
app.add_typer(risk.app, name="risk", rich_help_panel=_JUDGE)
app.add_typer(dp.app, name="dp", rich_help_panel=_MORE)
app.add_typer(robust.app, name="robust", rich_help_panel=_MORE)
app.add_typer(hierarchy.app, name="hierarchy", rich_help_panel=_MAKE)
app.command(cls=Command, rich_help_panel=_LIST)(methods.methods)
app.add_typer(datasets.app, name="datasets", rich_help_panel=_LIST)
app.command(cls=Command, rich_help_panel=_LIST)(experiment.experiment)


_PLAINLY = {  # how typer tells of a value that does not fit, and how it is said here
    ", unable to parse string as an integer": "",
    ", unable to parse string as a number": "",
    "Input should be a valid integer": "must be a whole number",
    "Input should be a valid number": "must be a number",
    "Input should be": "must be",
}


@app.callback(invoke_without_command=True)
def version(
    show: bool = typer.Option(False, "--version", help="Print the version and leave."),
) -> None:
    """Publish tables about people safely: anonymized, verified, measured."""
    if show:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line: 0 fine, 1 the guarantee cannot be met, 2 something is wrong.

    What is wrong is said in one line on the error stream.
    """
    from shoal.errors import ShoalError

    try:
        status = app(standalone_mode=False)
    except ShoalError as error:
        _leave(error, error.exit_status)
    except MemoryError:
        _leave("not enough memory for this table", 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:
        _leave_with_usage(error)
        raise
    if status == 130:
        _leave("interrupted; nothing was written", 130)
    sys.exit(status if isinstance(status, int) else 0)


def _leave(message: object, status: int) -> NoReturn:
    from shoal.cli.console import err, one_line

    err.print(f"shoal: {one_line(message)}")
    sys.exit(status)


def _leave_with_usage(error: Any) -> None:
    """Say what is wrong with the options; typer's errors for it know their command."""
    if not hasattr(error, "format_message"):
        return
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "shoal"
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        sys.exit(2)
    told = error.format_message().rstrip(".")
    for wording, plainly in _PLAINLY.items():
        told = told.replace(wording, plainly)
    see = " See" if told.endswith("?") else "; see"
    _leave(f"{told[:1].lower()}{told[1:]}{see} {command} --help", 2)
