"""The released rows of the Spark engine: counted by class, sorted, and decoded by Spark.

The classes of Parquet files, counted by Spark from the values that they contain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.files.writing import FORMULA, IS_NUMBER, NUMBER
from shoal.release.margins import Pairs
from shoal.rows.spark.codes import functions, mapped, numbers_of, pack_words, small, unpacked
from shoal.rows.spark.sessions import CHECKED, explained
from shoal.rows.store import HOUSEHOLD, PERSON, Counted, Facts, Order, Packing
from shoal.support.arrays import Codes, Counts
from shoal.table.encoding import is_text


class SparkReleased:
    """The released rows: a query, which runs again for each question."""

    def __init__(
        self,
        session: Any,
        frame: Any,
        columns: Mapping[str, str],
        classes: Packing,
        units: Mapping[str, Sequence[str]],
    ) -> None:
        self.session, self._frame, self._columns = session, frame, columns
        self._classes, self._units = classes, units
        self._counts: dict[str | None, Counted] = {}

    @property
    def _keys(self) -> list[str]:
        return [f"k{j}" for j in range(self._classes.words)]

    def _counting(self) -> list[Any]:
        """Return the numbers of rows, people and households, exactly."""
        f = functions()
        people = [f.count_distinct(*map(f.col, cells)).alias(unit)
                  for unit, cells in self._units.items()]  # fmt: skip
        return [f.count("*").alias("n"), *people]

    def _arrow(self, frame: Any) -> Any:
        with explained("count the released rows"):
            return frame.toArrow()

    @cached_property
    def total(self) -> Counted:
        """The numbers of released rows, people and households, as one class."""
        if not self._units:
            return Counted([], np.array([self.count_classes().rows.sum()]))
        return counted_of(self._arrow(self._frame.agg(*self._counting())), 0)

    def used(self, name: str, unsure: Codes) -> Codes:
        """Return which of some codes of a column occur in the released rows."""
        f = functions()
        found = self._arrow(self._frame.select(f.col(self._columns[name]).alias("v")).distinct())
        return np.intersect1d(unsure, numbers_of(found, "v")).astype(np.int32)

    def facts(self, name: str, kind: Any) -> Facts:
        """Return what is known of a column that has no dictionary; kind: its Arrow type."""
        f = functions()
        cell = f.col(self._columns[name])
        asked = {"distinct": f.count_distinct(cell)}
        if is_text(kind):
            formula, number = _end(FORMULA), _end(NUMBER)
            asked["formulas"] = f.bool_or(cell.rlike(formula) & ~cell.rlike(number))
            asked["numbers"] = f.bool_and(cell.isNull() | cell.rlike(_end(IS_NUMBER)))
        elif pa.types.is_integer(kind):
            asked["widest"] = f.max(f.abs(cell.cast("decimal(20,0)")))
        elif pa.types.is_timestamp(kind):
            midnight = cell.cast("date").cast("timestamp_ntz")
            asked["midnights"] = f.bool_and(cell.isNull() | (cell == midnight))
        listed = [each.alias(key) for key, each in asked.items()]
        return Facts.of(self._arrow(self._frame.agg(*listed)).to_pylist()[0])

    def count_alone(
        self, names: Sequence[str], *, with_quasi: bool = False, linked: bool = False
    ) -> int:
        """Return how many people have values of some columns together that nobody else has."""
        assert not linked  # identifiers that link rows are refused
        f = functions()
        keys = [self._columns[name] for name in names]
        groups = self._frame.groupBy(*keys, *(self._keys if with_quasi else []))
        if PERSON not in self._units:
            once = groups.agg(f.count("*").alias("n")).filter("n = 1")
            return int(numbers_of(self._arrow(once.agg(f.count("*").alias("n"))), "n")[0])
        person = f.struct(*self._units[PERSON])
        once = groups.agg(f.min(person).alias("a"), f.max(person).alias("b")).filter("a = b")
        alone = once.agg(f.count_distinct(f.col("a")).alias("n"))
        return int(numbers_of(self._arrow(alone), "n")[0])

    def sizes(self, packing: Packing | None = None) -> tuple[Counts, Counts]:
        """Return the numbers of rows of the classes, or of tuples, and how many have each."""
        f = functions()
        words = [f.col(key) for key in self._keys]
        if packing is not None:
            words = pack_words(packing, {n: f.col(self._columns[n]) for n in packing.places})
        each = self._frame.groupBy(*words).agg(f.count("*").alias("n"))
        sizes = each.groupBy("n").agg(f.count("*").alias("m")).orderBy("n")
        found = self._arrow(sizes)
        return numbers_of(found, "n"), numbers_of(found, "m")

    def count_classes(self, value: str | None = None) -> Counted:
        """Count the classes, by the codes of a further column if one is named; each once."""
        if value not in self._counts:
            f = functions()
            further = [] if value is None else [f.col(self._columns[value]).alias("v")]
            found = self._frame.groupBy(*self._keys, *further).agg(*self._counting())
            self._counts[value] = counted_of(self._arrow(found), self._classes.words)
        return self._counts[value]

    def count_with_value(self, name: str, missing: int) -> Counted:
        """Count the classes without the rows that have the missing code in a column."""
        f = functions()
        known = self._frame.filter(f.col(self._columns[name]) != missing)
        found = known.groupBy(*self._keys).agg(*self._counting())
        return counted_of(self._arrow(found), self._classes.words)

    def count_cells(self, name: str) -> Pairs:
        """Count the pairs of a published cell and an original code of a quasi-identifier."""
        f = functions()
        cell = unpacked(self._classes, name).alias("e")
        groups = self._frame.groupBy(cell, f.col(self._columns[name]).alias("v"))
        found = self._arrow(groups.agg(f.count("*").alias("n")))
        cells, codes = (numbers_of(found, key).astype(np.int32) for key in ("e", "v"))
        return Pairs(cells, codes, numbers_of(found, "n"))

    def people_with(self, name: str, domain: int) -> Counts:
        """(domain,) released people with each code of a column."""
        f = functions()
        people = f.count("*")
        if PERSON in self._units:
            people = f.count_distinct(*map(f.col, self._units[PERSON]))
        groups = self._frame.groupBy(f.col(self._columns[name]).alias("v"))
        found = self._arrow(groups.agg(people.alias("n")))
        counts = np.zeros(domain, dtype=np.int64)
        counts[numbers_of(found, "v")] = numbers_of(found, "n")
        return counts

    def _ranked(self, order: Order) -> tuple[Any, dict[str, Any]]:
        """Return the rows with maps of ranks joined, and the rank of each column."""
        f, frame = functions(), self._frame
        cells = {name: unpacked(self._classes, name) for name in self._classes.places}
        for name, ranks in order.ranks.items():
            column = self._columns[name]
            frame, cells[name] = mapped(frame, f.col(column), ranks, f"rank_{column}")
        return frame, cells

    def batches(self, order: Order, size: int) -> Iterator[Any]:
        """Yield the rows in order: Arrow batches with the words, then the plain columns.

        One partition of sorted rows at a time comes to the driver.
        """
        rows = self.in_order(order)
        with explained("sort the released rows"):
            for row in rows.mapInArrow(_serializer(), "batch binary").toLocalIterator():
                for batch in pa.ipc.open_stream(row["batch"]).read_all().to_batches():
                    yield from (batch.slice(n, size) for n in range(0, batch.num_rows, size))

    def in_order(self, order: Order) -> Any:
        """Return the sorted rows: their words, then the plain columns."""
        f = functions()
        frame, cells = self._ranked(order)
        plain = [self._columns[name] for name in order.plain]
        names = [*(f"w{j}" for j in range(order.packing.words)), *plain]
        words = [w.alias(f"w{j}") for j, w in enumerate(pack_words(order.packing, cells))]
        if not plain:
            return frame.select(*words).orderBy(*names)
        keys = self._sorting(order, cells)
        named = [key.alias(f"key{j}") for j, key in enumerate(keys)]
        wide = frame.select(*words, *plain, *named)
        sorting = [f.col(f"key{j}").asc_nulls_last() for j in range(len(keys))]
        return wide.orderBy(*sorting).select(*names)

    def _sorting(self, order: Order, cells: Mapping[str, Any]) -> list[Any]:
        """Return the keys of the order, column by column."""
        f, keys = functions(), []
        for name in order.sequence:
            kind = order.plain.get(name)
            if kind is None:
                keys.append(cells[name])
                continue
            cell = f.col(self._columns[name])
            if kind == "number":
                keys += [cell.try_cast("double"), cell]
            else:
                keys.append(cell.cast("string") if kind == "text" else cell)
        return keys

    def decoded(self, order: Order, labels: Mapping[str, Any], kinds: Mapping[str, Any]) -> Any:
        """Return the published rows in order, as a frame.

        labels: for each column with a dictionary its published cells, by rank.
        kinds: the type of Spark of each other column.
        """
        f = functions()
        rows = self.in_order(order)
        # a number that depends on the order keeps Spark from removing the sort before the joins;
        # tables that are broadcast do not change the order
        frame = rows.withColumn("row", f.monotonically_increasing_id())
        published = {}
        for number, (name, values) in enumerate(labels.items()):
            ranks = pa.array(np.arange(len(values), dtype=np.int32))
            known = pa.table({f"r{number}": ranks, f"l{number}": values})
            table = small(self.session, known, always=True)
            rank = unpacked(order.packing, name, "w")
            frame = frame.join(table, rank == f.col(f"r{number}"), "inner")
            published[name] = f.col(f"l{number}")
        for name, kind in kinds.items():
            published[name] = f.col(self._columns[name]).cast(kind)
        cells = [published[n].alias(f"o{j}") for j, n in enumerate(order.sequence)]
        return frame.filter("row >= 0").select(*cells).toDF(*order.sequence)


def _end(pattern: str) -> str:
    """Return a pattern whose end is the end of the text, not of a line before it."""
    return pattern.removesuffix("$") + r"\z" if pattern.endswith("$") else pattern


def _serializer() -> Any:
    """Return the function that packs batches; executors need no Shoal for it."""

    def packed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as arrow

        for batch in batches:
            sink = arrow.BufferOutputStream()
            with arrow.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            content = arrow.array([sink.getvalue().to_pybytes()], arrow.binary())
            yield arrow.record_batch({"batch": content})

    return packed


def counted_of(found: Any, words: int) -> Counted:
    """Return counts, with negative words where a cell is not among the labels."""
    there = set(found.column_names)
    return Counted(
        [numbers_of(found, f"k{j}") for j in range(words)],
        numbers_of(found, "n"),
        numbers_of(found, "v").astype(np.int32) if "v" in there else None,
        numbers_of(found, PERSON) if PERSON in there else None,
        numbers_of(found, HOUSEHOLD) if HOUSEHOLD in there else None,
    )


def count_parts(
    session: Any, addresses: Sequence[str], labels: Mapping[str, Any], value: str | None
) -> Counted:
    """Count the classes of files, by a further column if one is named.

    labels: for each column the published cells, in the order of their codes.
    """
    f = functions()
    quasi = [name for name in labels if name != value]
    names = [*quasi, *([] if value is None else [value])]
    with explained("read the written rows"):
        rows = session.read.options(**CHECKED).parquet(*addresses)
        places = {name: f"o{j}" for j, name in enumerate(rows.columns)}
        columns = [places[name] for name in names]
        groups = rows.toDF(*places.values()).groupBy(*columns).agg(f.count("*").alias("n"))
        cells = {}
        for number, name in enumerate(names):
            ranks = pa.array(np.arange(len(labels[name]), dtype=np.int32))
            known = small(session, pa.table({f"v{number}": labels[name], f"r{number}": ranks}))
            same = f.col(places[name]).eqNullSafe(f.col(f"v{number}"))
            groups = groups.join(known, same, "left")
            cells[name] = f.col(f"r{number}")
        packing = Packing.of({name: len(labels[name]) + 1 for name in quasi})
        words = [w.alias(f"k{j}") for j, w in enumerate(pack_words(packing, cells))]
        further = [] if value is None else [cells[value].alias("v")]
        found = groups.select(*words, *further, "n").toArrow()
    return counted_of(found, packing.words)
