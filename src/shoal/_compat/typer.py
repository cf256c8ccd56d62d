"""typer's commands, contexts and usage errors, whose classes typer does not export."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_PLAIN_WORDING = {  # typer's wording of an invalid value, and ours
    r", unable to parse string as an? (integer|number)": "",
    r"Input should be a valid integer": "must be a whole number",
    r"Input should be a valid number": "must be a number",
    r"Input should be": "must be",
    # before typer 0.29
    r"'[^']*' is not a valid integer( range)?": "must be a whole number",
    r"'[^']*' is not a valid float( range)?": "must be a number",
    r"-?[0-9.]+ is not in the range x>=": "must be greater than or equal to ",
}


def is_usage_error(error: Exception) -> bool:
    """Return whether typer refuses the command line."""
    return hasattr(error, "format_message")


def is_request_for_help(error: Exception) -> bool:
    """Return whether a group of commands was called without one, and its help is to be shown."""
    return type(error).__name__ == "NoArgsIsHelpError"


def show_help(error: Any) -> None:
    """Print the help of a group without a command, unless typer has printed it with rich."""
    error.show()


def usage_message(error: Any) -> str:
    """Return what is wrong with the command line, in plain words and without a full stop."""
    message = str(error.format_message()).rstrip(".")
    for wording, plain in _PLAIN_WORDING.items():
        message = re.sub(wording, plain, message)
    return message


def command_of(error: Any) -> str:
    """Return the command that a usage error is about, `shoal` if it is about none."""
    context = getattr(error, "ctx", None)
    return context.command_path if context is not None else "shoal"


def path_of(context: Any) -> list[str]:
    """Return the names of a command and of the groups it is in."""
    if context.parent is None:
        return []
    return [*path_of(context.parent), context.info_name or ""]


def options_given(context: Any) -> list[Any]:
    """Return the arguments, then the options, that are on the command line."""
    ordered = sorted(context.command.params, key=lambda option: option.opts[0].startswith("-"))
    sources = ((option, context.get_parameter_source(option.name or "")) for option in ordered)
    return [option for option, source in sources if source and source.name == "COMMANDLINE"]


def is_path(option: Any, value: Any) -> bool:
    """Return whether the value of an option in a context is a path; before 0.29 it is a text."""
    return isinstance(value, Path) or "Path" in type(getattr(option, "type", None)).__name__


def repeated_option(command: Any, context: Any, words: Sequence[str]) -> Any:
    """Return the first option that is given twice and takes one value, or None."""
    seen = set()
    *_, given = command.make_parser(context).parse_args(args=list(words))
    for option in given:
        if option in seen and not (option.multiple or option.is_flag):
            return option
        seen.add(option)
    return None


def hide_types_of_flags(parameters: Iterable[Any]) -> None:
    """Let the help show flags without a type."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""


def without_braces(pieces: Iterable[str]) -> list[str]:
    """Return the arguments of a usage line as the manual shows them."""
    return [piece[1:-1] if piece.startswith("{") else piece for piece in pieces]
