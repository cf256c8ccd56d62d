"""`shoal keys`: the secret keys of pseudonyms and other replacements.

Other commands take the options that name a key from here; a key itself is never an option.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import emit, out
from shoal.cli.shared.options import Command, Group, Json, SchemaFile
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


app = typer.Typer(
    cls=Group,
    help="Make, split and rotate the secret keys that pseudonyms depend on.",
    no_args_is_help=True,
)
KeyPath = Annotated[Path, typer.Argument(metavar="KEY", help="The file of the key.")]
NewKey = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The key file to write.")
]


@app.command(cls=Command)
def new(output: NewKey, json: Json = False) -> None:
    """Write a new random key of 256 bits to a file that only you can read.

    An existing file is never overwritten. Keep the key apart from the data, and keep a copy:
    without it, later deliveries cannot be joined with earlier ones.
    """
    from shoal.identifiers.keys import Key

    key = Key.new()
    key.write(output)
    _written(json, {"output": str(output), "fingerprint": key.fingerprint, "bits": 256})


@app.command(cls=Command)
def split(
    key: KeyPath,
    shares: Annotated[int, typer.Option(metavar="N", help="Number of shares.")],
    needed: Annotated[int, typer.Option(metavar="N", help="Shares that restore the key.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="NAME", help="Write NAME.1.share, NAME.2.share and so on."
        ),
    ],
    json: Json = False,
) -> None:
    """Split KEY into shares for different people (Shamir); fewer than needed reveal nothing."""
    from shoal.identifiers.keys import Key, split_key, write_shares

    secret = Key.read(key)
    written = write_shares(split_key(secret, shares, needed), output)
    data = {"fingerprint": secret.fingerprint, "needed": needed, "shares": [*map(str, written)]}
    emit(json, data, lambda: out.print(f"{len(written)} shares written; {needed} restore the key"))


@app.command(cls=Command)
def join(
    shares: Annotated[list[Path], typer.Argument(metavar="SHARE...", help="Files of shares.")],
    output: NewKey,
    json: Json = False,
) -> None:
    """Restore a key from its shares."""
    from shoal.identifiers.keys import join_shares, read_shares

    key = join_shares(read_shares(shares))
    key.write(output)
    _written(json, {"output": str(output), "fingerprint": key.fingerprint})


@app.command(cls=Command)
def rotate(
    key: KeyPath,
    output: NewKey,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="A table with the identifiers in use."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of FILE with identifiers.")
    ] = None,
    domain: Annotated[
        str, typer.Option(metavar="NAME", help="The domain whose pseudonyms are translated.")
    ] = "",
    translation: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write old and new pseudonyms of COLUMN side by side: .csv."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a new key to replace KEY, and translate the pseudonyms that recipients already have.

    A translation contains no identifier, only pairs of pseudonyms; give it to the recipient of the
    domain. Without one, deliveries with the new key cannot be joined with earlier ones.
    """
    from shoal.identifiers.keys import Key

    old, fresh = Key.read(key), Key.new()
    stated = (file, column, domain or None, translation)
    if any(each is not None for each in stated):
        if file is None or column is None or not domain or translation is None:
            raise InputError("a translation needs --file, --column, --domain and --translation")
        _translate(old, fresh, file, column, domain, translation)
    fresh.write(output)
    data = {"output": str(output), "fingerprint": fresh.fingerprint, "replaces": old.fingerprint}
    _written(json, data | {"translation": None if translation is None else str(translation)})


@app.command(cls=Command)
def reveal(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The released file.")],
    column: Annotated[str, typer.Option(metavar="COLUMN", help="The replaced identifier.")],
    schema: SchemaFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write: .csv.")
    ],
    key_file: KeyFile = None,
    key_env: KeyEnvironment = None,
    key_command: KeyCommand = None,
    domain: Domain = "",
    lookup: LookupFile = None,
    json: Json = False,
) -> None:
    """Restore the original values of a column that was encrypted (ff1) or replaced by tokens.

    Nothing is written if a token is not in the lookup table. The file that is written names people,
    and only its owner can read it: keep it apart from the release.
    """
    import pyarrow as pa

    from shoal.errors import UnknownColumn
    from shoal.files.formats import Format
    from shoal.files.reading import read_arrow
    from shoal.files.schema import Schema
    from shoal.files.writing import write_table
    from shoal.identifiers.replacement import Context
    from shoal.support.files import check_readable

    if lookup is not None:
        check_readable(lookup)  # nothing is revealed by a new table
    secrets = opened_secrets(key_file, key_env, key_command, lookup)
    stated = Schema.read(schema).columns.get(column, {}).get("replace") if schema else None
    if stated is None:
        raise InputError(f"the schema states no replacement of column {column!r}")
    data = read_arrow(file, Format(), [column], expected=[column])
    if column not in data.column_names:
        raise UnknownColumn(f"{file}: no column {column!r}")
    cells = data.column(column).unique().drop_null()
    found = stated.reveal(column, cells, Context(secrets.key, domain, lookup=secrets.lookup))
    write_table(pa.table({"replacement": cells, "original": found}), output, private=True)
    result = {"output": str(output), "values": len(cells)}
    emit(json, result, lambda: out.print(f"{len(cells):,} values written to {output}"))


def _translate(old: Any, fresh: Any, file: Path, column: str, domain: str, output: Path) -> None:
    """Write the pseudonyms of a column under two keys, in the order of the new ones."""
    import pyarrow as pa

    from shoal.errors import UnknownColumn
    from shoal.files.formats import Format
    from shoal.files.reading import read_arrow
    from shoal.files.writing import write_table
    from shoal.identifiers.pseudonym import Pseudonym
    from shoal.identifiers.replacement import Context

    data = read_arrow(file, Format(), [column], expected=[column])
    if column not in data.column_names:
        raise UnknownColumn(f"{file}: no column {column!r}")
    cells = data.column(column).unique().drop_null()
    made = [Pseudonym().publish(column, cells, Context(key, domain)).cells for key in (old, fresh)]
    pairs = pa.table({"old": made[0], "new": made[1]}).sort_by("new")
    write_table(pairs, output, private=True)


def _written(json: bool, data: dict[str, Any]) -> None:
    line = f"key {data['fingerprint']} written to {data['output']}"
    emit(json, data, lambda: out.print(line, soft_wrap=True))
