"""The guard: one browser, its own pages, bodies of a limited size; everything else is refused."""

from __future__ import annotations

import asyncio
from http.cookies import SimpleCookie

import pytest

from shoal.web.guard import MAX_BODY, SIGN_IN, Access, Guard

HOST = "shoal-1234.localhost:8123"
ORIGIN = f"http://{HOST}"
PATHS = [
    "/",
    "/describe",
    "/_nicegui/3.18.0/static/nicegui.js",
    "/upload",
    "/nowhere",
    "//",
    "/auth/",
]
ELSEWHERE = ["http://evil.example", "null", "", f"https://{HOST}", "http://localhost:8123"]


class Inner:
    """An app that says what reached it, and reads every body to its end."""

    def __init__(self):
        self.reached = []
        self.read = 0

    async def __call__(self, scope, receive, send):
        self.reached.append(scope["type"])
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            return
        while True:
            message = await receive()
            self.read += len(message.get("body", b""))
            if not message.get("more_body"):
                break
        start = {"type": "http.response.start", "status": 200, "headers": [(b"Server", b"x")]}
        await send(start)
        await send({"type": "http.response.body", "body": b"inside"})


class Browser:
    """Sends requests to a guard and keeps its cookie."""

    def __init__(self, **limits):
        self.inner = Inner()
        self.access = Access(HOST)
        self.guard = Guard(self.inner, self.access, limits)
        self.cookie = None

    def send(self, scope, messages):
        sent, waiting = [], list(messages)

        async def receive():
            return waiting.pop(0)

        async def send(message):
            sent.append(message)

        asyncio.run(self.guard(scope, receive, send))
        return sent

    def request(self, path="/", *, method="GET", query="", host=HOST, chunks=(b"",), **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        pairs = [(b"host", host.encode())] if host is not None else []
        pairs += [(name.encode(), str(value).encode()) for name, value in named.items()]
        if self.cookie:
            pairs.append((b"cookie", self.cookie.encode()))
        scope = {
            "type": "http", "method": method, "path": path, "headers": pairs,
            "query_string": query.encode(),
        }  # fmt: skip
        parts = [{"type": "http.request", "body": part, "more_body": True} for part in chunks]
        parts[-1]["more_body"] = False
        start, *_ = self.send(scope, parts)
        return start["status"], {k.decode().lower(): v.decode() for k, v in start["headers"]}

    def socket(self, path="/_nicegui_ws/socket.io/", host=HOST, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        pairs = [(b"host", host.encode())]
        pairs += [(name.encode(), value.encode()) for name, value in named.items()]
        if self.cookie:
            pairs.append((b"cookie", self.cookie.encode()))
        scope = {
            "type": "websocket", "path": path, "headers": pairs,
            "extensions": {"websocket.http.response": {}},
        }  # fmt: skip
        first, *_ = self.send(scope, [{"type": "websocket.connect"}])
        return 101 if first["type"] == "websocket.accept" else first["status"]

    def sign_in(self, **headers):
        status, found = self.request(SIGN_IN, query=f"token={self.access.token}", **headers)
        if "set-cookie" in found:
            self.cookie = found["set-cookie"].partition(";")[0]
        return status, found


@pytest.fixture
def stranger():
    return Browser()


@pytest.fixture
def browser():
    made = Browser()
    assert made.sign_in()[0] == 200
    return made


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_without_the_cookie_nothing_is_reached(stranger, path, method):
    assert stranger.request(path, method=method, origin=ORIGIN)[0] == 403
    assert stranger.inner.reached == []


def test_without_the_cookie_no_websocket_opens(stranger):
    assert stranger.socket(origin=ORIGIN) == 403
    assert stranger.inner.reached == []


def test_the_token_opens_the_app_once(stranger):
    token = stranger.access.token
    status, headers = stranger.sign_in()
    (cookie,) = SimpleCookie(headers["set-cookie"]).values()
    assert status == 200
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
    assert cookie["domain"] == ""
    assert cookie.value != token
    assert stranger.request()[0] == 200
    stranger.cookie = None
    assert stranger.request(SIGN_IN, query=f"token={token}")[0] == 403
    assert "set-cookie" not in stranger.request(SIGN_IN, query=f"token={token}")[1]


def test_the_browser_that_is_in_may_visit_the_first_address_again(browser):
    assert browser.request(SIGN_IN, query="token=spent")[0] == 200


@pytest.mark.parametrize("query", ["", "token=", "token=wrong", "token=%ff", "other=1"])
def test_a_wrong_token_opens_nothing_and_spends_nothing(stranger, query):
    assert stranger.request(SIGN_IN, query=query)[0] == 403
    assert stranger.sign_in()[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_purpose": "prefetch;prerender"},
        {"purpose": "prefetch"},
        {"sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"},
        {"sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"},
        {"origin": "http://evil.example"},
    ],
)
def test_only_a_person_who_opens_the_page_spends_the_token(stranger, headers):
    assert stranger.sign_in(**headers)[0] == 403
    assert stranger.sign_in(sec_fetch_site="cross-site", sec_fetch_mode="navigate")[0] == 200


def test_a_page_from_a_file_moves_on_by_itself(stranger):
    """A redirect would arrive without the cookie, because the visit began elsewhere."""
    status, headers = stranger.sign_in(sec_fetch_site="cross-site")
    assert (status, "location" in headers) == (200, False)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1:8123", "localhost:8123", "shoal-1234.localhost", "", None,
     "shoal-1234.localhost:80", f"{HOST}.", f"x.{HOST}", HOST.upper()],
)  # fmt: skip
def test_another_host_is_misdirected(browser, host):
    assert browser.request(host=host)[0] == 421
    assert browser.request(SIGN_IN, host=host)[0] == 421
    assert browser.socket(host=host or "", origin=ORIGIN) == 421
    assert browser.inner.reached == []


def test_a_second_host_header_is_misdirected(browser):
    scope = {
        "type": "http", "method": "GET", "path": "/", "query_string": b"",
        "headers": [(b"host", HOST.encode()), (b"Host", b"evil.example"),
                    (b"cookie", browser.cookie.encode())],
    }  # fmt: skip
    assert browser.send(scope, [])[0]["status"] == 421


@pytest.mark.parametrize("origin", ELSEWHERE)
def test_another_origin_is_refused(browser, origin):
    assert browser.request(origin=origin)[0] == 403
    assert browser.request("/upload", method="PUT", origin=origin)[0] == 403
    assert browser.socket(origin=origin) == 403
    assert browser.inner.reached == []


def test_a_missing_origin_is_refused_except_for_reading(browser):
    assert browser.request(method="POST")[0] == 403
    assert browser.request("/upload", method="PUT")[0] == 403
    assert browser.socket() == 403
    assert browser.request()[0] == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "unknown"])
def test_a_request_that_another_site_sent_is_refused(browser, site):
    assert browser.request(sec_fetch_site=site)[0] == 403
    assert browser.socket(origin=ORIGIN, sec_fetch_site=site) == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_own_pages_pass(browser, site):
    assert browser.request(sec_fetch_site=site)[0] == 200
    assert browser.request(method="POST", origin=ORIGIN, sec_fetch_site=site)[0] == 200
    assert browser.socket(origin=ORIGIN, sec_fetch_site=site) == 101


@pytest.mark.parametrize("cookie", ["{}=wrong", "{}=", "other={}", "{}", "=", "{}=é; a=b", '{}="'])
def test_a_wrong_cookie_is_refused(browser, cookie):
    browser.cookie = cookie.format(browser.access.name)
    assert browser.request()[0] == 403
    assert browser.socket(origin=ORIGIN) == 403


def test_a_cookie_among_others_is_found(browser):
    browser.cookie = f"a=b; {browser.cookie}; c=d"
    assert browser.request()[0] == 200


def test_a_body_that_states_too_much_is_refused_unread(browser):
    large = {"origin": ORIGIN, "method": "POST"}
    assert browser.request(content_length=MAX_BODY, **large)[0] == 200
    assert browser.request(content_length=MAX_BODY + 1, **large)[0] == 413
    assert browser.request(content_length="-1", **large)[0] == 413
    assert browser.request(content_length="many", **large)[0] == 413


def test_a_body_that_grows_too_large_is_stopped_on_the_way():
    browser = Browser(**{"/upload": 3 * MAX_BODY})
    browser.sign_in()
    part = bytes(MAX_BODY)
    stream = {"method": "PUT", "origin": ORIGIN}
    assert browser.request("/upload/a", chunks=[part] * 3, **stream)[0] == 200
    browser.inner.read = 0
    assert browser.request("/upload/a", chunks=[part] * 9, **stream)[0] == 413
    assert browser.inner.read == 3 * MAX_BODY  # what came later was not handed over
    assert browser.request("/other", chunks=[part] * 2, **stream)[0] == 413


@pytest.mark.parametrize("path", ["/", "/_nicegui/static.js", SIGN_IN, "/refused"])
def test_every_answer_has_the_security_headers(browser, path):
    if path == "/refused":
        browser.cookie = None
    _, headers = browser.request(path)
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self' ")
    assert "frame-ancestors 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert (headers.get("cache-control") == "no-store") is not path.startswith("/_nicegui/")


def test_a_download_is_saved_and_neither_shown_nor_stored(browser):
    _, headers = browser.request("/_nicegui/auto/static/key/report.html")
    assert headers["content-disposition"] == "attachment"
    assert headers["cache-control"] == "no-store"


def test_secrets_are_long_new_and_not_shown():
    first, second = Access(HOST), Access(HOST)
    shown = [first.token, first.cookie, first.name]
    assert not set(shown) & {second.token, second.cookie, second.name}
    assert min(len(first.token), len(first.cookie)) >= 43  # 256 bits
    assert not [secret for secret in shown if secret in repr(first)]


def test_the_start_and_the_end_of_the_server_pass(stranger):
    async def inner(scope, receive, send):
        await send({"type": "lifespan.startup.complete"})

    stranger.guard.app = inner
    assert stranger.send({"type": "lifespan"}, []) == [{"type": "lifespan.startup.complete"}]
