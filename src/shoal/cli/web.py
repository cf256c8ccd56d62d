"""`shoal web`: the web app, on this computer only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def web(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A table to open; it is read where it is."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address only; open no browser.")
    ] = False,
    port: Annotated[
        int, typer.Option(metavar="N", help="The port; 0 for any free one.", min=0, max=65_535)
    ] = 0,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="The memory for a table, such as 4GB; rows of a larger table stay on disk. "
            "Default: 70 % of the machine's.",
        ),
    ] = None,
) -> None:
    """Open the web app: from a table to a release, its report and its recipe, in five screens.

    It listens on this computer only, and nothing leaves it. The address that it prints works once,
    in one browser. Ctrl-C stops it and removes what it stored, except the files that you saved.
    """
    from shoal.engines.memory import Budget
    from shoal.support.files import check_readable
    from shoal.web.server import serve

    if file is not None:
        check_readable(file)
    Budget.parse(memory)

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    serve(file, port=port, browser=not no_browser, memory=memory, say=say)
    say("Shoal has stopped")
