"""The address of the web app: a port on this computer only, under a name that nobody can guess.

Cookies ignore ports, so a page of another program on this computer would receive the cookies of a
shared name such as 127.0.0.1. Browsers resolve every name under .localhost to this computer.
"""

from __future__ import annotations

import errno
import secrets
import socket
import sys

from shoal.errors import InputError

_LOOPBACK = "127.0.0.1"
_ATTEMPTS = 20


def bind(port: int = 0) -> tuple[list[socket.socket], int]:
    """Return sockets that listen on this computer only, and their port.

    Both loopback addresses are taken, so that no other program can answer under the app's name.

    Parameters:
        port: The port; 0 for any free one.

    >>> sockets, port = bind()
    >>> sorted({socket.getsockname()[0] for socket in sockets} - {"::1"}), port > 1023
    (['127.0.0.1'], True)
    >>> for each in sockets:
    ...     each.close()
    """
    for _ in range(_ATTEMPTS):
        first = _listen(socket.AF_INET, _LOOPBACK, port)
        chosen = int(first.getsockname()[1])
        if not _has_ipv6():
            return [first], chosen
        try:
            return [first, _listen(socket.AF_INET6, "::1", chosen)], chosen
        except InputError:
            first.close()
            if port:
                raise
    raise InputError("no free port was found; choose one with --port N")


def host_name() -> str:
    """Return a new name under .localhost, or 127.0.0.1 where the browser may not resolve it."""
    name = f"shoal-{secrets.token_hex(8)}.localhost"
    return name if sys.platform != "darwin" or _resolves_here(name) else _LOOPBACK


def _resolves_here(name: str) -> bool:
    """Return whether the system resolves a name to this computer; Safari asks the system."""
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(name, None)}
    except OSError:
        return False
    return found <= {_LOOPBACK, "::1"}


def _has_ipv6() -> bool:
    if not socket.has_ipv6:
        return False
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def _listen(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if sys.platform == "win32":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:  # a port may be used again right after a stop
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except OSError as error:
        made.close()
        if error.errno == errno.EACCES:
            raise InputError(
                f"port {port} is reserved by the system; choose --port 1024 or more"
            ) from None
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} is used by another program; choose another with --port N, or leave "
                "the option out for a free one"
            ) from None
        raise InputError(f"port {port} cannot be opened; choose another with --port N") from None
    return made
