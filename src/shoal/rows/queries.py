"""Questions about rows outside memory, asked once in the SQL that DuckDB and Spark share.

    encoded rows: codes d0, d1, …, plain cells p0, p1, …, columns of people and households
      │  with_classes: the packed words k0, k1, … of the published quasi-identifiers of each row
      ▼
    `Released`: classes and their sizes, values, people who are alone, the rows in order

A query is a template: {rows} stands for the rows, other names in braces for small Arrow tables that
come with it. Only internal names of columns occur in it: "a" is a text for Spark, and a name may
mean something else in either dialect. Where the dialects differ, a query avoids the difference:

- nulls come last in DuckDB and first in Spark: every order says NULLS LAST;
- DuckDB casts '1_000' to a number, and Spark '1d': our own pattern decides which texts are numbers;
- patterns, whose escapes and end of text differ, are spelled by `Rows.matches`;
- decimals are rounded, doubles printed and texts hashed differently: nothing casts or hashes cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from shoal.files.writing import FORMULA, IS_NUMBER, NUMBER, rank_values
from shoal.release.margins import Pairs
from shoal.rows.packing import Packing
from shoal.rows.store import HOUSEHOLD, LINKED, PERSON, Counted, Facts, Order
from shoal.support.arrays import Codes, Counts
from shoal.table.encoding import is_text


class Rows(Protocol):
    """Rows of one store; small: Arrow tables that a query names."""

    def arrow(self, query: str, **small: Any) -> Any:
        """Return the result of a query, which fits in memory, as an Arrow table."""

    def sorted(self, query: str, size: int, **small: Any) -> Iterator[Any]:
        """Yield the result of a query in its order, as Arrow batches of at most this many rows."""

    def select(self, query: str, **small: Any) -> Rows:
        """Return the result of a query as rows, which stay in the store."""

    def matches(self, cell: str, pattern: str) -> str:
        """Return the expression of whether a text has a part that matches a pattern."""


class Released:
    """The released rows: a query, which runs again for each question.

    rows: with the words k0, k1, … of the class of each row. columns: the column of each name.
    classes: the packing of the words. units: the columns that identify people and households;
    DuckDB has one for each, the only number of columns that it takes in `count(DISTINCT …)`.
    """

    def __init__(
        self,
        rows: Rows,
        columns: Mapping[str, str],
        classes: Packing,
        units: Mapping[str, Sequence[str]],
    ) -> None:
        self.rows, self.columns, self.classes = rows, columns, classes
        self._units = {unit: ", ".join(cells) for unit, cells in units.items()}
        self._keys = ", ".join(classes.word_columns())
        self._counts: dict[str | None, Counted] = {}

    def _count(self, query: str) -> int:
        return int(numbers_of(self.rows.arrow(query), "n")[0])

    @property
    def _counting(self) -> str:
        """The expressions of the numbers of rows, people and households, exactly."""
        units = (f"count(DISTINCT {cells}) AS {unit}" for unit, cells in self._units.items())
        return ", ".join(["count(*) AS n", *units])

    @cached_property
    def total(self) -> Counted:
        """The numbers of released rows, people and households, as one class."""
        if not self._units:
            return Counted([], np.array([self.count_classes().rows.sum()]))
        return counted_of(self.rows.arrow(f"SELECT {self._counting} FROM {{rows}}"), 0)

    def used(self, name: str, unsure: Codes) -> Codes:
        """Return which of some codes of a column occur in the released rows."""
        found = self.rows.arrow(f"SELECT DISTINCT {self.columns[name]} AS v FROM {{rows}}")
        return np.intersect1d(unsure, numbers_of(found, "v")).astype(np.int32)

    def facts(self, name: str, kind: Any) -> Facts:
        """Return what is known of a column that has no dictionary; kind: its Arrow type."""
        cell, like = self.columns[name], self.rows.matches
        asked = {"distinct": f"count(DISTINCT {cell})"}
        if is_text(kind):
            asked["formulas"] = f"bool_or({like(cell, FORMULA)} AND NOT {like(cell, NUMBER)})"
            asked["numbers"] = f"bool_and({cell} IS NULL OR {like(cell, IS_NUMBER)})"
        elif pa.types.is_integer(kind):
            asked["widest"] = f"max(abs(CAST({cell} AS DECIMAL(20, 0))))"
        elif pa.types.is_timestamp(kind):
            asked["midnights"] = f"bool_and({cell} IS NULL OR {cell} = CAST({cell} AS DATE))"
        listed = ", ".join(f"{each} AS {key}" for key, each in asked.items())
        return Facts.of(self.rows.arrow(f"SELECT {listed} FROM {{rows}}").to_pylist()[0])

    def count_alone(
        self, names: Sequence[str], *, with_quasi: bool = False, linked: bool = False
    ) -> int:
        """Return how many people have values of some columns together that nobody else has.

        with_quasi: whether the published quasi-identifiers are known too.
        linked: compare sets of linked rows: by all their values together, or by the number of their
        rows if no column is named.
        """
        keys = ", ".join([*(self.columns[n] for n in names), *([self._keys] if with_quasi else [])])
        if linked:
            return self._count_sets_alone(keys, by_values=bool(names))
        if PERSON not in self._units:
            once = f"SELECT {keys} FROM {{rows}} GROUP BY {keys} HAVING count(*) = 1"
            return self._count(f"SELECT count(*) AS n FROM ({once}) x")
        one = f"({self._units[PERSON]})"  # of several columns: a tuple
        same = f"min({one}) = max({one})"
        once = f"SELECT min({one}) AS one FROM {{rows}} GROUP BY {keys} HAVING {same}"
        return self._count(f"SELECT count(DISTINCT one) AS n FROM ({once}) x")

    def _count_sets_alone(self, keys: str, *, by_values: bool) -> int:
        """Count sets of linked rows whose values, or numbers of rows, no other set has.

        Two 64-bit sums of hashes stand for the rows of a set. Spark, whose hashes have 32 bits,
        has no linked rows.
        """
        one = self.columns[LINKED]
        rows = f"SELECT {one} AS one, {keys}, count(*) AS n FROM {{rows}} GROUP BY ALL"
        hashed = f"hash({keys})" if by_values else f"hash({keys}, n)"
        sums = f"sum({hashed}) AS a, bit_xor({hashed}) AS b, count(*) AS c"
        sets = f"SELECT one, {sums} FROM ({rows}) x GROUP BY one"
        alone = f"SELECT a, b, c FROM ({sets}) y GROUP BY a, b, c HAVING count(*) = 1"
        return self._count(f"SELECT count(*) AS n FROM ({alone}) z")

    def sizes(self, packing: Packing | None = None) -> tuple[Counts, Counts]:
        """Return the numbers of rows of the classes, and how many classes have each.

        packing: columns whose distinct tuples of codes are counted instead of the classes.
        """
        words = [self._keys] if packing is None else packing.pack_in_sql(self.columns)
        each = f"SELECT count(*) AS n FROM {{rows}} GROUP BY {', '.join(words)}"
        found = self.rows.arrow(f"SELECT n, count(*) AS m FROM ({each}) x GROUP BY n ORDER BY n")
        return numbers_of(found, "n"), numbers_of(found, "m")

    def count_classes(self, value: str | None = None) -> Counted:
        """Count the classes, by the codes of a further column if one is named; each once."""
        if value not in self._counts:
            further = "" if value is None else f", {self.columns[value]} AS v"
            self._counts[value] = self._grouped(further)
        return self._counts[value]

    def count_with_value(self, name: str, missing: int) -> Counted:
        """Count the classes without the rows that have the missing code in a column."""
        return self._grouped("", f"WHERE {self.columns[name]} <> {missing}")

    def _grouped(self, further: str, where: str = "") -> Counted:
        found = self.rows.arrow(
            f"SELECT {self._keys}{further}, {self._counting} FROM {{rows}} {where} GROUP BY ALL"
        )
        return counted_of(found, self.classes.words)

    def count_cells(self, name: str) -> Pairs:
        """Count the pairs of a published cell and an original code of a quasi-identifier."""
        found = self.rows.arrow(
            f"SELECT {self.classes.unpack_in_sql(name)} AS e, {self.columns[name]} AS v, "
            "count(*) AS n FROM {rows} GROUP BY ALL ORDER BY e, v"
        )
        cells, codes = (numbers_of(found, key).astype(np.int32) for key in ("e", "v"))
        return Pairs(cells, codes, numbers_of(found, "n"))

    def people_with(self, name: str, domain: int) -> Counts:
        """(domain,) released people with each code of a column."""
        person = self._units.get(PERSON)
        people = "count(*)" if person is None else f"count(DISTINCT {person})"
        found = self.rows.arrow(
            f"SELECT {self.columns[name]} AS v, {people} AS n FROM {{rows}} GROUP BY ALL"
        )
        counts = np.zeros(domain, dtype=np.int64)
        counts[numbers_of(found, "v")] = numbers_of(found, "n")
        return counts

    def batches(self, order: Order, size: int) -> Iterator[Any]:
        """Yield the rows in order: Arrow batches with the words, then the plain columns."""
        query, small = self._in_order(order)
        yield from self.rows.sorted(query, size, **small)

    def in_order(self, order: Order) -> Rows:
        """Return the sorted rows: their words, then the plain columns."""
        query, small = self._in_order(order)
        return self.rows.select(query, **small)

    def _in_order(self, order: Order) -> tuple[str, dict[str, Any]]:
        maps = Maps("x")
        cells = {name: self.classes.unpack_in_sql(name) for name in self.classes.places}
        for name, ranks in order.ranks.items():
            cells[name] = maps.add(self.columns[name], ranks)
        for name, kind in order.plain.items():
            if kind == "natural":
                cells[name] = self._naturally(self.columns[name], maps)
        listed = [order.packing.select_words(cells, "w")]
        listed += [f"x.{self.columns[name]}" for name in order.plain]
        ordering = ", ".join(f"{key} NULLS LAST" for key in self._sorting(order, cells))
        query = f"SELECT {', '.join(listed)} FROM {{rows}} x {maps.joins} ORDER BY {ordering}"
        return query, maps.small

    def _naturally(self, column: str, maps: Maps) -> str:
        """Return the expression of the rank of a cell among the few texts of its column."""
        found = self.rows.arrow(f"SELECT DISTINCT {column} AS v FROM {{rows}}")
        values = found.column("v").combine_chunks()
        return maps.join(column, values, rank_values(values), null_safe=True)

    def _sorting(self, order: Order, cells: Mapping[str, str]) -> list[str]:
        """Return the keys of the order: whole words as far as no plain column is between."""
        if not order.plain:
            return order.packing.word_columns("w")
        keys: list[str] = []
        for name in order.sequence:
            kind, column = order.plain.get(name), f"x.{self.columns.get(name)}"
            if kind in (None, "natural"):
                keys.append(cells[name])
            elif kind == "number":  # `Facts.numbers` says so of all texts
                keys += [f"TRY_CAST({column} AS DOUBLE)", column]
            else:
                keys.append(f"CAST({column} AS STRING)" if kind == "text" else column)
        return keys


class Maps:
    """Small tables that map the columns of a query, the joins with them, and where results are.

    rows: the name of the rows in the query. small: the tables, by the name that stands for them.
    """

    def __init__(self, rows: str, prefix: str = "map") -> None:
        self._rows, self._prefix = rows, prefix
        self.small: dict[str, Any] = {}
        self.joins = ""

    def add(self, column: str, codes: Codes) -> str:
        """Return the expression of a mapped column; codes: (domain,) the new code of each code."""
        if len(codes) and (codes == codes[0]).all():
            return f"CAST({int(codes[0])} AS BIGINT)"  # a plain number in ORDER BY is a position
        if np.array_equal(codes, np.arange(len(codes))):
            return f"{self._rows}.{column}"
        return self.join(column, pa.array(np.arange(len(codes), dtype=np.int32)), codes)

    def join(self, column: str, values: Any, codes: Codes, *, null_safe: bool = False) -> str:
        """Join a table of values and their codes, and return the expression of the code."""
        name = f"{self._prefix}{len(self.small)}"
        self.small[name] = pa.table({"v": values, "c": pa.array(codes.astype(np.int32))})
        same = "IS NOT DISTINCT FROM" if null_safe else "="
        self.joins += f" JOIN {{{name}}} {name} ON {self._rows}.{column} {same} {name}.v"
        return f"{name}.c"


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


def numbers_of(table: Any, name: str) -> Counts:
    """Return a column of whole numbers, −1 for nulls."""
    column = table.column(name).cast(pa.int64()).fill_null(-1)
    numbers: Counts = column.to_numpy()
    return numbers
