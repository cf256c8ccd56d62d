"""Requests to a real server without a browser: every refusal of the guard, over real sockets."""

from __future__ import annotations

import itertools

import pytest
from tests.web.servers import Server

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip
SMALL = """
from shoal.web import uploads
uploads.MAX_BYTES = 5_000_000
from shoal.cli import main
main()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("server"), program=("-c", SMALL))
    yield made
    errors = made.read_errors()
    made.close()
    assert errors == ""


@pytest.fixture(scope="module")
def cookie(server):
    return server.sign_in()


@pytest.fixture(scope="module")
def own(server, cookie):
    return {"Cookie": cookie, "Origin": server.origin}


@pytest.mark.parametrize("path", ["/", "/describe", "/favicon.ico", "/upload", SOCKET])
def test_without_the_cookie_everything_is_refused(server, cookie, path):
    assert server.ask(path=path)[0] == 403
    assert server.ask(path=path, Cookie="shoal=1", Origin=server.origin)[0] == 403
    assert server.ask(path=SOCKET, Origin=server.origin, **UPGRADE)[0] == 403


def test_the_framework_s_files_are_refused_too(server, cookie):
    import nicegui

    path = f"/_nicegui/{nicegui.__version__}/static/nicegui.css"
    assert server.ask(path=path)[0] == 403
    assert server.ask(path=path, Cookie=cookie)[0] == 200


def test_the_spent_token_is_refused(server, cookie):
    assert server.ask()[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost"])
def test_another_host_is_misdirected(server, own, host):
    port = server.host.partition(":")[2]
    assert server.ask(path="/", **own | {"Host": f"{host}:{port}"})[0] == 421
    assert server.ask(path=SOCKET, **own | UPGRADE | {"Host": f"{host}:{port}"})[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None])
def test_another_origin_is_refused(server, own, origin):
    sent = {k: v for k, v in own.items() if k != "Origin"} | ({"Origin": origin} if origin else {})
    assert server.ask(path=SOCKET, **sent, **UPGRADE)[0] == 403
    assert server.ask("PUT", "/upload", b"a\n1\n", **sent)[0] == 403
    assert server.ask(path=SOCKET, **own, **UPGRADE)[0] == 101


def test_a_stream_that_grows_too_large_is_stopped_and_removed(server, own):
    before = set(server.temporary.rglob("*"))
    assert server.ask("PUT", "/upload", itertools.repeat(bytes(2**16)), **own)[0] == 413
    assert server.ask("POST", "/", itertools.repeat(bytes(2**16)), **own)[0] == 405
    assert server.ask("PUT", "/upload", bytes(5_000_001), **own)[0] == 413
    assert set(server.temporary.rglob("*")) == before
    status, answer = server.ask("PUT", "/upload", bytes(5_000_000), **own)
    assert (status, answer.getheader("cache-control")) == (204, "no-store")
    (made,) = set(server.temporary.rglob("*")) - before
    made.unlink()
