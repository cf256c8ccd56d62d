"""Folders written completely or not at all: staged beside the target, then renamed."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import OutputError, ShoalError
from shoal.support.files import reason
from shoal.support.temporaries import temporary_folder
from shoal.support.wording import option

MANIFEST = "_manifest.json"
_HERE = -100  # of renameat2: paths are relative to the working folder
_EXCHANGE = 2  # of renameat2: swap the two


class FolderPath(type(Path())):  # type: ignore[misc]
    """A path that was written with a slash at its end, so it means a folder."""


def check_folder(path: Path, *, force: bool = False) -> None:
    """Reject a folder that cannot be written, or that holds anything but an earlier release."""
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path}: is a file; name a folder, or end the name in .parquet or .csv")
    if path.is_dir() and not force:
        allow = option("force", True)
        raise OutputError(f"{path}: exists already; choose another name or replace it with {allow}")
    if path.is_dir() and any(path.iterdir()) and not (path / MANIFEST).is_file():
        raise OutputError(
            f"{path}: is a folder that Shoal did not write, so it is not replaced; choose another "
            "name"
        )
    parent = path.absolute().parent
    if not parent.is_dir():
        raise OutputError(f"{path}: its folder does not exist; create {path.parent} first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: its folder is not writable; choose another folder")


@contextmanager
def replace_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a private folder beside the target; it becomes the target when the block ends.

    If anything fails before that, the old folder, or none, is left.
    """
    check_folder(path, force=force)
    try:
        with temporary_folder(path.absolute().parent) as staging:
            yield staging
            for file in (*staging.iterdir(), staging):
                _sync(file)
            staging.chmod(0o777 & ~_umask())
            if path.exists():
                check_folder(path, force=force)
                _exchange(staging, path)
            else:
                staging.rename(path)
            with suppress(OSError):
                _sync(path.absolute().parent)
    except ShoalError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({reason(error)})") from None


def _exchange(staging: Path, path: Path) -> None:
    """Swap the two folders in one step where the system can, else in two renames."""
    if sys.platform == "linux":
        swap = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        names = os.fsencode(staging), os.fsencode(path.absolute())
        if swap is not None and swap(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0:
            return
    aside = path.with_name(f"{path.name}.old-{secrets.token_hex(4)}")
    path.rename(aside)
    try:
        staging.rename(path)
    except OSError:
        aside.rename(path)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
