"""Jobs: long work in a process of its own, with progress, cancellation and a result.

The server stays responsive, and a crash or a lack of memory ends the job only. The process ends
with the server, however that ends: its standard input is a lifeline.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from shoal.comparison.parcels import is_importable
from shoal.errors import InputError
from shoal.support.processes import describe_exit
from shoal.support.temporaries import sweep
from shoal.web.worker import CANCEL, read_message

State = Literal["running", "done", "failed", "cancelled"]
Task = Callable[..., Any]

_TICK_SECONDS = 0.5  # between two calls of `on_change` without news
_PATIENCE_SECONDS = 1.0  # for a task to stop after a cancellation
_LAST_SECONDS = 0.4  # for its process to end after SIGTERM
_running: set[Job] = set()
_workspace: Path | None = None


class Job:
    """A task that runs in a process of its own; made by `start`.

    Attributes:
        state: `running`, `done`, `failed` or `cancelled`.
        fraction: How far it is, from 0 to 1; None while unknown.
        text: What it is doing.
        result: What the task returned, once it is done.
        error: Why it failed, in a sentence without cell values.
        on_change: Called in the event loop, at least once a second while the job runs and once when
            it has ended.
    """

    def __init__(self, on_change: Callable[[], object] | None = None) -> None:
        self.state: State = "running"
        self.fraction: float | None = None
        self.text = ""
        self.result: Any = None
        self.error = ""
        self.on_change = on_change
        self._begun = time.monotonic()
        self._ended_at: float | None = None
        self._is_cancelled = False
        self._over = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._folder = _own_folder()
        self._process = _start_process(self._folder)

    @property
    def seconds(self) -> float:
        """Seconds since the start, or until the end."""
        return (self._ended_at or time.monotonic()) - self._begun

    @property
    def is_running(self) -> bool:
        """Whether the job has not ended."""
        return self.state == "running"

    def cancel(self) -> None:
        """Ask the task to stop; end its process if it does not within a second."""
        if self.is_running and not self._is_cancelled:
            self._is_cancelled = True
            threading.Thread(target=self._stop, daemon=True).start()

    async def wait(self) -> Job:
        """Return when the job has ended."""
        await self._over.wait()
        return self

    def _run(self, parcel: bytes) -> None:
        """Send the task to the process and pass on its messages; runs in a thread."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError):  # the process has ended already
            process.stdin.write(parcel)
            process.stdin.flush()
        answer = None
        while (message := read_message(process.stdout)) is not None:
            if message[0] == "progress":
                self._in_loop(self._progress, *message[1:])
            else:
                answer = message
        status = process.wait()
        process.stdout.close()
        with suppress(OSError):
            process.stdin.close()
        self._clean(answer is None)
        self._in_loop(self._end, answer, status)

    def _in_loop(self, call: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(call, *arguments)

    def _progress(self, fraction: float | None, text: str) -> None:
        self.fraction, self.text = fraction, text
        self._notify()

    def _tick(self) -> None:
        if self.is_running:
            self._notify()
            self._loop.call_later(_TICK_SECONDS, self._tick)

    def _end(self, answer: tuple[Any, ...] | None, status: int) -> None:
        if answer is not None and answer[0] == "done":
            self.state, self.result, self.fraction = "done", answer[1], 1.0
        elif self._is_cancelled or (answer is not None and answer[0] == "cancelled"):
            self.state = "cancelled"
        else:
            self.state = "failed"
            self.error = answer[1] if answer else f"Nothing was made: {describe_exit(status)}."
        self._ended_at = time.monotonic()
        _running.discard(self)
        self._over.set()
        self._notify()

    def _notify(self) -> None:
        if self.on_change is not None:
            self.on_change()

    def _stop(self) -> None:
        """Ask, then terminate, then kill; runs in a thread."""
        process = self._process
        with suppress(OSError, ValueError):
            if process.stdin is not None:
                process.stdin.write(CANCEL)
                process.stdin.flush()
        for seconds, number in ((_PATIENCE_SECONDS, "SIGTERM"), (_LAST_SECONDS, "SIGKILL")):
            try:
                process.wait(seconds)
                return
            except subprocess.TimeoutExpired:
                _signal(process, number)

    def _clean(self, is_broken: bool) -> None:
        """Remove the temporary files of the process, and what it had begun to write."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        if is_broken and _workspace is not None:
            for folder, _, _ in os.walk(_workspace):
                sweep(Path(folder))


def start(task: Task, *arguments: Any, on_change: Callable[[], object] | None = None) -> Job:
    """Run a task in a new process; call it in the event loop.

    Parameters:
        task: A function at the top level of a module. It takes `report`, a function of a fraction
            (or None) and a text, and the arguments, and returns something small that can be
            pickled; large results belong in files. Progress of Shoal's own work is reported
            without `report`.
        arguments: The arguments, which must be picklable.
        on_change: Called in the event loop when something has changed.

    Returns:
        The running job.

    Raises:
        InputError: The task is not importable by another process.
    """
    if not is_importable(task):
        raise InputError("a task must be a function at the top level of an importable module")
    body = pickle.dumps((task, arguments), protocol=5)
    job = Job(on_change)
    _running.add(job)
    parcel = len(body).to_bytes(8, "big") + body
    threading.Thread(target=job._run, args=(parcel,), daemon=True).start()
    job._loop.call_later(_TICK_SECONDS, job._tick)
    return job


def use_workspace(path: Path | None) -> None:
    """Keep the temporary files of all later jobs in a private folder.

    Parameters:
        path: The folder; None for the system's folder for temporary files.
    """
    global _workspace  # noqa: PLW0603  one server per process
    _workspace = path


def running() -> list[Job]:
    """Return the jobs that have not ended."""
    return list(_running)


def stop_all() -> None:
    """Kill the processes of all jobs."""
    for job in running():
        _signal(job._process, "SIGKILL")


def _own_folder() -> Path | None:
    if _workspace is None:
        return None
    folder = _workspace / f"job-{os.urandom(8).hex()}"
    folder.mkdir(mode=0o700)
    return folder


def _start_process(folder: Path | None) -> subprocess.Popen[bytes]:
    """Start a fresh interpreter with the module path of this one, in a group of its own."""
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    own = {"TMPDIR": str(folder), "TEMP": str(folder)} if folder else {}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "shoal.web.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if os.environ.get("SHOAL_TRACEBACK") else subprocess.DEVNULL,
        env={**os.environ, **own, "PYTHONPATH": path},
        start_new_session=True,
    )


def _signal(process: subprocess.Popen[bytes], name: str) -> None:
    """Send a signal to a process and to those that it started."""
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, getattr(signal, name))
