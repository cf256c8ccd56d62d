"""Tasks in parallel processes, a fresh one for each, so that one that dies takes nothing with it.

Knows nothing of releases: `work` is any function from a module, tasks are its arguments.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from shoal.comparison.parcels import pack
from shoal.core.files import replace_file
from shoal.core.progress import report
from shoal.core.unnamed_files import open_unnamed
from shoal.errors import InputError, OutputError

Task = TypeVar("Task")
_PAUSE = 0.02  # seconds between two looks at the processes
_THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """What became of a task: its result, or the reason why there is none."""

    result: Mapping[str, Any] | None
    reason: str = ""


def run_tasks(
    tasks: Mapping[str, Task],
    work: Callable[[Task], Mapping[str, Any]],
    *,
    processes: int | None = None,
    folder: Path | None = None,
    time_limit: float | None = None,
    stage: str = "runs",
) -> dict[str, Outcome]:
    """Return what `work` made of each task, by the task's name.

    work: its result must be plain data, as JSON can hold it; an error is the outcome of its task.
    processes: how many at a time; by default one for each core.
    folder: each result is kept there as NAME.json as soon as it is there, and not made again.
    time_limit: seconds after which a task's process is ended.
    stage: what progress is reported as.
    """
    cores = _cores()
    abreast = cores if processes is None else processes
    _check(abreast, time_limit)
    found = {name: Outcome(result) for name in tasks if (result := _kept(folder, name)) is not None}
    waiting = [name for name in tasks if name not in found]
    report(stage, len(found), len(tasks))
    if not waiting:
        return found
    abreast = min(abreast, len(waiting))
    running: list[_Process] = []
    with open_unnamed() as parcel:
        pack((work, {name: tasks[name] for name in waiting}), parcel)
        try:
            while waiting or running:
                while waiting and len(running) < abreast:
                    running.append(_Process.start(waiting.pop(0), parcel, max(cores // abreast, 1)))
                for process in [p for p in running if p.over(time_limit)]:
                    running.remove(process)
                    outcome = found[process.name] = process.outcome(time_limit)
                    _keep(folder, process.name, outcome)
                report(stage, len(found), len(tasks))
                time.sleep(_PAUSE)
        finally:
            for process in running:
                process.end()
    return found


@dataclass
class _Process:
    """A task under way."""

    name: str
    process: subprocess.Popen[bytes]
    answer: IO[bytes]
    begun: float = field(default_factory=time.monotonic)
    late: bool = False

    @classmethod
    def start(cls, name: str, parcel: IO[bytes], threads: int) -> _Process:
        """Start a fresh interpreter that sees the modules that this one sees."""
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        limits = {key: str(min(threads, _stated(key, threads))) for key in _THREADS}
        answer = open_unnamed()  # closed with the outcome
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "shoal.comparison.worker", name],
                stdin=parcel,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **limits, "PYTHONPATH": path},
            )
        except BaseException:
            answer.close()
            raise
        return cls(name, process, answer)

    def over(self, time_limit: float | None) -> bool:
        """Tell whether it has ended, by itself or because its time is up."""
        if self.process.poll() is not None:
            return True
        if time_limit is not None and time.monotonic() - self.begun > time_limit:
            self.late = True
            self.process.kill()
            self.process.wait()
        return self.late

    def outcome(self, time_limit: float | None) -> Outcome:
        """Return what it left behind."""
        self.answer.seek(0)
        with self.answer as answer:
            text = answer.read()
        if self.late:
            return Outcome(None, f"ended after its {time_limit:g} seconds")
        with suppress(ValueError):
            told = json.loads(text)
            return Outcome(told.get("result"), told.get("reason", ""))
        return Outcome(None, _ending(self.process.returncode))

    def end(self) -> None:
        """End it, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        self.answer.close()


def _ending(status: int) -> str:
    if status >= 0:
        return f"its process ended by itself with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    more = "; perhaps memory ran out" if name == "SIGKILL" else ""
    return f"its process was ended by {name}{more}"


def _stated(key: str, otherwise: int) -> int:
    told = os.environ.get(key, "")
    return int(told) if told.isdecimal() and int(told) else otherwise


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check(processes: Any, time_limit: Any) -> None:
    if not isinstance(processes, int) or isinstance(processes, bool) or processes < 1:
        raise InputError(f"processes must be a whole number, 1 or more, not {processes!r}")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit must be more than 0 seconds, not {time_limit!r}")


def _kept(folder: Path | None, name: str) -> Mapping[str, Any] | None:
    """Return a result from an earlier call, None where there is none that can be read."""
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror})") from None
    try:
        told = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None


def _keep(folder: Path | None, name: str, outcome: Outcome) -> None:
    if folder is None or outcome.result is None:
        return
    with replace_file(folder / f"{name}.json", force=True) as temporary:
        temporary.write_text(json.dumps(outcome.result, indent=1) + "\n", encoding="utf-8")
