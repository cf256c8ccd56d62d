"""The command line: one command a file, `shoal --help` is the manual."""

from __future__ import annotations

import os
import sys

import typer

from shoal.cli import anonymize, datasets, demo, hierarchy, inspect, methods, verify

app = typer.Typer(
    name="shoal",
    help="Publish tables about people safely: anonymized, verified, measured.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(inspect.inspect)
app.command()(anonymize.anonymize)
app.command()(verify.verify)
app.add_typer(hierarchy.app, name="hierarchy")
app.command()(methods.methods)
app.add_typer(datasets.app, name="datasets")


@app.callback(invoke_without_command=True)
def version(
    show: bool = typer.Option(False, "--version", help="Print the version and leave."),
) -> None:
    """Publish tables about people safely: anonymized, verified, measured."""
    if show:
        from importlib.metadata import version as installed

        typer.echo(installed("shoal"))
        raise typer.Exit


def main() -> None:
    """Run the command line: 0 fine, 1 the guarantee cannot be met, 2 something is wrong."""
    from shoal.cli.console import err
    from shoal.errors import ShoalError

    try:
        app()
    except ShoalError as error:
        err.print(f"shoal: {error}", markup=False)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        err.print("shoal: interrupted; nothing was written", markup=False)
        sys.exit(130)
    except MemoryError:
        err.print("shoal: not enough memory for this table", markup=False)
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
