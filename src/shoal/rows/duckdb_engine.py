"""The DuckDB engine: rows are encoded once in a private database, then grouped, mapped and sorted.

    source: c0, c1, … ── encode ──▶ encoded: d0, …, p0, …, person, household
                                       │ sorted by partition, read one by one, mapped in a pool
                                       ▼
                                    entries: the encoded rows with their published entries e0, …

No query contains the name of a column. `DuckDBEngine` encodes, `DuckDBPartitions` runs methods that
need single records, `Profiles` compares the sets of classes that linked rows are in.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.rows.duckdb_rows import DuckDBRows, count_written, places_of, rows_of
from shoal.rows.duckdb_session import SHARE, Session, literal
from shoal.rows.file_sources import Scan
from shoal.rows.packing import Packing
from shoal.rows.partitions import Outcome, Partition, PublishedTexts, Work, map_in_pool
from shoal.rows.queries import (
    MARGIN,
    EncodedRows,
    Lookups,
    Released,
    Rows,
    mapped_rows,
    numbers_of,
)
from shoal.rows.replacing import DuckDBReplacing
from shoal.rows.store import (
    HOUSEHOLD,
    LINKED,
    PERSON,
    Counted,
    Encoding,
    Filled,
    Plan,
    Totals,
    Tuples,
    Values,
)
from shoal.support.arrays import Codes, Counts
from shoal.support.progress import report
from shoal.table.column import Role
from shoal.table.encoding import is_text

_NODES_PER_SCAN = 6


class DuckDBEngine:
    """Rows of Parquet or CSV files, encoded in a private folder."""

    name = "duckdb"

    _kept: tuple[str, ...] = ()  # columns of the source that encoded rows keep

    def __init__(self, scan: Scan, session: Session) -> None:
        self._session, self._scan = session, scan
        self._places = places_of(scan.names)
        self._columns: dict[str, str] = {}  # the encoded column of each name
        self._known: dict[str, Values] = {}  # the distinct values that were asked for
        self._encoding: tuple[Encoding, Totals] | None = None  # what is encoded, and its rows
        self._encoded: EncodedRows  # after `encode`
        self._profiles = Profiles(self._session)
        self._source = self._open()

    def _open(self) -> str:
        """Return what to select from: the Parquet files, or a copy of the text."""
        return rows_of(self._session, self._scan, "source")

    def close(self) -> None:
        """Close the database."""
        self._session.close()

    def rest(self) -> None:
        """Free memory for work outside the engine."""
        self._session.rest()

    def statistics(
        self, most: Mapping[str, int], identifiers: Sequence[str] = ()
    ) -> dict[str, Values | Filled | int]:
        """Return the distinct values of columns, or their number if it exceeds `most`."""
        found: dict[str, Values | Filled | int] = {
            name: self._statistics(name, limit) for name, limit in most.items()
        }
        return found | {name: self._count_identifier(name) for name in identifiers}

    def _statistics(self, name: str, most: int) -> Values | int:
        if name in self._known and len(self._known[name].counts) <= most:
            return self._known[name]
        cell, session = self._cell(name), self._session
        about = session.value(f"SELECT approx_count_distinct({cell}) FROM {self._source}")
        if about > most * MARGIN:
            return int(about)
        found = session.arrow(
            f"SELECT {cell} AS v, count(*) AS n FROM {self._source} GROUP BY ALL ORDER BY v"
        )
        values = Values(found.column("v").combine_chunks(), numbers_of(found, "n"))
        self._known[name] = values
        return values

    def count_rows(self) -> int:
        """Return the number of rows of the source."""
        return int(self._session.value(f"SELECT count(*) FROM {self._source}"))

    def sample(self, names: Sequence[str], rows: int) -> Any:
        """Return random rows of some columns of the source, as an Arrow table."""
        listed = ", ".join(f"{self._cell(name)} AS v{j}" for j, name in enumerate(names))
        drawn = f"USING SAMPLE reservoir({int(rows)} ROWS) REPEATABLE (0)"
        found = self._session.arrow(f"SELECT {listed} FROM (SELECT * FROM {self._source} {drawn})")
        return found.rename_columns(list(names))

    def interrupt(self) -> None:
        """Stop the running statement, from another thread."""
        self._session.interrupt()

    def _cell(self, name: str, source: str = "") -> str:
        """Return the expression of a cell; numbers that are not numbers are missing."""
        column = f"{source}{self._places[name]}"
        kind = None if self._scan.types is None else self._scan.types[name]
        if kind is not None and pa.types.is_floating(kind):
            return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} + 0 END"
        return column

    def _count_identifier(self, name: str) -> Filled:
        """Count the values of an identifier; empty texts are missing."""
        kind = (self._scan.types or {}).get(name)
        text = kind is None or is_text(kind)
        cell = self._filled(name)
        words = f"avg(length({cell}) - length(replace({cell}, ' ', '')) + 1)" if text else "0"
        found = self._session.arrow(
            f"SELECT count(DISTINCT {cell}) AS n, count({cell}) AS filled, {words} AS words "
            f"FROM {self._source}"
        ).to_pylist()[0]
        return Filled(found["n"], found["filled"], found["words"] or 0)

    def encode(self, encoding: Encoding) -> Totals:
        """Encode all rows, and count them; the same encoding again costs nothing."""
        if self._encoding is not None and self._encoding[0].equals(encoding):
            return self._encoding[1]
        self._encoding = None
        report("encode", 0, None)
        self._columns = {}
        self.__dict__.pop("_partitions", None)  # they are partitions of the rows before
        cells, joins = [], []
        for number, (name, found) in enumerate(encoding.dictionaries.items()):
            self._columns[name] = f"d{number}"
            codes = pa.table({"v": found.values, "c": pa.array(found.codes)})
            self._session.store(f"codes{number}", codes.filter(codes.column("v").is_valid()))
            missing = codes.filter(codes.column("v").is_null()).column("c").to_pylist()
            cell, kind = self._cell(name, "s."), _unsigned(found.domain)
            known = f"codes{number}.c"
            if missing:
                known = f"CASE WHEN {cell} IS NULL THEN {missing[0]} ELSE {known} END"
            cells.append(f"CAST({known} AS {kind}) AS d{number}")
            joins.append(f"LEFT JOIN codes{number} ON {cell} = codes{number}.v")
        for number, name in enumerate(encoding.plain):
            self._columns[name] = f"p{number}"
            cells.append(f"{self._cell(name, 's.')} AS p{number}")
        cells += [f"s.{name}" for name in self._kept]
        for unit, names in ((PERSON, encoding.person), (HOUSEHOLD, encoding.household)):
            if names:
                self._number(unit, names, encoding.links.missing)
                cells.append(f"{unit}_ids.id AS {unit}")
                places = [self._places[n] for n in names]
                same = " AND ".join(f"s.{place} = {unit}_ids.{place}" for place in places)
                joins.append(f"LEFT JOIN {unit}_ids ON {same}")
        self._encode(encoding, cells, joins)
        counts = {
            unit: int(self._session.value(f"SELECT count(*) FROM {unit}_ids"))
            for unit, names in ((PERSON, encoding.person), (HOUSEHOLD, encoding.household))
            if names
        }
        for unit in counts:  # they hold the original identifiers
            self._session.run(f"DROP TABLE {unit}_ids")
        units = [u for u in (PERSON, HOUSEHOLD) if u in self._session.columns("encoded")]
        rows = self._check_encoded(encoding, units)
        self._encoded = EncodedRows(
            DuckDBRows(self._session, "encoded"),
            self._columns,
            {unit: [unit] for unit in units},
            self._columns.get(LINKED),
        )
        self._encoding = encoding, Totals(rows, counts.get(PERSON), counts.get(HOUSEHOLD))
        return self._encoding[1]

    def _encode(self, encoding: Encoding, cells: list[str], joins: list[str]) -> None:
        """Store the encoded rows, with the published form of replaced identifiers."""
        raw = {}
        for name in (name for each in encoding.replaced.values() for name in each.columns):
            raw[name] = self._cell(name, "s.")
        raw |= {name: self._filled(name, encoding.links.missing, "s.")
                for name in encoding.links.columns}  # fmt: skip
        places = [self._places[name] for name in encoding.person]
        replacing = DuckDBReplacing(self._session, self._source, encoding, raw, places)
        replacing.encode(cells, joins)
        self._columns |= replacing.columns
        if (linked := replacing.link()) is not None:
            self._columns[LINKED] = linked

    def _filled(self, name: str, missing: Sequence[str] = (), source: str = "") -> str:
        """Return the expression of a cell of an identifier, null if it is missing."""
        cell, kind = f"{source}{self._places[name]}", (self._scan.types or {}).get(name)
        # NaN by its text: DuckDB takes isnan for false in Parquet files, whose statistics omit NaN
        empty = "nan" if kind is not None and pa.types.is_floating(kind) else ""
        texts = ", ".join(literal(text) for text in (empty, *missing))
        return f"CASE WHEN CAST({cell} AS VARCHAR) IN ({texts}) THEN NULL ELSE {cell} END"

    def _number(self, unit: str, names: Sequence[str], missing: Sequence[str]) -> None:
        """Give each person or household a number, and check that every row names one."""
        listed = ", ".join(self._places[name] for name in names)
        for name in names:
            blank = f"{self._filled(name, missing)} IS NULL"
            empty = self._session.value(f"SELECT count(*) FROM {self._source} WHERE {blank}")
            if empty:
                rows = "1 row has" if empty == 1 else f"{empty:,} rows have"
                raise InputError(
                    f"column {name!r} identifies the {unit}, but {rows} no value in it; fill them "
                    "in or remove these rows"
                )
        self._session.run(
            f"CREATE OR REPLACE TABLE {unit}_ids AS "
            f"SELECT {listed}, row_number() OVER () - 1 AS id "
            f"FROM (SELECT DISTINCT {listed} FROM {self._source})"
        )

    def _check_encoded(self, encoding: Encoding, units: Sequence[str]) -> int:
        """Check that every row was encoded, and return their number."""
        coded = [*(self._columns[name] for name in encoding.dictionaries), *units]
        lost = " OR ".join(f"{column} IS NULL" for column in coded) or "false"
        found = self._session.arrow(
            f"SELECT count(*) AS n, count(*) FILTER (WHERE {lost}) AS lost FROM encoded"
        )
        rows = int(found.column("n")[0].as_py())
        there = self._session.value(f"SELECT count(*) FROM {self._source}")
        if found.column("lost")[0].as_py() or rows != there:
            raise InputError(f"{self._scan.files.name}: was changed while it was read; start again")
        return rows

    def tuples(
        self,
        packing: Packing,
        nodes: Sequence[Mapping[str, Codes]],
        most: int | None,
        people: bool = False,
    ) -> Tuples | int:
        """Return the distinct tuples after the first of the maps that leaves at most `most`."""
        count_about = partial(self._count_about, packing, nodes)
        return self._encoded.tuples(packing, nodes, most, people, count_about)

    def _count_about(
        self, packing: Packing, nodes: Sequence[Mapping[str, Codes]], units: Sequence[str]
    ) -> Iterator[int]:
        """Yield the approximate number of distinct tuples at each node, of several in one scan."""
        rows, columns = self._encoded.rows, self._columns
        for start in range(0, len(nodes), _NODES_PER_SCAN):
            lookups, counts = Lookups(), []  # one for all nodes: names of its tables stay apart
            for maps in nodes[start : start + _NODES_PER_SCAN]:
                words = packing.pack_in_sql(lookups.cells(packing, columns, maps))
                counts.append(f"approx_count_distinct(({', '.join([*words, *units])}))")
            query = f"SELECT {', '.join(counts)} FROM {{rows}} x {lookups.joins}"
            found = rows.arrow(query, **lookups.small)
            yield from (int(column[0].as_py()) for column in found.columns)

    def release(self, plan: Plan) -> Released:
        """Return the released rows: mapped column by column, or joined tuple by tuple."""
        encoded, classes = self._encoded, plan.classes
        rows = self._partitions.joined(plan) if plan.by_row else encoded.with_classes(plan)
        if plan.by_profile and encoded.linked is not None:
            rows = self._profiles.joined(rows, encoded.linked, classes.word_columns())
            classes = replace(classes, words=classes.words + DIGEST_WORDS)
        return encoded.released(rows, classes, plan.dropped)

    def count_written(
        self, files: Sequence[Path], labels: Mapping[str, Any], value: str | None, text: bool
    ) -> Counted:
        """Count the classes of written files, by a further column if one is named."""
        report("verify", 0, None)
        return count_written(self._session, files, labels, value, text)

    @cached_property
    def _partitions(self) -> DuckDBPartitions:
        return DuckDBPartitions(self._session, self._columns, list(self._encoded.units))

    def map_partitions(
        self,
        groups: Sequence[Sequence[Partition]],
        work: Work,
        processes: int | None = None,
        texts: PublishedTexts | None = None,
    ) -> Iterator[Outcome]:
        """Run the work on the rows of each group of partitions, in worker processes."""
        return self._partitions.map(groups, work, processes, texts)


def _unsigned(domain: int) -> str:
    return "UTINYINT" if domain <= 1 << 8 else "USMALLINT" if domain <= 1 << 16 else "UINTEGER"


_SHARE_BESIDE_WORKERS = 0.4  # of the budget, while worker processes need the rest
_SHARE_BESIDE_TEXTS = 0.3  # at least, beside the published texts in memory
_BYTES_PER_TEXT = 100  # of a published text: its page, its rank, and a part of its classes


class DuckDBPartitions:
    """The encoded rows by partition, and the published entry of each row.

    columns: the encoded column of each name. units: people and households, as far as known.
    """

    def __init__(self, session: Session, columns: Mapping[str, str], units: Sequence[str]) -> None:
        self._session, self._columns, self._units = session, columns, units
        self._entries: dict[str, str] = {}  # the column of entries of each name
        self._numbers: dict[Partition, int] = {}  # the number of each partition

    def map(
        self,
        groups: Sequence[Sequence[Partition]],
        work: Work,
        processes: int | None,
        texts: PublishedTexts | None,
    ) -> Iterator[Outcome]:
        """Yield the outcome of each group of partitions, in order."""
        waiting: deque[Counts] = deque()  # the rows of groups without an outcome yet
        partitions = [partition for group in groups for partition in group]
        if not set(partitions) <= set(self._numbers):
            self._sort(partitions)
        if texts is not None:
            self._begin(work)
        for outcome in map_in_pool(self._tasks(groups, work, waiting), processes):
            rows = waiting.popleft()
            if outcome.rows != len(rows):
                raise InputError("a partition came back with another number of rows; start again")
            if texts is not None:
                self._add(rows, outcome, texts.number(outcome))
            yield outcome

    def _tasks(
        self, groups: Sequence[Sequence[Partition]], work: Work, waiting: deque[Counts]
    ) -> Iterator[Any]:
        for group in groups:
            rows, *cells = self._rows(group, [column.name for column in work.columns])
            if len(rows):
                waiting.append(rows)
                yield work, *cells

    def _rows(self, partitions: Sequence[Partition], names: Sequence[str]) -> tuple[Any, ...]:
        """Return the rows of partitions: their numbers, codes, people and households."""
        listed = ", ".join(["rowid AS row", *(self._columns[n] for n in names), *self._units])
        order = ", ".join(self._columns.values())
        numbers = ", ".join(str(self._numbers[partition]) for partition in partitions)
        found = self._session.arrow(
            f"SELECT {listed} FROM encoded WHERE part IN ({numbers}) ORDER BY {order}"
        )
        codes = {n: numbers_of(found, self._columns[n]).astype(np.int32) for n in names}
        ids = [
            numbers_of(found, unit) if unit in self._units else None for unit in (PERSON, HOUSEHOLD)
        ]
        return numbers_of(found, "row"), codes, *ids

    @property
    def _stored(self) -> list[str]:
        """All columns of the encoded rows but the number of their partition."""
        return [column for column in self._session.columns("encoded") if column != "part"]

    def _sort(self, partitions: Sequence[Partition]) -> None:
        """Sort the encoded rows by partition."""
        number = f"CAST({part_number(partitions, self._columns)} AS UINTEGER) AS part"
        rows = f"SELECT {', '.join(self._stored)}, {number} FROM encoded ORDER BY part"
        self._session.run(f"CREATE OR REPLACE TABLE sorted AS {rows}")
        self._session.run("DROP TABLE encoded")
        self._session.run("ALTER TABLE sorted RENAME TO encoded")
        self._numbers = {partition: place for place, partition in enumerate(partitions)}

    def _begin(self, work: Work) -> None:
        """Prepare for the published entry of each row, column by column."""
        quasi = tuple(c.name for c in work.columns if c.role is Role.QUASI)
        self._session.limit(_SHARE_BESIDE_WORKERS)
        self._entries = {name: f"e{number}" for number, name in enumerate(quasi)}
        added = [f"CAST(NULL AS INTEGER) AS {column}" for column in self._entries.values()]
        columns = ", ".join([*self._stored, *added])
        self._session.run(
            f"CREATE OR REPLACE TABLE entries AS SELECT {columns} FROM encoded LIMIT 0"
        )

    def _add(self, rows: Counts, outcome: Outcome, numbers: Mapping[str, Codes]) -> None:
        """Store the rows of a group with their published entries, without suppressed ones.

        numbers: for each quasi-identifier the number of each entry of the outcome.
        """
        kept = np.ones(len(rows), dtype=np.bool_)
        if outcome.suppressed is not None:
            kept[outcome.suppressed] = False
        columns = {
            column: numbers[name][outcome.entries[name][kept]]
            for name, column in self._entries.items()
        }
        if not kept.any():
            return
        near = f"encoded.rowid BETWEEN {int(rows.min())} AND {int(rows.max())}"
        self._session.append(
            "entries",
            pa.table({"row": rows[kept], **columns}),
            f"SELECT {', '.join([*self._stored, *columns])} FROM given JOIN encoded "
            f"ON encoded.rowid = given.row WHERE {near}",
        )

    def joined(self, plan: Plan) -> Rows:
        """Return the stored rows with the classes of their entries."""
        size = sum(map(len, plan.maps.values())) * _BYTES_PER_TEXT
        self._session.limit(max(SHARE - size / self._session.budget.size, _SHARE_BESIDE_TEXTS))
        return mapped_rows(DuckDBRows(self._session, "entries"), self._entries, plan)


def part_number(partitions: Sequence[Partition], columns: Mapping[str, str]) -> str:
    """Return the expression of the number of a row's partition, counted from 0.

    partitions: the leaves of a tree of cuts, in its order. columns: the column of each name.

    >>> from shoal.rows.partitions import Side
    >>> part_number([(Side("age", 40, False),), (Side("age", 40, True),)], {"age": "d0"})
    'CASE WHEN d0 <= 40 THEN 0 ELSE 1 END'
    """
    return _below(list(enumerate(partitions)), 0, columns)


def _below(leaves: list[tuple[int, Partition]], depth: int, columns: Mapping[str, str]) -> str:
    """Return the expression for the leaves under one node of the tree."""
    if len(leaves) == 1:
        return str(leaves[0][0])
    cut = leaves[0][1][depth]
    low = [leaf for leaf in leaves if not leaf[1][depth].above]
    high = [leaf for leaf in leaves if leaf[1][depth].above]
    first, second = (_below(side, depth + 1, columns) for side in (low, high))
    return f"CASE WHEN {columns[cut.column]} <= {cut.last} THEN {first} ELSE {second} END"


DIGEST_WORDS = 2
_DIGITS = 15  # of a word, hexadecimal, so that it is a positive 64-bit integer


class Profiles:
    """The sets of classes that linked rows are in, by a digest: equal sets have equal digests.

    A digest is the exclusive or of a keyed hash of each class, under a random key of the session:
    different sets have the same digest of 120 bits with a probability of 2⁻¹²⁰, whatever the rows
    are, and nothing has to be sorted or held in memory.
    Clarke, Devadas, van Dijk, Gassend, Suh, "Incremental multiset hash functions and their
    application to memory integrity checking", ASIACRYPT 2003.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._key = secrets.token_hex(32)

    def joined(self, rows: Rows, sets: str, keys: Sequence[str]) -> Rows:
        """Return rows with the words of the profile of the rows linked to them.

        Parameters:
            rows: The rows.
            sets: The column with the number of the set that a row is linked to.
            keys: The words of the class of a row; those of the profile have the next numbers.
        """
        assert isinstance(rows, DuckDBRows)
        cells = ", ".join(f"CAST({key} AS VARCHAR)" for key in keys)
        hashed = f"sha256(concat_ws(' ', {literal(self._key)}, {cells}))"
        pairs = f"SELECT DISTINCT {sets}, {', '.join(keys)} FROM {rows.name}"
        words = []
        for place in range(DIGEST_WORDS):
            digits = f"'0x' || substr(h, {1 + place * _DIGITS}, {_DIGITS})"
            words.append(f"bit_xor(CAST({digits} AS BIGINT)) AS k{len(keys) + place}")
        table = self._session.fresh("profiles")
        self._session.run(
            f"CREATE TABLE {table} AS SELECT {sets}, {', '.join(words)} "
            f"FROM (SELECT {sets}, {hashed} AS h FROM ({pairs})) GROUP BY {sets}"
        )
        return rows.select(f"SELECT * FROM {{rows}} x JOIN {table} USING ({sets})")
