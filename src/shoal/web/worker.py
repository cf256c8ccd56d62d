"""The program of one job: reads a task from its input, and writes progress and the result.

Nothing else is printed, because messages of libraries may contain cells. The end of the input means
that the server is gone; the process and those that it started then end at once.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import sys
import threading
import time
from typing import IO, Any, NoReturn

from shoal.errors import ShoalError
from shoal.support.progress import Progress, listening
from shoal.web.text.common import sentence, stage_words

CANCEL = b"c"
READY = "--ready"  # import first what most tasks need
_PAUSE_SECONDS = 0.2  # at least, between two reports of progress
_LENGTH = 8  # bytes
_NICENESS = 10  # below the server and its analyst
_NEEDED = (  # by most tasks
    "shoal.web.project.studies",
    "shoal.web.project.lattice",
    "shoal.comparison.runner",
    "shoal.inspection",
    "shoal.metrics",
    "shoal.report.document",
    "shoal.methods.lattice._sweep",
    "shoal.methods.partition._cuts",
)


class Cancelled(BaseException):  # passes through `except Exception`
    """The user has cancelled the job."""


class Reporter:
    """Sends progress to the server, at most five times a second.

    Parameters:
        messages: The stream to the server.
    """

    def __init__(self, messages: IO[bytes]) -> None:
        self.cancelled = threading.Event()
        self._messages = messages
        self._last = float("-inf")

    def __call__(self, fraction: float | None, text: str = "") -> None:
        """Report progress, or end the task if it was cancelled."""
        if self.cancelled.is_set():
            raise Cancelled
        now = time.monotonic()
        if now - self._last >= _PAUSE_SECONDS:
            self._last = now
            write_message(self._messages, ("progress", fraction, text))

    def listen(self, progress: Progress) -> None:
        """Report progress of Shoal's own work."""
        total = progress.total
        words = stage_words(progress.stage, progress.done, total)
        self(min(max(progress.done / total, 0.0), 1.0) if total else None, words)


def main() -> None:
    """Run the task that the input holds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides
    os.umask(0o077)
    yield_to_the_server(_NICENESS)
    orders, messages = _take_streams()
    report = Reporter(messages)
    if READY in sys.argv:
        for name in _NEEDED:
            importlib.import_module(name)
    body = _read(orders, int.from_bytes(_read(orders, _LENGTH), "big"))
    threading.Thread(target=_obey, args=(orders, report), daemon=True).start()
    answer = _answer(body, report)
    try:
        write_message(messages, answer)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        write_message(messages, ("failed", _fault(error)))
    os._exit(0)  # without waiting for threads of libraries


def yield_to_the_server(niceness: int) -> None:
    """Lower the priority of this process, so that clicks are answered while it computes.

    Parameters:
        niceness: How much lower, from 0 to 19.
    """
    if hasattr(os, "nice"):
        os.nice(niceness)


def _answer(body: bytes, report: Reporter) -> tuple[Any, ...]:
    try:
        task, arguments = pickle.loads(body)
        with listening(report.listen):
            return "done", task(report, *arguments)
    except Cancelled:
        return ("cancelled",)
    except ShoalError as error:
        return "failed", sentence(str(error))
    except MemoryError:
        return "failed", "There is not enough memory for this. Close other programs, or use less."
    except Exception as error:
        return "failed", _fault(error)


def _fault(error: Exception) -> str:
    """Name the kind and the place of an unexpected error; its message may contain a cell."""
    from shoal.web.server import describe

    if os.environ.get("SHOAL_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    return f"Shoal has an internal error: {describe(error)}. Please report it."


def _take_streams() -> tuple[int, IO[bytes]]:
    """Return the input and the output of the process; what libraries print goes nowhere."""
    # a library that prints would otherwise corrupt the messages
    orders, messages = os.dup(0), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return orders, messages


def _read(descriptor: int, length: int) -> bytes:
    """Read a number of bytes; without a server there is nothing to do."""
    parts, left = [], length
    while left:
        part = os.read(descriptor, min(left, 2**20))
        if not part:
            os._exit(1)
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _obey(orders: int, report: Reporter) -> NoReturn:
    """Note a cancellation, and end with the server."""
    while os.read(orders, 1):
        report.cancelled.set()
    if sys.platform != "win32" and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def write_message(stream: IO[bytes], message: tuple[Any, ...]) -> None:
    """Write a message with its length."""
    body = pickle.dumps(message)
    stream.write(len(body).to_bytes(_LENGTH, "big") + body)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[Any, ...] | None:
    """Return the next message; None at the end of the stream, also within a message."""
    head = stream.read(_LENGTH)
    length = int.from_bytes(head, "big")
    body = stream.read(length) if len(head) == _LENGTH else b""
    if len(head) < _LENGTH or len(body) < length:
        return None
    message: tuple[Any, ...] = pickle.loads(body)
    return message


if __name__ == "__main__":
    main()
