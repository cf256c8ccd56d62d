"""The released rows of the DuckDB engine: counted by class, and read in canonical order.

How DuckDB reads the rows of files: Parquet in place, text as a copy.

Columns are c0, c1, … in the order of the file, whatever their names are: DuckDB ignores case, and a
name could mean something else in a query, such as an alias or a row number.

The classes of written files, counted by DuckDB from the text or values that they contain.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.files.csv_files import CsvScan
from shoal.files.query import exact_pattern
from shoal.files.writing import FORMULA, IS_NUMBER, NUMBER, rank_values, unescape_names
from shoal.release.margins import Pairs
from shoal.rows.duckdb_session import Session, literal
from shoal.rows.file_sources import Scan, check_parquet, parquet_rows
from shoal.rows.memory import Budget
from shoal.rows.store import HOUSEHOLD, LINKED, PERSON, Counted, Facts, Order, Packing
from shoal.support.arrays import Codes, Counts
from shoal.support.files import temporary_folder, utf8_path
from shoal.support.progress import report
from shoal.table.encoding import is_text

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


POSITION = "file_row_number"  # DuckDB's name for the position of a row in its Parquet file


def places_of(names: Iterable[str]) -> dict[str, str]:
    """Return the column of each name.

    >>> places_of(["age", "count(*)"])
    {'age': 'c0', 'count(*)': 'c1'}
    """
    return {name: f"c{place}" for place, name in enumerate(names)}


def parquet_files(paths: Sequence[Path], columns: int) -> str:
    """Return what to select from Parquet files with this number of columns, as a table r."""
    listed = ", ".join(literal(exact_pattern(path)) for path in paths)
    named = ", ".join(f"c{place}" for place in range(columns))
    return f"read_parquet([{listed}], hive_partitioning=false) AS r({named})"


def rows_of(session: Session, scan: Scan, table: str, *, numbered: bool = False) -> str:
    """Return what to select from: Parquet files, or a table with a copy of the text.

    table: a name for the copy. numbered: add the position of each row in all files, `POSITION`.
    """
    if scan.types is not None:
        check_parquet(scan.files.paths, scan.files.named)
        return _numbered_parquet(scan) if numbered else _parquet(scan)
    report("read", 0, None)
    if numbered:
        session.run("SET preserve_insertion_order = true")
    for number, (text, cells) in enumerate(zip(scan.texts, scan.files.folders, strict=True)):
        _read_text(session, scan, text, cells, f"INSERT INTO {table}" if number else table)
    if not numbered:
        return table
    session.run("SET preserve_insertion_order = false")
    return f"(SELECT *, rowid AS {POSITION} FROM {table})"


def _parquet(scan: Scan) -> str:
    """Return the query of Parquet files, with the columns that only folders name."""
    by_cells: dict[tuple[str | None, ...], list[Path]] = {}
    for path, cells in zip(scan.files.paths, scan.files.folders, strict=True):
        by_cells.setdefault(tuple(cells[name] for name in scan.folders), []).append(path)
    parts = []
    for values, paths in by_cells.items():
        source = parquet_files(paths, _inside(scan))
        added = _from_folders(scan, dict(zip(scan.folders, values, strict=True)))
        parts.append(f"SELECT {', '.join(['*', *added])} FROM {source}")
    return f"({' UNION ALL '.join(parts)})"


def _numbered_parquet(scan: Scan) -> str:
    """Return the query of Parquet files with the position of each row."""
    parts, before = [], 0
    for path, cells in zip(scan.files.paths, scan.files.folders, strict=True):
        place = f"{POSITION} + {before} AS {POSITION}"
        columns = ", ".join(["*", *_from_folders(scan, cells), place])
        parts.append(f"SELECT {columns} FROM {parquet_files([path], _inside(scan))}")
        before += parquet_rows(path)
    return f"({' UNION ALL '.join(parts)})"


def _inside(scan: Scan) -> int:
    """Return the number of columns that are in the files; those of folders follow them."""
    return len(scan.names) - len(scan.folders)


def _from_folders(scan: Scan, cells: Mapping[str, str | None]) -> list[str]:
    """Return the columns that the folders of a file name."""
    types = scan.types or dict.fromkeys(scan.folders, pa.string())
    return [
        f"{_cast(cells[name], types[name])} AS c{place}"
        for place, name in enumerate(scan.folders, _inside(scan))
    ]


def _read_text(
    session: Session, scan: Scan, text: CsvScan, cells: Mapping[str, str | None], into: str
) -> None:
    """Copy a text file into a table; `into` is its name, or the beginning of an insertion."""
    columns = ", ".join([*text.keys, *_from_folders(scan, cells)])
    made = into if " " in into else f"CREATE TABLE {into} AS"
    options = {"path": exact_pattern(text.path), **text.options}
    session.run(f"{made} SELECT {columns} FROM ({text.statement})", options, text.explain)


def _cast(value: str | None, kind: Any) -> str:
    """Return the value that a folder names as an expression of its type."""
    text = "NULL" if value is None else literal(value)
    return f"CAST({text} AS {'BIGINT' if pa.types.is_integer(kind) else 'VARCHAR'})"


def count_written(
    session: Session,
    files: Sequence[Path],
    labels: Mapping[str, Any],
    value: str | None,
    text: bool,
) -> Counted:
    """Count the classes of written files, by a further column if one is named.

    labels: for each column the published cells, in the order of their codes.
    value: if `labels` does not have it, its distinct cells are counted as people.
    text: whether the files are CSV.
    """
    by_person = value is not None and value not in labels
    quasi = [name for name in labels if name != value]
    counted = [*quasi, *([] if by_person or value is None else [value])]
    if not text:
        check_parquet(files, files)
    names, source = written_rows(files, [*quasi, *([] if value is None else [value])])
    places = places_of(names)
    listed = "".join(f"{places[name]}, " for name in counted)
    counts = "count(*) AS n"
    if by_person and value is not None:
        person = places[value]
        counts += f", count(DISTINCT {person}) + count(*) - count({person}) AS {PERSON}"
    cells: dict[str, str] = {}
    joins = []
    for number, name in enumerate(counted):
        kept = pa.table({"v": labels[name], "r": np.arange(len(labels[name]), dtype=np.int64)})
        session.store(f"labels{number}", kept)
        same = f"g.{places[name]} IS NOT DISTINCT FROM labels{number}.v"
        joins.append(f"LEFT JOIN labels{number} ON {same}")
        cells[name] = f"labels{number}.r"
    packing = Packing.of({name: len(labels[name]) + 1 for name in quasi})
    packed = pack_words(packing, cells) if quasi else []
    words = [f"{word} AS k{j}" for j, word in enumerate(packed)]
    if value in cells:
        words.append(f"{cells[value]} AS v")
    words += ["n", PERSON] if by_person else ["n"]
    found = session.arrow(
        f"SELECT {', '.join(words)} FROM (SELECT {listed}{counts} FROM {source} GROUP BY ALL) g "
        f"{' '.join(joins)}"
    )
    return counted_of(found, len(packed))


def count_on_disk(
    files: Sequence[Path], labels: Mapping[str, Any], value: str | None, text: bool, budget: Budget
) -> Counted:
    """Count the classes of written files in a database of their own."""
    with temporary_folder(Path(tempfile.gettempdir())) as folder:
        session = Session(folder, budget, files[0].parent)
        try:
            return count_written(session, files, labels, value, text)
        finally:
            session.close()


def written_rows(
    files: Sequence[Path], expected: Sequence[str], *, missing: bool = False
) -> tuple[list[str], str]:
    """Return the names of the columns of written files, and what to select from; c0, c1, … there.

    Nothing about a text file is detected. A missing cell is empty, and an empty text is quoted; a
    missing cell of the only column is quoted too, because an empty line would not be a row.

    expected: the names before formulas in them were escaped.
    missing: whether quoted empty texts are missing in all files.
    """
    if files[0].suffix == ".parquet":
        names = list(pq.read_schema(utf8_path(files[0])).names)
        return names, parquet_files(files, len(names))
    sign = "\t" if files[0].suffix == ".tsv" else ","
    with files[0].open(encoding="utf-8", newline="") as handle:
        names = list(unescape_names(next(csv.reader(handle, delimiter=sign), []), expected))
    paths = ", ".join(literal(exact_pattern(path)) for path in files)
    columns = ", ".join(f"{place}: 'VARCHAR'" for place in places_of(names).values())
    quoted_nulls = "true" if missing or len(names) == 1 else "false"
    return names, (
        f"read_csv([{paths}], auto_detect=false, header=true, columns={{{columns}}}, "
        f"delim={literal(sign)}, quote='\"', escape='\"', nullstr='', strict_mode=true, "
        "null_padding=false, hive_partitioning=false, new_line='\\n', compression='none', "
        f"allow_quoted_nulls={quoted_nulls})"
    )
