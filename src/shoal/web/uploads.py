"""Uploads: files of the user's computer, streamed into the private workspace.

A file is written once, piece by piece, under a random name; one that breaks off or grows too large
is removed at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from shoal.support.extras import requires
from shoal.web.file_names import display_name, table_suffix
from shoal.web.text import uploads as text
from shoal.web.workspace import Workspace

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
                return PlainTextResponse(text.TOO_LARGE, 413, {"connection": "close"})
            if isinstance(error, ClientDisconnect):
                return PlainTextResponse(text.BROKEN, 400)
            if isinstance(error, OSError):
                return PlainTextResponse(text.NO_ROOM, 507, {"connection": "close"})
            raise
        if not size:
            path.unlink(missing_ok=True)
            return PlainTextResponse(text.EMPTY, 400)
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
