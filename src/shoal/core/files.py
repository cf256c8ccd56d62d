"""Files, read with clear errors and written whole or not at all."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from shoal.core.temporaries import temporary_file, temporary_folder
from shoal.errors import InputError, OutputError, ShoalError

DATABASE = re.compile(r"postgres(?:ql)?:/{1,2}(.+)", re.DOTALL)
_inputs: ContextVar[set[object] | None] = ContextVar("files that were read", default=None)


@contextmanager
def guard_inputs() -> Iterator[None]:
    """Refuse, until the block ends, to write over a file that was read in it, even by force."""
    token = _inputs.set(set())
    try:
        yield
    finally:
        _inputs.reset(token)


def _identities(path: Path) -> set[object]:
    """Return what makes two paths the same file: the name without links, and the file itself."""
    status = path.stat()
    return {os.path.realpath(path), (status.st_dev, status.st_ino)}


def is_database(path: object) -> bool:
    """Tell whether a source is the address of a database, and refuse one that holds a password.

    Addresses are shown in messages and reports, and other users of a machine can see commands.

    >>> is_database("postgresql://clinic@localhost/visits"), is_database("visits.csv")
    (True, False)
    """
    found = DATABASE.match(str(path))
    if found and re.match(r"[^/@]*:[^/@]*@|.*[?&]password=", found[1], re.IGNORECASE):
        raise InputError(
            "leave the password out of the address: set PGPASSWORD, or keep it in ~/.pgpass"
        )
    return found is not None


def check_readable(path: Path) -> None:
    """Refuse what is not a readable, non-empty file, saying what it is instead.

    The address of a database is accepted; the server is asked when it is read.
    """
    if is_database(path):
        return
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"{path}: is a directory, not a file; name the file inside it")
        if not stat.S_ISREG(mode):  # to open a pipe is to wait
            raise InputError(f"{path}: not a plain file; save what it gives as a file first")
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


def utf8_path(path: Path) -> str:
    """Return a path for a library that takes UTF-8 only, whatever the locale."""
    try:
        return os.fsencode(path).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: its path is not UTF-8; rename the file or its folder") from None


def check_sign(option: str, sign: Any, least: int = 1) -> None:
    """Refuse what is not one plain character (or, for least 0, none) to write a text file with."""
    plain = isinstance(sign, str) and (sign == "\t" or (sign.isascii() and sign.isprintable()))
    if not plain or not least <= len(sign) <= 1:
        came = f"{len(sign)} characters" if isinstance(sign, str) and len(sign) > 1 else repr(sign)
        such = '"' if option == "quote" else ", or ;"
        raise InputError(f"{option} must be a single plain character ({such}), not {came}")


def check_writable(path: Path, *, force: bool = False, update: bool = False) -> None:
    """Refuse early an output that exists, is an input as well, or has nowhere to go.

    update: what is written continues what was read from there.
    """
    if "\0" in str(path):
        raise OutputError("the path holds a character that no file name can have")
    try:
        there = path.exists()
        taken = there and not update and not _identities(path).isdisjoint(_inputs.get() or ())
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({reason(error)})") from None
    if path.is_dir():
        raise OutputError(f"{path}: is a directory; name a file to write")
    if taken:
        raise OutputError(f"{path}: is read by this command; choose another name for the output")
    if there and not force:
        raise OutputError(f"{path}: exists already; choose another name or overwrite with --force")
    parent = path.parent
    if not parent.is_dir():
        raise OutputError(f"{path}: its folder does not exist; make {parent} first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: its folder may not be written to")


@contextmanager
def replace_file(path: Path, *, force: bool = False, update: bool = False) -> Iterator[Path]:
    """Give a temporary path beside the target; the target appears whole when the block ends.

    Whatever happens in between leaves the old file, or none.
    update: what is written continues what was read from there.
    """
    check_writable(path, force=force, update=update)
    try:
        with temporary_file(path.parent, path.suffix) as temporary:
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
        raise OutputError(f"{path}: cannot be written ({reason(error)})") from None


def reason(error: OSError) -> str:
    """Return what the system says about an error; a library's own message might hold cells."""
    return os.strerror(error.errno) if error.errno else "input or output error"


@contextmanager
def replace_files(folder: Path) -> Iterator[Path]:
    """Give a temporary folder; its files go to the other one, all together, when the block ends."""
    try:
        above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        with temporary_folder(above) as made:
            yield made
            folder.mkdir(parents=True, exist_ok=True)
            for file in sorted(made.iterdir()):
                file.replace(folder / file.name)
    except ShoalError:
        raise
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({reason(error)})") from None


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
