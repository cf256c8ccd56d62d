"""Partitions of rows outside memory: cut, worked on in a pool, and their published texts.

    tuples and their counts ── bins, cut ──▶ partitions: the leaves of the top of a Mondrian tree
    rows of a partition ── map_in_pool ────▶ an `Outcome`, in a worker process
    published texts ── PublishedTexts ─────▶ one sorted Arrow array for each column

A partition holds neighbours, so classes that never cross partitions lose little. A worker that is
killed ends the run with an error. Groups of records mostly have texts of their own, which may not
fit in memory: they are on disk while they are collected, sorted and used, and the buffers of the
sorted arrays are mapped from files.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import ShoalError
from shoal.rows.duckdb_session import Session, disk_full
from shoal.rows.memory import Budget
from shoal.support.arrays import Bools, Codes, Counts
from shoal.table.column import Column


class Work(Protocol):
    """What is done with the rows of every group of partitions; other processes load it."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The quasi-identifiers and the columns of the model, without rows."""

    def __call__(
        self, codes: Mapping[str, Codes], person: Counts | None, household: Counts | None
    ) -> Outcome:
        """Anonymize rows; codes: of each column. person, household: the number of each row's."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The release of one partition.

    entries: for each quasi-identifier, (rows,) the published entry.
    labels: the text of each entry, as an Arrow array.
    suppressed: positions of suppressed rows, None if there are none.
    losses: metrics. shares: the shares of kept, generalized and hidden cells by column.
    """

    rows: int
    entries: Mapping[str, Codes]
    labels: Mapping[str, Any]
    suppressed: Counts | None
    losses: Mapping[str, float]
    shares: Mapping[str, Mapping[str, float]]
    notes: tuple[str, ...]

    @property
    def lost(self) -> int:
        """Number of suppressed rows."""
        return 0 if self.suppressed is None else len(self.suppressed)


def run_work(arguments: tuple[Work, Any, Any, Any]) -> Outcome:
    """Run the work of one partition, in any process."""
    work, codes, person, household = arguments
    return work(codes, person, household)


_MAX_BINS = (0, 512, 256, 128, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2)  # of a column; 0: no bins


@dataclass(frozen=True)
class Side:
    """One side of a cut: codes of a column up to `last`, or above it."""

    column: str
    last: int
    above: bool


Partition = tuple[Side, ...]  # the sides on the way from the root


def bins(counts: Mapping[str, Counts]) -> list[dict[str, Codes]]:
    """Return maps of codes to the last code of their bin, from single codes to two bins a column.

    A bin holds neighbouring codes of about as many rows as the other bins of the column.

    Parameters:
        counts: For each column, (codes,) the rows with each code.

    >>> [found["age"].tolist() for found in bins({"age": np.array([1, 1, 1, 1])})[-2:]]
    [[1, 1, 2, 3], [1, 1, 3, 3]]
    """
    return [
        {name: _last_codes(rows, most) for name, rows in counts.items() if 0 < most < len(rows)}
        for most in _MAX_BINS
    ]


def _last_codes(rows: Counts, most: int) -> Codes:
    """(codes,) the last code of the bin of each code, with at most this many bins."""
    below = np.cumsum(rows)
    number = np.minimum((below - 1) * most // max(int(below[-1]), 1), most - 1)
    last = np.searchsorted(number, number, side="right") - 1
    found: Codes = last.astype(np.int32)
    return found


def cut(
    columns: Sequence[Column],
    codes: Mapping[str, Codes],
    counts: Counts,
    most: int,
    least: int = 1,
) -> list[Partition]:
    """Return partitions of at most `most` rows, in the order of the tree.

    A partition has more rows if no cut leaves `least` rows on both sides, as with rows that are all
    alike.

    Parameters:
        columns: The quasi-identifiers.
        codes: For each of them, (tuples,) the code of each tuple, or the last code of its bin.
        counts: (tuples,) rows of each tuple.
        most: Rows of a partition.
        least: Rows of a partition, at least, if the table has so many.

    >>> age = Column.encode("age", list(range(10)))
    >>> [len(sides) for sides in cut([age], {"age": age.codes}, np.full(10, 10), 70)]
    [1, 1]
    """
    waiting: list[tuple[Partition, Counts]] = [((), np.arange(len(counts)))]
    done: list[Partition] = []
    while waiting:
        sides, members = waiting.pop()
        found = None
        if int(counts[members].sum()) > most:
            found = _best(columns, codes, counts, members, least)
        if found is None:
            done.append(sides)
            continue
        name, last = found
        low = codes[name][members] <= last
        waiting.append(((*sides, Side(name, last, True)), members[~low]))
        waiting.append(((*sides, Side(name, last, False)), members[low]))
    return done


def _best(
    columns: Sequence[Column],
    codes: Mapping[str, Codes],
    counts: Counts,
    members: Counts,
    least: int,
) -> tuple[str, int] | None:
    """Return the cut of the attribute with the widest share of its domain, near its median."""
    widths = []
    for column in columns:
        here = codes[column.name][members]
        spread = int(here.max(initial=0)) - int(here.min(initial=0))
        widths.append(column.weight * spread / max(column.domain - 1, 1))
    for place in np.argsort(-np.array(widths), kind="stable").tolist():
        name = columns[place].name
        here = codes[name][members]
        totals = np.bincount(here, counts[members])
        below = np.cumsum(totals)
        last = int(np.argmin(np.abs(below - below[-1] / 2)))
        if min(below[last], below[-1] - below[last]) >= least:
            return name, last
    return None


class WorkerLost(ShoalError):  # noqa: N818
    """A worker process ended before its partition was finished."""

    def __init__(self) -> None:
        super().__init__(
            "a worker process ended unexpectedly, perhaps for lack of memory; nothing was written; "
            "use smaller partitions or fewer processes, and start again"
        )


def map_in_pool(tasks: Iterable[Any], processes: int | None = None) -> Iterator[Outcome]:
    """Yield the outcome of each task in order; only a few tasks wait in memory.

    processes: Number of workers; 0 runs everything in this process.
    """
    workers = (os.cpu_count() or 1) if processes is None else processes
    if not workers:
        yield from map(run_work, tasks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=use_one_thread) as pool:
        waiting: deque[Future[Outcome]] = deque()
        try:
            for task in tasks:
                with _main_module_hidden(from_work=task[0]):
                    waiting.append(pool.submit(run_work, task))  # may start a worker
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise WorkerLost from None
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def _main_module_hidden(from_work: Any) -> Iterator[None]:
    """Hide the main module while a worker starts.

    A worker runs the script that started it again, unless the script protects itself. It needs to
    only if the work has a class or function of the script.
    """
    main = sys.modules["__main__"]
    if b"__main__" not in pickle.dumps(from_work):
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def use_one_thread() -> None:
    """Let each worker use one thread: the pool uses all cores."""
    os.environ["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"


_BATCH = 500_000  # sorted texts that are in memory at once
_MAX_OFFSET = 2**31 - 1  # bytes of an Arrow array of strings
_SCHEMA = pa.schema([("number", pa.int32()), ("text", pa.string())])


class PublishedTexts:
    """Numbers for the published texts of all partitions, in the order in which they appear.

    A text that appears in several partitions has several numbers.

    names: the quasi-identifiers. folder: an empty folder for the texts.
    budget: the memory that may be used to sort them.
    """

    def __init__(self, names: Sequence[str], folder: Path, budget: Budget) -> None:
        self._budget = budget
        self._columns = {name: _Column(folder / f"texts{j}") for j, name in enumerate(names)}

    def number(self, outcome: Outcome) -> dict[str, Codes]:
        """Store the texts of an outcome, and return for each column the number of each entry."""
        return {name: each.append(outcome.labels[name]) for name, each in self._columns.items()}

    def in_order(self) -> Iterator[tuple[str, Any]]:
        """Yield each column with the text of each number, as a dictionary array; once.

        The distinct texts are in the order of their characters, a missing one last.
        """
        for name in list(self._columns):
            yield name, self._columns.pop(name).in_order(self._budget)


class _Column:
    """The texts of one column, first as they were made, then the distinct ones in order."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder, self._count, self._bytes = folder, 0, 0
        self._stream = folder / "made.arrow"
        self._writer = pa.ipc.new_stream(pa.OSFile(str(self._stream), "wb"), _SCHEMA)

    def append(self, texts: Any) -> Codes:
        numbers = np.arange(self._count, self._count + len(texts), dtype=np.int32)
        with _on_disk(self._folder):
            self._writer.write_batch(pa.record_batch([pa.array(numbers), texts], schema=_SCHEMA))
        self._count += len(texts)
        self._bytes += pc.sum(pc.binary_length(texts)).as_py() or 0
        return numbers

    def in_order(self, budget: Budget) -> Any:
        with _on_disk(self._folder):
            self._writer.close()
        distinct = _Distinct(self._folder, wide=self._bytes > _MAX_OFFSET)
        ranks = np.empty(self._count, dtype=np.int32)
        session = Session(self._folder, budget, self._folder, budget.for_duckdb)
        try:
            with pa.memory_map(str(self._stream)) as file, pa.ipc.open_stream(file) as made:
                in_order = "SELECT number, text FROM given ORDER BY text NULLS LAST"
                for batch in session.batches(in_order, _BATCH, made):
                    ranks[batch.column("number").to_numpy()] = distinct.add(batch.column("text"))
        finally:
            session.close()
        self._stream.unlink()
        return pa.DictionaryArray.from_arrays(pa.array(ranks), distinct.array())


class _Distinct:
    """Distinct texts in order, written as the buffers of one Arrow array.

    wide: whether the texts may need offsets of 64 bits.
    """

    def __init__(self, folder: Path, *, wide: bool) -> None:
        self._folder, self._wide = folder, wide
        self._data, self._offsets = folder / "data", folder / "offsets"
        self._width: Any = np.int64 if wide else np.int32
        np.zeros(1, dtype=self._width).tofile(self._offsets)
        self._data.touch()
        self._count, self._bytes = 0, 0
        self._last: Any = None  # the last text that was added, as a scalar

    def add(self, texts: Any) -> Codes:
        """Add sorted texts, and return the rank of each."""
        fresh = self._fresh(texts)
        ranks = self._count - 1 + np.cumsum(fresh)
        kept = texts.filter(pa.array(fresh))
        _, offsets, data = kept.buffers()
        ends = np.frombuffer(offsets, dtype=np.int32)[kept.offset :][: len(kept) + 1]
        ends = ends.astype(np.int64)
        with _on_disk(self._folder):
            with self._offsets.open("ab") as file:
                (ends[1:] - ends[0] + self._bytes).astype(self._width).tofile(file)
            with self._data.open("ab") as file:
                file.write(memoryview(data or b"")[ends[0] : ends[-1]])
        self._count += len(kept)
        self._bytes += int(ends[-1] - ends[0])
        self._last = texts[-1]
        found: Codes = ranks.astype(np.int32)
        return found

    def _fresh(self, texts: Any) -> Bools:
        """(texts,) whether a text differs from the one before it."""
        fresh = np.ones(len(texts), dtype=np.bool_)
        before, after = texts[:-1], texts[1:]
        same = pc.fill_null(pc.equal(before, after), False)
        same = pc.or_(same, pc.and_(pc.is_null(before), pc.is_null(after)))
        fresh[1:] = ~same.to_numpy(zero_copy_only=False)
        fresh[0] = self._last is None or self._last.as_py() != texts[0].as_py()
        return fresh

    def array(self) -> Any:
        """Return all texts as one array, whose pages are read when they are used."""
        valid = None
        if self._last is not None and not self._last.is_valid:  # missing ones are last
            bits = np.ones(self._count, dtype=np.bool_)
            bits[-1] = False
            valid = pa.py_buffer(np.packbits(bits, bitorder="little"))
        kind = pa.large_string() if self._wide else pa.string()
        buffers = [valid, _mapped(self._offsets), _mapped(self._data)]
        return pa.Array.from_buffers(kind, self._count, buffers)


def _mapped(path: Path) -> Any:
    """Return a file as a buffer."""
    if not path.stat().st_size:
        return pa.py_buffer(b"")
    with path.open("rb") as file:
        return pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


@contextmanager
def _on_disk(folder: Path) -> Iterator[None]:
    """Report a full disk like the engine does."""
    try:
        yield
    except OSError:
        raise disk_full(folder.parents[1]) from None
