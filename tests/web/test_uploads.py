"""Uploads: streamed, private, removed when they break off; no name is trusted."""

from __future__ import annotations

import asyncio
import os
import stat
from urllib.parse import quote

import pytest
from starlette.applications import Starlette

from shoal.web.guard import Access, Guard
from shoal.web.uploads import PATH, Upload, Uploads, Workspace

HOST = "fish.localhost:8123"
BROKEN = object()  # the browser goes away


class App:
    """The route in an app; `limit` is the size of the largest upload."""

    def __init__(self, folder, limit=10_000_000, guard=None):
        self.received = []
        uploads = Uploads(Workspace(folder), self.received.append, limit)
        self.app = Starlette(routes=[uploads.route])
        self.cookie = ""
        if guard is not None:
            access = Access(HOST)
            self.cookie = f"{access.name}={access.cookie}"
            self.app = Guard(self.app, access, {PATH: guard})

    def put(self, *chunks, name="people.csv"):
        waiting = [
            {"type": "http.disconnect"}
            if part is BROKEN
            else {"type": "http.request", "body": part, "more_body": place + 1 < len(chunks)}
            for place, part in enumerate(chunks)
        ]
        sent = []

        async def receive():
            if not waiting:
                await asyncio.Event().wait()  # the browser stays
            return waiting.pop(0)

        async def send(message):
            sent.append(message)

        headers = {"host": HOST, "origin": f"http://{HOST}", "cookie": self.cookie}
        headers["x-file-name"] = quote(name)
        scope = {
            "type": "http", "method": "PUT", "path": PATH, "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip
        asyncio.run(self.app(scope, receive, send))
        start, *rest = sent
        body = b"".join(message.get("body", b"") for message in rest)
        return start["status"], body.decode()


@pytest.fixture
def app(tmp_path):
    return App(tmp_path)


def test_an_upload_is_one_private_file_under_a_random_name(app, tmp_path):
    assert app.put(b"age\n", b"31\n", name="../../Zoë.CSV") == (204, "")
    (file,) = tmp_path.iterdir()
    assert file.read_bytes() == b"age\n31\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (file.suffix, len(file.stem)) == (".csv", 32)
    assert app.received == [Upload(file, "Zoë.CSV", 7)]


def test_a_large_upload_arrives_whole(app, tmp_path):
    parts = [os.urandom(700_000) for _ in range(9)]
    assert app.put(*parts)[0] == 204
    (file,) = tmp_path.iterdir()
    assert file.read_bytes() == b"".join(parts)


@pytest.mark.parametrize("guard", [None, 3_000_000])
def test_an_upload_that_grows_too_large_is_refused_and_removed(tmp_path, guard):
    app = App(tmp_path, limit=3_000_000 if guard is None else 10**9, guard=guard)
    part = bytes(1_000_000)
    assert app.put(*[part] * 3)[0] == 204
    app.received.pop().path.unlink()
    assert app.put(*[part] * 4)[0] == 413
    assert app.put(*[part] * 400)[0] == 413
    assert list(tmp_path.iterdir()) == app.received == []


def test_an_upload_that_breaks_off_is_removed(app, tmp_path):
    assert app.put(bytes(2_000_000), BROKEN)[0] == 400
    assert list(tmp_path.iterdir()) == app.received == []


def test_an_empty_upload_is_refused(app, tmp_path):
    assert app.put(b"") == (400, "This file is empty.")
    assert list(tmp_path.iterdir()) == app.received == []


def test_a_full_disk_is_reported(app, tmp_path, monkeypatch):
    async def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shoal.web.uploads.asyncio.to_thread", fail)
    assert app.put(bytes(2_000_000))[0] == 507
    assert list(tmp_path.iterdir()) == app.received == []
