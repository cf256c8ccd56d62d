"""The analyst: one warm process that holds the table and answers questions about it.

The server itself stays small and quick: it never reads the table. A question that is no longer
wanted is interrupted at its next progress report.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from shoal.errors import InputError, ShoalError
from shoal.support.progress import Progress, listening
from shoal.web.project.desk import Desk
from shoal.web.worker import yield_to_the_server

Question = Callable[..., Any]  # a function of an importable module: question(desk, *arguments)
_STOP_SECONDS = 1.0
_NICENESS = 5  # below the server, above jobs


class UnwantedError(ShoalError):
    """The answer is no longer wanted."""


class Analyst:
    """Asks a process that keeps the table in memory; it starts with the first question.

    Parameters:
        workspace: A private folder for working files; by default that of the system.

    >>> from shoal.web.project.desk import rows_of_lists
    >>> with Analyst() as analyst:
    ...     analyst.ask(rows_of_lists, [[1, 2], [3]]).result()
    3
    """

    def __init__(self, workspace: Path | None = None) -> None:
        self._workspace = workspace
        self._numbers = count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._process: Any = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Analyst:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, question: Question, *arguments: Any) -> Future[Any]:
        """Ask a question; the answer comes later.

        Parameters:
            question: A function of an importable module, which takes the desk of the analyst and
                the arguments. Its answer must be small.
            arguments: The arguments.

        Returns:
            The answer. Its `cancel` interrupts the work. A failure is a `ShoalError` with a message
            without cell values.
        """
        number = next(self._numbers)
        answer: Future[Any] = Future()
        with self._lock:
            pipe = self._started()
            try:
                pipe.send((number, question, arguments))
            except OSError:  # the process has just ended
                self._pipe = None
                pipe = self._started()
                pipe.send((number, question, arguments))
            self._waiting[number] = answer

        def given_up(done: Future[Any]) -> None:
            if done.cancelled():
                with self._lock:
                    self._waiting.pop(number, None)
                    if self._pipe is pipe:
                        _send(pipe, (number, None, ()))

        answer.add_done_callback(given_up)
        return answer

    def close(self) -> None:
        """End the process; open questions fail."""
        with self._lock:
            process, pipe, self._process, self._pipe = self._process, self._pipe, None, None
        if process is None:
            return
        if pipe is not None:
            pipe.close()
        process.terminate()
        process.join(_STOP_SECONDS)
        if process.is_alive():
            process.kill()

    def _started(self) -> Connection:
        if self._pipe is not None and self._process.is_alive():
            return self._pipe
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, self._workspace), daemon=True)
        self._process.start()
        theirs.close()
        threading.Thread(target=self._listen, args=(self._pipe,), daemon=True).start()
        return self._pipe

    def _listen(self, pipe: Connection) -> None:
        """Pass answers on until the process ends."""
        while True:
            try:
                number, answer, reason = pipe.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                waiting = self._waiting.pop(number, None)
            if waiting is not None and waiting.set_running_or_notify_cancel():
                if reason is None:
                    waiting.set_result(answer)
                else:
                    waiting.set_exception(InputError(reason))
        with self._lock:
            lost, self._waiting = self._waiting, {}
        for waiting in lost.values():
            if waiting.set_running_or_notify_cancel():
                waiting.set_exception(InputError("the work was stopped; try again"))


def _send(pipe: Connection, message: Any) -> None:
    with suppress(OSError):  # the process has ended
        pipe.send(message)


class _Inbox:
    """The questions that wait, in their order, without those that are no longer wanted."""

    def __init__(self, pipe: Connection, interrupt: Callable[[], None]) -> None:
        self._questions: list[tuple[int, Question, tuple[Any, ...]]] = []
        self._unwanted: set[int] = set()
        self._current: int | None = None
        self._interrupt = interrupt
        self._changed = threading.Condition()
        threading.Thread(target=self._receive, args=(pipe,), daemon=True).start()

    def _receive(self, pipe: Connection) -> None:
        while True:
            try:
                number, question, arguments = pipe.recv()
            except (EOFError, OSError):
                os._exit(0)  # the server has ended
            with self._changed:
                if question is None:
                    self._unwanted.add(number)
                    if number == self._current:
                        self._interrupt()
                else:
                    self._questions.append((number, question, arguments))
                self._changed.notify()

    def take(self) -> tuple[int, Question, tuple[Any, ...]]:
        """Wait for the next question."""
        with self._changed:
            self._current = None
            while True:
                while not self._questions:
                    self._changed.wait()
                found = self._questions.pop(0)
                if found[0] not in self._unwanted:
                    self._current = found[0]
                    return found

    def is_wanted(self, number: int) -> bool:
        """Return whether the answer to a question is still wanted."""
        return number not in self._unwanted


def serve(pipe: Connection, workspace: Path | None = None) -> None:
    """Answer questions until the other end is closed: the program of the process.

    Parameters:
        pipe: Questions arrive and answers leave here.
        workspace: A private folder for working files.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides
    yield_to_the_server(_NICENESS)
    if workspace is not None and workspace.is_dir():
        tempfile.tempdir = str(workspace)
    desk = Desk()
    inbox = _Inbox(pipe, desk.interrupt)
    while True:
        number, question, arguments = inbox.take()

        def heard(_: Progress, number: int = number) -> None:
            if not inbox.is_wanted(number):
                raise UnwantedError

        message: tuple[int, Any, str | None]
        try:
            with listening(heard):
                message = (number, question(desk, *arguments), None)
        except (UnwantedError, KeyboardInterrupt):  # the second if an engine was interrupted
            if inbox.is_wanted(number):
                message = (number, None, "the work was stopped; try again")
            else:
                continue
        except ShoalError as error:
            message = (number, None, str(error))
        except MemoryError:
            message = (number, None, "not enough memory")
        except Exception as error:  # its message may contain a cell
            message = (number, None, f"the work failed ({type(error).__name__})")
        _send(pipe, message)
