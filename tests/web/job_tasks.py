"""Tasks for jobs: they run in another process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from shoal.errors import InputError
from shoal.support.files import replace_file
from shoal.support.progress import report as report_stage

CANARY = "QXZW"


def add(report, first, second):
    return first + second


def imported(report):
    return sorted(name for name in sys.modules if name.startswith("shoal"))


def niceness(report):
    return os.nice(0)


def count(report, steps, seconds):
    for step in range(steps):
        report(step / steps, f"step {step}")
        threading.Event().wait(seconds / steps)
    return steps


def stages(report):
    for step in range(4):
        report_stage("search", step, 4)
        threading.Event().wait(0.25)
    report_stage("write", 1)


def chatter(report):
    for step in range(20_000):
        report(step / 20_000, "busy")


def fail(report, message):
    raise ValueError(message)


def refuse(report):
    raise InputError("k must be 2 or more")


def exhaust(report):
    raise MemoryError


def print_and_return(report, secret):
    print(secret)
    print(secret, file=sys.stderr)
    os.write(1, secret.encode())
    return os.read(0, 1)


def unpicklable(report):
    return lambda: None


def wait_forever(report, pid_file=None):
    if pid_file:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        Path(pid_file).write_text(f"{os.getpid()} {child.pid}\n")
    while True:
        report(None, "waiting")
        threading.Event().wait(0.05)


def be_deaf(report):
    """Ignore everything that can be ignored, and hold the interpreter."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    report(0.5, "deaf")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        sum(range(10_000_000))


def kill_itself(report):
    os.kill(os.getpid(), signal.SIGKILL)


def write_and_be_killed(report, folder):
    with replace_file(Path(folder) / "release.csv") as temporary:
        temporary.write_text(CANARY)
        kill_itself(report)


def temporary_folder(report):
    import tempfile

    path = Path(tempfile.mkstemp()[1])
    path.write_text(CANARY)
    return str(path), oct(path.stat().st_mode & 0o777)


def slow_release(report, request):
    """Stands in for a release that takes a minute; the name of a file is its process."""
    (request.folder / "release.csv.part").write_text(CANARY)
    (request.folder / f"{os.getpid()}.pid").touch()
    for step in range(600):
        report(step / 600, "Searching")
        threading.Event().wait(0.1)
    return {}


def busy_release(report, request):
    """Compute for half a minute, without a pause."""
    end = time.monotonic() + 40
    while time.monotonic() < end:
        report(1 - (end - time.monotonic()) / 40, "Computing")
        sum(range(200_000))
    return {}
