"""Files, read with clear errors and written whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from shoal.errors import InputError, OutputError, ShoalError


def check_readable(path: Path) -> None:
    """Refuse what is not a readable, non-empty file, saying what it is instead."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"{path}: is a directory, not a file; name the file inside it")
        if not stat.S_ISREG(mode):  # to open a pipe is to wait
            raise InputError(f"{path}: not a plain file; save what it gives as a file first")
        with path.open("rb") as handle:
            head = handle.read(1)
    except ShoalError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError:
        raise InputError("the path holds a character that no file name can have") from None
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


def check_sign(option: str, sign: Any, least: int = 1) -> None:
    """Refuse what is not one plain character (or, for least 0, none) to write a text file with."""
    plain = isinstance(sign, str) and (sign == "\t" or (sign.isascii() and sign.isprintable()))
    if not plain or not least <= len(sign) <= 1:
        came = f"{len(sign)} characters" if isinstance(sign, str) and len(sign) > 1 else repr(sign)
        such = '"' if option == "quote" else ", or ;"
        raise InputError(f"{option} must be a single plain character ({such}), not {came}")


def check_writable(path: Path, *, force: bool = False) -> None:
    """Refuse early an output that exists or has nowhere to go."""
    if "\0" in str(path):
        raise OutputError("the path holds a character that no file name can have")
    try:
        there = path.exists()
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from None
    if path.is_dir():
        raise OutputError(f"{path}: is a directory; name a file to write")
    if there and not force:
        raise OutputError(f"{path}: exists already; choose another name or overwrite with --force")
    parent = path.parent
    if not parent.is_dir():
        raise OutputError(f"{path}: its folder does not exist; make {parent} first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: its folder may not be written to")


@contextmanager
def replace_file(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Give a temporary path beside the target; the target appears whole when the block ends.

    Whatever happens in between leaves the old file, or none.
    """
    check_writable(path, force=force)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".shoal.", suffix=path.suffix)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _sync(temporary)
        temporary.chmod(0o666 & ~_umask())
        if force:
            temporary.replace(path)
        else:
            _link_new(temporary, path)
        with suppress(OSError):
            _sync(path.parent)
    except ShoalError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        temporary.unlink(missing_ok=True)


def _link_new(temporary: Path, path: Path) -> None:
    """Put the file in place unless one has appeared there meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise OutputError(f"{path}: appeared while Shoal was working; left alone") from None
    except OSError:  # a file system without hard links
        temporary.replace(path)


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
