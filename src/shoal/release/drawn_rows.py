"""The rows of a release of a sample, whose table is outside memory: distinct, with their numbers.

They are written in batches. Everything that a release in memory withholds about records that are
not released is withheld here too: it is a release of the weighted table of distinct tuples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, NotAnonymous
from shoal.files.writing import (
    BATCH,
    Order,
    Parts,
    canonical,
    count_formulas,
    dates_at_midnight,
    decoded,
    escape_formulas,
    is_text_output,
    staged,
)
from shoal.release.release import Release
from shoal.release.verification import Verification, refuse_broken
from shoal.rows.packing import Packing
from shoal.rows.store import Counted, same_classes
from shoal.support.arrays import Codes, Counts
from shoal.table.encoding import combined, texts
from shoal.table.people import group

if TYPE_CHECKING:
    from shoal.rows.large_table import LargeTable


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """The rows of a release of a sample of a table outside memory; see `StoredRows`.

    The original of the release is the weighted table of distinct tuples of all published columns.

    source: the table, whose working files are kept.
    """

    source: LargeTable = field(repr=False)

    @property
    def in_spark(self) -> bool:
        """Whether Spark has the rows of the table."""
        return self.source.engine.name == "spark"

    def to_arrow(self, release: Release) -> Any:
        """Return the published rows in canonical order, if they fit in the memory budget."""
        rows = distinct_rows(release, text=False)
        if rows.total * rows.cells.num_columns * 16 > self.source.budget.size:
            raise InputError(
                f"the release has {rows.total:,} rows, too many for {self.source.budget} of "
                "memory; write it to a file or folder"
            )
        return pa.concat_tables([rows.cells.slice(0, 0), *rows.batches()]).combine_chunks()

    def to_spark(self, release: Release) -> Any:
        """Return the published rows in canonical order, as a frame of Spark."""
        from shoal.rows.spark.parts import repeated_frame

        rows = distinct_rows(release, text=False)
        return repeated_frame(self.source.engine, rows.cells, rows.counts)

    def formula_columns(self, release: Release) -> list[str]:
        """Return the columns of a text file with cells that a spreadsheet would run."""
        return list(count_formulas(distinct_rows(release, text=True).cells))

    def write(
        self,
        release: Release,
        path: str | Path,
        *,
        force: bool,
        order: Order,
        escape: bool,
        parts: Parts,
    ) -> Verification:
        """Write the published rows; the written files are read again, and must have these rows."""
        text = is_text_output(path, parts)
        rows = distinct_rows(release, text=text)
        if escape and text:
            rows = CountedRows(escape_formulas(rows.cells), rows.counts)
        with staged(path, force=force, parts=parts) as staging:
            staging.write(rows.batches(), rows.cells.schema, rows.total)
            self._check_rows(staging.files, rows, text=text)
            checked = release.verify()
            refuse_broken(checked, release.model)
            return checked

    def _check_rows(self, files: list[Path], rows: CountedRows, *, text: bool) -> None:
        """Reject files whose rows are not exactly these."""
        labels, expected = rows.counted(text=text)
        if not self.in_spark:
            found = self.source.engine.count_written(files, labels, None, text)
        else:  # the files are on this machine, which executors may not see
            from shoal.rows.duckdb_rows import count_on_disk

            found = count_on_disk(files, labels, None, text, self.source.budget)
        if not same_classes(expected, found):
            raise NotAnonymous(
                "the written rows are not the released ones: some cells or counts differ; nothing "
                "was written"
            )


def distinct_rows(release: Release, *, text: bool) -> CountedRows:
    """Return the distinct published rows of a weighted release; text: for a text file."""
    kept, counts = release.kept_rows, release.original.counts
    assert counts is not None
    cells = decoded(release.published_cells(kept, spelled=text))
    order = canonical(cells)
    cells = cells.take(pa.array(order))
    return CountedRows(dates_at_midnight(cells) if text else cells, counts[kept][order])


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Published rows in canonical order, each with the number of times it is published.

    cells: Arrow table. counts: (rows,) numbers.
    """

    cells: Any
    counts: Counts

    @property
    def total(self) -> int:
        """Number of published rows."""
        return int(self.counts.sum())

    def batches(self) -> Iterator[Any]:
        """Yield the rows as tables of `BATCH` rows, the last with the rest."""
        ends = np.cumsum(self.counts)
        for start in range(0, self.total, BATCH):
            stop = min(start + BATCH, self.total)
            first, last = np.searchsorted(ends, (start, stop - 1), side="right").tolist()
            inside = slice(first, last + 1)
            begun = np.maximum(ends[inside] - self.counts[inside], start)
            times = np.minimum(ends[inside], stop) - begun
            rows = np.repeat(np.arange(first, last + 1), times)
            yield self.cells.take(pa.array(rows))

    def counted(self, *, text: bool) -> tuple[dict[str, Any], Counted]:
        """Return the distinct cells of each column as a file has them, and how often rows occur."""
        labels: dict[str, Any] = {}
        codes: dict[str, Codes] = {}
        for name in self.cells.column_names:
            cells = combined(self.cells.column(name), name)
            if text:
                cells = pa.array(texts(cells), pa.string())
            encoded = cells.dictionary_encode(null_encoding="encode")
            labels[name] = encoded.dictionary
            codes[name] = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
        domains = {name: len(each) + 1 for name, each in labels.items()}
        alike = group(list(codes.values()), list(domains.values()))
        once = {name: each[alike.first] for name, each in codes.items()}
        return labels, Counted(Packing.of(domains).pack(once), alike.sizes(self.counts))
