"""The guard in front of the web app: it lets one browser in, and adds headers to every answer.

A pure ASGI layer, because it must also see websockets. A request passes these checks in order: the
name of the host, the origin, the site that sent it, the cookie, and its size.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SIGN_IN = "/auth"
MAX_BODY = 2**20  # bytes of a request that is no upload
_SECRET_BYTES = 32
_READING = frozenset({"GET", "HEAD"})
_OWN_PAGES = frozenset({"same-origin", "none"})  # of Sec-Fetch-Site
_POLICY = (
    "default-src 'none'; "
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'; "  # NiceGUI compiles templates in the page
    "style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; "
    "font-src 'self'; "
    "connect-src 'self'; "
    "frame-ancestors 'none'; "
    "base-uri 'none'; "
    "form-action 'self'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_CLOSE = (b"connection", b"close")
_FRAMEWORK = "/_nicegui/"  # its scripts and fonts are the same for every table
_DOWNLOADS = "/_nicegui/auto/"

_ENTER = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Shoal</title>'
    '<meta http-equiv="refresh" content="0;url=/"><p><a href="/">Open Shoal</a></p></html>'
)
_REFUSED = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Shoal</title>'
    '<body style="font-family:system-ui;max-width:36rem;margin:4rem auto;padding:0 1rem">'
    "<h1>This address does not open Shoal</h1><p>An address works once, in one browser. To open "
    "Shoal again, use the tab that you opened first, or stop <code>shoal web</code> in the "
    "terminal with Ctrl-C and start it again.</p></body></html>"
)


def _secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


@dataclass
class Access:
    """The address of the app, and the secrets of the one browser that may use it.

    Parameters:
        host: Name and port, as a browser sends them: "name.localhost:8000".
        token: Opens the app once; exchanged for the cookie.
        cookie: The secret that the browser keeps.
        name: The name of the cookie, new for every start.

    >>> access = Access("fish.localhost:8000", token="abc")
    >>> access.address
    'http://fish.localhost:8000/auth?token=abc'
    >>> access.spend("wrong"), access.spend("abc"), access.spend("abc")
    (False, True, False)
    """

    host: str
    token: str | None = field(default_factory=_secret, repr=False)
    cookie: str = field(default_factory=_secret, repr=False)
    name: str = field(default_factory=lambda: f"shoal-{secrets.token_hex(4)}", repr=False)

    @property
    def origin(self) -> str:
        """The origin of the app's own pages."""
        return f"http://{self.host}"

    @property
    def address(self) -> str:
        """The address that opens the app, once."""
        return f"{self.origin}{SIGN_IN}?token={self.token}"

    def spend(self, offered: str) -> bool:
        """Return whether this is the token, which then opens nothing any more."""
        if self.token is None or not _equal(offered, self.token):
            return False
        self.token = None
        return True

    def admits(self, offered: Iterable[str]) -> bool:
        """Return whether one of these `cookie` headers has the cookie."""
        for header in offered:
            try:
                found = SimpleCookie(header).get(self.name)
            except CookieError:
                continue
            if found is not None and _equal(found.value, self.cookie):
                return True
        return False


def _equal(offered: str, secret: str) -> bool:
    return hmac.compare_digest(offered.encode("utf-8", "replace"), secret.encode())


class Guard:
    """An ASGI app that lets only the one browser through to another app.

    Parameters:
        app: The app to protect.
        access: The address and the secrets.
        limits: The largest body in bytes by prefix of a path; other bodies have at most 1 MiB.
    """

    def __init__(self, app: App, access: Access, limits: dict[str, int] | None = None) -> None:
        self.app = app
        self.access = access
        self.limits = limits or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            status = self._refusal(scope, _Headers(scope)) or self._needs_cookie(scope)
            if status:
                await _refuse_socket(scope, receive, send, status)
            else:
                await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, _with_headers(send, scope["path"]))

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _Headers(scope)
        status = self._refusal(scope, headers)
        if status:
            await _answer(send, status, _REFUSED if status == 403 else "")
        elif scope["path"] == SIGN_IN:
            await self._sign_in(scope, headers, send)
        elif self._needs_cookie(scope):
            await _answer(send, 403, _REFUSED)
        else:
            await self._limited(scope, headers, receive, send)

    def _refusal(self, scope: Scope, headers: _Headers) -> int:
        """Return the status for a request from elsewhere, 0 for one from the app's own pages."""
        # a page that reaches the app under another name is an attempt at DNS rebinding
        if headers.all("host") != [self.access.host]:
            return 421
        origins = headers.all("origin")
        reading = scope["type"] == "http" and scope["method"] in _READING
        if any(origin != self.access.origin for origin in origins) or not (origins or reading):
            return 403
        if scope["type"] == "http" and scope["path"] == SIGN_IN:
            return 0  # the browser comes from a terminal or from a file; the token decides
        return 0 if set(headers.all("sec-fetch-site")) <= _OWN_PAGES else 403

    def _needs_cookie(self, scope: Scope) -> int:
        return 0 if self.access.admits(_Headers(scope).all("cookie")) else 403

    async def _sign_in(self, scope: Scope, headers: _Headers, send: Send) -> None:
        """Exchange the token for the cookie.

        The answer is a page that moves on, not a redirect: after a redirect, a browser that comes
        from elsewhere would not send the cookie.
        """
        if scope["method"] != "GET" or not _is_visit(headers):
            await _answer(send, 403, _REFUSED)
            return
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        access = self.access
        if access.admits(headers.all("cookie")):
            await _answer(send, 200, _ENTER)
        elif access.spend(query.get("token", [""])[0]):
            cookie = f"{access.name}={access.cookie}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(send, 200, _ENTER, [("set-cookie", cookie)])
        else:
            await _answer(send, 403, _REFUSED)

    async def _limited(self, scope: Scope, headers: _Headers, receive: Receive, send: Send) -> None:
        """Pass a request on; to the app, a body that grows too large looks like a broken line."""
        path = scope["path"]
        limit = next((n for start, n in self.limits.items() if path.startswith(start)), MAX_BODY)
        stated = headers.all("content-length")
        unknown = not stated and scope["method"] not in _READING
        if any(not length.isdecimal() or int(length) > limit for length in stated):
            await _answer(send, 413, close=True)
            return
        # seen: bytes of the body so far; begun: an answer was sent; gone: the browser has left
        seen, begun, gone = 0, False, False

        async def counted() -> Message:
            nonlocal seen, gone
            message = await receive()
            seen += len(message.get("body", b""))
            gone = gone or message["type"] == "http.disconnect"
            return message if seen <= limit else {"type": "http.disconnect"}

        async def noted(message: Message) -> None:
            nonlocal begun
            if begun or seen <= limit:
                if unknown and message["type"] == "http.response.start":
                    # the server would read the rest of a body that the app does not want
                    message = {**message, "headers": [*message["headers"], _CLOSE]}
                begun = True
                await send(message)

        try:
            await self.app(scope, counted, noted)
        except Exception:
            if seen <= limit and not gone:  # frameworks fail when a browser goes away
                raise
        if seen > limit and not begun:
            await _answer(send, 413, close=True)


class _Headers:
    """The headers of a request, by lower-case name."""

    def __init__(self, scope: Scope) -> None:
        self._pairs = scope.get("headers", [])

    def all(self, name: str) -> list[str]:
        key = name.encode()
        return [value.decode("latin-1") for found, value in self._pairs if found.lower() == key]


def _is_visit(headers: _Headers) -> bool:
    """Return whether a person opens the page; browsers also fetch addresses in advance."""
    if headers.all("sec-purpose") or headers.all("purpose"):
        return False
    return set(headers.all("sec-fetch-mode")) <= {"navigate"} and set(
        headers.all("sec-fetch-dest")
    ) <= {"document"}


def _with_headers(send: Send, path: str) -> Send:
    """Return a `send` that adds the security headers to every answer."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            extra = dict(_HEADERS)
            if path.startswith(_DOWNLOADS):  # saved, never shown as a page of the app
                extra |= {"content-disposition": "attachment", "cache-control": "no-store"}
            elif not path.startswith(_FRAMEWORK):
                extra["cache-control"] = "no-store"
            names = {name.encode() for name in extra}
            kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in names]
            added = [(name.encode(), value.encode()) for name, value in extra.items()]
            message = {**message, "headers": [*kept, *added]}
        await send(message)

    return sending


async def _answer(
    send: Send,
    status: int,
    page: str = "",
    more: Iterable[tuple[str, str]] = (),
    *,
    close: bool = False,
) -> None:
    body = page.encode()
    headers = [("content-type", "text/html; charset=utf-8"), ("content-length", str(len(body)))]
    encoded = [(name.encode(), value.encode()) for name, value in (*headers, *more)]
    encoded += [_CLOSE] if close else []
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


async def _refuse_socket(scope: Scope, receive: Receive, send: Send, status: int) -> None:
    """Refuse a websocket before it opens."""
    await receive()
    if "websocket.http.response" in scope.get("extensions", {}):
        start = {"type": "websocket.http.response.start", "status": status, "headers": []}
        await send(start)
        await send({"type": "websocket.http.response.body", "body": b""})
    else:
        await send({"type": "websocket.close", "code": 1008})
