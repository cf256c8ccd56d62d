"""The command line for a report, with paths shortened to their last part."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from shoal._compat.typer import is_path, options_given, path_of
from shoal.support.wording import without_secrets

_PASSING = ("force", "json")  # they do not change the release


def typed(context: typer.Context) -> str:
    """Return the command line, without options that do not change the release."""
    words = ["shoal", *path_of(context)]
    for option in options_given(context):
        if option.name not in _PASSING:
            words += _words(option, context.params[option.name or ""])
    return shlex.join(words)


def _words(option: Any, value: Any) -> Iterator[str]:
    for each in value if isinstance(value, (list, tuple)) else (value,):
        names = option.secondary_opts if each is False else option.opts
        if option.opts[0].startswith("-"):
            yield names[0]
        if not getattr(option, "is_flag", False):
            yield without_secrets(_short(option, each))


def _short(option: Any, value: Any) -> str:
    """Return a value as it was given, without folders."""
    if is_path(option, value):
        return Path(value).name
    if option.name == "key_command":  # its arguments may hold secrets
        return "…"
    if option.name == "hierarchy":
        column, mark, source = str(value).partition("=")
        return f"{column}{mark}{source if ':' in source else Path(source).name}"
    return str(value)
