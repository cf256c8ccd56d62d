"""Partitions of the rows of Spark: one task for each, as Arrow batches, stored with the results.

If Spark loses a stored block, it computes the block again. A method that depends on time may then
give another result, so all rows have a digest of the result of their partition: rows with another
digest than the recorded one are an error, and rows with the same one are the same rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Role
from shoal.engines.cutting import Partition
from shoal.engines.engine import Plan
from shoal.engines.packing import Packing
from shoal.engines.partitions import Outcome, Work
from shoal.engines.published_texts import PublishedTexts
from shoal.engines.spark.columns import coded, functions, pack_words, small, unpacked
from shoal.engines.spark.failures import SparkFailed, explained
from shoal.engines.spark.partition_tasks import Runner, listing, mapping, running
from shoal.errors import Infeasible, InputError, NotAnonymous, ShoalError
from shoal.support.arrays import Codes, Counts

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
        f, cells = functions(), {}
        for j, name in enumerate(self._quasi):
            most = max((len(numbers[name]) for _, _, numbers in self._found), default=1)
            table = small(frame.sparkSession, self._ranks(name, plan.maps[name], j, most))
            key = f.col("part").cast("bigint") * most + f.col(f"e{j}").cast("bigint")
            frame = frame.join(table, key == f.col(f"key{j}"), "left")
            cells[name] = f.col(f"g{j}")
        known = f.coalesce(f.col("known"), f.lit(-1)) == f.col("digest")
        gone = f.raise_error(f.lit(GONE)).cast("boolean")
        frame = frame.filter(f.when(known, f.lit(True)).otherwise(gone))
        return frame, pack_words(plan.classes, cells)

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
    below = unpacked(packing, side.column, "w") <= side.last
    return f.when(below, _tree(low, packing)).otherwise(_tree(high, packing))
