"""A release: the anonymized table, its guarantee, and how it was produced.

Nothing is written before the guarantee has been checked on exactly the rows to be written.

    original ─ recodings, suppressed ──▶ published cells ──▶ frames, or a file in canonical order
                                              └─ check_published: classes derived again, the model

Rows that do not fit in memory are returned and written by `rows`; the release then has a weighted
original of distinct tuples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.files.writing import (
    Order,
    Parts,
    canonical,
    check_order,
    decoded,
    is_text_output,
    write_output,
)
from shoal.release.provenance import Candidate, Promise, Proof, Run
from shoal.release.verification import (
    Guarantee,
    PopulationFit,
    Verification,
    bound_people,
    recount,
    refuse_broken,
)
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.wording import html_rows
from shoal.table.classes import SUPPRESSED, Classes
from shoal.table.column import Column, Role
from shoal.table.coverage import Coverage
from shoal.table.encoding import fitted
from shoal.table.frames import Origin, to_pandas, to_polars
from shoal.table.linked import Replaced, link_rows
from shoal.table.people import group
from shoal.table.recoding import Cells, Recoding, Summary, check_cells, with_bounds, with_intervals
from shoal.table.table import Table

_SHOWN = 8  # rows of a release in a notebook
Scope = Literal["cell", "column", "class", "tuple"]


class StoredRows(Protocol):
    """The rows of a release that does not fit in memory; the release has distinct, weighted ones.

    in_spark: whether Spark has the rows.
    """

    @property
    def in_spark(self) -> bool: ...  # noqa: D102

    def to_arrow(self, release: Release) -> Any:
        """Return the published rows in canonical order, if they fit in the memory budget."""

    def to_spark(self, release: Release) -> Any:
        """Return the published rows in canonical order, as a frame of Spark."""

    def formula_columns(self, release: Release) -> list[str]:
        """Return the columns of a text file with cells that a spreadsheet would run."""

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
        """Write the published rows, and check the written files; arguments as of `write`."""


@dataclass(frozen=True, eq=False)
class Release:
    """An anonymized table, returned by `shoal.anonymize` and `shoal.read_released`.

    Attributes:
        original: The table that was anonymized.
        recodings: One for each quasi-identifier of the original, by name.
        model: The guarantee that it claims.
        suppressed: (rows,) whether each row is suppressed, None if no row is.
        run: How it was produced.
        node: The level of each attribute, if a lattice method chose one for all rows.
        candidates: Nodes that it was chosen from.
        evaluated: Number of evaluated nodes.
        proof: Bound on the distance from the optimum, if the method knows one.
        claims: Claims of the mechanism that drew it, in addition to the model.
        replaced: The identifiers that are published in another form, by column.
        rows: What returns and writes its rows if they do not fit in memory, else None.
    """

    original: Table
    recodings: Mapping[str, Recoding]
    model: Guarantee
    suppressed: Bools | None = None
    run: Run = field(default_factory=Run)
    node: Mapping[str, int] | None = None
    candidates: Sequence[Candidate] = ()
    evaluated: int = 0
    proof: Proof | None = None
    claims: tuple[Promise, ...] = ()
    replaced: Mapping[str, Replaced] = field(default_factory=dict)
    rows: StoredRows | None = None

    @classmethod
    def of_groups(
        cls,
        table: Table,
        ids: Codes,
        groups: int,
        model: Guarantee,
        summary: Summary = "range",
        *,
        use_hierarchies: bool = True,
    ) -> Release:
        """Publish each group of rows by the smallest cells that cover it; suppress id −1."""
        recodings = {
            column.name: Recoding.of_groups(
                column,
                ids,
                groups,
                summary,
                use_hierarchy=use_hierarchies,
                counts=table.counts,
            )
            for column in table.quasi_columns
        }
        out = ids == SUPPRESSED
        return cls(table, recodings, model, out if out.any() else None)

    def __repr__(self) -> str:
        made = f"Release({self.run.method or 'by hand'}, {self.model}"
        if self.withheld:
            drawn = f"{', '.join(map(str, self.claims))}, released={self.released_records}"
            return f"{made}, {drawn}, classes={len(self.classes)})"
        rows, suppressed = len(self.original), self.classes.suppressed
        return f"{made}, rows={rows}, classes={len(self.classes)}, suppressed={suppressed})"

    def _repr_html_(self) -> str:
        data, checked = self.to_arrow(), self.verify()
        title, line = checked.in_words()
        return html_rows(title, data.take(canonical(data)[:_SHOWN]), line)

    @property
    def withheld(self) -> bool:
        """Whether nothing about unreleased records may be published, not even their number."""
        return bool(self.claims)

    @property
    def rows_per_person(self) -> int:
        """Largest number of released rows per person according to the claims, by default 1."""
        return max((getattr(c, "max_rows_per_person", 1) for c in self.claims), default=1)

    @property
    def shown(self) -> Release:
        """The release as others may see it: if it has claims, without the persons of its rows.

        The released rows do not show which of them belong to one person.
        """
        named = self.original.person is not None or self.original.household is not None
        return self._without_people if self.withheld and named else self

    @cached_property
    def _without_people(self) -> Release:
        return replace(self, original=replace(self.original, person=None, household=None))

    @cached_property
    def classes(self) -> Classes:
        """The equivalence classes: rows with equal published values."""
        columns, domains = [], []
        for recoding in self.recodings.values():
            number: dict[str | None, int] = {}
            same = [number.setdefault(text, len(number)) for text in recoding.labels]
            columns.append((np.array(same, dtype=np.int32), recoding.codes))
            domains.append(len(number))
        if self.suppressed is None:
            found = group((same[codes] for same, codes in columns), domains)
            return Classes.of(self.original, found.ids)
        kept = np.flatnonzero(~self.suppressed)
        ids = np.full(len(self.original), SUPPRESSED, dtype=np.int32)
        if len(kept):
            ids[kept] = group((same[codes[kept]] for same, codes in columns), domains).ids
        return Classes.of(self.original, ids)

    @property
    def digest(self) -> Release:
        """The release in memory: itself, or weighted rows if its rows stay on disk."""
        return self

    def knows(self, scope: Scope) -> bool:
        """Return whether the rows show the original values: beside cells, in classes, in records.

        The narrowest scope, "cell", needs each column on its own, before and after.
        """
        return True

    def original_sizes(self) -> tuple[Counts, Counts]:
        """Return the numbers of records of the original tuples, and how many tuples have each."""
        counts = self.original.distinct().table.counts
        assert counts is not None
        return np.unique(counts, return_counts=True)

    @cached_property
    def coverage(self) -> Coverage:
        """Which people fit which released records."""
        return Coverage.of(self.original, self.recodings, self.classes.ids)

    @cached_property
    def _rows(self) -> Counts:
        """Positions of the published rows, repeated by multiplicity in a weighted table.

        In the original order, or in the order of the published values if the original order must
        not be revealed.
        """
        kept = self.kept_rows
        if self.withheld:
            kept = kept[canonical(self.published_cells(kept))]
        if self.original.counts is None:
            return kept
        return np.repeat(kept, self.original.counts[kept])

    @property
    def kept_rows(self) -> Counts:
        """Positions of the rows of the original that are not suppressed."""
        every = np.arange(len(self.original))
        return every if self.suppressed is None else every[~self.suppressed]

    @property
    def released_records(self) -> int:
        """Number of published rows."""
        counts = self.original.counts
        return len(self.kept_rows) if counts is None else int(counts[self.kept_rows].sum())

    def to_arrow(self, cells: Cells = "text") -> Any:
        """Return the published rows, with generalized quasi-identifiers.

        Parameters:
            cells: "text" gives each generalized cell as its label. "bounds" gives two columns,
                NAME_low and NAME_high, for each numeric quasi-identifier, with the ends that the
                label states; a hidden cell has none.
        """
        check_cells(cells)
        if cells == "interval":
            raise InputError("intervals are a pandas type; use to_pandas, or cells='bounds'")
        if self.rows is not None:
            if cells != "text":
                raise InputError(
                    "a release that stays on disk has cells='text' only; write it instead"
                )
            return self.rows.to_arrow(self)
        data = decoded(self._published())
        return data if cells == "text" else with_bounds(data, self.recodings, self._rows)

    def _published(self, *, spelled: bool = False) -> Any:
        """Return the published rows with quasi-identifiers as dictionaries, a tenth of the size.

        spelled: return numbers that keep the text of their file as this text, for a text file.
        """
        whole = len(self._rows) == len(self.original) and self.original.counts is None
        rows = slice(None) if whole and not self.withheld else self._rows
        return self.published_cells(rows, spelled=spelled)

    def published_cells(self, rows: Any, *, spelled: bool = False) -> Any:
        """Return the published cells of some rows of the original, as dictionaries.

        Parameters:
            rows: Their positions.
            spelled: Return numbers that keep the text of their file as this text.
        """
        return published_cells(self, rows, spelled=spelled)

    def to_pandas(self, cells: Cells = "text") -> Any:
        """Return the published rows as a pandas frame.

        Parameters:
            cells: As for `to_arrow`, and "interval": each numeric quasi-identifier as pandas
                intervals, closed at both ends.
        """
        if cells != "interval":
            return to_pandas(self.to_arrow(cells))
        return with_intervals(to_pandas(self.to_arrow()), self.recodings, self._rows)

    def to_polars(self, cells: Cells = "text") -> Any:
        """Return the published rows as a polars frame, with cells as for `to_arrow`."""
        return to_polars(self.to_arrow(cells))

    def to_spark(self) -> Any:
        """Return the published rows in canonical order, as a frame of Spark, if they stay there.

        Raises:
            InputError: A frame of Spark was not what was anonymized.
        """
        if self.rows is None:
            raise InputError("the rows are not in Spark; anonymize a frame of Spark for that")
        return self.rows.to_spark(self)

    def to_native(self, cells: Cells = "text") -> Any:
        """Return the published rows as the kind of frame that was anonymized.

        A pandas frame keeps its index, so that the owner can join the rows with others. An index
        can identify people: publish what `write` writes, or reset the index first. A release with
        a differential privacy claim gets a new index, as its rows must not be linked to others.

        Parameters:
            cells: As for `to_pandas`.

        Returns:
            A pandas, polars or Spark frame, or a pyarrow table for any other source.
        """
        if self.rows is not None and self.rows.in_spark and cells == "text":
            return self.rows.to_spark(self)
        origin = self.original.origin or Origin()
        if origin.library != "pandas":
            return self.to_polars(cells) if origin.library == "polars" else self.to_arrow(cells)
        frame = self.to_pandas(cells)
        if origin.index is not None and not self.withheld:
            frame.index = origin.index[self._rows]
        return frame

    def chart(self, column: str | None = None, *, of: str = "classes") -> Any:
        """Return an Altair chart, which shows no value that only a few people share.

        Parameters:
            column: A quasi-identifier, shown before and after, or a sensitive column.
            of: Without a column: "classes" for the sizes of the classes, "loss" for the loss of
                each column.
        """
        from shoal.report.charts import release_chart

        return release_chart(self, column, of=of)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export the published rows to any library that reads the Arrow C stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def verify(self) -> Verification:
        """Derive the classes again from the published values and check the model on each of them.

        A model of the coverage is checked on the coverage, derived from the published cells.

        Returns:
            The outcome of the check.
        """
        counts = self.original.counts
        if counts is None or not all(part.by_class for part in self.model.parts):
            return check_published(self, self._published(), self._rows)
        kept = self.kept_rows
        return check_published(self, self.published_cells(kept), kept, counts[kept])

    def write(
        self,
        path: str | Path,
        *,
        force: bool = False,
        order: Order = "canonical",
        escape_formulas: bool = False,
        parts: Parts = "parquet",
    ) -> Verification:
        """Write the published rows as CSV or Parquet, completely or not at all.

        Parameters:
            path: The file; its ending decides the format. A name without an ending, or one that
                ends in a slash, is a folder of parts. An address like `s3://bucket/name` must not
                exist.
            force: Overwrite an existing file.
            order: "canonical" sorts the rows by their published values, so that their order reveals
                nothing else. "original" keeps the order of the input, which can reveal hidden
                values: in a table sorted by date the position of a row reveals its date.
            escape_formulas: Put a single quote before cells and names of columns of a text file
                that a spreadsheet would run, such as `=1+1`, also after a semicolon in a cell.
            parts: The format of the parts of a folder: "parquet" or "csv".

        Returns:
            The outcome of the check on the written rows.

        Raises:
            NotAnonymous: The guarantee does not hold; nothing was written.
        """
        check_order(order)
        if order == "original" and self.withheld:
            raise InputError(
                "a release that claims differential privacy has no original order; leave out order"
            )
        if self.rows is not None:
            options: dict[str, Any] = {"force": force, "order": order, "parts": parts}
            return self.rows.write(self, path, escape=escape_formulas, **options)
        text = is_text_output(path, parts)
        published = self._published(spelled=text)
        rows = self._rows
        if order == "canonical" and not self.withheld:
            places = canonical(published)
            published, rows = published.take(pa.array(places)), rows[places]
        checked = check_published(self, published, rows)
        refuse_broken(checked, self.model)
        if escape_formulas and text:
            from shoal.files.writing import escape_formulas as escape

            published = escape(published)
        write_output(published, path, force=force, parts=parts)
        return checked

    def report(
        self,
        path: str | Path,
        *,
        title: str = "",
        date: str | None = None,
        released: str | Path | None = None,
        command: str | None = None,
        order: Order = "canonical",
        least: int | None = None,
        target: str | None = None,
        force: bool = False,
    ) -> None:
        """Write a report on the release: a page (.html) or data (.json).

        It shows no value that fewer than `least` people share.

        Parameters:
            path: The file; its ending decides the format.
            title: Title of the report.
            date: Date of the report. Without a date, equal releases give equal reports.
            released: The file that was written; the report states its name and digest.
            command: How the release was produced, if not by a call in Python.
            order: Order of the written rows, as for `write`; the report states what it reveals.
            target: A column; the report also shows how well models predict it.
            least: Least number of people that must share a value that is shown. By default 5, or k
                if that is more.
            force: Overwrite an existing file.
        """
        from shoal.report import write_report

        write_report(
            self,
            path,
            title=title,
            date=date,
            released=released,
            command=command,
            order=order,
            least=least,
            target=target,
            force=force,
        )


def published_cells(release: Release, rows: Any, *, spelled: bool) -> Any:
    """Return the published cells of some rows of the original, as dictionaries.

    Parameters: as for `Release.published_cells`.
    """
    cells = {}
    for column in release.original.columns:
        if column.name in release.replaced:
            cells[column.name] = release.replaced[column.name].take(rows)
        if column.role is Role.IDENTIFIER:
            continue
        kept = column.spelling is not None
        cells[column.name] = _cells_of(release, column, rows, as_text=spelled and kept)
        if kept and not spelled:
            texts = _cells_of(release, column, rows, as_text=True)
            cells[column.name] = fitted(cells[column.name], texts)
    return pa.table(cells)


def _cells_of(release: Release, column: Column, rows: Any, *, as_text: bool) -> Any:
    """Return the published cells of one column."""
    if column.role is not Role.QUASI:
        return column.take(rows).to_arrow(as_text=as_text)
    coarse = release.withheld and release.node is not None and release.node[column.name] > 0
    return release.recodings[column.name].published(rows, as_text=coarse or as_text)


def check_published(
    release: Release, published: Any, rows: Counts, counts: Counts | None = None
) -> Verification:
    """Check the model of a release on published rows.

    Parameters:
        published: The rows.
        rows: Their positions in the original.
        counts: How often each row is published, None if once.
    """

    @cache
    def coverage() -> Coverage:
        return release.coverage.take(rows)

    links = [name for name, each in release.replaced.items() if each.links]
    fit = partial(PopulationFit.of, release, rows)
    model = release.model
    origin = link_rows(
        release.original, [release.replaced[name].cells for name in links], as_profiles=False
    )
    found = recount(published, release.original, model, rows, coverage, links, counts, fit, origin)
    if found.holds and release.shown is not release:
        by_row = recount(published, release.shown.original, model, rows, counts=counts)
        found = bound_people(by_row, model, release.rows_per_person)
    truthful = all(
        each.column.has_same_cells(release.original[name]) and each.truthful()
        for name, each in release.recodings.items()
    )
    return replace(found, truthful=truthful and found.records == release.released_records)
