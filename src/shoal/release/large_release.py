"""A release whose rows stay on disk: written in batches, and checked on the written files.

    distinct tuples, anonymized ── published_rows ──▶ `Released`: all rows with their class
        verify: the model on classes that are counted in the store
        write: its rows in order ──▶ files ── check_written ──▶ grouped again, and compared
        digest: weighted rows in memory, for reports

The store answers each question with a query; nothing but counts and batches of rows leaves it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, NotAnonymous
from shoal.files.writing import (
    BATCH,
    Parts,
    Staging,
    check_order,
    is_text_output,
    staged,
    writes_parts,
)
from shoal.files.writing import Order as RowOrder
from shoal.metrics import METRICS
from shoal.metrics.registry import cell_shares_by_attribute
from shoal.release.provenance import Tally
from shoal.release.publishing import lay_out, plan_of, quasi_cells
from shoal.release.release import Release
from shoal.release.verification import Verification, judge, refuse_broken
from shoal.rows.layout import Cells, Layout
from shoal.rows.packing import Packing
from shoal.rows.queries import Released
from shoal.rows.store import Counted, Counting, counted_classes, order_of, same_classes
from shoal.support.addresses import address_of
from shoal.support.arrays import Counts
from shoal.support.wording import counted
from shoal.table.classes import CountedClasses
from shoal.table.column import Column, Role
from shoal.table.linked import Replaced

if TYPE_CHECKING:
    from shoal.rows.large_table import LargeTable


@dataclass(frozen=True, eq=False, repr=False)
class LargeRelease(Release):
    """A release of a `LargeTable`.

    The original is the weighted table of distinct tuples.

    Attributes:
        source: The table in files.
        floor: The levels at which the search began, by attribute, if not at the finest.
        linked: (tuples,) the set of linked rows of each tuple, None if no rows are linked.
    """

    source: LargeTable = field(default=None)  # type: ignore[assignment]
    floor: Mapping[str, int] = field(default_factory=dict)
    linked: Counts | None = None

    @classmethod
    def of(
        cls,
        release: Release,
        source: LargeTable,
        floor: Mapping[str, int],
        linked: Counts | None = None,
    ) -> LargeRelease:
        """Return the release of all rows that a release of their distinct tuples describes.

        linked: (tuples,) the set of linked rows of each tuple.
        """
        known = {each.name: getattr(release, each.name) for each in fields(Release)}
        columns = tuple(c for c in release.original if c.role is not Role.IDENTIFIER)
        known |= {"original": replace(release.original, columns=columns), "replaced": {}}
        made = cls(**known, source=source, floor=floor, linked=linked)
        tuples = counted(len(release.original), "distinct tuple")
        if linked is not None:
            tuples = f"{counted(len(np.unique(linked)), 'set')} of linked rows"
        where = "in Spark" if source.engine.name == "spark" else "on disk"
        notes = [f"the rows stayed {where}; the method ran on {tuples}"]
        if floor:
            levels = ", ".join(f"{name} {level}" for name, level in floor.items())
            notes.append(
                f"the search began at {levels}: finer levels have too many distinct tuples for "
                f"{source.budget} of memory"
            )
        run = replace(release.run, notes=(*release.run.notes, *notes))
        return replace(made, run=run)

    def __repr__(self) -> str:
        made = f"LargeRelease({self.run.method or 'by hand'}, {self.model}"
        suppressed = self.source.records - self._total.rows
        return f"{made}, rows={self.source.records}, suppressed={suppressed})"

    def published_rows(self, *, text: bool) -> tuple[Mapping[str, Cells], Any]:
        """Return the published cells of the quasi-identifiers, and the released rows.

        text: for a text file, where numbers may keep the text of their source.
        """
        cache: dict[bool, Any] = self.__dict__.setdefault("_published_rows", {})
        if text not in cache:
            found = quasi_cells(self, self.kept_rows, spelled=text)
            rows = self.source.engine.release(plan_of(self, found, self.kept_rows, self.linked))
            cache[text] = {name: cells for name, (_, cells) in found.items()}, rows
        rows_of: tuple[Mapping[str, Cells], Any] = cache[text]
        return rows_of

    @cached_property
    def _total(self) -> Any:
        return self.published_rows(text=False)[1].total

    @cached_property
    def counted(self) -> CountedClasses:
        """The classes of the released rows, counted by the engine."""
        found, rows = self.published_rows(text=False)
        cells = {name: each.values for name, each in found.items()}
        counting = Counting(rows.count_classes, rows.count_with_value, cells, self._total)
        return counted_classes(counting, self._guarded, self.original)

    @property
    def _guarded(self) -> dict[str, Column]:
        """The sensitive columns that the model uses."""
        used: tuple[str, ...] = self.model.columns  # type: ignore[attr-defined]
        return {name: self.original[name] for name in used}

    def verify(self) -> Verification:
        """Count the classes of the released rows again and check the model on each of them.

        `write` checks the written files.
        """
        return self._judged(self.counted)

    def _judged(self, classes: CountedClasses) -> Verification:
        found = judge(classes, self.model)
        return replace(found, truthful=self.truthful and found.records == self.expected_rows)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return tuple(self.recodings)

    @property
    def expected_rows(self) -> int:
        """Number of rows that are not suppressed."""
        rows = self.original.records
        if self.suppressed is not None and self.original.counts is not None:
            rows -= int(self.original.counts[self.suppressed].sum())
        return rows

    @property
    def truthful(self) -> bool:
        """Whether every cell covers its original value, and its text matches what it covers."""
        return all(each.truthful() for each in self.recodings.values())

    @property
    def losses(self) -> Mapping[str, float]:
        """Information losses by metric.

        If the search began at a coarser level, the spread inside classes is not known.
        """
        names = [n for n in ("ncp", "class", "pub") if n != "class" or not self.floor]
        return {name: METRICS[name](self) for name in names}

    @property
    def cells_by_column(self) -> Mapping[str, Mapping[str, float]]:
        """Shares of kept, generalized and hidden cells by column."""
        return {name: s.to_dict() for name, s in cell_shares_by_attribute(self).items()}

    @property
    def tally(self) -> Tally:
        """The numbers of rows and people."""
        classes, source = self.counted, self.source
        people, households = source.count_people()
        some = len(classes) > 0
        return Tally(
            records=source.records,
            people=people,
            households=households,
            released=int(classes.rows.sum()),
            released_people=classes.released_people,
            classes=len(classes),
            smallest_class=int(classes.sizes.min()) if some else 0,
            smallest_class_rows=int(classes.rows.min()) if some else 0,
            average_class_people=float(classes.people.mean()) if some else 0.0,
            average_class_rows=float(classes.rows.mean()) if some else 0.0,
        )

    def to_spark(self) -> Any:
        """Return the published rows in canonical order, as a frame of Spark.

        Spark computes them when they are used, from rows that it has cached: keep this release
        until then.
        """
        from shoal.rows.spark.parts import published_frame

        if self.source.engine.name != "spark":
            raise InputError("the rows are not in Spark; anonymize a frame of Spark for that")
        return published_frame(lay_out(self, text=False))

    def to_native(self, cells: Any = "text") -> Any:
        """Return the published rows as a frame of Spark if they are there, else as for Arrow."""
        in_spark = self.source.engine.name == "spark" and cells == "text"
        return self.to_spark() if in_spark else super().to_native(cells)

    @cached_property
    def digest(self) -> Release:
        """A weighted release in memory with all sensitive columns, for reports."""
        from shoal.release.digest import digest_of

        found = digest_of(self)
        return found if found.replaced else replace(found, replaced=self.without_cells(found))

    def without_cells(self, release: Release) -> dict[str, Replaced]:
        """Return the replaced identifiers of a release in memory, whose cells are missing there."""
        rows = len(release.original)
        return {n: replace(r, cells=pa.nulls(rows, pa.string())) for n, r in self.replaced.items()}

    @cached_property
    def singling_out(self) -> Any:
        """People who are singled out by columns that are published unchanged."""
        from shoal.risk.caveats import singling_out_of

        return singling_out_of(self)

    @cached_property
    def linked_rows(self) -> Any:
        """People whom the rows that a published identifier links single out."""
        from shoal.risk.caveats import linked_rows_of

        return linked_rows_of(self)

    @cached_property
    def sizes_before(self) -> tuple[Counts, Counts]:
        """Numbers of released rows of the original tuples, and how many tuples have each."""
        columns = [self.source.encoded[name].column for name in self.quasi]
        packing = Packing.of({column.name: column.domain for column in columns})
        rows: Released = self.published_rows(text=False)[1]
        return rows.sizes(packing)

    def to_arrow(self, cells: Any = "text") -> Any:
        """Return the published rows in canonical order, if they fit in the memory budget."""
        if cells != "text":
            raise InputError("a release that stays on disk has cells='text' only; write it instead")
        layout = lay_out(self, text=False)
        if self._total.rows * len(self.source.published) * 16 > self.source.budget.size:
            raise InputError(
                f"the release has {self._total.rows:,} rows, too many for "
                f"{self.source.budget} of memory; write it to a file or folder"
            )
        tables = list(self._batches(layout))
        return pa.concat_tables(tables) if tables else layout.schema.empty_table()

    def write(
        self,
        path: str | Path,
        *,
        force: bool = False,
        order: RowOrder = "canonical",
        escape_formulas: bool = False,
        parts: Parts = "parquet",
    ) -> Verification:
        """Write the published rows to a file, or to a folder of parts.

        The written files are read and grouped again before they are renamed.

        Parameters:
            path: A name without an ending, or one that ends in a slash, is a folder of parts; else
                the ending decides the format. An address like `s3://bucket/name` must not exist;
                Spark writes folders there.
            force: Overwrite an existing file, or a folder that Shoal wrote.
            order: "canonical"; the original order is not known here.
            escape_formulas: As for `Release.write`.
            parts: As for `Release.write`. Spark writes CSV parts through the driver.

        Returns:
            The outcome of the check on the written rows.

        Raises:
            NotAnonymous: The guarantee does not hold; nothing was written.
        """
        check_order(order)
        if order == "original":
            raise InputError("rows that stay on disk cannot keep their order; leave out the order")
        address, in_spark = address_of(path), self.source.engine.name == "spark"
        text = is_text_output(path, parts)
        if in_spark and not text and (address is not None or writes_parts(path)):
            from shoal.rows.spark.parts import write_parts

            layout = lay_out(self, text=False)
            check = partial(self.check_written, layout=layout, text=False)
            checked: Verification = write_parts(path, layout, check, force=force)
            return checked
        layout = lay_out(self, text=text, escape=escape_formulas and text)
        with staged(path, force=force, parts=parts) as staging:
            staging.write(self._batches(layout), layout.schema, self._total.rows)
            return self.check_written(staging, layout, text=text)

    def _batches(self, layout: Layout) -> Iterator[Any]:
        """Yield the rows as tables of `BATCH` rows, the last with the rest."""
        waiting: list[Any] = []
        rows, last = 0, tuple[int, ...]()
        for batch in layout.rows.batches(layout.order, BATCH):
            last = layout.in_order(pa.Table.from_batches([batch]), last)
            waiting.append(pa.Table.from_batches([batch]))
            rows += batch.num_rows
            while rows >= BATCH:
                joined = pa.concat_tables(waiting)
                yield layout.decode(joined.slice(0, BATCH))
                waiting, rows = [joined.slice(BATCH)], rows - BATCH
        if rows:
            yield layout.decode(pa.concat_tables(waiting))

    def _check_links(self, name: str, found: Counted, linked: Counted, expected: Counted) -> None:
        """Reject written rows in which an identifier links rows of different classes.

        found: its distinct cells in each class. linked: its distinct cells. expected: the classes.
        """
        by_class, together = (each.people for each in (found, linked))
        assert by_class is not None
        assert together is not None
        holds = by_class.sum() == together.sum()
        if self.source.units["person"] == self.source.linking:
            assert expected.people is not None
            counted_people = expected.people[order_of(expected)]
            holds &= np.array_equal(by_class[order_of(found)], counted_people)
        if not holds:
            raise NotAnonymous(
                f"{name} links rows of different classes in the written rows; nothing was written"
            )

    def check_written(self, staging: Staging, layout: Layout, *, text: bool) -> Verification:
        """Group the written files and check the model on every class."""
        engine, labels = self.source.engine, layout.labels

        @cache
        def count(value: str | None = None) -> Any:
            asked = {name: labels[name] for name in self.quasi}
            if value is not None and value in labels:
                asked[value] = labels[value]
            return engine.count_written(staging.files, asked, value, text)

        expected, found = layout.rows.count_classes(), count(None)
        if not same_classes(expected, found):
            raise NotAnonymous(
                "the written rows are not the released ones: some cells or counts differ; nothing "
                "was written"
            )
        for name in self.source.linking:
            linked = engine.count_written(staging.files, {}, name, text)
            self._check_links(name, count(name), linked, expected)
        classes = self.counted  # people are not in the files, so they are counted in the rows
        if self._total.people is None and self._total.households is None:
            cells = {name: labels[name] for name in self.quasi}
            counting = Counting(count, None, cells, self._total, layout.codes)
            classes = counted_classes(counting, self._guarded, self.original)
        checked = self._judged(classes)
        refuse_broken(checked, self.model)
        return checked
