"""A release of a table that was anonymized partition by partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.column import Column
from shoal.core.margins import Pairs
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.values.spelled import fitted
from shoal.engines.engine import Plan
from shoal.engines.large_release import LargeRelease
from shoal.engines.margins import Shown, margins_of
from shoal.engines.packing import Packing
from shoal.engines.published import Cells
from shoal.reading.released_columns import read_recoding


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
