"""The released rows of the DuckDB engine: counted by class, and read in canonical order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.margins import Pairs
from shoal.core.publishing.formulas import FORMULA, NUMBER
from shoal.core.publishing.row_order import IS_NUMBER, rank_values
from shoal.core.values.encoding import is_text
from shoal.engines.duckdb_session import Session
from shoal.engines.duckdb_sources import POSITION
from shoal.engines.engine import HOUSEHOLD, LINKED, PERSON, Counted, Facts, Order
from shoal.engines.packing import Packing
from shoal.support.arrays import Codes, Counts

_FIRST_ROWS = 500_000  # that usually contain most values


class DuckDBReleased:
    """The released rows: a query, which runs again for each question."""

    def __init__(
        self,
        session: Session,
        columns: Mapping[str, str],
        classes: Packing,
        units: Sequence[str],
        view: str,
    ) -> None:
        self._session, self._columns = session, columns
        self._classes, self._units, self._view = classes, units, view
        self._counts: dict[str | None, Counted] = {}

    def used(self, name: str, unsure: Codes) -> Codes:
        """Return which of some codes of a column occur in the released rows."""
        column = self._columns[name]
        first = f"SELECT {column} AS v FROM {self._view} LIMIT {_FIRST_ROWS}"
        seen = self._session.arrow(f"SELECT DISTINCT v FROM ({first})")
        found = np.intersect1d(unsure, numbers_of(seen, "v"))
        rest = np.setdiff1d(unsure, found)
        if len(rest):
            self._session.store(f"{self._view}_rest", pa.table({column: pa.array(rest)}))
            some = f"SELECT {column} FROM {self._view} SEMI JOIN {self._view}_rest USING ({column})"
            found = np.union1d(
                found, numbers_of(self._session.arrow(f"{some} GROUP BY ALL"), column)
            )
        return found.astype(np.int32)

    def facts(self, name: str, kind: Any) -> Facts:
        """Return what is known of a column that has no dictionary; kind: its Arrow type."""
        cell = self._columns[name]
        asked = {"distinct": f"count(DISTINCT {cell})"}
        if is_text(kind):
            runs = f"regexp_matches({cell}, '{FORMULA}') AND NOT regexp_matches({cell}, '{NUMBER}')"
            asked["formulas"] = f"coalesce(bool_or({runs}), false)"
            asked["numbers"] = f"bool_and({cell} IS NULL OR regexp_matches({cell}, '{IS_NUMBER}'))"
        elif pa.types.is_integer(kind):
            asked["widest"] = f"max(abs(CAST({cell} AS HUGEINT)))"
        elif pa.types.is_timestamp(kind):
            asked["midnights"] = f"bool_and({cell} IS NULL OR {cell} = date_trunc('day', {cell}))"
        listed = ", ".join(f"{each} AS {key}" for key, each in asked.items())
        found = self._session.arrow(f"SELECT {listed} FROM {self._view}").to_pylist()[0]
        return Facts.of(found)

    def count_alone(
        self, names: Sequence[str], *, with_quasi: bool = False, linked: bool = False
    ) -> int:
        """Return how many people have values of some columns together that nobody else has."""
        keys = [self._columns[name] for name in names]
        keys += [f"k{j}" for j in range(self._classes.words)] if with_quasi else []
        columns, view = ", ".join(keys), self._view
        if linked:
            return self._count_sets_alone(columns, by_values=bool(names))
        if PERSON not in self._units:
            once = f"SELECT {columns} FROM {view} GROUP BY ALL HAVING count(*) = 1"
            return int(self._session.value(f"SELECT count(*) FROM ({once})"))
        once = (
            f"SELECT min({PERSON}) AS one FROM {view} GROUP BY {columns} "
            f"HAVING min({PERSON}) = max({PERSON})"
        )
        return int(self._session.value(f"SELECT count(DISTINCT one) FROM ({once})"))

    def _count_sets_alone(self, columns: str, *, by_values: bool) -> int:
        """Count sets of linked rows whose values, or numbers of rows, no other set has."""
        one = self._columns[LINKED]
        rows = f"SELECT {one} AS one, {columns}, count(*) AS n FROM {self._view} GROUP BY ALL"
        shown = f"hash({columns})" if by_values else f"hash({columns}, n)"
        sums = f"sum({shown}) AS a, bit_xor({shown}) AS b, count(*) AS c"
        sets = f"SELECT one, {sums} FROM ({rows}) GROUP BY one"
        alone = f"SELECT a, b, c FROM ({sets}) GROUP BY ALL HAVING count(*) = 1"
        return int(self._session.value(f"SELECT count(*) FROM ({alone})"))

    def sizes(self, packing: Packing | None = None) -> tuple[Counts, Counts]:
        """Return the numbers of rows of the classes, or of tuples, and how many have each."""
        words = [f"k{j}" for j in range(self._classes.words)]
        if packing is not None:
            words = pack_words(packing, {name: self._columns[name] for name in packing.places})
        named = ", ".join(f"{word} AS w{j}" for j, word in enumerate(words))
        each = f"SELECT {named}, count(*) AS n FROM {self._view} GROUP BY ALL"
        found = self._session.arrow(f"SELECT n, count(*) AS m FROM ({each}) GROUP BY n ORDER BY n")
        return numbers_of(found, "n"), numbers_of(found, "m")

    @cached_property
    def total(self) -> Counted:
        """The numbers of released rows, people and households, as one class."""
        if not self._units:
            return Counted([], np.array([self.count_classes().rows.sum()]))
        found = self._session.arrow(f"SELECT count(*) AS n{self._unit_counts()} FROM {self._view}")
        return counted_of(found, 0)

    def count_classes(self, value: str | None = None) -> Counted:
        """Count the classes, by the codes of a further column if one is named; each once."""
        if value not in self._counts:
            self._counts[value] = self._count_classes(value)
        return self._counts[value]

    def count_with_value(self, name: str, missing: int) -> Counted:
        """Count the classes without the rows that have the missing code in a column."""
        keys = ", ".join(f"k{j}" for j in range(self._classes.words))
        counts = f"count(*) AS n{self._unit_counts()}"
        known = f"{self._columns[name]} <> {missing}"
        found = self._session.arrow(
            f"SELECT {keys}, {counts} FROM {self._view} WHERE {known} GROUP BY ALL"
        )
        return counted_of(found, self._classes.words)

    def count_cells(self, name: str) -> Pairs:
        """Count the pairs of a published cell and an original code of a quasi-identifier."""
        found = self._session.arrow(
            f"SELECT {_unpacked(self._classes, name)} AS e, {self._columns[name]} AS v, "
            f"count(*) AS n FROM {self._view} GROUP BY ALL ORDER BY ALL"
        )
        cells, codes = (numbers_of(found, key).astype(np.int32) for key in ("e", "v"))
        return Pairs(cells, codes, numbers_of(found, "n"))

    def people_with(self, name: str, domain: int) -> Counts:
        """(domain,) released people with each code of a column."""
        people = f"count(DISTINCT {PERSON})" if PERSON in self._units else "count(*)"
        found = self._session.arrow(
            f"SELECT {self._columns[name]} AS v, {people} AS n FROM {self._view} GROUP BY ALL"
        )
        counts = np.zeros(domain, dtype=np.int64)
        counts[numbers_of(found, "v")] = numbers_of(found, "n")
        return counts

    def _count_classes(self, value: str | None) -> Counted:
        keys = ", ".join(f"k{j}" for j in range(self._classes.words))
        further = "" if value is None else f", {self._columns[value]} AS v"
        counts = f"count(*) AS n{self._unit_counts()}"
        found = self._session.arrow(
            f"SELECT {keys}{further}, {counts} FROM {self._view} GROUP BY ALL"
        )
        return counted_of(found, self._classes.words)

    def store_classes(self, table: str) -> dict[str, Codes]:
        """Store the position and the class of each row under a name; classes are numbered.

        The rows must have their positions. Return (classes,) the published cell of each column.
        """
        keys, session = ", ".join(f"k{j}" for j in range(self._classes.words)), self._session
        distinct = f"SELECT DISTINCT {keys} FROM {self._view}"
        session.run(
            f"CREATE OR REPLACE TABLE {table}_numbers AS SELECT {keys}, "
            f"CAST(row_number() OVER () - 1 AS INTEGER) AS class FROM ({distinct})"
        )
        session.run(
            f"CREATE OR REPLACE TABLE {table} AS SELECT {POSITION} AS id, class "
            f"FROM {self._view} JOIN {table}_numbers USING ({keys})"
        )
        found = session.arrow(f"SELECT {keys} FROM {table}_numbers ORDER BY class")
        session.run(f"DROP TABLE {table}_numbers")
        words = [numbers_of(found, f"k{j}") for j in range(self._classes.words)]
        return {name: self._classes.unpack(words, name) for name in self._classes.places}

    def _unit_counts(self) -> str:
        return "".join(f", count(DISTINCT {unit}) AS {unit}" for unit in self._units)

    def batches(self, order: Order, size: int) -> Iterator[Any]:
        """Yield the rows in order: Arrow batches with the words, then the plain columns."""
        cells = {name: _unpacked(self._classes, name) for name in self._classes.places}
        joins = []
        for name, ranks in order.ranks.items():
            column, table = self._columns[name], f"{self._view}_{self._columns[name]}_ranks"
            cells[name], join = mapped(self._session, f"{self._view}.{column}", ranks, table)
            joins.append(join)
        words = pack_words(order.packing, cells)
        selected = [f"{word} AS w{j}" for j, word in enumerate(words)]
        selected += [self._columns[name] for name in order.plain]
        natural = {name: kind for name, kind in order.plain.items() if kind == "natural"}
        for name in natural:
            cells[name], join = self._natural(name)
            joins.append(join)
        sorting = self._sorting(order, cells)
        statement = f"SELECT {', '.join(selected)} FROM {self._view} {' '.join(joins)}"
        yield from self._session.batches(f"{statement} ORDER BY {', '.join(sorting)}", size)

    def _natural(self, name: str) -> tuple[str, str]:
        """Return the expression of the rank of a column of few texts, and the join for it."""
        column, table = self._columns[name], f"{self._view}_{self._columns[name]}_order"
        values = self._session.arrow(f"SELECT DISTINCT {column} AS v FROM {self._view}")
        ranks = rank_values(values.column("v").combine_chunks())
        self._session.store(table, values.append_column("r", pa.array(ranks.astype(np.int64))))
        join = f"JOIN {table} ON {self._view}.{column} IS NOT DISTINCT FROM {table}.v"
        return f"{table}.r", join

    def _sorting(self, order: Order, cells: Mapping[str, str]) -> list[str]:
        """Return the keys of the order: whole words as far as no plain column is between."""
        if not order.plain:
            return [f"w{j}" for j in range(order.packing.words)]
        keys: list[str] = []
        for name in order.sequence:
            kind = order.plain.get(name)
            column = self._columns.get(name, "")
            if kind in (None, "natural"):
                keys.append(cells[name])
            elif kind == "number":
                keys += [f"CAST({column} AS DOUBLE) NULLS LAST", f"{column} NULLS LAST"]
            elif kind == "text":
                keys.append(f"CAST({column} AS VARCHAR) NULLS LAST")
            else:
                keys.append(f"{column} NULLS LAST")
        return keys


def _unpacked(packing: Packing, name: str) -> str:
    """Return the expression of the published cell of one column, from the words of its class."""
    place = packing.places[name]
    return f"((k{place.word} >> {place.shift}) & {(1 << place.bits) - 1})"


def mapped(session: Session, cell: str, codes: Codes, table: str) -> tuple[str, str]:
    """Return the expression of a mapped column, and the join that it needs, if any.

    codes: (domain,) the new code of each code. table: a name to store the map under.
    """
    if len(codes) and (codes == codes[0]).all():
        return f"CAST({int(codes[0])} AS BIGINT)", ""  # a plain number in ORDER BY is a position
    if np.array_equal(codes, np.arange(len(codes))):
        return cell, ""
    kept = {"c": np.arange(len(codes), dtype=np.uint32), "r": codes.astype(np.int64)}
    session.store(table, pa.table(kept))
    return f"{table}.r", f"JOIN {table} ON {cell} = {table}.c"


def pack_words(packing: Packing, cells: Mapping[str, str]) -> list[str]:
    """Return the expression of each word, from the expressions of its columns."""
    parts: list[list[str]] = [[] for _ in range(packing.words)]
    for name, place in packing.places.items():
        parts[place.word].append(f"(CAST({cells[name]} AS BIGINT) << {place.shift})")
    return [f"({' | '.join(part)})" for part in parts]


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
