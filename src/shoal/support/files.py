"""Files and folders: read with clear errors, written completely or not at all.

    reading      `check_readable`, `read_text`; `guard_inputs` protects what a command has read
    one file     `replace_file`: temporary file ─ write ─ sync ─ rename over the target
    a folder     `replace_folder`: the same; `replace_files` moves new files into an old folder
    changes      `locked` keeps other processes and threads out while a file is read and replaced
    temporaries  `temporary_file`, `temporary_folder`, and `sweep`, which removes leftovers
    unnamed      `open_unnamed`: a file that no folder lists, for copies that must not outlive
                 the process; in memory on Linux

A process holds a lock on each of its temporary files, and the system frees the lock however the
process ends. So a temporary file without a lock is a leftover, and the next process that writes to
the folder removes it.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

from shoal.errors import InputError, OutputError, ShoalError
from shoal.support.addresses import address_of, is_database
from shoal.support.wording import option

MANIFEST = "_manifest.json"
PARTS = (MANIFEST, "part-*")
_HERE = -100  # an argument of renameat2: paths are relative to the working folder
_EXCHANGE = 2  # a flag of renameat2: swap the two
_TEMPORARY_NAME = re.compile(r"\.shoal\.([0-9a-f]{8})\.[0-9a-f]{16}(\..*)?")
_DAY_SECONDS = 86_400
_REMOVAL_TRIES, _REMOVAL_PAUSE_SECONDS = 20, 0.05
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_inputs: ContextVar[set[object] | None] = ContextVar("files that were read", default=None)


@contextmanager
def guard_inputs() -> Iterator[None]:
    """Refuse, inside the block, to overwrite a file that was read in it, even with force."""
    token = _inputs.set(set())
    try:
        yield
    finally:
        _inputs.reset(token)


def _identities(path: Path) -> set[object]:
    """Return the identities of a file: its path without links, and its device and inode."""
    status = path.stat()
    return {os.path.realpath(path), (status.st_dev, status.st_ino)}


def check_readable(path: Path) -> None:
    """Reject a path that is not a readable, non-empty file, with the reason.

    The address of a database is accepted: its server is contacted when the table is read. Any
    address with a password, a key or a signature is refused.
    """
    if is_database(path):
        return
    address_of(path)  # refuses secrets
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"{path}: is a directory, not a file; name the file inside it")
        if not stat.S_ISREG(mode):  # opening a pipe would block
            raise InputError(f"{path}: not a regular file; save its content to a file first")
        # one byte shows whether the file may be read and has any content
        with path.open("rb") as handle:
            head = handle.read(1)
        if (read := _inputs.get()) is not None:
            read |= _identities(path)
    except ShoalError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    except ValueError:
        raise InputError("the path contains a character that file names cannot have") from None
    if not head:
        raise InputError(f"{path}: the file is empty")


def read_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """Return the text of a small file."""
    check_readable(path)
    try:
        return path.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise InputError(f"{path}: line {line} is not UTF-8 text; save the file as UTF-8") from None


def utf8_path(path: Path) -> str:
    """Return a path for a library that takes UTF-8 only, whatever the locale."""
    try:
        return os.fsencode(path).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: its path is not UTF-8; rename the file or its folder") from None


@contextmanager
def replace_file(
    path: Path, *, force: bool = False, update: bool = False, private: bool = False
) -> Iterator[Path]:
    """Yield a temporary path in the same folder; it replaces the target when the block ends.

    If anything fails before that, the old file, or no file, is left.

    Parameters:
        update: The new content continues the content that was read from the file.
        private: Only the owner may read the file.
    """
    check_writable(path, force=force, update=update)
    try:
        with temporary_file(path.parent, path.suffix) as temporary:
            yield temporary
            # content before name: after a crash the target is the old file or the whole new one
            sync(temporary)
            temporary.chmod(0o600 if private else 0o666 & ~umask())
            if force:
                temporary.replace(path)
            else:
                _link_new(temporary, path)
            with suppress(OSError):
                sync(path.parent)
    except ShoalError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({reason(error)})") from None


def check_writable(path: Path, *, force: bool = False, update: bool = False) -> None:
    """Reject, before any work, an output that exists, is also an input, or cannot be created.

    Parameters:
        update: The new content continues the content that was read from the file.
    """
    address_of(path)  # refuses secrets
    if "\0" in str(path):
        raise OutputError("the path contains a character that file names cannot have")
    try:
        exists = path.exists()
        is_input = exists and not update and not _identities(path).isdisjoint(_inputs.get() or ())
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({reason(error)})") from None
    if path.is_dir():
        raise OutputError(f"{path}: is a directory; name a file to write")
    if is_input:
        raise OutputError(f"{path}: is read by this command; choose another name for the output")
    if exists and not force:
        allow = option("force", True)
        raise OutputError(f"{path}: exists already; choose another name or overwrite with {allow}")
    parent = path.parent
    if not parent.is_dir():
        raise OutputError(f"{path}: its folder does not exist; create {parent} first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: its folder is not writable; choose another folder")


def _link_new(temporary: Path, path: Path) -> None:
    """Move the file into place unless another file has been created there meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise OutputError(
            f"{path}: was created while Shoal was running, so it was not overwritten; "
            "choose another name"
        ) from None
    except OSError:  # a file system without hard links
        temporary.replace(path)


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
            check_folder(path, files, force=force)  # again: the block may have taken hours
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


@contextmanager
def replace_files(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder; its files are moved to the folder when the block ends.

    Files of the same names are replaced, other files stay.
    """
    try:
        above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        with temporary_folder(above) as staging:
            yield staging
            folder.mkdir(parents=True, exist_ok=True)
            for file in sorted(staging.iterdir()):
                file.replace(folder / file.name)
    except ShoalError:
        raise
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created ({reason(error)})") from None


@contextmanager
def locked(path: Path, *, private: bool = False) -> Iterator[None]:
    """Lock a file against changes by other processes and threads; a dying process frees the lock.

    The lock is a file beside it, which stays: if it were removed, a process that waits for it
    would lock a file that no other process can find.

    Parameters:
        path: The file, without links in its path: each name would have a lock of its own.
        private: Only the owner may open the lock.
    """
    if path.is_dir():
        raise OutputError(f"{path}: is a directory; name a file")
    beside = path.with_name(f"{path.name}.lock")
    try:
        handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600 if private else 0o666)
    except OSError as error:
        raise OutputError(f"{beside}: cannot be written ({reason(error)})") from None
    try:
        try:
            _lock(handle)
        except OSError as error:
            raise OutputError(f"{beside}: cannot be locked ({reason(error)})") from None
        try:
            yield
        finally:
            _unlock(handle)
    finally:
        os.close(handle)


def check_single_name(path: Path) -> None:
    """Reject a file with hard links: a change replaces one name, and the others keep the old file.

    A missing file is accepted.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        names = path.stat().st_nlink
        if names > 1:
            raise InputError(
                f"{path}: has {names} names (hard links), and a change would reach only this one; "
                "remove the other names, or use a copy of the newest file from now on"
            )


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
    path, lock = _create(folder, suffix)  # the lock is held for as long as the file exists
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
            match = _TEMPORARY_NAME.fullmatch(entry.name)
            if match:
                with suppress(OSError):
                    _sweep(folder / entry.name, here=match[1] == _host())


def _sweep(path: Path, *, here: bool) -> None:
    status = path.lstat()
    ordinary = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    if not ordinary or not _is_own(status):
        return
    if not here and time.time() - status.st_mtime < _DAY_SECONDS:
        return
    mode = os.O_RDONLY if stat.S_ISDIR(status.st_mode) else os.O_RDWR
    handle = os.open(path, mode | _NO_LINK)
    try:
        # its process holds the lock as long as it lives
        if _try_lock(handle):
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
        _lock_temporary(handle)
        if os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)  # another process removed it before it was locked


def _remove(path: Path) -> None:
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for _ in range(_REMOVAL_TRIES):  # a process that is ending may still change files in it
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(_REMOVAL_PAUSE_SECONDS)
    shutil.rmtree(path)


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


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


def sync(path: Path) -> None:
    """Flush a file or folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def umask() -> int:
    """Return the permission bits that new files lack."""
    current = os.umask(0)
    os.umask(current)
    return current


def reason(error: OSError) -> str:
    """Return the system's text for an error; a library's own message could contain cells."""
    return os.strerror(error.errno) if error.errno else "input or output error"


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        while True:
            os.lseek(handle, 0, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
                return
            except OSError as error:
                if error.errno != errno.EDEADLOCK:  # else it has waited for ten seconds
                    raise

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

    # Leftovers stay on Windows: an open file cannot be removed, and there is no lock to test.
    def _is_own(_: os.stat_result) -> bool:
        return False

    def _try_lock(_: int) -> bool:
        return False

    def _lock_temporary(_: int) -> None:
        pass

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)

    def _is_own(status: os.stat_result) -> bool:
        return status.st_uid == os.geteuid()

    def _try_lock(handle: int) -> bool:
        """Return whether the lock was acquired, so that no other process holds it."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _lock_temporary(handle: int) -> None:
        with suppress(OSError):  # a file system without locks: no process removes leftovers there
            fcntl.flock(handle, fcntl.LOCK_EX)
