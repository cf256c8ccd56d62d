"""The command: one line with the address, a private workspace, a quick end, nothing left."""

from __future__ import annotations

import http.client
import os
import re
import signal
import stat
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from shoal.web import server

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow

ADDRESS = re.compile(r"Shoal is running at (http://[\w.-]+:\d+/auth\?token=[\w-]{43}) \(works once")
BLOCKED = """
import time
from shoal.cli import main
from shoal.web import server
started = server._Server.startup

async def startup(self, sockets=None):
    await started(self, sockets)
    time.sleep(900)  # the event loop computes and sees no signal

server._Server.startup = startup
main()
"""


def environment(folder):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "NICEGUI"))}
    return {**kept, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture
def folders(tmp_path):
    for name in ("here", "temporary"):
        (tmp_path / name).mkdir()
    return tmp_path / "here", tmp_path / "temporary"


@pytest.fixture
def start(folders):
    here, temporary = folders
    started = []

    def start(*arguments, program=("-m", "shoal")):
        process = subprocess.Popen(
            [sys.executable, *program, "web", "--no-browser", *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=here,
            env=environment(temporary),
        )  # fmt: skip
        started.append(process)
        return process, process.stdout.readline()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def get(address, path=None, **headers):
    parts = urlsplit(address)
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=120)
    try:
        wanted = path or f"{parts.path}?{parts.query}"
        connection.request("GET", wanted, headers={"Host": parts.netloc, **headers})
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer
    finally:
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_starts_serves_and_ends_without_a_trace(start, folders, number):
    here, temporary = folders
    process, line = start()
    address = ADDRESS.match(line)[1]
    assert [stat.S_IMODE(p.stat().st_mode) for p in temporary.iterdir()] == [0o700]
    status, answer = get(address)
    assert status == 200
    cookie = answer.getheader("set-cookie").partition(";")[0]
    assert get(address, "/")[0] == 403
    assert get(address, "/", Cookie=cookie)[0] == 200
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "Shoal has stopped\n", "")
    assert list(here.iterdir()) == list(temporary.iterdir()) == []


def test_it_ends_also_while_it_computes(start, folders):
    process, _ = start(program=("-c", BLOCKED))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert list(folders[1].iterdir()) == []


def test_what_a_killed_server_left_is_swept_by_the_next(start, folders):
    temporary = folders[1]
    process, _ = start()
    process.kill()
    process.communicate()
    (left,) = temporary.iterdir()
    start()
    assert left not in list(temporary.iterdir())


def test_a_file_or_a_port_that_cannot_be_used_is_one_line(start, folders):
    process, line = start("none.csv")
    assert (line, process.wait()) == ("", 2)
    assert process.stderr.read() == "shoal: none.csv: no such file; check the path\n"
    _, line = start()
    port = urlsplit(ADDRESS.match(line)[1]).port
    process, line = start("--port", port)
    assert (line, process.wait()) == ("", 2)
    assert "is used by another program" in process.stderr.read()


def test_the_browser_is_opened_through_a_private_file(tmp_path, monkeypatch):
    from shoal.web.guard import Access
    from shoal.web.uploads import Workspace

    opened = []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    monkeypatch.setattr(server.threading, "Thread", Directly)
    access = Access("fish.localhost:8123")
    server._open_browser(access, Workspace(tmp_path))
    (file,) = tmp_path.iterdir()
    assert opened == [file.as_uri()]
    assert access.token not in opened[0]
    assert f"0;url={access.address}" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


class Directly:
    """A thread that runs at once."""

    def __init__(self, target, daemon):
        self.start = target


def test_without_the_extra_there_is_a_hint(tmp_path):
    program = (
        "import sys; sys.modules['nicegui'] = None; sys.argv = ['shoal', 'web', '--no-browser'];"
        "from shoal.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert done.stderr == (
        "shoal: this needs nicegui; install it with: pip install 'shoal-privacy[web]'\n"
    )
