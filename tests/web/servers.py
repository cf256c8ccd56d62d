"""A running web app in a process of its own, as a user starts it."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

ADDRESS = re.compile(r"Shoal is running at (http://[\w.-]+:\d+/auth\?token=[\w-]{43}) \(works once")
OWN = ("PYTEST", "NICEGUI")  # variables with which NiceGUI would think that it is tested


def environment(temporary):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(OWN)}
    return {**kept, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)}


@dataclass
class Server:
    """A started `shoal web --no-browser`; its output and errors are kept in files."""

    folder: Path  # `here` is its working folder, `temporary` holds its workspace
    arguments: tuple = ()
    program: tuple = ("-m", "shoal")
    process: subprocess.Popen = field(init=False)
    line: str = field(init=False)

    def __post_init__(self):
        self.here, self.temporary = self.folder / "here", self.folder / "temporary"
        self.here.mkdir(exist_ok=True)
        self.temporary.mkdir(exist_ok=True)
        self.errors = tempfile.TemporaryFile("w+", dir=self.folder)  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, *self.program, "web", "--no-browser", *map(str, self.arguments)],
            stdout=subprocess.PIPE, stderr=self.errors, text=True, cwd=self.here,
            env=environment(self.temporary),
        )  # fmt: skip
        self.line = self.process.stdout.readline()

    @property
    def address(self):
        return ADDRESS.match(self.line)[1]

    @property
    def host(self):
        return urlsplit(self.address).netloc

    @property
    def origin(self):
        return f"http://{self.host}"

    def ask(self, method="GET", path=None, body=None, **headers):
        """Send a request without a browser; return the status and the answer."""
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=30)
        with contextlib.closing(connection):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            wanted = path or f"{parts.path}?{parts.query}"
            chunked = hasattr(body, "__next__")
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused on the way
                connection.request(
                    method, wanted, body=body, headers={"Host": parts.netloc, **named},
                    encode_chunked=chunked,
                )  # fmt: skip
            answer = connection.getresponse()
            with contextlib.suppress(http.client.IncompleteRead):
                answer.read()
            return answer.status, answer

    def sign_in(self):
        """Spend the token; return the cookie."""
        return self.ask()[1].getheader("set-cookie").partition(";")[0]

    def stop(self, number=signal.SIGINT):
        """End the server; return what it printed after its address, and its errors."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=120)
        return out, self.read_errors()

    def read_errors(self):
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        self.process.kill()
        self.process.communicate()
        self.errors.close()

    def releasing(self):
        """Return the ids of the processes that have begun a slow release."""
        return [int(path.stem) for path in self.temporary.rglob("*.pid")]

    def workers(self):
        """Return the ids of the processes that the server has started."""
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                state, parent = status.read_text().rpartition(")")[2].split()[:2]
                if int(parent) == self.process.pid and state != "Z":
                    found.append(int(status.parent.name))
        return found
