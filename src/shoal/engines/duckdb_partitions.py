"""Partitions of the rows of DuckDB: read one by one, mapped in a pool, and stored by row.

The rows are sorted by partition once, so that each partition is read without the others. They are
stored again with their published entries.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Role
from shoal.engines.cutting import Partition
from shoal.engines.duckdb_released import mapped, numbers_of, pack_words
from shoal.engines.duckdb_session import SHARE, Session
from shoal.engines.engine import HOUSEHOLD, PERSON, Plan
from shoal.engines.partitions import Outcome, Work
from shoal.engines.pool import map_in_pool
from shoal.engines.published_texts import PublishedTexts
from shoal.errors import InputError
from shoal.support.arrays import Codes, Counts

_SHARE_BESIDE_WORKERS = 0.4  # of the budget, while worker processes need the rest
_SHARE_BESIDE_TEXTS = 0.3  # at least, beside the published texts in memory
_BYTES_PER_TEXT = 100  # of a published text: its page, its rank, and a part of its classes


class DuckDBPartitions:
    """The encoded rows by partition, and the published entry of each row.

    columns: the encoded column of each name. units: people and households, as far as known.
    """

    def __init__(self, session: Session, columns: Mapping[str, str], units: Sequence[str]) -> None:
        self._session, self._columns, self._units = session, columns, units
        self._entries: dict[str, str] = {}  # the column of entries of each name
        self._numbers: dict[Partition, int] = {}  # the number of each partition

    def map(
        self,
        groups: Sequence[Sequence[Partition]],
        work: Work,
        processes: int | None,
        texts: PublishedTexts | None,
    ) -> Iterator[Outcome]:
        """Yield the outcome of each group of partitions, in order."""
        waiting: deque[Counts] = deque()  # the rows of groups without an outcome yet
        partitions = [partition for group in groups for partition in group]
        if not set(partitions) <= set(self._numbers):
            self._sort(partitions)
        if texts is not None:
            self._begin(work)
        for outcome in map_in_pool(self._tasks(groups, work, waiting), processes):
            rows = waiting.popleft()
            if outcome.rows != len(rows):
                raise InputError("a partition came back with another number of rows; start again")
            if texts is not None:
                self._add(rows, outcome, texts.number(outcome))
            yield outcome

    def _tasks(
        self, groups: Sequence[Sequence[Partition]], work: Work, waiting: deque[Counts]
    ) -> Iterator[Any]:
        for group in groups:
            rows, *cells = self._rows(group, [column.name for column in work.columns])
            if len(rows):
                waiting.append(rows)
                yield work, *cells

    def _rows(self, partitions: Sequence[Partition], names: Sequence[str]) -> tuple[Any, ...]:
        """Return the rows of partitions: their numbers, codes, people and households."""
        listed = ", ".join(["rowid AS row", *(self._columns[n] for n in names), *self._units])
        order = ", ".join(self._columns.values())
        numbers = ", ".join(str(self._numbers[partition]) for partition in partitions)
        found = self._session.arrow(
            f"SELECT {listed} FROM encoded WHERE part IN ({numbers}) ORDER BY {order}"
        )
        codes = {n: numbers_of(found, self._columns[n]).astype(np.int32) for n in names}
        ids = [
            numbers_of(found, unit) if unit in self._units else None for unit in (PERSON, HOUSEHOLD)
        ]
        return numbers_of(found, "row"), codes, *ids

    @property
    def _stored(self) -> list[str]:
        """All columns of the encoded rows but the number of their partition."""
        return [column for column in self._session.columns("encoded") if column != "part"]

    def _sort(self, partitions: Sequence[Partition]) -> None:
        """Sort the encoded rows by partition."""
        number = f"CAST({part_number(partitions, self._columns)} AS UINTEGER) AS part"
        rows = f"SELECT {', '.join(self._stored)}, {number} FROM encoded ORDER BY part"
        self._session.run(f"CREATE OR REPLACE TABLE sorted AS {rows}")
        self._session.run("DROP TABLE encoded")
        self._session.run("ALTER TABLE sorted RENAME TO encoded")
        self._numbers = {partition: place for place, partition in enumerate(partitions)}

    def _begin(self, work: Work) -> None:
        """Prepare for the published entry of each row, column by column."""
        quasi = tuple(c.name for c in work.columns if c.role is Role.QUASI)
        self._session.limit(_SHARE_BESIDE_WORKERS)
        self._entries = {name: f"e{number}" for number, name in enumerate(quasi)}
        added = [f"CAST(NULL AS INTEGER) AS {column}" for column in self._entries.values()]
        columns = ", ".join([*self._stored, *added])
        self._session.run(
            f"CREATE OR REPLACE TABLE entries AS SELECT {columns} FROM encoded LIMIT 0"
        )

    def _add(self, rows: Counts, outcome: Outcome, numbers: Mapping[str, Codes]) -> None:
        """Store the rows of a group with their published entries, without suppressed ones.

        numbers: for each quasi-identifier the number of each entry of the outcome.
        """
        kept = np.ones(len(rows), dtype=np.bool_)
        if outcome.suppressed is not None:
            kept[outcome.suppressed] = False
        columns = {
            column: numbers[name][outcome.entries[name][kept]]
            for name, column in self._entries.items()
        }
        if not kept.any():
            return
        near = f"encoded.rowid BETWEEN {int(rows.min())} AND {int(rows.max())}"
        self._session.append(
            "entries",
            pa.table({"row": rows[kept], **columns}),
            f"SELECT {', '.join([*self._stored, *columns])} FROM given JOIN encoded "
            f"ON encoded.rowid = given.row WHERE {near}",
        )

    def joined(self, plan: Plan, keys: Sequence[str], view: str) -> str:
        """Return the query of the stored rows with the classes of their entries."""
        size = sum(map(len, plan.maps.values())) * _BYTES_PER_TEXT
        self._session.limit(max(SHARE - size / self._session.budget.size, _SHARE_BESIDE_TEXTS))
        cells, joins = {}, []
        for name, codes in plan.maps.items():
            entry = self._entries[name]
            found = mapped(self._session, f"entries.{entry}", codes, f"{view}_{entry}")
            cells[name] = found[0]
            joins.append(found[1])
        words = pack_words(plan.classes, cells)
        classes = ", ".join(f"{word} AS {key}" for word, key in zip(words, keys, strict=True))
        return f"SELECT entries.*, {classes} FROM entries {' '.join(joins)}"


def part_number(partitions: Sequence[Partition], columns: Mapping[str, str]) -> str:
    """Return the expression of the number of a row's partition, counted from 0.

    partitions: the leaves of a tree of cuts, in its order. columns: the column of each name.

    >>> from shoal.engines.cutting import Side
    >>> part_number([(Side("age", 40, False),), (Side("age", 40, True),)], {"age": "d0"})
    'CASE WHEN d0 <= 40 THEN 0 ELSE 1 END'
    """
    return _below(list(enumerate(partitions)), 0, columns)


def _below(leaves: list[tuple[int, Partition]], depth: int, columns: Mapping[str, str]) -> str:
    """Return the expression for the leaves under one node of the tree."""
    if len(leaves) == 1:
        return str(leaves[0][0])
    cut = leaves[0][1][depth]
    low = [leaf for leaf in leaves if not leaf[1][depth].above]
    high = [leaf for leaf in leaves if leaf[1][depth].above]
    first, second = (_below(side, depth + 1, columns) for side in (low, high))
    return f"CASE WHEN {columns[cut.column]} <= {cut.last} THEN {first} ELSE {second} END"
