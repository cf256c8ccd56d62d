"""Files without a name, for copies of a table that must not outlive the process.

On Linux they are in memory. Elsewhere they are in the temporary folder and disappear with the
process that opened them, however it ends.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO

from shoal.errors import OutputError


def open_unnamed() -> IO[bytes]:
    """Open an empty file for writing and reading that no folder lists."""
    if hasattr(os, "memfd_create"):
        try:
            return os.fdopen(os.memfd_create("shoal"), "w+b")
        except OSError:  # forbidden by a sandbox
            pass
    try:
        return tempfile.TemporaryFile(prefix="shoal.")
    except OSError as error:
        raise OutputError(
            f"the temporary folder cannot be written to ({error.strerror}); set TMPDIR to another"
        ) from None


def path_of(file: IO[bytes]) -> Path | None:
    """Return a path by which this process can open an unnamed file again, from its start."""
    path = Path(f"/proc/self/fd/{file.fileno()}")
    try:
        with path.open("rb"):
            return path
    except OSError:  # another system than Linux, or one without /proc
        return None
