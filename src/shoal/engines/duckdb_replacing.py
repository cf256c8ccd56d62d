"""Identifiers in their published form, made outside of DuckDB and stored beside the encoded rows.

Batches of cells leave the database and their replacements come back, so that no statement and no
working file has a key. Replaced columns are r0, r1, …, the numbers of linking values l0, l1, …, and
raw cells, which are never stored, x0, x1, ….
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.linked_rows import linked_sets
from shoal.core.people import Unit, joined
from shoal.engines.duckdb_released import numbers_of
from shoal.engines.duckdb_session import Session
from shoal.engines.engine import PERSON, Encoding, Replacing
from shoal.errors import InputError
from shoal.support.progress import report

SETS = "linked"  # the column of the number of the set that a row is linked to
_BYTES_PER_LINK = 100  # of two numbers that are joined in memory
_SHARE = 0.3  # of the budget, for these


class DuckDBReplacing:
    """Makes the replaced columns of one encoding.

    source: what to select from. raw: the expression of a cell of each column, in rows named s.
    person: the columns that identify people, in the table of people.
    """

    def __init__(
        self,
        session: Session,
        source: str,
        encoding: Encoding,
        raw: Mapping[str, str],
        person: Sequence[str],
    ) -> None:
        self._session, self._source = session, source
        self._encoding, self._raw, self._person = encoding, raw, person
        self._tables: list[str] = []
        self._links: list[str] = []
        self._linked_by_person = False
        self.columns = {name: f"r{number}" for number, name in enumerate(encoding.replaced)}

    def encode(self, cells: Sequence[str], joins: Sequence[str]) -> None:
        """Store the encoded rows with their replaced columns.

        Parameters:
            cells: The expressions of the other columns.
            joins: The joins that they need.
        """
        if self.columns:
            report("replace identifiers", 0, None)
        cells, joins = list(cells), list(joins)
        by_row = {}
        for name, each in self._encoding.replaced.items():
            if each.by_value:
                found, join = self._store_values(name, each)
                cells += found
                joins.append(join)
            else:
                by_row[self.columns[name]] = each
        for place, name in enumerate(self._encoding.links.columns, len(self.columns)):
            found, join = self._number_links(name, f"l{place}")
            cells += found
            joins.append(join)
        self._linked_by_person |= self._encoding.links.people
        rows = f"FROM {self._source} s {' '.join(joins)}"
        if by_row:
            self._encode_in_batches(cells, rows, by_row)
        else:
            self._session.run(
                f"CREATE OR REPLACE TABLE encoded AS SELECT {', '.join(cells)} {rows}"
            )
        for table in self._tables:
            self._session.run(f"DROP TABLE {table}")

    def _store_values(self, name: str, replacing: Replacing) -> tuple[list[str], str]:
        """Replace each distinct value, and return the cells of the rows and the join."""
        column = self.columns[name]
        made, numbers = f"made_{column}", f"numbers_{column}"
        own = tuple(self._encoding.person) == (name,)
        if own:
            known = f"SELECT {self._person[0]} AS v, id AS c FROM person_ids"
            numbers, number, join = "person_ids", "id", ""
        else:
            known, number = f"SELECT v, c FROM {numbers}", "c"
            join = self._number_values(name, numbers)

        def published(batch: Any) -> Any:
            cells = replacing.publish(pa.table({name: batch.column("v")}))
            return pa.table({"c": batch.column("c"), "r": cells})

        self._session.pour(known, made, published)
        self._tables.append(made)
        self._check_shared(made, "r", replacing)
        cells = [f"{made}.r AS {column}"]
        if replacing.links and own:
            self._linked_by_person = True
            self._check_filled(made, name)
        elif replacing.links:
            self._links.append(f"l{column[1:]}")
            cells.append(f"CASE WHEN {made}.r IS NULL THEN NULL ELSE {made}.c END AS l{column[1:]}")
        return cells, f"{join}LEFT JOIN {made} ON {numbers}.{number} = {made}.c"

    def _number_values(self, name: str, numbers: str) -> str:
        """Give each distinct value a number, and return the join of the rows with it."""
        values = f"SELECT DISTINCT {self._raw[name]} AS v FROM {self._source} s"
        self._session.run(
            f"CREATE OR REPLACE TABLE {numbers} AS SELECT v, row_number() OVER () - 1 AS c "
            f"FROM ({values}) WHERE v IS NOT NULL"
        )
        self._tables.append(numbers)
        return f"LEFT JOIN {numbers} ON {self._raw[name]} = {numbers}.v "

    def _number_links(self, name: str, column: str) -> tuple[list[str], str]:
        """Return the cells that link rows as they are and their join; nothing if none repeats."""
        numbers = f"numbers_{column}"
        join = self._number_values(name, numbers)
        filled = self._session.value(f"SELECT count({self._raw[name]}) FROM {self._source} s")
        if filled == self._session.value(f"SELECT count(*) FROM {numbers}"):
            return [], ""
        self._links.append(column)
        return [f"{numbers}.c AS {column}"], join

    def _encode_in_batches(
        self, cells: Sequence[str], rows: str, by_row: Mapping[str, Replacing]
    ) -> None:
        """Store the rows batch by batch, with replacements of all their cells."""
        needed = dict.fromkeys(name for each in by_row.values() for name in each.columns)
        raw = {name: f"x{place}" for place, name in enumerate(needed)}
        listed = [*cells, *(f"{self._raw[name]} AS {column}" for name, column in raw.items())]

        def replaced(batch: Any) -> Any:
            known = pa.table({name: batch.column(column) for name, column in raw.items()})
            stored = batch.drop_columns(list(raw.values()))
            for column, each in by_row.items():
                stored = stored.append_column(column, each.publish(known.select(each.columns)))
            return stored

        self._session.pour(f"SELECT {', '.join(listed)} {rows}", "encoded", replaced)
        for column, each in by_row.items():
            self._check_shared("encoded", column, each)

    def _check_shared(self, table: str, column: str, replacing: Replacing) -> None:
        """Reject replacements of different values that are equal."""
        if replacing.refuse_shared is None:
            return
        for distinct in (f"hash({column})", column):  # hashes take less memory
            counts = f"count({column}) - count(DISTINCT {distinct})"
            shared = self._session.value(f"SELECT {counts} FROM {table} WHERE {column} IS NOT NULL")
            if not shared:
                return
        replacing.refuse_shared(int(shared))

    def _check_filled(self, made: str, name: str) -> None:
        """Reject people without an identifier."""
        if self._session.value(f"SELECT count(*) FROM {made} WHERE r IS NULL"):
            raise InputError(
                f"column {name!r} identifies the person, but some rows have no value in it; fill "
                "them in or remove these rows"
            )

    def link(self) -> str | None:
        """Return the column of the set that each row is linked to; None if none links rows.

        People whose rows are linked get one number.
        """
        if not self._links:
            return PERSON if self._linked_by_person else None
        own = [PERSON] if self._linked_by_person else []
        keys = [*own, *self._links]
        if len(keys) == 1:
            base = f"(SELECT coalesce(max({keys[0]}), 0) + 1 FROM encoded)"
            self._rewrite(f"coalesce({keys[0]}, {base} + encoded.rowid) AS {SETS}")
        else:
            self._join_sets(keys)
        self._join_people()
        return SETS

    def _rewrite(self, added: str, joins: str = "", without: Sequence[str] = ()) -> None:
        """Store the encoded rows again, with another column."""
        left_out = f" EXCLUDE ({', '.join(without)})" if without else ""
        self._session.run(
            f"CREATE OR REPLACE TABLE linking AS SELECT encoded.*{left_out}, {added} "
            f"FROM encoded {joins}"
        )
        self._session.run("DROP TABLE encoded")
        self._session.run("ALTER TABLE linking RENAME TO encoded")

    def _join_sets(self, keys: Sequence[str]) -> None:
        """Give a number to each set of rows that several columns link, also through other rows."""
        listed = ", ".join(keys)
        some = " OR ".join(f"{key} IS NOT NULL" for key in keys)
        pairs = self._read(f"SELECT DISTINCT {listed} FROM encoded WHERE {some}")
        sets = linked_sets([pairs.column(key) for key in keys])
        if sets is None:
            sets = np.arange(len(pairs), dtype=np.int32)
        numbered = pairs.append_column(SETS, pa.array(sets.astype(np.int64)))
        self._session.store("sets", numbered)
        same = " AND ".join(f"encoded.{key} IS NOT DISTINCT FROM sets.{key}" for key in keys)
        alone = f"coalesce(sets.{SETS}, {len(pairs)} + encoded.rowid)"
        self._rewrite(f"{alone} AS {SETS}", f"LEFT JOIN sets ON {same}")
        self._session.run("DROP TABLE sets")

    def _join_people(self) -> None:
        """Give people whom a set links one number; without people, sets are people."""
        if not self._encoding.person:
            self._rewrite(f"{SETS} AS {PERSON}", without=self._links)
            return
        several = f"SELECT {SETS} FROM encoded GROUP BY ALL HAVING min({PERSON}) < max({PERSON})"
        pairs = self._read(
            f"SELECT DISTINCT {PERSON}, {SETS} FROM encoded WHERE {SETS} IN ({several})"
        )
        if not len(pairs):
            return
        numbers, people = np.unique(numbers_of(pairs, PERSON), return_inverse=True)
        places, sets = np.unique(numbers_of(pairs, SETS), return_inverse=True)
        one = Unit((), people.astype(np.int32), len(numbers))
        other = Unit((), sets.astype(np.int32), len(places))
        parts = joined(one, other)
        least = np.full(parts.count, np.iinfo(np.int64).max)
        np.minimum.at(least, parts.ids, numbers[people])
        _, first = np.unique(people, return_index=True)
        self._session.store(
            "same_people", pa.table({"old": numbers, "new": least[parts.ids[first]]})
        )
        number = f"coalesce(same_people.new, encoded.{PERSON}) AS {PERSON}"
        join = f"LEFT JOIN same_people ON encoded.{PERSON} = same_people.old"
        self._rewrite(number, join, [PERSON, *self._links])
        self._session.run("DROP TABLE same_people")

    def _read(self, statement: str) -> Any:
        """Return numbers that are joined in memory, if they fit."""
        rows = self._session.value(f"SELECT count(*) FROM ({statement})")
        if rows * _BYTES_PER_LINK > self._session.budget.share(_SHARE):
            raise InputError(
                f"several replaced identifiers link rows in {rows:,} combinations, too many for "
                f"{self._session.budget} of memory; publish one of them, or state a larger memory"
            )
        return self._session.arrow(statement)
