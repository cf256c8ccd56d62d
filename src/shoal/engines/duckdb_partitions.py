"""Partitions of the rows of DuckDB: read one by one, mapped in a pool, and stored by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Role
from shoal.engines.cutting import Partition
from shoal.engines.duckdb_released import mapped, numbers_of, pack_words
from shoal.engines.duckdb_session import Session
from shoal.engines.engine import HOUSEHOLD, PERSON, Plan
from shoal.engines.partitions import Numbering, Outcome, Work
from shoal.engines.pool import map_in_pool
from shoal.errors import InputError
from shoal.support.arrays import Counts

_SHARE_BESIDE_WORKERS = 0.4  # of the budget, while worker processes need the rest


class DuckDBPartitions:
    """The encoded rows by partition, and the published entry of each row.

    columns: the encoded column of each name. units: people and households, as far as known.
    """

    def __init__(self, session: Session, columns: Mapping[str, str], units: Sequence[str]) -> None:
        self._session, self._columns, self._units = session, columns, units
        self._entries: dict[str, str] = {}  # the column of entries of each name
        self.numbering = Numbering(())

    def map(
        self, groups: Sequence[Sequence[Partition]], work: Work, processes: int | None, store: bool
    ) -> Iterator[Outcome]:
        """Yield the outcome of each group of partitions, in order."""
        ids: list[Counts] = []
        if store:
            self._begin(work)
        outcomes = map_in_pool(self._tasks(groups, work, ids), processes)
        for place, outcome in enumerate(outcomes):
            if outcome.rows != len(ids[place]):
                raise InputError("a partition came back with another number of rows; start again")
            if store:
                self._add(ids[place], outcome)
            ids[place] = ids[place][:0]
            yield outcome

    def _tasks(
        self, groups: Sequence[Sequence[Partition]], work: Work, ids: list[Counts]
    ) -> Iterator[Any]:
        for group in groups:
            rows, *cells = self._rows(group, [column.name for column in work.columns])
            if len(rows):
                ids.append(rows)
                yield work, *cells

    def _rows(self, partitions: Sequence[Partition], names: Sequence[str]) -> tuple[Any, ...]:
        """Return the rows of partitions: their numbers, codes, people and households."""
        listed = ", ".join(["rowid AS row", *(self._columns[n] for n in names), *self._units])
        order = ", ".join(self._columns.values())
        found = self._session.arrow(
            f"SELECT {listed} FROM encoded WHERE {self._inside(partitions)} ORDER BY {order}"
        )
        codes = {n: numbers_of(found, self._columns[n]).astype(np.int32) for n in names}
        ids = [
            numbers_of(found, unit) if unit in self._units else None for unit in (PERSON, HOUSEHOLD)
        ]
        return numbers_of(found, "row"), codes, *ids

    def _inside(self, partitions: Sequence[Partition]) -> str:
        """Return the condition that a row is in one of the partitions."""
        each = [
            " AND ".join(
                f"{self._columns[side.column]} {'>' if side.above else '<='} {side.last}"
                for side in partition
            )
            for partition in partitions
        ]
        return " OR ".join(f"({one or 'true'})" for one in each)

    def _begin(self, work: Work) -> None:
        """Prepare for the published entry of each row, column by column."""
        quasi = tuple(c.name for c in work.columns if c.role is Role.QUASI)
        self.numbering = Numbering(quasi)
        self._session.limit(_SHARE_BESIDE_WORKERS)
        self._entries = {name: f"e{number}" for number, name in enumerate(quasi)}
        columns = ", ".join(f"{column} INTEGER" for column in self._entries.values())
        self._session.run(f"CREATE OR REPLACE TABLE entries (row BIGINT, {columns})")

    def _add(self, rows: Counts, outcome: Outcome) -> None:
        """Store the published entries of some rows; suppressed ones are left out."""
        kept = np.ones(len(rows), dtype=np.bool_)
        if outcome.suppressed is not None:
            kept[outcome.suppressed] = False
        numbers = self.numbering.of(outcome)
        columns = {
            column: numbers[name][outcome.entries[name][kept]]
            for name, column in self._entries.items()
        }
        self._session.append("entries", pa.table({"row": rows[kept], **columns}))

    def joined(self, plan: Plan, keys: Sequence[str], view: str) -> str:
        """Return the query that joins the stored entries of each row."""
        self._session.limit()
        cells, joins = {}, []
        for name, codes in plan.maps.items():
            entry = self._entries[name]
            found = mapped(self._session, f"entries.{entry}", codes, f"{view}_{entry}")
            cells[name] = found[0]
            joins.append(found[1])
        words = pack_words(plan.classes, cells)
        classes = ", ".join(f"{word} AS {key}" for word, key in zip(words, keys, strict=True))
        source = f"encoded JOIN entries ON encoded.rowid = entries.row {' '.join(joins)}"
        return f"SELECT encoded.*, {classes} FROM {source}"
