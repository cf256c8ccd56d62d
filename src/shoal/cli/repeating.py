"""The command as it was typed, to stand in a report: paths shortened to their last part."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from shoal.cli.options import path_of

_PASSING = ("force", "json")  # they change nothing in the release


def typed(context: typer.Context) -> str:
    """Return the command line, without options that change nothing about the release."""
    words = ["shoal", *path_of(context)]
    given = sorted(context.command.params, key=lambda option: option.opts[0].startswith("-"))
    for option in given:
        source = context.get_parameter_source(option.name or "")
        if source is not None and source.name == "COMMANDLINE" and option.name not in _PASSING:
            words += _words(option, context.params[option.name or ""])
    return shlex.join(words)


def _words(option: Any, value: Any) -> Iterator[str]:
    for each in value if isinstance(value, (list, tuple)) else (value,):
        names = option.secondary_opts if each is False else option.opts
        if option.opts[0].startswith("-"):
            yield names[0]
        if not getattr(option, "is_flag", False):
            yield _short(option.name, each)


def _short(name: str, value: Any) -> str:
    """Return a value as it was given, folders left out."""
    if isinstance(value, Path):
        return value.name
    if name == "hierarchy":
        column, mark, told = str(value).partition("=")
        return f"{column}{mark}{told if ':' in told else Path(told).name}"
    return str(value)
