"""Temporary files beside an output, and removal of those that a killed process left.

A process holds a lock on each of its temporary files, and the system frees the lock however the
process ends. A temporary file without a lock is a leftover, and the next process that writes to the
folder removes it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"\.shoal\.([0-9a-f]{8})\.[0-9a-f]{16}(\..*)?")
_DAY = 86_400  # seconds
_TRIES, _PAUSE = 20, 0.05  # to remove a folder, and seconds between them
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def temporary_file(folder: Path, suffix: str) -> Iterator[Path]:
    """Yield a new file in the folder; it is removed after the block unless it was moved."""
    with _temporary(folder, suffix) as path:
        yield path


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder in the folder; it is removed with its content after the block."""
    with _temporary(folder, None) as path:
        yield path


@contextmanager
def _temporary(folder: Path, suffix: str | None) -> Iterator[Path]:
    sweep(folder)
    path, lock = _create(folder, suffix)
    try:
        yield path
    finally:
        with suppress(OSError):  # the folder may have been removed or become read-only
            _remove(path)
        os.close(lock)


def sweep(folder: Path) -> None:
    """Remove temporary files in a folder whose process is gone.

    Locks of another computer on a shared folder may not be visible here, so its files are removed
    only a day after they were last written to.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found:
                with suppress(OSError):
                    _sweep(folder / entry.name, here=found[1] == _host())


def _sweep(path: Path, *, here: bool) -> None:
    status = path.lstat()
    ordinary = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    if not ordinary or not _is_own(status):
        return
    if not here and time.time() - status.st_mtime < _DAY:
        return
    mode = os.O_RDONLY if stat.S_ISDIR(status.st_mode) else os.O_RDWR
    handle = os.open(path, mode | _NO_LINK)
    try:
        if _locks(handle):
            _remove(path)
    finally:
        os.close(handle)


def _create(folder: Path, suffix: str | None) -> tuple[Path, int]:
    """Create a file, or a folder for suffix None, and lock it; return its path and lock handle."""
    while True:
        path = folder / f".shoal.{_host()}.{secrets.token_hex(8)}{suffix or ''}"
        if suffix is None:
            path.mkdir(mode=0o700)
            try:
                handle = os.open(path, os.O_RDONLY)
            except FileNotFoundError:  # another process removed it before it was opened
                continue
        else:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
        _lock(handle)
        if os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)  # another process removed it before it was locked


def _remove(path: Path) -> None:
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for _ in range(_TRIES):  # a process that is ending may still change files in it
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(_PAUSE)
    shutil.rmtree(path)


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


if sys.platform == "win32":

    def _is_own(_: os.stat_result) -> bool:
        return False  # an open file cannot be removed, and there is no lock to test

    def _locks(_: int) -> bool:
        return False

    def _lock(_: int) -> None:
        pass

else:
    import fcntl

    def _is_own(status: os.stat_result) -> bool:
        return status.st_uid == os.geteuid()

    def _locks(handle: int) -> bool:
        """Return whether the lock was acquired, so that no other process holds it."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _lock(handle: int) -> None:
        with suppress(OSError):  # a file system without locks: no process removes leftovers there
            fcntl.flock(handle, fcntl.LOCK_EX)
