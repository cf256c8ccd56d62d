"""Partitions of the rows of Spark: one task for each, as Arrow batches, stored with the results.

    SparkPartitions.map ──── running ──▶ the method in executors, which need Shoal; rows, entries
    SparkPartitions.joined ─ mapping ──▶ the words of the class of each row, from its entries

If Spark loses a stored block, it computes the block again. A method that depends on time may then
give another result, so all rows have a digest of the result of their partition: rows with another
digest than the recorded one are an error, and rows with the same one are the same rows.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import Infeasible, InputError, NotAnonymous, ShoalError
from shoal.rows.packing import Packing
from shoal.rows.partitions import Outcome, Partition, PublishedTexts, Work
from shoal.rows.queries import numbered
from shoal.rows.spark.codes import (
    coded,
    functions,
    small_frame,
)
from shoal.rows.spark.sessions import SparkFailed, explained
from shoal.rows.store import HOUSEHOLD, PERSON, Plan
from shoal.support.arrays import Codes, Counts
from shoal.table.column import Role

_BATCH = 1 << 16  # rows that an executor returns at once


_ERRORS = {error.__name__: error for error in (InputError, Infeasible, NotAnonymous)}
_MAX_SENT = 4_000_000  # entries that every task receives; more are joined
GONE = "rows of this release were lost, and computed again with another result"


class SparkPartitions:
    """The encoded rows by partition, with the published entry of each row.

    frame: the encoded rows, with words w0, w1, … of their codes. packing: of these words.
    columns: the encoded column of each name. units: the columns of people and households.
    texts: collects the published texts, if the entries are kept.
    stored: the rows with their entries, packed in batches.
    """

    def __init__(
        self,
        frame: Any,
        packing: Packing,
        columns: Mapping[str, str],
        units: Mapping[str, Sequence[str]],
        texts: PublishedTexts | None,
    ) -> None:
        self._frame, self._columns, self._units = frame, columns, units
        self._packing, self._texts = packing, texts
        self._fields = [f"{f.name} {f.dataType.simpleString()}" for f in frame.schema.fields]
        self.stored: Any = None
        self._quasi: tuple[str, ...] = ()
        self._found: list[tuple[int, int, dict[str, Codes]]] = []  # part, digest, numbers
        self._released: list[Any] = []  # cached rows with the words of their classes

    def map(self, groups: Sequence[Sequence[Partition]], work: Work) -> list[Outcome]:
        """Run the work on every group, and return the outcomes in order."""
        f = functions()
        self._quasi = tuple(c.name for c in work.columns if c.role is Role.QUASI)
        part = _tree([(sides, n) for n, group in enumerate(groups) for sides in group],
                     self._packing)  # fmt: skip
        rows = self._frame.select(part.alias("part"), "*")
        rows = rows.filter(f.col("part").isNotNull()).repartitionById(len(groups), f.col("part"))
        store = self._texts is not None
        runner = Runner(work, self._packing, dict(self._units), self._quasi, store)
        schema = "part int, digest bigint, info binary, rows binary"
        with explained("anonymize the partitions"):
            made = rows.mapInArrow(running(runner), schema)
            self.stored = made.persist() if store else made
            infos = self.stored.filter(f.col("info").isNotNull()).select("part", "digest", "info")
            found = sorted(infos.toArrow().to_pylist(), key=lambda each: each["part"])
        return self._outcomes(found)

    def _outcomes(self, found: Sequence[Mapping[str, Any]]) -> list[Outcome]:
        outcomes = []
        for each in found:
            outcome = pickle.loads(each["info"])
            if isinstance(outcome, dict):
                kind, message = outcome["kind"], outcome["message"]
                if kind in _ERRORS:
                    raise _ERRORS[kind](message)
                raise (
                    ShoalError(message)
                    if message
                    else SparkFailed(
                        "anonymize a partition", kind, f"the error is in {outcome['place']}"
                    )
                )
            if self._texts is not None:
                self._found.append((each["part"], each["digest"], self._texts.number(outcome)))
            outcomes.append(outcome)
        return outcomes

    def joined(self, plan: Plan, keys: Sequence[str]) -> Any:
        """Return the rows with the words of their class, cached if executors can map the entries.

        Rows of a result that is not the recorded one raise an error.
        """
        f = functions()
        frame = self.stored.filter(f.col("info").isNull()).select("part", "digest", "rows")
        sizes = [len(numbers[name]) for _, _, numbers in self._found for name in self._quasi]
        if sum(sizes) <= _MAX_SENT:
            schema = [*self._fields, *(f"{key} bigint" for key in keys)]
            task = mapping(self._found, plan, self._quasi, self._frame.columns, GONE)
            frame = frame.mapInArrow(task, ", ".join(schema)).persist()
            self._released.append(frame)
            words = [f.col(key) for key in keys]
        else:
            schema = ["part int", "digest bigint", *self._fields]
            schema += [f"e{j} int" for j in range(len(self._quasi))]
            frame, words = self._join(frame.mapInArrow(listing(), ", ".join(schema)), plan)
        named = [word.alias(key) for word, key in zip(words, keys, strict=True)]
        return frame.select(*coded(self._packing, self._columns, self._frame.columns), *named)

    def _join(self, frame: Any, plan: Plan) -> tuple[Any, list[Any]]:
        """Return the rows joined with the rank of each entry, and the words of their classes."""
        f, cells = functions(), dict[str, str]()
        for j, name in enumerate(self._quasi):
            most = max((len(numbers[name]) for _, _, numbers in self._found), default=1)
            table = small_frame(frame.sparkSession, self._ranks(name, plan.maps[name], j, most))
            key = f.col("part").cast("bigint") * most + f.col(f"e{j}").cast("bigint")
            frame = frame.join(table, key == f.col(f"key{j}"), "left")
            cells[name] = f"g{j}"
        known = f.coalesce(f.col("known"), f.lit(-1)) == f.col("digest")
        gone = f.raise_error(f.lit(GONE)).cast("boolean")
        frame = frame.filter(f.when(known, f.lit(True)).otherwise(gone))
        return frame, [f.expr(word) for word in plan.classes.pack_in_sql(cells)]

    def _ranks(self, name: str, ranks: Codes, number: int, most: int) -> Any:
        """Return the rank of each entry of each partition, by one key; at first with digests.

        most: entries of a partition. Keys without large gaps make an array of the join.
        """
        keys: list[Counts] = [np.zeros(0, dtype=np.int64)]
        found: list[Counts] = [np.zeros(0, dtype=np.int64)]
        known: list[Counts] = [np.zeros(0, dtype=np.int64)]
        for part, digest, numbers in self._found:
            keys.append(part * most + np.arange(len(numbers[name]), dtype=np.int64))
            found.append(ranks[numbers[name]].astype(np.int64))
            known.append(np.full(len(numbers[name]), digest))
        table = pa.table({f"key{number}": np.concatenate(keys),
                          f"g{number}": np.concatenate(found).astype(np.int32)})  # fmt: skip
        return table if number else table.append_column("known", pa.array(np.concatenate(known)))

    def close(self) -> None:
        """Release what Spark cached."""
        for frame in (self.stored, *self._released):
            frame.unpersist()


def _tree(parts: Sequence[tuple[Partition, int]], packing: Packing) -> Any:
    """Return the expression of the group of a row, null if it is in none."""
    f = functions()
    if not parts:
        return f.lit(None).cast("int")
    sides, group = parts[0]
    if not sides:
        return f.lit(group).cast("int")
    side = sides[0]
    low: list[tuple[Partition, int]] = []
    high: list[tuple[Partition, int]] = []
    for (first, *rest), number in parts:
        (high if first.above else low).append((tuple(rest), number))
    below = functions().expr(packing.unpack_in_sql(side.column, "w")) <= side.last
    return f.when(below, _tree(low, packing)).otherwise(_tree(high, packing))


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
        words = [table.column(word).to_numpy() for word in self.packing.word_columns("w")]
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
        from shoal.rows.partitions import use_one_thread

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
