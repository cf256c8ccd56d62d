"""`shoal keys`: secret keys of pseudonyms and other replacements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.shared.console import emit, out
from shoal.cli.shared.options import Command, Group, Json

app = typer.Typer(
    cls=Group, help="Make the secret keys that pseudonyms depend on.", no_args_is_help=True
)


@app.callback()
def keys() -> None:
    """Make the secret keys that pseudonyms depend on."""


@app.command(cls=Command)
def new(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")
    ],
    json: Json = False,
) -> None:
    """Write a new random key of 256 bits to a file that only you can read.

    An existing file is never overwritten. Keep the key apart from the data, and keep a copy:
    without it, later deliveries cannot be joined with earlier ones.
    """
    from shoal.identifiers.keys import Key

    key = Key.new()
    key.write(output)
    data = {"output": str(output), "fingerprint": key.fingerprint, "bits": 256}
    emit(
        json,
        data,
        lambda: out.print(f"key {key.fingerprint} written to {output}", soft_wrap=True),
    )
