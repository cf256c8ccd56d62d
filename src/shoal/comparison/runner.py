"""Run tasks in parallel, each in a fresh process, so that a crash affects only its own task.

    run_tasks   starts as many processes as fit, collects outcomes, keeps results in a folder
    pack        writes what all tasks share into one unnamed, memory-mapped file
    unpack      reads it in a process; the arrays of a table are immutable and are not copied

`work` is any importable function; tasks are its arguments.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from shoal.errors import InputError, OutputError
from shoal.support.files import open_unnamed, replace_file
from shoal.support.progress import report
from shoal.support.wording import describe_exit

Task = TypeVar("Task")
_PAUSE_SECONDS = 0.02  # between two polls of the processes
_THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """The result of a task, or the reason why there is none, from `run_tasks`.

    Attributes:
        result: The result as plain data, None if there is none.
        reason: Why there is no result, in words.
    """

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
    """Return the outcome of each task, by its name.

    Parameters:
        tasks: The tasks by name.
        work: The function to call; its result must be plain data that JSON can represent. An error
            is the outcome of its task.
        processes: The number of parallel processes; by default one per core.
        folder: Each result is stored here as NAME.json when it is finished, and is not repeated.
        time_limit: Seconds after which the process of a task is stopped.
        stage: The name under which progress is reported.

    Returns:
        The outcome of each task.

    Raises:
        InputError: `processes` or `time_limit` is out of range.
        OutputError: The folder cannot be created.

    >>> run_tasks({"first": {"rows": 100}}, dict)["first"]
    Outcome(result={'rows': 100}, reason='')
    """
    cores = _cores()
    parallel = cores if processes is None else processes
    _check(parallel, time_limit)
    outcomes = {
        name: Outcome(result)
        for name in tasks
        if (result := _read_result(folder, name)) is not None
    }
    waiting = [name for name in tasks if name not in outcomes]
    report(stage, len(outcomes), len(tasks))
    if not waiting:
        return outcomes
    parallel = min(parallel, len(waiting))
    running: list[_Process] = []
    with open_unnamed() as parcel:
        pack((work, {name: tasks[name] for name in waiting}), parcel)
        try:
            while waiting or running:
                while waiting and len(running) < parallel:
                    threads = max(cores // parallel, 1)
                    running.append(_Process.start(waiting.pop(0), parcel, threads))
                for process in [p for p in running if p.over(time_limit)]:
                    running.remove(process)
                    outcome = outcomes[process.name] = process.outcome(time_limit)
                    _write_result(folder, process.name, outcome)
                report(stage, len(outcomes), len(tasks))
                time.sleep(_PAUSE_SECONDS)
        finally:
            for process in running:
                process.end()
    return outcomes


@dataclass
class _Process:
    """A running task."""

    name: str
    process: subprocess.Popen[bytes]
    answer: IO[bytes]
    begun: float = field(default_factory=time.monotonic)
    late: bool = False

    @classmethod
    def start(cls, name: str, parcel: IO[bytes], threads: int) -> _Process:
        """Start a fresh interpreter with the module path of this one."""
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        limits = {key: str(min(threads, _thread_limit(key, threads))) for key in _THREADS}
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
        """Return whether the process has ended, on its own or because of the time limit."""
        if self.process.poll() is not None:
            return True
        if time_limit is not None and time.monotonic() - self.begun > time_limit:
            self.late = True
            self.process.kill()
            self.process.wait()
        return self.late

    def outcome(self, time_limit: float | None) -> Outcome:
        """Return the outcome of the ended process."""
        self.answer.seek(0)
        with self.answer as answer:
            text = answer.read()
        if self.late:
            return Outcome(None, f"stopped after the time limit of {time_limit:g} seconds")
        with suppress(ValueError):
            answer_data = json.loads(text)
            return Outcome(answer_data.get("result"), answer_data.get("reason", ""))
        return Outcome(None, describe_exit(self.process.returncode))

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()
        self.answer.close()


def _thread_limit(key: str, otherwise: int) -> int:
    stated = os.environ.get(key, "")
    return int(stated) if stated.isdecimal() and int(stated) else otherwise


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check(processes: Any, time_limit: Any) -> None:
    if not isinstance(processes, int) or isinstance(processes, bool) or processes < 1:
        raise InputError(f"processes must be a whole number, 1 or more, not {processes!r}")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit must be more than 0 seconds, not {time_limit!r}")


def _read_result(folder: Path | None, name: str) -> Mapping[str, Any] | None:
    """Return the result of an earlier call, or None if none can be read."""
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created ({error.strerror})") from None
    try:
        result = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if isinstance(result, dict) else None


def _write_result(folder: Path | None, name: str, outcome: Outcome) -> None:
    if folder is None or outcome.result is None:
        return
    with replace_file(folder / f"{name}.json", force=True) as temporary:
        temporary.write_text(json.dumps(outcome.result, indent=1) + "\n", encoding="utf-8")


_ALIGNMENT = 64  # bytes; kernels need aligned arrays
_HEAD = 8  # bytes of the length of the index


def pack(thing: Any, file: IO[bytes]) -> None:
    """Write an object to a file."""
    #   length of the index | index | padding | body | padding | array | padding | array | …
    #   index: pickled (start, stop) of body and arrays, counted from `begin`, all of them aligned
    buffers: list[pickle.PickleBuffer] = []
    body = io.BytesIO()
    try:
        _Pickler(body, protocol=5, buffer_callback=buffers.append).dump(thing)
    except (pickle.PicklingError, AttributeError, TypeError):
        raise _not_importable() from None
    parts = [body.getbuffer(), *(buffer.raw() for buffer in buffers)]
    spans, offset = [], 0
    for part in parts:
        spans.append((offset, offset + part.nbytes))
        offset += -(-part.nbytes // _ALIGNMENT) * _ALIGNMENT
    index = pickle.dumps(spans)
    file.write(len(index).to_bytes(_HEAD, "little") + index)
    begin = _begin(len(index))
    for (start, _), part in zip(spans, parts, strict=True):
        file.seek(begin + start)
        file.write(part)
    file.truncate(begin + max(offset, 1))
    file.flush()


def unpack(descriptor: int) -> Any:
    """Return the object in the file of a descriptor; its arrays stay in the file."""
    content = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
    length = int.from_bytes(content[:_HEAD], "little")
    begin = _begin(length)
    spans = pickle.loads(content[_HEAD : _HEAD + length])
    body, *buffers = [content[begin + start : begin + stop] for start, stop in spans]
    return pickle.loads(body, buffers=buffers)


def is_importable(thing: Any) -> bool:
    """Return whether other processes can import a function or class: not the running script's."""
    return bool(thing.__module__ != "__main__")


def _begin(length: int) -> int:
    return -(-(_HEAD + length) // _ALIGNMENT) * _ALIGNMENT


class _Pickler(pickle.Pickler):
    """Refuses functions and classes of the running script, which other processes cannot import."""

    def reducer_override(self, thing: Any) -> Any:
        """Raise an error for objects of the running script; pickle all others as usual."""
        if hasattr(thing, "__qualname__") and not is_importable(thing):
            raise _not_importable()
        return NotImplemented


def _not_importable() -> InputError:
    return InputError(
        "a method, model or measure cannot be sent to another process; "
        "define it at the top level of an importable module"
    )
