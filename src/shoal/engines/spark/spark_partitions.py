"""Partitions of the rows of Spark: sent to executors as Arrow batches, and stored with the results.

A method that depends on time or chance may give other results if Spark computes a lost block again.
Every result therefore has a number of its own, and rows with another number are an error.
"""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Role
from shoal.engines.cutting import Partition
from shoal.engines.engine import HOUSEHOLD, PERSON, Plan
from shoal.engines.partitions import Numbering, Outcome, Work
from shoal.engines.spark.columns import functions, numbered, pack_words, small
from shoal.engines.spark.failures import SparkFailed, explained
from shoal.errors import Infeasible, InputError, NotAnonymous, ShoalError
from shoal.support.arrays import Codes, Counts

_BATCH = 1 << 16  # rows that an executor returns at once
_ERRORS = {error.__name__: error for error in (InputError, Infeasible, NotAnonymous)}
_GONE = "the rows of this release are no longer stored"


class SparkPartitions:
    """The encoded rows by partition, with the published entry of each row.

    frame: the encoded rows. columns: the encoded column of each name.
    units: the columns of people and households. numbering: numbers the published texts, if the
    entries are kept. stored: the rows with their entries.
    """

    def __init__(
        self,
        frame: Any,
        columns: Mapping[str, str],
        units: Mapping[str, Sequence[str]],
        numbering: Numbering | None,
    ) -> None:
        self._frame, self._columns, self._units = frame, columns, units
        self._numbering = numbering
        self.stored: Any = None
        self._quasi: tuple[str, ...] = ()
        self._found: list[tuple[int, int, Outcome, dict[str, Codes]]] = []

    def map(self, groups: Sequence[Sequence[Partition]], work: Work) -> list[Outcome]:
        """Run the work on every group, and return the outcomes in order."""
        f = functions()
        self._quasi = tuple(c.name for c in work.columns if c.role is Role.QUASI)
        part = _tree([(sides, n) for n, group in enumerate(groups) for sides in group],
                     self._columns)  # fmt: skip
        cells = [f.col(column).asc_nulls_last() for column in self._columns.values()]
        rows = self._frame.withColumn("part", part).filter(f.col("part").isNotNull())
        rows = rows.repartition(len(groups), "part").sortWithinPartitions("part", *cells)
        fields = [f"{field.name} {field.dataType.simpleString()}" for field in rows.schema.fields]
        entries = [f"e{j} int" for j in range(len(self._quasi))]
        schema = ", ".join([*fields, *entries, "run bigint", "info binary"])
        run = _runner(work, dict(self._columns), dict(self._units), self._quasi)
        with explained("anonymize the partitions"):
            self.stored = rows.mapInArrow(run, schema).persist()
            told = self.stored.filter(f.col("info").isNotNull()).select("part", "run", "info")
            found = sorted(told.toArrow().to_pylist(), key=lambda each: each["part"])
        return self._outcomes(found)

    def _outcomes(self, found: Sequence[Mapping[str, Any]]) -> list[Outcome]:
        outcomes = []
        for each in found:
            told = pickle.loads(each["info"])
            if isinstance(told, dict):
                kind, message = told["kind"], told["message"]
                if kind in _ERRORS:
                    raise _ERRORS[kind](message)
                raise (
                    ShoalError(message)
                    if message
                    else SparkFailed(
                        "anonymize a partition", kind, f"the error is in {told['place']}"
                    )
                )
            if self._numbering is not None:
                numbers = self._numbering.of(told)
                self._found.append((each["part"], each["run"], told, numbers))
            outcomes.append(told)
        return outcomes

    def joined(self, plan: Plan, keys: Sequence[str]) -> Any:
        """Return the rows with the words of their class.

        Rows of a result that is not the recorded one raise an error.
        """
        f = functions()
        session = self._frame.sparkSession
        runs = pa.table({"known": pa.array([run for _, run, _, _ in self._found], pa.int64())})
        frame = self.stored.filter(f.col("info").isNull())
        frame = frame.join(small(session, runs), f.col("run") == f.col("known"), "left")
        part = f.when(f.col("known").isNull(), f.raise_error(f.lit(_GONE))).otherwise(f.col("part"))
        cells = {}
        for j, name in enumerate(self._quasi):
            table = small(session, self._ranks(name, plan.maps[name], j))
            key = f.shiftleft(part.cast("bigint"), 32).bitwiseOR(f.col(f"e{j}").cast("bigint"))
            frame = frame.join(table, key == f.col(f"key{j}"), "left")
            cells[name] = f.col(f"g{j}")
        words = [
            word.alias(key) for word, key in zip(pack_words(plan.classes, cells), keys, strict=True)
        ]
        return frame.select(*self._frame.columns, *words)

    def _ranks(self, name: str, ranks: Codes, number: int) -> Any:
        """Return the rank of each entry of each partition, by one key."""
        keys: list[Counts] = [np.zeros(0, dtype=np.int64)]
        found: list[Counts] = [np.zeros(0, dtype=np.int64)]
        for part, _, _, numbers in self._found:
            local = np.arange(len(numbers[name]), dtype=np.int64)
            keys.append((part << 32) | local)
            found.append(ranks[numbers[name]].astype(np.int64))
        return pa.table({f"key{number}": np.concatenate(keys),
                         f"g{number}": np.concatenate(found).astype(np.int32)})  # fmt: skip

    def close(self) -> None:
        """Release what Spark cached."""
        self.stored.unpersist()


def _tree(parts: Sequence[tuple[Partition, int]], columns: Mapping[str, str]) -> Any:
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
    below = f.col(columns[side.column]) <= side.last
    return f.when(below, _tree(low, columns)).otherwise(_tree(high, columns))


def _runner(
    work: Work, columns: dict[str, str], units: dict[str, Sequence[str]], quasi: tuple[str, ...]
) -> Any:
    """Return the function that executors run on sorted batches."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from shoal.engines.pool import use_one_thread

        use_one_thread()
        waiting: list[Any] = []
        for batch in batches:
            for piece in _by_part(batch):
                if waiting and waiting[0].column("part")[0] != piece.column("part")[0]:
                    yield from _finished(waiting, work, columns, units, quasi)
                    waiting = []
                waiting.append(piece)
        if waiting:
            yield from _finished(waiting, work, columns, units, quasi)

    return run


def _by_part(batch: Any) -> Iterator[Any]:
    """Yield the pieces of a sorted batch that belong to one group each."""
    part = batch.column("part").to_numpy()
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(part)], strict=True):
        yield batch.slice(start, stop - start)


def _finished(
    waiting: list[Any],
    work: Work,
    columns: Mapping[str, str],
    units: Mapping[str, Sequence[str]],
    quasi: Sequence[str],
) -> Iterator[Any]:
    """Yield the rows of a group with their entries, then one row with the outcome."""
    table = pa.Table.from_batches(waiting)
    number = secrets.randbits(62)
    kinds = list(zip(table.schema.names, table.schema.types, strict=True))
    entries = [(f"e{j}", pa.int32()) for j in range(len(quasi))]
    schema = pa.schema([*kinds, *entries, ("run", pa.int64()), ("info", pa.binary())])
    told: Any
    try:
        codes = {
            c.name: table.column(columns[c.name]).to_numpy().astype(np.int32) for c in work.columns
        }
        ids = [
            numbered(table, units[unit]) if unit in units else None for unit in (PERSON, HOUSEHOLD)
        ]
        outcome = work(codes, *ids)
    except ShoalError as error:
        told = {"kind": type(error).__name__, "message": str(error)}
    except Exception as error:  # its message may quote a cell
        told = {"kind": type(error).__name__, "message": "", "place": _place(error)}
    else:
        yield from _with_entries(table, outcome, quasi, number, schema)
        told = replace(outcome, entries={})
    nothing = {
        name: pa.nulls(1, kind) for name, kind in zip(schema.names, schema.types, strict=True)
    }
    nothing["part"] = table.column("part").slice(0, 1).combine_chunks()
    nothing["run"] = pa.array([number], pa.int64())
    nothing["info"] = pa.array([pickle.dumps(told)], pa.binary())
    yield pa.record_batch(list(nothing.values()), schema)


def _with_entries(
    table: Any, outcome: Outcome, quasi: Sequence[str], number: int, schema: Any
) -> Iterator[Any]:
    rows = table.num_rows
    cells = [*table.columns, *(pa.array(outcome.entries[name], pa.int32()) for name in quasi)]
    cells += [pa.array(np.full(rows, number), pa.int64()), pa.nulls(rows, pa.binary())]
    table = pa.table(cells, schema)
    if outcome.suppressed is not None:
        kept = np.ones(rows, dtype=np.bool_)
        kept[outcome.suppressed] = False
        table = table.filter(pa.array(kept))
    yield from table.combine_chunks().to_batches(max_chunksize=_BATCH)


def _place(error: BaseException) -> str:
    """Return the function and line where an error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "an unknown place"
    code = trace.tb_frame.f_code
    return f"{code.co_name}, line {trace.tb_lineno} of {code.co_filename.rpartition('/')[2]}"
