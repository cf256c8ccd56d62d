"""The published texts of all partitions: on disk while they are collected, sorted and used.

Groups of records mostly have texts of their own, so that there can be more of them than fit in
memory. The sorted texts of a column are one Arrow array whose buffers are mapped from files.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.duckdb_session import Session, disk_full
from shoal.engines.memory import Budget
from shoal.engines.partitions import Outcome
from shoal.support.arrays import Bools, Codes

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
