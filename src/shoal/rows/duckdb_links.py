"""Rows that are joined in one DuckDB database: tables linked by keys, or two versions of a file.

`LinkedEngine` has one of several tables, each in a schema. Its `texts` are its keys and foreign
keys as text (t0, t1, …), `keys` the number, text and person of each key, and `links` the rows with
the numbers of the keys that they refer to (f0, f1, …) and their person. A number is a position;
larger ones are keys of no row.

`JoinedFiles` has an original and its release, joined once by a key or by their position. Columns of
the release get a name of their own. Every original row is kept, also without a released one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.files.formats import Format
from shoal.rows.duckdb_engine import DuckDBEngine
from shoal.rows.duckdb_rows import POSITION, DuckDBRows, places_of, rows_of
from shoal.rows.duckdb_session import Session
from shoal.rows.file_sources import Files, Scan
from shoal.rows.memory import Budget
from shoal.rows.queries import Lookups, Released, numbers_of
from shoal.rows.store import Engine
from shoal.support.arrays import Codes, Counts
from shoal.support.wording import counted
from shoal.table.encoding import is_text
from shoal.table.people import is_person_number

_BATCH = 1 << 17  # rows that leave the database at once
Pairs = tuple[Codes, Codes]  # classes, and values of a column that they contain


@dataclass(frozen=True)
class LinkedFiles:
    """The files of one table in a database with others; schema: the name of the table there."""

    files: Files
    session: Session
    schema: str

    def __str__(self) -> str:
        return str(self.files)

    @property
    def name(self) -> Path:
        """The name of the files in messages."""
        return self.files.name

    def scan(self, form: Format, expected: set[str]) -> Any:
        """Return how to read the files."""
        return self.files.scan(form, expected)

    def engine(self, scan: Scan, _: Path, __: Budget) -> LinkedEngine:
        """Return the engine of the rows."""
        return LinkedEngine(scan, self.session.beside(self.schema, self.name), self.schema)


@dataclass(frozen=True, eq=False)
class Foreign:
    """A foreign key.

    parent: the table that it refers to. owns: whether rows belong to the people of its rows.
    strays: whether keys that no row has get numbers too, so that they can be published.
    """

    parent: LinkedEngine
    owns: bool
    strays: bool


class LinkedEngine(DuckDBEngine):
    """Rows of one of several tables; each row keeps its position."""

    _kept = (POSITION,)

    def __init__(self, scan: Scan, session: Session, schema: str) -> None:
        super().__init__(scan, session)
        self.schema = schema
        self._first_stray = 0  # the least number of a key that no row has
        self._foreign: Sequence[Foreign] = ()

    def _open(self) -> str:
        return rows_of(self._session, self._scan, "source", numbered=True)

    def keep_rows(self, positions: Counts) -> None:
        """Leave out all other rows from now on."""
        self._session.store("kept_rows", pa.table({POSITION: positions}))
        self._source = f"(SELECT * FROM {self._source} SEMI JOIN kept_rows USING ({POSITION}))"

    def read_texts(self, columns: Sequence[str], as_texts: Callable[[str, Any], Any]) -> None:
        """Store identifiers of each row as text; the key of the table is the first.

        as_texts: returns the texts of cells of a column.
        """
        listed = ", ".join(f"{self._places[name]} AS t{j}" for j, name in enumerate(columns))

        def changed(batch: Any) -> Any:
            texts = {f"t{j}": as_texts(name, batch.column(j + 1)) for j, name in enumerate(columns)}
            return pa.table({"id": batch.column("id"), **texts})

        listed = f", {listed}" if listed else ""
        self._session.pour(f"SELECT {POSITION} AS id{listed} FROM {self._source}", "texts", changed)

    def count_bad_keys(self) -> tuple[int, int]:
        """Return the numbers of rows without a key, and of those whose key other rows have."""
        rows, filled = (
            int(self._session.value(f"SELECT {what} FROM texts"))
            for what in ("count(*)", "count(t0)")
        )
        return rows - filled, filled - self._distinct("texts", "t0", filled)

    def link(self, foreign: Sequence[Foreign], *, key: bool, people: bool) -> int:
        """Link the rows to those that they refer to, and to people.

        Return 0, or the number of rows that two foreign keys link to different people.
        foreign: the foreign keys, in the order of their texts. key: whether the table has a key.
        people: whether each row is a person.
        """
        first, session = int(key), self._session
        self._foreign = foreign
        joins = " ".join(
            f"LEFT JOIN {each.parent.schema}.keys AS k{j} ON texts.t{first + j} = k{j}.text"
            for j, each in enumerate(foreign)
        )
        owners = [f"k{j}.person" for j, each in enumerate(foreign) if each.owns]
        person = "texts.id" if people else f"coalesce({', '.join([*owners, 'NULL'])})"
        cells = [f"k{j}.id AS f{j}" for j in range(len(foreign))]
        listed = ", ".join(["texts.*", *cells, f"CAST({person} AS BIGINT) AS person"])
        for place in range(1, len(owners)):
            before = f"coalesce({', '.join(owners[:place])})"
            wrong = f"SELECT count(*) FROM texts {joins} WHERE {before} <> {owners[place]}"
            if rows := int(session.value(wrong)):
                return rows
        session.run(f"CREATE TABLE joined AS SELECT {listed} FROM texts {joins}")
        session.run("DROP TABLE texts")
        if key:
            session.run("CREATE TABLE keys AS SELECT id, t0 AS text, person FROM joined")
            self._first_stray = self._next_key()
        self._store_links(first, about_people=people or bool(owners))
        return 0

    def _next_key(self) -> int:
        return int(self._session.value("SELECT coalesce(max(id), -1) + 1 FROM keys"))

    def _store_links(self, first: int, *, about_people: bool) -> None:
        """Store the links, with numbers for keys that no row has."""
        owned = " AND person IS NOT NULL" if about_people else ""
        cells, joins = ["joined.id", "joined.person"], []
        for j, each in enumerate(self._foreign):
            text, parent = f"joined.t{first + j}", each.parent
            lost = f"f{j} IS NULL AND {text} IS NOT NULL{owned}"
            strays = f"SELECT DISTINCT {text} AS text FROM joined WHERE {lost}"
            if each.strays and self._session.value(f"SELECT count(*) FROM ({strays})"):
                self._session.run(
                    f"INSERT INTO {parent.schema}.keys SELECT {parent._next_key()} - 1 + "
                    f"row_number() OVER (), text, NULL FROM ({strays})"
                )
                joins.append(f"LEFT JOIN {parent.schema}.keys AS s{j} ON {text} = s{j}.text")
                cells.append(f"s{j}.id AS f{j}")
            else:
                cells.append(f"joined.f{j}")
        self._session.run(
            f"CREATE TABLE links AS SELECT {', '.join(cells)} FROM joined {' '.join(joins)}"
        )
        self._session.run("DROP TABLE joined")

    def count_differing(self, people: LinkedEngine, maps: Mapping[str, Codes]) -> dict[str, int]:
        """Count the owned rows whose value of a column is not that of their person, by column.

        maps: for each of these columns (domain,) the code of the same value in the table of people.
        """
        if not maps:
            return {}
        lookups = Lookups()
        differing = (
            f"{lookups.map(self._columns[name], codes)} <> p.{people._columns[name]}"
            for name, codes in maps.items()
        )
        counts = ", ".join(f"count(*) FILTER (WHERE {each})" for each in differing)
        found = self._encoded.rows.arrow(
            f"SELECT {counts} FROM {{rows}} x JOIN links ON x.{POSITION} = links.id "
            f"JOIN {people.schema}.encoded AS p ON links.person = p.{POSITION} {lookups.joins}",
            **lookups.small,
        )
        return {name: int(found.column(j)[0].as_py()) for j, name in enumerate(maps)}

    def store_people(self, released: Released) -> dict[str, Codes]:
        """Store the position and the class of each released row as table `people`.

        Return (classes,) the published cell of each column.
        """
        rows, session, classes = released.rows, self._session, released.classes
        keys = ", ".join(classes.word_columns())
        assert isinstance(rows, DuckDBRows)
        session.run(
            f"CREATE TABLE classes AS SELECT {keys}, CAST(row_number() OVER () - 1 AS INTEGER) "
            f"AS class FROM (SELECT DISTINCT {keys} FROM {rows.name})"
        )
        session.run(
            f"CREATE OR REPLACE TABLE people AS SELECT {POSITION} AS id, class "
            f"FROM {rows.name} JOIN classes USING ({keys})"
        )
        found = session.arrow(f"SELECT {keys} FROM classes ORDER BY class")
        session.run("DROP TABLE classes")
        words = [numbers_of(found, key) for key in classes.word_columns()]
        return {name: classes.unpack(words, name) for name in classes.places}

    def replace_keys(self, publish: Callable[[Any], Any]) -> int:
        """Store the published form of all keys, and return how many keys are not distinct then."""
        self._replace("SELECT id, text FROM keys", "made", publish)
        keys = int(self._session.value("SELECT count(*) FROM made"))
        return keys - self._distinct("made", "cell", keys)

    def replace_cells(self, name: str, publish: Callable[[Any], Any], values: int) -> int:
        """Store the published form of another identifier, and count its distinct cells.

        values: the number of its distinct values.
        """
        table, cell = self._made(name), self._places[name]
        cells = f"SELECT {POSITION} AS id, {cell} AS v FROM {self._source}"
        self._replace(cells, table, publish)
        return self._distinct(table, "cell", values)

    def _made(self, name: str) -> str:
        """Return the table with the published form of an identifier."""
        return f"made_{self._places[name]}"

    def _replace(self, cells: str, table: str, publish: Callable[[Any], Any]) -> None:
        def changed(batch: Any) -> Any:
            return pa.table({"id": batch.column("id"), "cell": publish(batch.column(1))})

        self._session.pour(cells, table, changed)

    def _distinct(self, table: str, column: str, expected: int) -> int:
        """Count distinct texts; hashes take less memory, and are enough if as many are expected."""
        for each in (f"hash({column})", column):
            texts = f"SELECT {each} FROM {table} WHERE {column} IS NOT NULL GROUP BY ALL"
            found = int(self._session.value(f"SELECT count(*) FROM ({texts})"))
            if found == expected:
                break
        return found

    def store_rows(self, people: LinkedEngine | None, replaced: Sequence[str]) -> int:
        """Store the rows to publish with their links and the class of their person; count them.

        people: the table of people, whose released rows have classes; None to keep all rows.
        replaced: the identifiers that `replace_cells` replaced.
        """
        cells = [f"links.f{j}" for j in range(len(self._foreign))]
        joins = [f"JOIN links ON encoded.{POSITION} = links.id"]
        if people is not None:
            cells.append("p.class")
            joins.append(f"JOIN {people.schema}.people AS p ON links.person = p.id")
        for j, name in enumerate(replaced):
            table = self._made(name)
            cells.append(f"{table}.cell AS r{j}")
            joins.append(f"LEFT JOIN {table} ON encoded.{POSITION} = {table}.id")
        listed = ", ".join(["encoded.*", *cells])
        self._session.run(f"CREATE TABLE shown AS SELECT {listed} FROM encoded {' '.join(joins)}")
        for table in ("encoded", "links", *map(self._made, replaced)):
            self._session.run(f"DROP TABLE {table}")
        self._columns |= {name: f"r{j}" for j, name in enumerate(replaced)}
        return int(self._session.value("SELECT count(*) FROM shown"))

    def count_joined(self, number: int, people: LinkedEngine | None) -> int:
        """Count the rows to publish whose foreign key refers to a row that is published too.

        people: the table of people if that row belongs to one, else None.
        """
        parent = self._foreign[number].parent
        kept = "" if people is None else f"JOIN {people.schema}.people AS p ON k.person = p.id"
        return int(
            self._session.value(
                f"SELECT count(*) FROM shown JOIN {parent.schema}.keys AS k "
                f"ON shown.f{number} = k.id {kept} WHERE k.id < {parent._first_stray}"
            )
        )

    def values_by_class(self, name: str, most: int) -> Pairs | None:
        """Return the distinct values of a column in each class, None if there are more than most.

        Only rows to publish count.
        """
        found = self._session.arrow(
            f"SELECT DISTINCT class, {self._columns[name]} AS v FROM shown LIMIT {most + 1}"
        )
        return None if len(found) > most else _pairs(found, ("v",))

    def ends_by_class(self, name: str, missing: int | None) -> Pairs:
        """Return the least and the greatest value of a column in each class, and missing ones."""
        cell = self._columns[name]
        known = "" if missing is None else f" FILTER (WHERE {cell} <> {missing})"
        ends = f"min({cell}) AS a, max({cell}){known} AS b, max({cell}) AS c"
        found = self._session.arrow(f"SELECT class, {ends} FROM shown GROUP BY class")
        return _pairs(found, ("a", "b", "c"))

    def stream(
        self, columns: Sequence[str], cells: Mapping[str, Codes], keys: Mapping[str, int | None]
    ) -> Iterator[Any]:
        """Yield the rows to publish as Arrow tables, in any order; the first is empty.

        Columns are named c0, c1, …: codes of columns with a dictionary, cells of others.
        cells: for each generalized column (classes,) its code. keys: for each replaced key the
        number of its foreign key, None if it is the table's own.
        """
        places = {name: f"cells.e{j}" for j, name in enumerate(cells)}
        joins = []
        if cells:
            given = {f"e{j}": codes for j, codes in enumerate(cells.values())}
            count = len(next(iter(cells.values())))
            numbers = np.arange(count, dtype=np.int32)
            self._session.store("cells", pa.table({"class": numbers, **given}))
            joins.append("JOIN cells ON shown.class = cells.class")
        for j, (name, number) in enumerate(keys.items()):
            schema = self.schema if number is None else self._foreign[number].parent.schema
            own = f"shown.{POSITION}" if number is None else f"shown.f{number}"
            joins.append(f"LEFT JOIN {schema}.made AS m{j} ON {own} = m{j}.id")
            places[name] = f"m{j}.cell"
        listed = [
            f"{places[n] if n in places else f'shown.{self._columns[n]}'} AS c{j}"
            for j, n in enumerate(columns)
        ]
        statement = f"SELECT {', '.join(listed)} FROM shown {' '.join(joins)}"
        yield from self._session.stream(statement, _BATCH)
        self._session.run("DROP TABLE shown")
        self.rest()


def _pairs(found: Any, ends: Sequence[str]) -> Pairs:
    """Return pairs of a class and a value from columns of values, without nulls."""
    classes = np.concatenate([numbers_of(found, "class")] * len(ends))
    values = np.concatenate([numbers_of(found, end) for end in ends])
    kept = values >= 0
    return classes[kept].astype(np.int32), values[kept].astype(np.int32)


@dataclass(frozen=True)
class JoinedScan:
    """How both files are read; see `Scanned`.

    columns: the released columns, and the name of each in the joined rows. matched: the column that
    says whether a row has a released one. wanted: the columns of the original that are used.
    """

    files: Files
    original: Scan
    released: Scan
    columns: Mapping[str, str]
    matched: str
    wanted: tuple[str, ...]
    key: str | None
    first: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, those of the original first."""
        return (*self.original.names, *self.columns.values(), self.matched)

    @property
    def types(self) -> Mapping[str, Any]:
        """The Arrow type of each column, None for a column of a text file."""
        mine, theirs = self.original.types or {}, self.released.types or {}
        found: dict[str, Any] = {name: mine.get(name) for name in self.original.names}
        found |= {new: theirs.get(name) for name, new in self.columns.items()}
        return found | {self.matched: pa.bool_()}

    @property
    def guesses(self) -> Mapping[str, str]:
        """Settings of the original file that the data determines."""
        return self.original.guesses


@dataclass(frozen=True)
class JoinedFiles:
    """An original and its release as one source of rows.

    form: the format of the release. columns, matched: as in `JoinedScan`.
    known: the columns of the original with a role.
    key: a column of both with unique values; None to join by position.
    first: how many rows to join by position, None for all.
    """

    original: Files
    released: Files
    form: Format
    columns: Mapping[str, str]
    matched: str
    known: frozenset[str]
    key: str | None = None
    first: int | None = None

    def __str__(self) -> str:
        return f"{self.original} and {self.released}"

    @property
    def name(self) -> Path:
        """The name of the original in messages."""
        return self.original.name

    @contextmanager
    def scan(self, form: Format, expected: set[str]) -> Iterator[JoinedScan]:
        """Return how to read both files."""
        mine = {name for name in expected if name not in (*self.columns.values(), self.matched)}
        with (
            self.original.scan(form, mine) as original,
            self.released.scan(self.form, set(self.columns)) as released,
        ):
            wanted = [n for n in original.names if n in self.known or is_person_number(n)]
            names = self.columns, self.matched, tuple(wanted), self.key, self.first
            yield JoinedScan(self.original, original, released, *names)

    def engine(self, scan: Any, folder: Path, budget: Budget) -> Engine:
        """Return the DuckDB engine of the joined rows."""
        return _JoinedEngine(scan, Session(folder, budget, self.name))


class _JoinedEngine(DuckDBEngine):
    """DuckDB on rows of an original, each with its released row."""

    _scan: Any  # a JoinedScan

    def _open(self) -> str:
        """Join the rows, and return the table with the result."""
        scan: JoinedScan = self._scan
        by_position = scan.key is None
        own, other = places_of(scan.original.names), places_of(scan.released.names)
        mine, theirs = (
            rows_of(self._session, side, f"rows_of_{name}", numbered=by_position)
            for name, side in (("original", scan.original), ("released", scan.released))
        )
        on = (POSITION, POSITION)
        if scan.key is not None:
            on = own[scan.key], other[scan.key]
            self._check_keys(scan.key, on, mine, theirs)
        if scan.first is not None:
            some = f"WHERE {POSITION} < {scan.first}"
            mine, theirs = (f"(SELECT * FROM {rows} {some})" for rows in (mine, theirs))
        columns = [f"o.{own[name]} AS {self._places[name]}" for name in scan.wanted]
        columns += [f"r.{other[n]} AS {self._places[new]}" for n, new in scan.columns.items()]
        columns.append(f"r.{on[1]} IS NOT NULL AS {self._places[scan.matched]}")
        self._session.run(
            f"CREATE TABLE source AS SELECT {', '.join(columns)} FROM {mine} o "
            f"LEFT JOIN {theirs} r ON {_as_text('o', on[0])} = {_as_text('r', on[1])}"
        )
        for table in ("rows_of_original", "rows_of_released"):
            self._session.run(f"DROP TABLE IF EXISTS {table}")
        return "source"

    def _check_keys(self, key: str, on: tuple[str, str], mine: str, theirs: str) -> None:
        """Check that the keys are unique and that every released one is known.

        on: the columns of the key in both tables.
        """
        scan: JoinedScan = self._scan
        for what, side, rows, column in (
            ("the original", scan.original, mine, on[0]),
            ("the release", scan.released, theirs, on[1]),
        ):
            kind = (side.types or {}).get(key, pa.string())
            if not (is_text(kind) or pa.types.is_integer(kind) or pa.types.is_date(kind)):
                raise InputError(f"key {key!r}: values of type {kind} are compared only in memory; "
                                 "name a column of text, whole numbers or dates")  # fmt: skip
            found = self._session.arrow(
                f"SELECT count(*) AS n, count(DISTINCT {column}) AS d FROM {rows}"
            ).to_pylist()[0]
            if found["n"] != found["d"]:
                raise InputError(
                    f"key {key!r}: {found['n'] - found['d']:,} of {counted(found['n'], 'row')} of "
                    f"{what} have no key or the key of another row; name a column with unique "
                    "values"
                )
        cells = _as_text("o", on[0]), _as_text("r", on[1])
        absent = self._session.value(
            f"SELECT count(*) FROM {theirs} r ANTI JOIN {mine} o ON {cells[0]} = {cells[1]}"
        )
        if absent:
            rows = self._session.value(f"SELECT count(*) FROM {theirs}")
            raise InputError(
                f"key {key!r}: {absent:,} of {counted(rows, 'row')} have a key that is not in the "
                "original"
            )


def _as_text(side: str, column: str) -> str:
    return f"CAST({side}.{column} AS VARCHAR)"
