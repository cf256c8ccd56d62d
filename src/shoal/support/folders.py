"""Folders written completely or not at all: staged beside the target, then renamed."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path

from shoal.errors import OutputError, ShoalError
from shoal.support.files import reason, sync, umask
from shoal.support.temporaries import temporary_folder
from shoal.support.wording import option

MANIFEST = "_manifest.json"
PARTS = (MANIFEST, "part-*")
_HERE = -100  # of renameat2: paths are relative to the working folder
_EXCHANGE = 2  # of renameat2: swap the two


def check_folder(path: Path, files: Collection[str] = PARTS, *, force: bool = False) -> None:
    """Reject, before any work, a folder that exists or cannot be created.

    Parameters:
        files: The names of files that force may replace; * stands for any characters. A folder with
            anything else is refused.
    """
    if "\0" in str(path):
        raise OutputError("the path contains a character that file names cannot have")
    try:
        if path.is_symlink():
            raise OutputError(f"{path}: is a link, not a folder; choose another name")
        if path.exists() and not path.is_dir():
            raise OutputError(f"{path}: is a file, not a folder; choose another name")
        if path.is_dir():
            _check_replaceable(path, files, force=force)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path}: cannot be written ({reason(error)})") from None
    parent = path.absolute().parent
    if not parent.is_dir():
        raise OutputError(f"{path}: its folder does not exist; create {path.parent} first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: its folder is not writable; choose another folder")


def _check_replaceable(path: Path, files: Collection[str], *, force: bool) -> None:
    if not force:
        allow = option("force", True)
        raise OutputError(f"{path}: exists already; choose another name or replace it with {allow}")
    for each in path.iterdir():
        if not each.is_file() or not any(fnmatchcase(each.name, name) for name in files):
            raise OutputError(
                f"{path}: contains other files, so it is not replaced; choose another name"
            )


@contextmanager
def replace_folder(
    path: Path, files: Collection[str] = PARTS, *, force: bool = False
) -> Iterator[Path]:
    """Yield a private folder beside the target; it becomes the target when the block ends.

    If anything fails before that, the old folder, or none, is left.

    Parameters:
        files: As for `check_folder`.
    """
    check_folder(path, files, force=force)
    try:
        with temporary_folder(path.absolute().parent) as staging:
            yield staging
            for file in (*staging.iterdir(), staging):
                sync(file)
            staging.chmod(0o777 & ~umask())
            check_folder(path, files, force=force)
            if path.exists():
                _exchange(staging, path)
            else:
                staging.rename(path)
            with suppress(OSError):
                sync(path.absolute().parent)
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
