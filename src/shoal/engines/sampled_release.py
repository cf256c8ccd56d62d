"""A release of a sample of a table on disk: distinct rows with their numbers, written in batches.

Everything that a release in memory withholds about records that are not released is withheld here
too: it is a release of the weighted table of distinct tuples, and has no figures of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.grouping import group
from shoal.core.publishing.formulas import count_formulas, escape_formulas
from shoal.core.publishing.row_order import Order, canonical, check_order
from shoal.core.publishing.staging import Parts, is_text_output, staged
from shoal.core.publishing.writing import BATCH, dates_at_midnight, decoded
from shoal.core.release import Release
from shoal.core.values.encoding import combined, texts
from shoal.core.verification import Verification, refuse_broken
from shoal.engines.counting import same_classes
from shoal.engines.engine import Counted
from shoal.engines.packing import Packing
from shoal.errors import InputError, NotAnonymous
from shoal.support.arrays import Codes, Counts

if TYPE_CHECKING:
    from shoal.engines.large_table import LargeTable


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


@dataclass(frozen=True, eq=False, repr=False)
class SampledRelease(Release):
    """A release of a sample of a `LargeTable`.

    The original is the weighted table of distinct tuples of all published columns.

    Attributes:
        source: The table in files.
    """

    source: LargeTable = field(default=None)  # type: ignore[assignment]

    @classmethod
    def of(cls, release: Release, source: LargeTable) -> SampledRelease:
        """Return the release of the weighted table of a source."""
        known = {each.name: getattr(release, each.name) for each in fields(Release)}
        return cls(**known, source=source)

    def published_tuples(self, *, text: bool) -> CountedRows:
        """Return the distinct published rows; text: for a text file."""
        cells = decoded(self.published_cells(self._kept, spelled=text))
        order = canonical(cells)
        counts = self.original.counts
        assert counts is not None
        cells = cells.take(pa.array(order))
        if text:
            cells = dates_at_midnight(cells)
        return CountedRows(cells, counts[self._kept][order])

    def formula_columns(self) -> list[str]:
        """Return the columns of a text file with cells that a spreadsheet would run."""
        return list(count_formulas(self.published_tuples(text=True).cells))

    def to_arrow(self, cells: Any = "text") -> Any:
        """Return the published rows in canonical order, if they fit in the memory budget."""
        if cells != "text":
            raise InputError("a release that stays on disk has cells='text' only; write it instead")
        rows = self.published_tuples(text=False)
        if rows.total * rows.cells.num_columns * 16 > self.source.budget.size:
            raise InputError(
                f"the release has {rows.total:,} rows, too many for {self.source.budget} of "
                "memory; write it to a file or folder"
            )
        return pa.concat_tables([rows.cells.slice(0, 0), *rows.batches()]).combine_chunks()

    def to_spark(self) -> Any:
        """Return the published rows in canonical order, as a frame of Spark."""
        from shoal.engines.spark.publishing import sampled_frame

        return sampled_frame(self)

    def to_native(self, cells: Any = "text") -> Any:
        """Return the published rows as a frame of Spark if they are there, else as for Arrow."""
        in_spark = self.source.engine.name == "spark" and cells == "text"
        return self.to_spark() if in_spark else super().to_native(cells)

    def write(
        self,
        path: str | Path,
        *,
        force: bool = False,
        order: Order = "canonical",
        escape_formulas: bool = False,
        parts: Parts = "parquet",
    ) -> Verification:
        """Write the published rows to a file, or to a folder of parts.

        The written files are read again: their rows must be the drawn ones.

        Parameters:
            path: As for `LargeRelease.write`.
            force: Overwrite an existing file, or a folder that Shoal wrote.
            order: "canonical"; there is no other.
            escape_formulas: As for `Release.write`.
            parts: As for `Release.write`.

        Returns:
            The outcome of the check on the written rows.

        Raises:
            NotAnonymous: The guarantee does not hold; nothing was written.
        """
        check_order(order)
        if order == "original":
            raise InputError(
                "a release that claims differential privacy has no original order; leave out order"
            )
        text = is_text_output(path, parts)
        rows = self.published_tuples(text=text)
        if escape_formulas and text:
            rows = _escaped(rows)
        with staged(path, force=force, parts=parts) as staging:
            staging.write(rows.batches(), rows.cells.schema, rows.total)
            self._check_rows(staging.files, rows, text=text)
            checked = self.verify()
            refuse_broken(checked, self.model)
            return checked

    def _check_rows(self, files: list[Path], rows: CountedRows, *, text: bool) -> None:
        """Reject files whose rows are not exactly these."""
        labels, expected = rows.counted(text=text)
        engine = self.source.engine
        if engine.name == "duckdb":
            found = engine.count_written(files, labels, None, text)
        else:  # the files are on this machine, which executors may not see
            from shoal.engines.duckdb_written import count_on_disk

            found = count_on_disk(files, labels, None, text, self.source.budget)
        if not same_classes(expected, found):
            raise NotAnonymous(
                "the written rows are not the released ones: some cells or counts differ; nothing "
                "was written"
            )


def _escaped(rows: CountedRows) -> CountedRows:
    return CountedRows(escape_formulas(rows.cells), rows.counts)
