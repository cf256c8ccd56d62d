"""The analyst: one warm process that holds the table and answers questions about it.

The server itself stays small and quick: it never reads the table. A question that is no longer
wanted is interrupted at its next progress report.

    server process                  analyst process
    Analyst.ask ──── question ────→ _Inbox → question(desk, …)
    a Future    ←──── answer ────── serve

The `Desk` is what the process keeps between questions: the file, encoded columns, some releases.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, ShoalError
from shoal.identifiers.replacement import Coarsening
from shoal.identifiers.replacements import as_replacement
from shoal.release.release import Release
from shoal.support.progress import Progress, listening
from shoal.table.column import Column, Role
from shoal.table.frames import as_dates
from shoal.table.hierarchy import Hierarchy
from shoal.table.people import Unit
from shoal.table.table import Table
from shoal.web.worker import yield_to_the_server

if TYPE_CHECKING:
    from shoal.web.project.on_disk import DiskFile


Question = Callable[..., Any]  # a function of an importable module: question(desk, *arguments)
_STOP_SECONDS = 1.0
_NICENESS = 5  # below the server, above jobs


class UnwantedError(ShoalError):
    """The answer is no longer wanted."""


class Analyst:
    """Asks a process that keeps the table in memory; it starts with the first question.

    Parameters:
        workspace: A private folder for working files; by default that of the system.

    >>> from shoal.web.project.analyst import rows_of_lists
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
                # numbers are never reused, so a number that was given up stays unwanted
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


_KEPT_RELEASES = 3
_ENCODING = ("kind", "order", "type", "values", "bounds")


@dataclass(frozen=True)
class FileRequest:
    """Which file to read, and how.

    Parameters:
        path: The file.
        form: Its stated settings, as options of `shoal.reading.Format`.
        memory: The memory that may be used, such as `4GB`; None for a share of the machine's. Rows
            of a larger table stay on disk.
    """

    path: Path
    form: Mapping[str, Any] = field(default_factory=dict)
    memory: str | None = None


@dataclass(frozen=True)
class TableRequest:
    """The table as the project describes it.

    Parameters:
        file: The file.
        specs: The schema entry of each column with a role, without its hierarchy.
        hierarchies: The hierarchy or recipe of some columns.
        units: `person`, `household` and `rows_are_people` as `shoal.read` takes them.
    """

    file: FileRequest
    specs: Mapping[str, Mapping[str, Any]]
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[str, Any] = field(default_factory=dict)


class Desk:
    """What the analyst keeps in memory: one file, its encoded columns, and a few releases.

    Attributes:
        on_disk: The file, if its rows stay on disk.
    """

    def __init__(self) -> None:
        self._file: tuple[str, Any] | None = None
        self.on_disk: DiskFile | None = None
        self._columns: dict[Any, Column] = {}
        self._units: dict[Any, Unit] = {}
        self._releases: dict[Path, tuple[float, Release]] = {}

    def data(self, file: FileRequest) -> Any:
        """Return the file as an Arrow table, read once; a sample if its rows stay on disk.

        Parameters:
            file: The file.
        """
        from shoal.files.formats import Format
        from shoal.files.reading import read_arrow
        from shoal.web.project.on_disk import open_on_disk

        stat = file.path.stat()
        stated = [str(file.path), dict(file.form), file.memory]
        key = json.dumps([*stated, stat.st_mtime_ns, stat.st_size])
        if self._file is None or self._file[0] != key:
            self.close()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.on_disk = open_on_disk(file)
                sample = None if self.on_disk is None else self.on_disk.sample
                data = read_arrow(file.path, Format(**file.form)) if sample is None else sample
            self._file = (key, data)
        return self._file[1]

    def disk(self, file: FileRequest) -> DiskFile | None:
        """Return the file if its rows stay on disk, None if it is in memory.

        Parameters:
            file: The file.
        """
        self.data(file)
        return self.on_disk

    def interrupt(self) -> None:
        """Stop what an engine is doing, from another thread."""
        if self.on_disk is not None:
            self.on_disk.engine.interrupt()

    def close(self) -> None:
        """Forget the file."""
        self._file, self._columns, self._units = None, {}, {}
        if self.on_disk is not None:
            self.on_disk.close()
            self.on_disk = None

    def table(self, request: TableRequest, roles: Sequence[str] = ("quasi", "sensitive")) -> Table:
        """Return the table, without columns of other roles; columns are encoded once.

        Parameters:
            request: The table as the project describes it.
            roles: The roles of the columns to encode.
        """
        data = self.data(request.file)
        if self.on_disk is not None:
            return self.on_disk.table(request, roles)
        columns = [
            self._column(data, name, spec, request.hierarchies.get(name))
            for name, spec in request.specs.items()
            if _role_of(name, spec) in roles and name in data.column_names
        ]
        return Table(
            tuple(columns),
            person=self._unit(data, request.units.get("person", ()), "person"),
            household=self._unit(data, request.units.get("household", ()), "household"),
            rows_are_people=request.units.get("rows_are_people", False),
        )

    def release(self, path: Path) -> Release:
        """Return a release that a run kept in a file.

        Parameters:
            path: The file.
        """
        from shoal.comparison.runner import unpack

        stamp = path.stat().st_mtime
        if path not in self._releases or self._releases[path][0] != stamp:
            while len(self._releases) >= _KEPT_RELEASES:
                del self._releases[next(iter(self._releases))]
            with path.open("rb") as file:
                self._releases[path] = (stamp, unpack(file.fileno()))
        return self._releases[path][1]

    def _column(
        self, data: Any, name: str, spec: Mapping[str, Any], hierarchy: Any = None
    ) -> Column:
        stated = {k: v for k, v in spec.items() if k in _ENCODING}
        # the role does not change the codes: a column that changes its role is not encoded again
        key: tuple[Any, ...] = (name, json.dumps([stated, spec.get("replace")], default=str))
        if key not in self._columns:
            coarser = _coarsening(name, spec)
            cells = as_dates(data.column(name))
            if coarser is not None:
                cells = coarser.coarsen(name, cells.combine_chunks())
            self._columns[key] = Column.encode(name, cells, "quasi", **stated)
        if hierarchy is not None:
            bare, key = self._columns[key], (*key, key_of(hierarchy))
            if key not in self._columns:
                self._columns[key] = bare.with_hierarchy(hierarchy)
        return replace(self._columns[key], role=_role_of(name, spec))

    def _unit(self, data: Any, columns: Sequence[str], what: str) -> Unit | None:
        if not columns:
            return None
        key = (what, tuple(columns))
        if key not in self._units:
            self._units[key] = Unit.of(data, list(columns), what)
        return self._units[key]


def key_of(hierarchy: Any) -> Any:
    """Return what distinguishes a hierarchy from others: its recipe, or its values and groups."""
    if not isinstance(hierarchy, Hierarchy):
        return json.dumps(hierarchy, sort_keys=True, default=str)
    levels = tuple((hash(each.groups.tobytes()), each.labels) for each in hierarchy.levels)
    return hash((hierarchy.values, levels))


def _coarsening(name: str, spec: Mapping[str, Any]) -> Coarsening | None:
    """Return the replacement of an identifier that shows a part of it, if it has one."""
    if spec["role"] != Role.IDENTIFIER or spec.get("replace") is None:
        return None
    found = as_replacement(spec["replace"], name)
    return found if isinstance(found, Coarsening) else None


def _role_of(name: str, spec: Mapping[str, Any]) -> Role:
    """Return the role of a column; an identifier that is partly shown is a quasi-identifier."""
    return Role.QUASI if _coarsening(name, spec) is not None else Role(spec["role"])


def hierarchy_of(desk: Desk, request: TableRequest, name: str) -> Hierarchy:
    """Return the hierarchy of a column: its own, or one suggested from its values.

    Parameters:
        desk: The desk of the analyst.
        request: The table.
        name: The column.
    """
    from shoal.inspection import suggest_hierarchies

    table = desk.table(request)
    return suggest_hierarchies(replace(table, columns=(table[name],)))[name]


def rows_of_lists(_: Desk, lists: Sequence[Sequence[Any]]) -> int:
    """Return the number of entries of some lists: the smallest question, to see that it works."""
    return sum(len(each) for each in lists)
