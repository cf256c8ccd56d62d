"""What executors run on partitions: the method, which needs Shoal, then words of its classes."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.engine import HOUSEHOLD, PERSON, Plan
from shoal.engines.packing import Packing
from shoal.engines.partitions import Outcome, Work
from shoal.engines.spark.columns import numbered, words_of
from shoal.errors import ShoalError
from shoal.support.arrays import Codes

_BATCH = 1 << 16  # rows that an executor returns at once


@dataclass(frozen=True, eq=False)
class Runner:
    """What a task does with the rows of its group.

    packing: of the words of the rows. units: the columns of people and households.
    quasi: the quasi-identifiers. store: whether the rows are returned with their entries.
    """

    work: Work
    packing: Packing
    units: Mapping[str, Sequence[str]]
    quasi: tuple[str, ...]
    store: bool

    def run(self, table: Any) -> Iterator[Any]:
        """Yield the rows of a group with their entries, packed, then one row with the outcome."""
        info: Any
        digest, part = 0, table.column("part")[0].as_py()
        try:
            table = _in_order(table.drop_columns("part"))
            outcome = self._outcome(table)
        except ShoalError as error:
            info = {"kind": type(error).__name__, "message": str(error)}
        except Exception as error:  # its message may quote a cell
            info = {"kind": type(error).__name__, "message": "", "place": _place(error)}
        else:
            if self.store:
                digest = _digest(table, outcome)
                for batch in self._with_entries(table, outcome):
                    yield _stored(part, digest, None, _packed(batch))
            info = replace(outcome, entries={})
        yield _stored(part, digest, pickle.dumps(info), None)

    def _outcome(self, table: Any) -> Outcome:
        words = [table.column(word).to_numpy() for word in words_of(self.packing)]
        codes = {c.name: self.packing.unpack(words, c.name) for c in self.work.columns}
        ids = [
            numbered(table, self.units[unit]) if unit in self.units else None
            for unit in (PERSON, HOUSEHOLD)
        ]
        return self.work(codes, *ids)

    def _with_entries(self, table: Any, outcome: Outcome) -> Iterator[Any]:
        """Yield the rows that are not suppressed, with their entries."""
        for j, name in enumerate(self.quasi):
            table = table.append_column(f"e{j}", pa.array(outcome.entries[name], pa.int32()))
        if outcome.suppressed is not None:
            kept = np.ones(table.num_rows, dtype=np.bool_)
            kept[outcome.suppressed] = False
            table = table.filter(pa.array(kept))
        yield from table.combine_chunks().to_batches(max_chunksize=_BATCH)


def _stored(part: int, digest: int, info: bytes | None, rows: Any) -> Any:
    """Return one row of the stored results."""
    cells = [pa.array([part], pa.int32()), pa.array([digest], pa.int64())]
    cells += [pa.array([each], pa.binary()) for each in (info, rows)]
    return pa.record_batch(cells, names=["part", "digest", "info", "rows"])


def _packed(batch: Any) -> bytes:
    """Return a batch as one cell: Spark stores it without a look at its rows."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def running(runner: Runner) -> Any:
    """Return the function that executors run on the batches of one group."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from shoal.engines.pool import use_one_thread

        use_one_thread()
        found = list(batches)
        if found:
            yield from runner.run(pa.Table.from_batches(found))

    return run


def _in_order(table: Any) -> Any:
    """Return the rows sorted by all their cells: equal rows alone have no order.

    Codes come first, then plain cells, then people, so that nothing depends on the order in which
    executors receive the rows.
    """
    names = table.column_names
    words = [name for name in names if name.startswith("w")]
    if words == names:
        order = pa.array(np.lexsort([table.column(word).to_numpy() for word in reversed(words)]))
    else:
        keys = [(name, "ascending") for name in names]
        order = pc.sort_indices(table, keys, null_placement="at_end")
    return table.take(order).combine_chunks()


def _digest(table: Any, outcome: Outcome) -> int:
    """Return a number below 2**62 for sorted rows and their result."""
    digest = hashlib.blake2b(digest_size=8)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    digest.update(sink.getvalue())
    for name, entries in outcome.entries.items():
        digest.update(entries.astype(np.int32).tobytes())
        digest.update(repr((name, outcome.labels[name].to_pylist())).encode())
    if outcome.suppressed is not None:
        digest.update(outcome.suppressed.astype(np.int64).tobytes())
    return int.from_bytes(digest.digest()) >> 2


def _place(error: BaseException) -> str:
    """Return the function and line where an error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "an unknown place"
    code = trace.tb_frame.f_code
    return f"{code.co_name}, line {trace.tb_lineno} of {code.co_filename.rpartition('/')[2]}"


def mapping(
    found: Sequence[tuple[int, int, Mapping[str, Codes]]],
    plan: Plan,
    quasi: Sequence[str],
    kept: Sequence[str],
    gone: str,
) -> Any:
    """Return the function that replaces the entries of rows by the words of their classes.

    Parameters:
        found: The number, the digest and the numbers of the entries of each partition.
        plan: The rank of each number of an entry, and the places in the words.
        quasi: The quasi-identifiers, in the order of their columns of entries.
        kept: The columns that stay.
        gone: The message if rows have another digest.
    """
    size = max((part for part, _, _ in found), default=0) + 1
    digests = np.full(size, -1, dtype=np.int64)
    starts, shifted = {}, {}
    for name in quasi:
        place, begun = plan.classes.places[name], np.zeros(size, dtype=np.int64)
        ranks, length = [np.zeros(0, dtype=np.int64)], 0
        for part, digest, numbers in found:
            digests[part], begun[part] = digest, length
            ranks.append(plan.maps[name][numbers[name]].astype(np.int64) << place.shift)
            length += len(numbers[name])
        starts[name], shifted[name] = begun, np.concatenate(ranks)
    of_word = {name: plan.classes.places[name].word for name in quasi}
    words, unpacked = plan.classes.words, _unpacking()

    def mapped(batches: Iterator[Any]) -> Iterator[Any]:
        for part, digest, rows in unpacked(batches):
            if digests[part] != digest:
                raise RuntimeError(gone)
            packed = [np.zeros(rows.num_rows, dtype=np.int64) for _ in range(words)]
            for j, name in enumerate(quasi):
                entries = rows.column(f"e{j}").to_numpy()
                packed[of_word[name]] |= shifted[name][starts[name][part] + entries]
            cells = [*map(rows.column, kept), *map(pa.array, packed)]
            names = [*kept, *(f"k{j}" for j in range(words))]
            yield pa.record_batch(cells, names=names)

    return mapped


def listing() -> Any:
    """Return the function that yields packed rows one by one, with their part and digest."""
    unpacked = _unpacking()

    def listed(batches: Iterator[Any]) -> Iterator[Any]:
        for part, digest, rows in unpacked(batches):
            parts = pa.repeat(pa.scalar(part, pa.int32()), rows.num_rows)
            digests = pa.repeat(pa.scalar(digest, pa.int64()), rows.num_rows)
            names = ["part", "digest", *rows.schema.names]
            yield pa.record_batch([parts, digests, *rows.columns], names=names)

    return listed


def _unpacking() -> Any:
    """Return the function that yields the part, the digest and the rows of packed batches."""

    def unpacked(batches: Iterator[Any]) -> Iterator[tuple[int, int, Any]]:
        for batch in batches:
            known = batch.column("part").to_pylist(), batch.column("digest").to_pylist()
            for part, digest, cell in zip(*known, batch.column("rows"), strict=True):
                with pa.ipc.open_stream(cell.as_buffer()) as reader:
                    yield from ((part, digest, rows) for rows in reader)

    return unpacked
