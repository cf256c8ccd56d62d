"""The Spark engine: rows are encoded once and cached by Spark, then grouped, mapped and sorted.

Columns of the source are c0, c1, …, columns of codes d0, d1, …, plain columns p0, p1, …, columns
that identify people and households person0, household0, …, and class words k0, k1, ….
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError
from shoal.rows.packing import Packing
from shoal.rows.partitions import Outcome, Partition, PublishedTexts, Work
from shoal.rows.queries import MARGIN, EncodedRows, Released, Rows, count_files, numbers_of
from shoal.rows.spark.codes import (
    coded,
    count_about,
    functions,
    with_words,
)
from shoal.rows.spark.frame_sources import SparkScan, exact_address
from shoal.rows.spark.partitions import SparkPartitions
from shoal.rows.spark.rows import SparkRows
from shoal.rows.spark.sessions import CHECKED, explained
from shoal.rows.store import (
    HOUSEHOLD,
    PERSON,
    Counted,
    Encoding,
    Filled,
    Plan,
    Totals,
    Tuples,
    Values,
)
from shoal.support.addresses import address_of
from shoal.support.arrays import Codes
from shoal.support.progress import report
from shoal.table.encoding import is_text

_TOGETHER = 50_000  # distinct values of columns that are counted in one job
_FIRST_ROWS = 20_000  # that show which columns probably have few values
_FEW = 2_000


class SparkEngine:
    """Rows of a frame of Spark."""

    name = "spark"

    def __init__(self, scan: SparkScan) -> None:
        self._scan, self.session = scan, scan.frame.sparkSession
        self._rows = scan.frame.toDF(*(f"c{j}" for j in range(len(scan.names))))
        self._places = {name: f"c{j}" for j, name in enumerate(scan.names)}
        self._columns: dict[str, str] = {}  # the encoded column of each name
        self._units: dict[str, list[str]] = {}  # the columns of people and households
        self._encoded: EncodedRows  # after `encode`
        self._cached: Any = None  # the encoded rows, packed
        self._packing = Packing({}, 0)  # of their codes
        self._seen: int | None = None  # rows, when values were counted
        self._partitions: SparkPartitions | None = None

    def _cell(self, name: str) -> Any:
        """Return the expression of a cell; numbers that are not numbers are missing."""
        f = functions()
        cell = f.col(self._places[name])
        kind = None if self._scan.types is None else self._scan.types[name]
        if kind is not None and pa.types.is_floating(kind):
            zero = f.lit(0.0).cast("float" if pa.types.is_float32(kind) else "double")
            return f.when(f.isnan(cell), f.lit(None)).otherwise(cell + zero)
        return cell.cast("string") if kind is None or pa.types.is_string(kind) else cell

    def statistics(
        self, most: Mapping[str, int], identifiers: Sequence[str] = ()
    ) -> dict[str, Values | Filled | int]:
        """Return the distinct values of columns, or their number if it exceeds `most`."""
        counted: dict[str, Values | Filled | int] = {
            name: self._count_identifier(name) for name in identifiers
        }
        return counted | (self._statistics(most) if most else {})

    def _statistics(self, most: Mapping[str, int]) -> dict[str, Values | int]:
        report("read", 0, None)
        with explained("count the values of columns"):
            first = self._approximate(self._rows.limit(_FIRST_ROWS), most)
            few = [name for name, number in first.items() if number <= _FEW]
            found: dict[str, Values | int] = dict(self._values(few, _TOGETHER * len(few)) or {})
            about = self._approximate(self._rows, [name for name in most if name not in found])
            together = []
            for name, number in about.items():
                found[name] = number
                if number <= most[name] * MARGIN and number <= _TOGETHER:
                    together.append(name)
                elif number <= most[name] * MARGIN:
                    found |= self._values([name]) or {}
            found |= self._values(together) or {}
        counts = [int(each.counts.sum()) for each in found.values() if isinstance(each, Values)]
        self._seen = counts[0] if counts else None
        return {name: _at_most(found[name], most[name]) for name in most}

    def _approximate(self, rows: Any, names: Iterable[str]) -> dict[str, int]:
        """Return about how many distinct values each column has."""
        asked = [functions().approx_count_distinct(self._cell(name)) for name in names]
        counts = rows.agg(*asked).toArrow().columns if asked else []
        return {name: int(count[0].as_py()) for name, count in zip(names, counts, strict=True)}

    def _values(self, names: Sequence[str], most: int | None = None) -> dict[str, Values] | None:
        """Return the distinct values of columns, counted in one job; None if more than `most`."""
        f = functions()
        kinds = {name: self._rows.select(self._cell(name)).schema[0].dataType for name in names}
        counted = None
        for place, name in enumerate(names):
            groups = self._rows.groupBy(self._cell(name).alias("v")).agg(f.count("*").alias("n"))
            cells = [
                (f.col("v") if other == name else f.lit(None).cast(kinds[other])).alias(f"v{j}")
                for j, other in enumerate(names)
            ]
            part = groups.select(f.lit(place).alias("place"), f.col("n"), *cells)
            counted = part if counted is None else counted.union(part)
        if counted is None:
            return {}
        table = (counted if most is None else counted.limit(most + 1)).toArrow().combine_chunks()
        if most is not None and table.num_rows > most:
            return None
        places = numbers_of(table, "place")
        values = {}
        for j, name in enumerate(names):
            rows = table.filter(pa.array(places == j))
            values[name] = Values(rows.column(f"v{j}").combine_chunks(), numbers_of(rows, "n"))
        return values

    def _count_identifier(self, name: str) -> Filled:
        """Count the values of an identifier; empty texts are missing."""
        f = functions()
        cell = self._cell(name)
        text = self._scan.types is None or is_text(self._scan.types[name])
        if text:
            cell = f.nullif(cell, f.lit(""))
        words = f.length(cell) - f.length(f.replace(cell, f.lit(" "), f.lit(""))) + 1
        asked = [f.count_distinct(cell).alias("n"), f.count(cell).alias("filled")]
        asked.append((f.avg(words) if text else f.lit(0)).alias("words"))
        with explained("count identifiers"):
            found = self._rows.agg(*asked).toArrow().to_pylist()[0]
        return Filled(found["n"], found["filled"], found["words"] or 0)

    def encode(self, encoding: Encoding) -> Totals:
        """Encode all rows, and count them."""
        report("encode", 0, None)
        self.close()
        self._columns = {name: f"d{j}" for j, name in enumerate(encoding.dictionaries)}
        self._units, others = {}, []
        for number, name in enumerate(encoding.plain):
            self._columns[name] = f"p{number}"
            others.append(self._cell(name).alias(f"p{number}"))
        for unit, names in ((PERSON, encoding.person), (HOUSEHOLD, encoding.household)):
            if names:
                self._check_filled(unit, names)
                self._units[unit] = [f"{unit}{j}" for j in range(len(names))]
                others += [self._cell(n).alias(f"{unit}{j}") for j, n in enumerate(names)]
        cells = {name: self._cell(name) for name in encoding.dictionaries}
        with explained("encode the rows"):
            rows, packing = with_words(self._rows, cells, encoding.dictionaries, others)
            self._cached, self._packing = rows.persist(), packing
            frame = self._cached.select(*coded(packing, self._columns, rows.columns))
            self._encoded = EncodedRows(
                SparkRows(frame, "group the rows"), self._columns, self._units
            )
            return self._check_encoded(packing)

    def _check_filled(self, unit: str, names: Sequence[str]) -> None:
        """Check that every row names a person or household."""
        f = functions()
        cells = [self._cell(name) for name in names]
        blank = [cell.isNull() | (cell.cast("string") == "") for cell in cells]
        with explained("count identifiers"):
            found = self._rows.agg(
                *(f.count_if(each).alias(f"n{j}") for j, each in enumerate(blank))
            ).toArrow()
        for name, (empty,) in zip(names, found.to_pydict().values(), strict=True):
            if empty:
                rows = "1 row has" if empty == 1 else f"{empty:,} rows have"
                raise InputError(
                    f"column {name!r} identifies the {unit}, but {rows} no value in it; fill them "
                    "in or remove these rows"
                )

    def _check_encoded(self, packing: Packing) -> Totals:
        """Check that every row was encoded, and count them."""
        f = functions()
        lost = f.lit(False)
        for word in packing.word_columns("w"):
            lost = lost | f.col(word).isNull()
        asked = [f.count("*").alias("n"), f.count_if(lost).alias("lost")]
        asked += [f.count_distinct(*map(f.col, cells)).alias(unit)
                  for unit, cells in self._units.items()]  # fmt: skip
        found = self._cached.agg(*asked).toArrow().to_pylist()[0]
        before = self._rows.count() if self._seen is None else self._seen
        if found["lost"] or found["n"] != before:
            raise InputError(f"{self._scan.name}: was changed while it was read; start again")
        return Totals(found["n"], found.get(PERSON), found.get(HOUSEHOLD))

    def tuples(
        self,
        packing: Packing,
        nodes: Sequence[Mapping[str, Codes]],
        most: int | None,
        people: bool = False,
    ) -> Tuples | int:
        """Return the distinct tuples after the first of the maps that leaves at most `most`."""
        count_about = partial(self._count_about, packing, nodes)
        with explained("group the rows"):
            return self._encoded.tuples(packing, nodes, most, people, count_about)

    def _count_about(
        self, packing: Packing, nodes: Sequence[Mapping[str, Codes]], units: Sequence[str]
    ) -> Iterator[int]:
        """Yield the approximate number of distinct tuples at each node; the first often is it."""
        for some in (nodes[:1], nodes[1:]):
            if some:
                yield from count_about(self._cached, self._packing, packing, some, units)

    def release(self, plan: Plan) -> Released:
        """Return the released rows: mapped column by column, or joined tuple by tuple."""
        with explained("join the results"):
            if plan.by_row:
                assert self._partitions is not None
                rows: Rows = SparkRows(self._partitions.joined(plan, plan.classes.word_columns()))
            else:
                rows = self._encoded.with_classes(plan)
            return self._encoded.released(rows, plan.classes, plan.dropped)

    def map_partitions(
        self,
        groups: Sequence[Sequence[Partition]],
        work: Work,
        processes: int | None = None,
        texts: PublishedTexts | None = None,
    ) -> Iterator[Outcome]:
        """Run the work on the rows of each group of partitions, on the executors."""
        known = self._packing, self._columns, self._units
        partitions = SparkPartitions(self._cached, *known, texts)
        outcomes = partitions.map(groups, work)
        if texts is not None:
            self._partitions = partitions
        return iter(outcomes)

    def count_written(
        self, files: Sequence[Path], labels: Mapping[str, Any], value: str | None, text: bool
    ) -> Counted:
        """Count the classes of written files: one file on the driver, several with Spark."""
        report("verify", 0, None)
        addresses = [address_of(file) or exact_address(file) for file in files]
        if text or (len(files) == 1 and address_of(files[0]) is None):
            from shoal.rows.duckdb_rows import count_on_disk

            return count_on_disk(files, labels, value, text, self._scan.budget)
        with explained("read the written rows"):
            frame = self.session.read.options(**CHECKED).parquet(*addresses)
            places = {name: f"o{j}" for j, name in enumerate(frame.columns)}
            rows = SparkRows(frame.toDF(*places.values()), "read the written rows")
        return count_files(rows, places, labels, value)

    def rest(self) -> None:
        """Keep the rows: they are in the memory of Spark, not of this process."""

    def close(self) -> None:
        """Release what Spark cached for the rows."""
        with suppress(Exception):  # the session may have ended
            if self._partitions is not None:
                self._partitions.close()
            if self._cached is not None:
                self._cached.unpersist()


def _at_most(found: Values | int, most: int) -> Values | int:
    """Return the values of a column, or their number if there are more."""
    if isinstance(found, Values) and len(found.counts) > most * MARGIN:
        return len(found.counts)
    return found
