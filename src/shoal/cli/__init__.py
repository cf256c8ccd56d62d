"""The command line: one command per module."""

from __future__ import annotations

import os
import sys
import traceback

import typer

from shoal import _starting
from shoal._compat.typer import (
    command_of,
    is_request_for_help,
    is_usage_error,
    show_help,
    usage_message,
)
from shoal._version import __version__
from shoal.cli import (
    anonymize,
    catalogue,
    compare,
    demo,
    dp,
    evidence,
    hierarchy,
    inspect,
    keys,
    metrics,
    risk,
    robust,
    utility,
    verify,
    warm,
)
from shoal.cli.shared.console import CLOSED_PIPE, OutputFailed, guarded
from shoal.cli.shared.options import Command, Group

app = typer.Typer(
    name="shoal",
    cls=Group,
    help="Publish tables about people safely: anonymized, verified, measured.",
    epilog="New here? `shoal demo` shows the whole workflow on generated patients; "
    "`shoal inspect FILE` examines a table of yours.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_MAKE, _JUDGE, _MORE = "Make a release", "Evaluate a release", "Other guarantees"
_LIST = "Look up and set up"
app.command(cls=Command, rich_help_panel=_MAKE)(demo.demo)
app.command(cls=Command, rich_help_panel=_MAKE)(demo.web)
app.command(cls=Command, rich_help_panel=_MAKE)(inspect.inspect)
app.command(cls=Command, rich_help_panel=_MAKE)(anonymize.anonymize)
app.command(cls=Command, rich_help_panel=_MAKE)(compare.compare)
app.command(cls=Command, rich_help_panel=_JUDGE)(verify.verify)
app.command(cls=Command, rich_help_panel=_JUDGE)(metrics.metrics)
app.command(cls=Command, rich_help_panel=_JUDGE)(utility.utility)
app.command(cls=Command, rich_help_panel=_JUDGE)(evidence.evidence)
app.add_typer(risk.app, name="risk", rich_help_panel=_JUDGE)
app.add_typer(dp.app, name="dp", rich_help_panel=_MORE)
app.add_typer(robust.app, name="robust", rich_help_panel=_MORE)
app.add_typer(hierarchy.app, name="hierarchy", rich_help_panel=_MAKE)
app.add_typer(keys.app, name="keys", rich_help_panel=_MAKE)
app.command(cls=Command, rich_help_panel=_LIST)(catalogue.methods)
app.command(cls=Command, rich_help_panel=_LIST)(warm.warm)
app.add_typer(catalogue.app, name="datasets", rich_help_panel=_LIST)


@app.callback(invoke_without_command=True)
def version(
    show: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """Publish tables about people safely: anonymized, verified, measured."""
    if show:
        sys.stdout.write(f"{__version__}\n")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit.

    Exit statuses: 0 success; 1 the guarantee cannot be met or does not hold; 2 the input, an option
    or a file is wrong; 3 an internal error; 4 the output stream failed; 130 interrupted; 141 the
    reader of the output closed it. An error is one line on the error stream.
    """
    with guarded():
        try:
            _starting.hand_over()
            status = _run()
            sys.stdout.flush()
        except OutputFailed as failure:
            from shoal.cli.shared.console import discard_unwritten

            discard_unwritten()
            status = failure.status
            if status != CLOSED_PIPE:
                _say(failure)
        except KeyboardInterrupt:
            status = _interrupted()
    sys.exit(status)


def _run() -> int:
    """Run the command and return its exit status."""
    from shoal.cli.shared.console import noting_unkept_kernels
    from shoal.errors import ShoalError
    from shoal.support.files import guard_inputs
    from shoal.support.wording import naming_command_line_options

    try:
        with guard_inputs(), noting_unkept_kernels(), naming_command_line_options():
            status = app(standalone_mode=False)
    except ShoalError as error:
        return _say(error, error.exit_status)
    except MemoryError:
        return _say(
            "out of memory; close other programs, use a machine with more memory, or read fewer "
            "rows or columns",
            2,
        )
    # after ShoalError, because OutputError is an OSError too
    except OSError as error:
        return _say(_file_trouble(error), 2)
    except OutputFailed:
        raise
    except Exception as error:
        return _say_usage(error) if is_usage_error(error) else _say_fault(error)
    if status == 130:
        return _interrupted()
    return status if isinstance(status, int) else 0


def _say(message: object, status: int = 0) -> int:
    from shoal.cli.shared.console import err, one_line

    err.print(f"shoal: {one_line(message)}")
    return status


def _interrupted() -> int:
    return _say("interrupted", 130)


def _file_trouble(error: OSError) -> str:
    """Return the file and the kind of error; the message of a library might contain more."""
    from shoal.support.files import reason

    if isinstance(error.filename, (str, bytes)):
        return f"{os.fsdecode(error.filename)}: cannot be read or written ({reason(error)})"
    return f"a file cannot be read or written ({reason(error)})"


def _say_fault(error: Exception) -> int:
    """Print where an unexpected error occurred; its message may contain a cell and is not shown."""
    cause = error.__cause__ if isinstance(error, typer.Abort) else error
    cause = cause or error
    if os.environ.get("SHOAL_TRACEBACK"):
        traceback.print_exception(cause)
    own = [
        f"{frame.f_globals['__name__']}:{line}"
        for frame, line in traceback.walk_tb(cause.__traceback__)
        if str(frame.f_globals.get("__name__", "")).startswith("shoal.")
    ]
    where = f" at {own[-1]}" if own else ""
    return _say(
        f"an internal error of Shoal: {type(cause).__name__}{where}; please report it. "
        "SHOAL_TRACEBACK=1 shows the traceback, which may contain cells of the table",
        3,
    )


def _say_usage(error: Exception) -> int:
    """Print what is wrong with the options, with the command that typer's error names."""
    if is_request_for_help(error):
        show_help(error)
        return 2
    # messages of typer begin with a capital and may end with a question: "Did you mean --quasi?"
    message = usage_message(error)
    see = " See" if message.endswith("?") else "; see"
    return _say(f"{message[:1].lower()}{message[1:]}{see} {command_of(error)} --help", 2)
