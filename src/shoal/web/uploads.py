"""Uploads, and the private folder of a running web app that they are streamed into.

A file is written once, piece by piece, under a random name; one that is interrupted or grows too
large is removed at once. The name that a browser sends is shown, and never used as a path.

Only the owner may open the folder. It is removed when the app stops; a folder that a killed app
left is removed by the next start, because the system has freed its lock.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import tempfile
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from shoal.errors import OutputError
from shoal.support.files import reason, temporary_folder
from shoal.support.imports import requires

TOO_LARGE = "This file is larger than 500 MB. Open it by its path instead, which makes no copy."
EMPTY = "This file is empty."
NO_ROOM = "The disk is full. Open this file by its path instead, which makes no copy."
BROKEN = "The upload was interrupted. Try again."


with requires("web"):
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route

PATH = "/upload"
NAME_HEADER = "x-file-name"  # percent-encoded UTF-8
MAX_BYTES = 500 * 2**20
_PIECE = 2**20  # bytes, written at once


@dataclass(frozen=True)
class Upload:
    """A complete file in the workspace.

    Parameters:
        path: The file.
        name: The name that its owner gave it; never used as a path.
        size: Bytes.
    """

    path: Path
    name: str
    size: int


class Uploads:
    """Receives files: `PUT /upload` with the bytes as its body and the name in a header.

    Parameters:
        workspace: The private folder to write to.
        on_upload: Called with each complete file.
        max_bytes: The largest file to accept.
    """

    def __init__(
        self,
        workspace: Workspace,
        on_upload: Callable[[Upload], object],
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._workspace = workspace
        self._on_upload = on_upload
        self._max_bytes = max_bytes
        self.route = Route(PATH, self.receive, methods=["PUT"])

    async def receive(self, request: Request) -> Response:
        """Write the body of a request to a new file, and hand the file over."""
        name = display_name(unquote(request.headers.get(NAME_HEADER, "")))
        path, descriptor = self._workspace.new_file(table_suffix(name))
        size = 0
        try:
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                async for piece in _pieces(request):
                    size += len(piece)
                    if size > self._max_bytes:
                        raise _TooLarge
                    await asyncio.to_thread(file.write, piece)
        except BaseException as error:
            path.unlink(missing_ok=True)
            if isinstance(error, _TooLarge):
                return PlainTextResponse(TOO_LARGE, 413, {"connection": "close"})
            if isinstance(error, ClientDisconnect):
                return PlainTextResponse(BROKEN, 400)
            if isinstance(error, OSError):
                return PlainTextResponse(NO_ROOM, 507, {"connection": "close"})
            raise
        if not size:
            path.unlink(missing_ok=True)
            return PlainTextResponse(EMPTY, 400)
        self._on_upload(Upload(path, name, size))
        return Response(status_code=204)


class _TooLarge(Exception):  # noqa: N818
    """The body is larger than allowed."""


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """Yield the body in pieces of about a megabyte."""
    held, length = [], 0
    async for part in request.stream():
        held.append(part)
        length += len(part)
        if length >= _PIECE:
            yield b"".join(held)
            held, length = [], 0
    if length:
        yield b"".join(held)


_MAX_LENGTH = 120  # characters
_COMPRESSED = frozenset({".gz", ".zst", ".bz2", ".xz"})


def display_name(name: str) -> str:
    r"""Return the name of an uploaded file to show: without folders and control characters.

    >>> display_name("C:\\people\\patients\x00.csv"), display_name("../"), display_name("")
    ('patients.csv', 'table', 'table')
    """
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    return _printable(last).strip(". ")[:_MAX_LENGTH] or "table"


def table_suffix(name: str) -> str:
    """Return the ending of a file name, with that of compression: it decides how a file is read.

    >>> table_suffix("a.csv"), table_suffix("a.csv.gz"), table_suffix("a"), table_suffix("v1.2.csv")
    ('.csv', '.csv.gz', '', '.csv')
    """
    suffixes = PurePosixPath(name).suffixes
    kept = 2 if suffixes and suffixes[-1].lower() in _COMPRESSED else 1
    return "".join(suffixes[-kept:]).lower()


def _printable(text: str) -> str:
    """Return a text without characters that are invisible or change its direction."""
    return "".join(c for c in text if unicodedata.category(c)[0] != "C" and c not in "\u2028\u2029")


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
        # the suffix comes from a browser, and only a plain one may become part of a path
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
