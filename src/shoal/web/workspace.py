"""The private folder of a running web app: uploads, results and files to download.

Only the owner may open it. It is removed when the app stops; a folder that a killed app left is
removed by the next start, because the system has freed its lock.
"""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.errors import OutputError
from shoal.support.files import reason
from shoal.support.temporaries import temporary_folder

_SUFFIX = re.compile(r"(?:\.[a-z0-9]{1,10}){0,2}")


class Workspace:
    """The folder, and new files in it.

    Parameters:
        path: A folder that only the owner may open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def new_path(self, suffix: str = "") -> Path:
        """Return a path in the folder that no file has: a random name and a plain suffix."""
        kept = suffix.lower() if _SUFFIX.fullmatch(suffix.lower()) else ""
        return self.path / f"{secrets.token_hex(16)}{kept}"

    def new_file(self, suffix: str = "") -> tuple[Path, int]:
        """Create an empty file that only the owner may read; return its path and a descriptor."""
        path = self.new_path(suffix)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        return path, os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)

    def new_folder(self) -> Path:
        """Create an empty folder that only the owner may open."""
        path = self.new_path()
        path.mkdir(mode=0o700)
        return path


@contextmanager
def open_workspace(parent: Path | None = None) -> Iterator[Workspace]:
    """Yield a new private folder, removed after the block; first remove what killed apps left.

    Parameters:
        parent: The folder to make it in; by default the system's folder for temporary files.
    """
    above = parent or Path(tempfile.gettempdir())
    try:
        folder = temporary_folder(above)
        path = folder.__enter__()
    except OSError as error:
        raise OutputError(
            f"{above}: the folder for temporary files cannot be written to ({reason(error)}); "
            "set TMPDIR to another"
        ) from None
    try:
        yield Workspace(path)
    finally:
        folder.__exit__(None, None, None)
