"""The address: this computer only, both of its loopback addresses, a name that is new each time."""

from __future__ import annotations

import re
import socket

import pytest

from shoal.errors import InputError
from shoal.web import server
from shoal.web.server import bind, host_name


@pytest.fixture
def taken():
    sockets, port = bind()
    yield port
    for each in sockets:
        each.close()


def test_no_other_computer_can_connect(taken):
    sockets, _ = bind()
    assert {each.getsockname()[0] for each in sockets} <= {"127.0.0.1", "::1"}
    for each in sockets:
        each.close()


def test_a_port_that_is_taken_is_reported(taken):
    with pytest.raises(InputError, match=f"port {taken} is used by another program"):
        bind(taken)


def test_a_port_whose_other_address_is_taken_is_not_used():
    if not server._has_ipv6():
        pytest.skip("no IPv6 here")
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as other:
        other.bind(("::1", 0))
        other.listen()
        with pytest.raises(InputError, match="used by another program"):
            bind(other.getsockname()[1])


def test_names_are_new_and_under_localhost(monkeypatch):
    monkeypatch.setattr(server.sys, "platform", "linux")
    assert len({host_name() for _ in range(50)}) == 50
    assert re.fullmatch(r"shoal-[0-9a-f]{16}\.localhost", host_name())


def test_without_a_browser_that_resolves_names_the_number_is_used(monkeypatch):
    monkeypatch.setattr(server.sys, "platform", "darwin")
    monkeypatch.setattr(server.socket, "getaddrinfo", lambda *_: [(0, 0, 0, "", ("10.0.0.1",))])
    assert host_name() == "127.0.0.1"
    monkeypatch.setattr(server.socket, "getaddrinfo", lambda *_: [(0, 0, 0, "", ("::1",))])
    assert host_name().endswith(".localhost")
