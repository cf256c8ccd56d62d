"""A release of a table that was anonymized partition by partition.

    partition ── PartitionWork ──▶ Outcome: entries of rows, texts, losses    in worker processes
    outcomes ───────────────────▶ PartitionedRelease: texts and `Figures`; the engine has the rows

Losses are means over the partitions: no process ever has all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.metrics import evaluate
from shoal.metrics.registry import cell_shares_by_attribute
from shoal.release.large_release import LargeRelease
from shoal.release.reading_columns import read_recoding
from shoal.release.release import Release
from shoal.release.stored_margins import Shown, margins_of
from shoal.rows.dictionaries import unit_of
from shoal.rows.layout import Cells
from shoal.rows.packing import Packing
from shoal.rows.partitions import Outcome
from shoal.rows.store import Plan
from shoal.support.arrays import Codes, Counts
from shoal.table.column import Column
from shoal.table.encoding import fitted
from shoal.table.pairs import Pairs
from shoal.table.recoding import Recoding
from shoal.table.table import Table

LOSSES = ("ncp", "class", "pub")


@dataclass(frozen=True, eq=False)
class PartitionWork:
    """What is done with every partition: the method, and the measure of what it lost.

    columns: the quasi-identifiers and the columns of the model, without rows.
    person, household: the columns that identify them. search: runs the method and checks it.
    """

    columns: tuple[Column, ...]
    person: tuple[str, ...]
    household: tuple[str, ...]
    search: Callable[[Table], Release]

    def table(
        self, codes: Mapping[str, Codes], person: Counts | None, household: Counts | None
    ) -> Table:
        """Return the rows of a partition as a table."""
        return Table(
            tuple(replace(column, codes=codes[column.name]) for column in self.columns),
            person=unit_of(self.person, person),
            household=unit_of(self.household, household),
        )

    def __call__(
        self, codes: Mapping[str, Codes], person: Counts | None, household: Counts | None
    ) -> Outcome:
        """Anonymize the rows of a partition."""
        release = self.search(self.table(codes, person, household))
        entries, labels = {}, {}
        for name, recoding in release.recodings.items():
            used, entry = np.unique(recoding.codes, return_inverse=True)
            entries[name] = entry.astype(np.int32)
            labels[name] = pa.array([recoding.labels[each] for each in used.tolist()], pa.string())
        shares = {n: s.to_dict() for n, s in cell_shares_by_attribute(release).items()}
        lost = release.suppressed
        return Outcome(
            len(release.original),
            entries,
            labels,
            None if lost is None else np.flatnonzero(lost),
            dict(evaluate(release, LOSSES)),
            shares,
            release.run.notes,
        )


@dataclass(frozen=True, eq=False)
class Figures:
    """Means over all rows of the losses and cell shares of the partitions."""

    losses: Mapping[str, float]
    shares: Mapping[str, Mapping[str, float]]
    suppressed: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedRelease(LargeRelease):
    """A release whose classes never cross partitions.

    Attributes:
        columns: The quasi-identifiers, for their domains.
        labels: For each of them the published text of each entry, as a dictionary array; the engine
            has the entry of each row.
        figures: Losses, measured partition by partition.
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    figures: Figures = field(default_factory=lambda: Figures({}, {}))

    def published_rows(self, *, text: bool) -> tuple[Mapping[str, Cells], Any]:
        """Return the published cells of the quasi-identifiers, and the released rows."""
        cache: dict[bool, Any] = self.__dict__.setdefault("_published_rows", {})
        if text not in cache:
            cells = {name: self._cells(name, spelled=text) for name in self.labels}
            packing = Packing.of({name: len(each.values) + 1 for name, each in cells.items()})
            maps = {name: each.ranks for name, each in cells.items()}
            cache[text] = cells, self.source.engine.release(Plan(packing, maps, by_row=True))
        rows_of: tuple[Mapping[str, Cells], Any] = cache[text]
        return rows_of

    def _cells(self, name: str, *, spelled: bool) -> Cells:
        """Return the cells of a column, with the rank of each entry."""
        labels = self.labels[name]
        cells = Cells.of(_entries(self.columns[name], labels.dictionary, spelled=spelled))
        return replace(cells, ranks=cells.ranks[labels.indices.to_numpy(zero_copy_only=False)])

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return tuple(self.columns)

    @property
    def expected_rows(self) -> int:
        """Number of rows that are not suppressed."""
        return self.source.records - self.figures.suppressed

    @property
    def truthful(self) -> bool:
        """Whether every cell covers its original; each partition was checked when it was made."""
        return True

    @cached_property
    def digest(self) -> Release:
        """Weighted rows in memory with the counts of the release, for reports and metrics.

        What the published texts stand for is read from them.
        """
        cells, rows = self.published_rows(text=False)

        def recoding(name: str, pairs: Pairs) -> Recoding:
            labels, ranks = self.labels[name], np.zeros(len(self.labels[name].dictionary), np.int32)
            ranks[labels.indices.to_numpy(zero_copy_only=False)] = cells[name].ranks
            texts: list[str | None] = [None] * len(cells[name].values)
            for rank, text in zip(ranks.tolist(), labels.dictionary.to_pylist(), strict=True):
                texts[rank] = text
            column = replace(self.columns[name], codes=pairs.codes)
            return read_recoding(column, tuple(texts), pairs.cells)

        shown = Shown(rows, {name: len(each.values) for name, each in cells.items()}, recoding)
        found = margins_of(self, self.source, shown)
        return replace(found, replaced=self.without_cells(found))

    @property
    def losses(self) -> Mapping[str, float]:
        """Information losses by metric."""
        return self.figures.losses

    @property
    def cells_by_column(self) -> Mapping[str, Mapping[str, float]]:
        """Shares of kept, generalized and hidden cells by column."""
        return self.figures.shares


def _entries(column: Column, texts: Any, *, spelled: bool) -> Any:
    """Return published texts as cells: values if all of them are values of the column."""
    kept = column.spelling is not None
    codes = pc.index_in(texts, pa.array(column.labels, pa.string()))
    if codes.null_count or (kept and spelled):
        return texts
    values = column.values.take(codes)
    return fitted(values, texts) if kept else values
