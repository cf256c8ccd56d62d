"""Options that name where a key is; a key itself is never an option."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.identifiers.keys import Key
    from shoal.identifiers.lookup import Lookup

KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="The secret key of pseudonyms, from `shoal keys new`; with --ledger, of the ledger.",
    ),
]
KeyEnvironment = Annotated[
    str | None,
    typer.Option(
        "--key-env", metavar="NAME", help="The environment variable that holds the key as text."
    ),
]
KeyCommand = Annotated[
    str | None,
    typer.Option(
        "--key-command",
        metavar="COMMAND",
        help="A command that prints the key, such as the client of a key service.",
    ),
]
LookupFile = Annotated[
    Path | None,
    typer.Option(
        "--lookup",
        metavar="FILE",
        help="The sealed lookup table of tokens; it is created or extended before a release shows "
        "new tokens.",
    ),
]
Domain = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The recipient or project: pseudonyms of one key and domain join, others do not.",
    ),
]


def key_of(file: Path | None, environment: str | None, command: str | None) -> Key | None:
    """Return the key that one of the options names, None without an option."""
    stated = [each for each in (file, environment, command) if each is not None]
    if not stated:
        return None
    if len(stated) > 1:
        raise InputError("give one of --key-file, --key-env and --key-command")
    from shoal.identifiers.keys import Key

    if file is not None:
        return Key.read(file)
    if environment is not None:
        return Key.from_environment(environment)
    assert command is not None
    try:
        return Key.from_command(shlex.split(command))
    except ValueError:
        raise InputError("--key-command has a quote that is not closed") from None


@dataclass(frozen=True)
class Secrets:
    """The key that the options name, and the lookup table that it seals."""

    key: Key | None
    lookup: Lookup | None


def opened_secrets(
    file: Path | None, environment: str | None, command: str | None, lookup: Path | None
) -> Secrets:
    """Return the key, and the lookup table of a file, which is created with its first token."""
    key = key_of(file, environment, command)
    if lookup is None:
        return Secrets(key, None)
    from shoal.identifiers.lookup import Lookup

    if key is None:
        raise InputError("--lookup needs the key that seals the table; give --key-file")
    return Secrets(key, Lookup(lookup, key))
