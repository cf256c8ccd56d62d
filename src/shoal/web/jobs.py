"""Jobs: long work in a process of its own, with progress, cancellation and a result.

The server stays responsive, and a crash or a lack of memory ends the job only. The process ends
with the server, however that ends: its standard input is a lifeline. It is a fresh interpreter with
a private folder; one process can wait with its imports done, so that the next job begins at once.

    server                         shoal.web.worker
    Job ──── task, arguments ────→ task(report, …)
    progress, result ←──────────── messages
    cancel ───────── one byte ───→ the task ends at its next report, or is killed
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shoal.comparison.runner import is_importable
from shoal.errors import InputError
from shoal.support.files import sweep
from shoal.support.wording import describe_exit
from shoal.web.worker import CANCEL, READY, read_message

State = Literal["running", "done", "failed", "cancelled"]
Task = Callable[..., Any]

_TICK_SECONDS = 0.5  # between two calls of `on_change` without news
_PATIENCE_SECONDS = 1.0  # for a task to stop after a cancellation
_LAST_SECONDS = 0.4  # for its process to end after SIGTERM
_running: set[Job] = set()


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
        self._own = take_process()
        self._process = self._own.process

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
            self.error = answer[1] if answer else f"The work failed: {describe_exit(status)}."
        self._ended_at = time.monotonic()
        _running.discard(self)
        restore_spare()
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
        # a task in compiled code reads no message, so its process is ended
        for seconds, number in ((_PATIENCE_SECONDS, "SIGTERM"), (_LAST_SECONDS, "SIGKILL")):
            try:
                process.wait(seconds)
                return
            except subprocess.TimeoutExpired:
                self._own.signal(number)

    def _clean(self, is_broken: bool) -> None:
        """Remove the temporary files of the process, and what it had begun to write."""
        self._own.remove_folder()
        workspace = private_workspace()
        if is_broken and workspace is not None:
            for folder, _, _ in os.walk(workspace):
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


def running() -> list[Job]:
    """Return the jobs that have not ended."""
    return list(_running)


def stop_all() -> None:
    """Kill the processes of all jobs, and the one that waits for the next job."""
    for job in running():
        job._own.signal("SIGKILL")
    keep_spare(kept=False)


_workspace: Path | None = None
_spare: JobProcess | None = None
_is_spare_kept = False


@dataclass(frozen=True, eq=False)
class JobProcess:
    """A process that waits for its task on its standard input.

    Parameters:
        process: The process; it leads a group of its own.
        folder: Its folder for temporary files; None for the system's.
    """

    process: subprocess.Popen[bytes]
    folder: Path | None

    @classmethod
    def start(cls, *arguments: str) -> JobProcess:
        """Start an interpreter with the module path of this one.

        Parameters:
            arguments: The arguments of the worker.
        """
        folder = _own_folder()
        # the module path of the server; with -P nothing is added to it
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        own = {"TMPDIR": str(folder), "TEMP": str(folder)} if folder else {}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "shoal.web.worker", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("SHOAL_TRACEBACK") else subprocess.DEVNULL,
            env={**os.environ, **own, "PYTHONPATH": path},
            start_new_session=True,
        )
        return cls(process, folder)

    def signal(self, name: str) -> None:
        """Send a signal to the process and to those that it started.

        Parameters:
            name: The signal, such as `SIGKILL`.
        """
        with suppress(OSError):
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, getattr(signal, name))

    def end(self) -> None:
        """End a process that has no task, and remove its folder."""
        self.signal("SIGKILL")
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.remove_folder()

    def remove_folder(self) -> None:
        """Remove the temporary files."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def take_process() -> JobProcess:
    """Return a process for a job: the spare one if there is one, else a new one."""
    global _spare
    spare, _spare = _spare, None
    if spare is not None:
        if spare.process.poll() is None:
            return spare
        spare.end()  # it was killed while it waited
    return JobProcess.start()


def keep_spare(*, kept: bool = True) -> None:
    """Keep one process ready for the next job, or none.

    Parameters:
        kept: Whether a process is started now, and after each job.
    """
    global _is_spare_kept, _spare  # noqa: PLW0603  one server per process
    _is_spare_kept = kept
    if kept:
        restore_spare()
    elif _spare is not None:
        _spare.end()
        _spare = None


def restore_spare() -> None:
    """Start the spare process again after a job has taken it."""
    global _spare  # noqa: PLW0603  one server per process
    if _is_spare_kept and _spare is None:
        _spare = JobProcess.start(READY)


def use_workspace(path: Path | None) -> None:
    """Keep the temporary files of all later jobs in a private folder.

    Parameters:
        path: The folder; None for the system's folder for temporary files.
    """
    global _workspace  # noqa: PLW0603  one server per process
    keep_spare(kept=False)
    _workspace = path


def private_workspace() -> Path | None:
    """Return the private folder of the jobs."""
    return _workspace


def _own_folder() -> Path | None:
    if _workspace is None:
        return None
    folder = _workspace / f"job-{os.urandom(8).hex()}"
    folder.mkdir(mode=0o700)
    return folder
