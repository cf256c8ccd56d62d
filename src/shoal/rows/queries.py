"""Questions about rows outside memory, asked once in the SQL that DuckDB and Spark share.

    `EncodedRows`: codes d0, d1, …, plain cells p0, p1, …, columns of people and households
      │  tuples: the distinct tuples of mapped codes ──▶ the method
      │  released: the words k0, k1, … of the published quasi-identifiers ◀── its plan
      ▼
    `Released`: classes and their sizes, values, people who are alone, rows in canonical order
      ▼
    files ── count_files: the classes that they contain ──▶ verification

A query is a template: {rows} stands for the rows, other names in braces for small Arrow tables that
come with it. Only internal names of columns occur in it: "a" is a text for Spark, and a name may
mean something else in either dialect. Where the dialects differ, a query avoids the difference:

- nulls come last in DuckDB and first in Spark: every order says NULLS LAST;
- DuckDB casts '1_000' to a number, and Spark '1d': our own pattern decides which texts are numbers;
- patterns, whose escapes and end of text differ, are spelled by `Rows.matches`;
- decimals are rounded and doubles printed differently: only integers and such texts are cast;
- hashes differ, and have 32 bits in Spark: they are used for linked rows alone, which DuckDB has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from shoal.files.writing import FORMULA, IS_NUMBER, NUMBER, rank_values
from shoal.rows.packing import Packing
from shoal.rows.store import HOUSEHOLD, LINKED, PERSON, Counted, Facts, Order, Plan, Totals, Tuples
from shoal.support.arrays import Codes, Counts
from shoal.support.progress import report
from shoal.table.encoding import is_text
from shoal.table.pairs import Pairs

MARGIN = 1.1  # of an approximate number of distinct values or tuples


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


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """The encoded rows.

    columns: the column of each name. units: the columns that identify people and households.
    linked: the column of the set of linked rows of each row, None if no rows are linked.
    """

    rows: Rows
    columns: Mapping[str, str]
    units: Mapping[str, Sequence[str]]
    linked: str | None = None

    def tuples(
        self,
        packing: Packing,
        nodes: Sequence[Mapping[str, Codes]],
        most: int | None,
        people: bool,
        count_about: Callable[[Sequence[str]], Iterable[int]],
    ) -> Tuples | int:
        """Return the distinct tuples as in `Engine.tuples`.

        count_about: for the columns of people yields about how many tuples each node has, lazily.
        """
        report("group", 0, None)
        cells = dict.fromkeys(cell for each in self.units.values() for cell in each)
        cells |= {} if self.linked is None else {self.linked: None}
        units = list(cells) if people else []
        if most is None:
            return self._grouped(packing, nodes[0], 0, units)
        least = 0
        for node, about in enumerate(count_about(units)):
            least = about
            if about <= most * MARGIN and most:
                return self._grouped(packing, nodes[node], node, units)
        return least

    def _grouped(
        self, packing: Packing, maps: Mapping[str, Codes], node: int, units: Sequence[str]
    ) -> Tuples:
        lookups = Lookups()
        words = packing.select_words(lookups.cells(packing, self.columns, maps), "w")
        keys = ", ".join([words, *(f"x.{cell}" for cell in units)])
        # one row for each tuple and, if units are asked for, person: (w0, …, person, household, n)
        found = self.rows.arrow(
            f"SELECT {keys}, count(*) AS n FROM {{rows}} x {lookups.joins} GROUP BY ALL",
            **lookups.small,
        )
        # DuckDB has numbers already; in Spark a person is a tuple of original cells
        person, household = (
            numbered(found, self.units[unit]) if units and unit in self.units else None
            for unit in (PERSON, HOUSEHOLD)
        )
        linked = numbers_of(found, self.linked) if units and self.linked is not None else None
        packed = [numbers_of(found, word) for word in packing.word_columns("w")]
        return Tuples(node, packed, numbers_of(found, "n"), person, household, linked)

    def with_classes(self, plan: Plan) -> Rows:
        """Return the rows with the words of their class: mapped by column, or joined by tuple."""
        if plan.joined is None:
            return mapped_rows(self.rows, self.columns, plan)
        joined, keys = plan.joined, plan.classes.word_columns()
        words = joined.tuples.pack_in_sql({n: f"x.{column}" for n, column in self.columns.items()})
        names = [f"t{j}" for j in range(len(words))]
        same = " AND ".join(f"{word} = r.{t}" for word, t in zip(words, names, strict=True))
        # t0, t1, …: the tuple; k0, k1, …: its class. Tuples without a result are not released
        results = dict(zip([*names, *keys], [*joined.words, *joined.classes], strict=True))
        listed = ", ".join(f"r.{key}" for key in keys)
        return self.rows.select(
            f"SELECT x.*, {listed} FROM {{rows}} x JOIN {{results}} r ON {same}",
            results=pa.table(results),
        )

    def released(self, rows: Rows, classes: Packing, dropped: list[Counts] | None) -> Released:
        """Return the released rows, given all rows with the words of their class.

        dropped: the words of the classes that are not released.
        """
        keys = classes.word_columns()
        if dropped is not None and len(dropped[0]):
            same = " AND ".join(f"x.{key} = y.{key}" for key in keys)
            rows = rows.select(
                f"SELECT x.* FROM {{rows}} x ANTI JOIN {{dropped}} y ON {same}",
                dropped=pa.table(dict(zip(keys, dropped, strict=True))),
            )
        return Released(rows, self.columns, classes, self.units)


def mapped_rows(rows: Rows, columns: Mapping[str, str], plan: Plan) -> Rows:
    """Return rows with the words of their class, whose cells are maps of some columns."""
    lookups = Lookups()
    words = plan.classes.select_words(lookups.cells(plan.classes, columns, plan.maps))
    query = f"SELECT x.*, {words} FROM {{rows}} x {lookups.joins}"
    return rows.select(query, **lookups.small)


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
    def total(self) -> Totals:
        """The numbers of released rows, people and households."""
        if not self._units:
            return Totals(int(self.count_classes().rows.sum()))
        found = self.rows.arrow(f"SELECT {self._counting} FROM {{rows}}").to_pylist()[0]
        return Totals(found["n"], found.get(PERSON), found.get(HOUSEHOLD))

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
        # a group is of one person if its least and its greatest person are the same
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
        lookups = Lookups()
        cells = {name: self.classes.unpack_in_sql(name) for name in self.classes.places}
        for name, ranks in order.ranks.items():
            cells[name] = lookups.map(self.columns[name], ranks)
        for name, kind in order.plain.items():
            if kind == "natural":
                cells[name] = self._naturally(self.columns[name], lookups)
        listed = [order.packing.select_words(cells, "w")]
        listed += [f"x.{self.columns[name]}" for name in order.plain]
        ordering = ", ".join(f"{key} NULLS LAST" for key in self._sorting(order, cells))
        query = f"SELECT {', '.join(listed)} FROM {{rows}} x {lookups.joins} ORDER BY {ordering}"
        return query, lookups.small

    def _naturally(self, column: str, lookups: Lookups) -> str:
        """Return the expression of the rank of a cell among the few texts of its column."""
        found = self.rows.arrow(f"SELECT DISTINCT {column} AS v FROM {{rows}}")
        values = found.column("v").combine_chunks()
        return lookups.join(f"x.{column}", values, rank_values(values), "JOIN")

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


class Lookups:
    """Small tables that a query joins with its rows x, and the joins.

    small: the tables, by the name that stands for them in the query.
    """

    def __init__(self) -> None:
        self.small: dict[str, Any] = {}
        self.joins = ""

    def map(self, column: str, codes: Codes) -> str:
        """Return the expression of a mapped column; codes: (domain,) the new code of each code."""
        if len(codes) and (codes == codes[0]).all():
            return f"CAST({int(codes[0])} AS BIGINT)"  # a plain number in ORDER BY is a position
        if np.array_equal(codes, np.arange(len(codes))):
            return f"x.{column}"
        every = pa.array(np.arange(len(codes), dtype=np.int32))
        return self.join(f"x.{column}", every, codes, "JOIN", null_safe=False)

    def cells(
        self, packing: Packing, columns: Mapping[str, str], maps: Mapping[str, Codes]
    ) -> dict[str, str]:
        """Return the expression of each column of a packing, mapped if there is a map for it."""
        return {
            name: self.map(columns[name], maps[name]) if name in maps else f"x.{columns[name]}"
            for name in packing.places
        }

    def join(
        self, cell: str, values: Any, codes: Codes, kind: str, *, null_safe: bool = True
    ) -> str:
        """Join a table of values and their codes, and return the expression of the code."""
        name = f"map{len(self.small)}"
        self.small[name] = pa.table({"v": values, "c": pa.array(codes.astype(np.int32))})
        same = "IS NOT DISTINCT FROM" if null_safe else "="
        self.joins += f" {kind} {{{name}}} {name} ON {cell} {same} {name}.v"
        return f"{name}.c"


def count_files(
    rows: Rows, columns: Mapping[str, str], labels: Mapping[str, Any], value: str | None
) -> Counted:
    """Count the classes of written rows, as in `Engine.count_written`.

    columns: the column of each name in the rows.
    """
    quasi = [name for name in labels if name != value]
    grouped = list(labels) if value in labels else quasi
    listed = ", ".join(f"{columns[name]} AS g{j}" for j, name in enumerate(grouped))
    counts = "count(*) AS n"
    if value is not None and value not in labels:  # each missing cell is a person
        person = columns[value]
        counts += f", count(DISTINCT {person}) + count(*) - count({person}) AS {PERSON}"
    # grouped first and labelled then: joins see one row for each combination of cells
    groups = f"SELECT {f'{listed}, ' if listed else ''}{counts} FROM {{rows}} GROUP BY ALL"
    lookups = Lookups()
    cells = {
        name: lookups.join(
            f"x.g{j}", labels[name], np.arange(len(labels[name]), dtype=np.int32), "LEFT JOIN"
        )
        for j, name in enumerate(grouped)
    }
    packing = Packing.of({name: len(labels[name]) + 1 for name in quasi})
    words = [packing.select_words(cells)] if quasi else []
    words += [f"{cells[value]} AS v"] if value in cells else []
    words += ["n", PERSON] if PERSON in counts else ["n"]
    found = rows.arrow(
        f"SELECT {', '.join(words)} FROM ({groups}) x {lookups.joins}", **lookups.small
    )
    return counted_of(found, packing.words if quasi else 0)


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


def numbered(table: Any, columns: Sequence[str]) -> Counts:
    """Return a number for each distinct tuple of columns; a column of numbers as it is."""
    if list(columns) in ([PERSON], [HOUSEHOLD]):
        return numbers_of(table, columns[0])
    ids = np.zeros(table.num_rows, dtype=np.int64)
    for name in columns:
        codes = table.column(name).combine_chunks().dictionary_encode()
        indices = codes.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, ids = np.unique(ids * len(codes.dictionary) + indices, return_inverse=True)
    return ids
