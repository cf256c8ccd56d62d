"""Check a released set of tables from its files alone, and write those files with their record.

    keys     are complete and unique
    joins    are as many as in the original rows
    classes  all rows of the people of a class show the same quasi-identifiers, so that cells of
             other tables add nothing; under kᵐ-anonymity they may differ, and the combinations of
             a person's rows in all tables are counted
    model    holds for the classes of people

The exact number of rows of a person is not covered; it is measured and reported as a warning.
Tables are written in the order of their published values; DuckDB sorts them, with what exceeds
memory in `TMPDIR`.
"""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.errors import InputError, unknown
from shoal.files.formats import Format
from shoal.files.query import exact_pattern
from shoal.files.reading import read_arrow
from shoal.files.writing import BATCH, open_writer
from shoal.privacy.model import Model
from shoal.privacy.models import parse
from shoal.projects.links import Published
from shoal.release.verification import Guarantee, covers_rows, judge
from shoal.rows.choice import choose
from shoal.rows.duckdb_rows import places_of, written_rows
from shoal.rows.duckdb_session import explained
from shoal.rows.memory import Budget
from shoal.support.documents import read_json
from shoal.support.file_names import inside
from shoal.support.files import temporary_folder, utf8_path
from shoal.support.memory import return_memory
from shoal.support.wording import count_of, counted
from shoal.table.classes import Classes, CountedClasses
from shoal.table.linked import count_combinations
from shoal.table.roles import UnassignedColumns
from shoal.table.table import Table

_BYTES_PER_EVENT = 100  # of a row of events, whose combinations are counted in memory
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class SetCheck:
    """The outcome of the check of a released set; it is true if everything holds.

    Attributes:
        model: The guarantee.
        holds: Whether the guarantee, the keys and the joins hold.
        problem: What does not hold, in words.
        people: Released people.
        classes: Classes of people.
        smallest: People in the smallest class.
        tables: The rows of each table, and for each foreign key how many join; under kᵐ-anonymity
            also how many rows about people were left out, as the release states.
        by_rows: People who are unique by their class and their numbers of rows in the tables.
    """

    model: str
    holds: bool
    problem: str
    people: int
    classes: int
    smallest: int
    tables: dict[str, dict[str, Any]]
    by_rows: int

    def __bool__(self) -> bool:
        return self.holds

    def warnings(self) -> list[str]:
        """Return what the guarantee does not cover and is notable, in words."""
        if not self.by_rows:
            return []
        singled = count_of(self.by_rows, self.people)
        return [
            "anyone who knows how many rows a person has in each table, besides the "
            f"quasi-identifiers, singles out {singled}"
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return asdict(self) | {"warnings": self.warnings()}


def check_set(
    folder: str | Path, model: Guarantee | None = None, *, memory: str | int | None = None
) -> SetCheck:
    """Check a released set of tables from its files.

    Parameters:
        folder: The released folder.
        model: The guarantee; by default the one that the set claims.
        memory: The memory that may be used, such as "4GB"; by default 70 % of the machine's.

    Returns:
        The outcome.

    Raises:
        InputError: The folder is not a released set.

    >>> from tempfile import TemporaryDirectory
    >>> from shoal.errors import InputError
    >>> with TemporaryDirectory() as folder:
    ...     try:
    ...         check_set(folder)
    ...     except InputError as error:
    ...         print(str(error).removeprefix(folder))
    /release.json: no such file; check the path
    """
    folder = Path(folder)
    record = read_record(folder)
    if model is None:
        model = _claimed(record)
    tables, person = record["tables"], record["person"]
    problems = _changed_files(folder, tables)
    budget = None if memory is None else Budget.parse(memory)
    with database(folder, budget) as connection:
        rows = _Rows(connection, folder, tables)
        problems += _key_problems(rows)
        found, joins = _join_problems(rows)
        problems += found + _class_problems(rows, person, covers_rows(model))
        problems += _event_problems(rows, person, model, budget)
        by_rows = _unique_by_rows(rows, person)
    outcome = judge(_classes(folder, tables[person], memory), model)
    if not outcome:
        problems.append(f"{model} does not hold in {counted(outcome.failing, 'class')}")
    return SetCheck(
        str(model),
        not problems,
        "; ".join(problems),
        outcome.people,
        outcome.classes,
        outcome.smallest,
        {
            name: {"rows": table["rows"], "joined": joins[name]}
            | ({"left_out": table["left_out"]} if "left_out" in table else {})
            for name, table in tables.items()
        },
        by_rows,
    )


def _claimed(record: dict[str, Any]) -> Model:
    models = [parse(text) for text in record["model"]]
    joined = models[0]
    for model in models[1:]:
        joined = joined & model
    return joined


def _changed_files(folder: Path, tables: dict[str, Any]) -> list[str]:
    problems = []
    for name, table in tables.items():
        path = inside(folder, table["file"], f"table {name!r}: file")
        if not path.is_file():
            raise InputError(f"{folder}: the file of table {name!r} is missing")
        if digest(path) != table["sha256"]:
            problems.append(f"the file of table {name!r} was changed")
    return problems


class _Rows:
    """The released tables in a database, as views t0, t1, … with columns c0, c1, …."""

    def __init__(self, connection: Any, folder: Path, tables: dict[str, Any]) -> None:
        self.connection, self.tables = connection, tables
        self._views: dict[str, str] = {}
        self._columns: dict[str, dict[str, str]] = {}
        for number, (name, table) in enumerate(tables.items()):
            asked = [*table["quasi"], *table["foreign"], table["key"]]
            asked = [column for column in asked if column is not None]
            file = f"{folder}: the file of table {name!r}"
            try:
                names, rows = written_rows([folder / table["file"]], asked, missing=True)
            except (pa.ArrowException, OSError, ValueError, csv.Error):
                raise InputError(f"{file} is damaged") from None
            self._views[name], self._columns[name] = f"t{number}", places_of(names)
            connection.execute(f"CREATE VIEW t{number} AS SELECT * FROM {rows}")
            absent = [column for column in asked if column not in names]
            if absent:
                raise InputError(f"{file} has no column {absent[0]!r}, which the record names")

    def one(self, query: str) -> Any:
        """Return the only row of a query."""
        return self.connection.execute(query).fetchone()

    def view(self, name: str) -> str:
        """Return what to select from for a table."""
        return self._views[name]

    def cells(self, alias: str, name: str, columns: list[str]) -> str:
        """Return the list of some columns of a table, which the query calls `alias`."""
        return ", ".join(f"{alias}.{self._columns[name][column]}" for column in columns)

    def key(self, alias: str, name: str) -> str:
        """Return the key of a table as text: a file may hold it as a number."""
        return self.text(alias, name, self.tables[name]["key"])

    def text(self, alias: str, name: str, column: str) -> str:
        """Return a column of a table as text."""
        return f"{self.cells(alias, name, [column])}::VARCHAR"

    def owned(self, name: str, person: str) -> str:
        """Return a join of a table (a) with the people (p) that its rows belong to."""
        column = self.tables[name]["people"][0]
        # a → b0 → b1 → p: one join for each foreign key on the way to the people
        joins: list[str] = []
        left, at = "a", name
        while at != person:
            to = self.tables[at]["foreign"][column]
            right = "p" if to == person else f"b{len(joins)}"
            same = f"{self.text(left, at, column)} = {self.key(right, to)}"
            joins.append(f"JOIN {self.view(to)} AS {right} ON {same}")
            left, at = right, to
            column = self.tables[at]["people"][0] if at != person else ""
        return f"{self.view(name)} AS a {' '.join(joins)}"


def _key_problems(rows: _Rows) -> list[str]:
    problems = []
    for name, table in rows.tables.items():
        if table["key"] is not None:
            every, keys = rows.one(
                f"SELECT count(*), count(DISTINCT {rows.key('a', name)}) "
                f"FROM {rows.view(name)} AS a"
            )
            if every != keys:
                problems.append(f"the key of table {name!r} repeats or is missing")
    return problems


def _join_problems(rows: _Rows) -> tuple[list[str], dict[str, dict[str, int]]]:
    """Compare how many foreign keys join with how many did in the original rows."""
    problems = []
    joins: dict[str, dict[str, int]] = {}
    for name, table in rows.tables.items():
        joins[name] = {}
        for column, to in table["foreign"].items():
            [joined] = rows.one(
                f"SELECT count(*) FROM {rows.view(name)} AS a JOIN {rows.view(to)} AS b "
                f"ON {rows.text('a', name, column)} = {rows.key('b', to)}"
            )
            joins[name][column] = joined
            if joined != table["joined"][column]:
                problems.append(
                    f"{column!r} of table {name!r} joins more or fewer rows than before"
                )
    return problems, joins


def _class_problems(rows: _Rows, person: str, events: bool) -> list[str]:
    """Return the tables whose quasi-identifiers distinguish people of one class.

    events: whether rows may distinguish them, as far as the guarantee for combinations allows.
    """
    problems = []
    for name in _tables_about(rows.tables, person):
        table = rows.tables[name]
        if not table["people"]:
            problems.append(
                f"table {name!r} has quasi-identifiers, but no key that leads to people"
            )
            continue
        if events:
            continue
        own = rows.cells("p", person, rows.tables[person]["quasi"])
        # equal if every class of people shows one combination of the cells of this table
        [pairs, classes] = rows.one(
            f"SELECT count(*), count(DISTINCT c) FROM (SELECT DISTINCT row({own}) AS c, "
            f"row({rows.cells('a', name, table['quasi'])}) AS q FROM {rows.owned(name, person)})"
        )
        if pairs != classes:
            problems.append(f"the linked rows of table {name!r} single out people within a class")
    return problems


def _tables_about(tables: dict[str, Any], person: str) -> list[str]:
    """Return the other tables with quasi-identifiers."""
    return [name for name, table in tables.items() if name != person and table["quasi"]]


def _event_problems(rows: _Rows, person: str, model: Guarantee, budget: Budget | None) -> list[str]:
    """Return the combinations of rows, in all tables, that too few people have.

    budget: the memory that may be used.
    """
    tables = rows.tables
    shown = [name for name in _tables_about(tables, person) if tables[name]["people"]]
    if not covers_rows(model) or not shown:
        return []
    number_of_rows = sum(tables[name]["rows"] for name in shown)
    if budget is not None and number_of_rows * _BYTES_PER_EVENT > budget.size:
        raise InputError(
            f"{model} is checked in memory, and {counted(number_of_rows, 'event')} do not fit in "
            f"{budget}; state a larger memory"
        )
    own = rows.cells("p", person, tables[person]["quasi"])
    events = " UNION ALL ".join(
        f"SELECT {rows.key('p', person)} AS owner, {number} AS source, dense_rank() OVER "
        f"(ORDER BY {own}, {rows.cells('a', name, tables[name]['quasi'])}) AS event "
        f"FROM {rows.owned(name, person)}"
        for number, name in enumerate(shown)
    )
    # owner, event: (events,) the person, and the kind of event that people are compared by
    ids = rows.connection.execute(
        "SELECT dense_rank() OVER (ORDER BY owner) - 1 AS owner, "
        f"dense_rank() OVER (ORDER BY source, event) - 1 AS event FROM ({events})"
    ).fetchnumpy()
    owners, items = (np.asarray(ids[name], dtype=np.int32) for name in ("owner", "event"))
    problems = []
    for part in model.parts:
        found = count_combinations(owners, items, events=part.m, k=part.k)
        if found.below.any():
            fewer = counted(int(found.below.sum()), "person", "people")
            problems.append(f"{part} does not hold for the linked rows of {fewer}")
    return problems


def _classes(
    folder: Path, table: dict[str, Any], memory: str | int | None
) -> Classes | CountedClasses:
    """Return the classes of the people, counted on disk if their table does not fit in memory."""
    path = folder / table["file"]
    roles: dict[str, Any] = {n: {"role": "quasi", "kind": "nominal"} for n in table["quasi"]}
    roles |= {name: {"role": "sensitive"} for name in table["sensitive"]}
    choice = choose(path, memory, None, None, len(roles))
    if choice.on_disk:
        from shoal.checking import published_on_disk

        units = {"person": (), "household": (), "rows_are_people": True}
        source = choice.source(path)
        with warnings.catch_warnings(action="ignore", category=UnassignedColumns):
            published = published_on_disk(source, roles, {}, units, choice.budget)
        with published.table:
            return published.classes
    form = Format()
    if path.suffix in _DELIMITERS:
        form = Format(delimiter=_DELIMITERS[path.suffix], quote='"', encoding="utf-8", header=True)
    data = read_arrow(path, form, table["quasi"], may_be_empty=True)
    return Classes.by_quasi(Table.from_arrow(data, roles, rows_are_people=True))


def _unique_by_rows(rows: _Rows, person: str) -> int:
    """Count people who are unique by their quasi-identifiers and their numbers of rows."""
    tables = rows.tables
    if tables[person]["key"] is None:
        return 0
    counts, joins = [], []
    for number, (name, table) in enumerate(tables.items()):
        if name == person or not table["people"]:
            continue
        joins.append(
            f"LEFT JOIN (SELECT {rows.key('p', person)} AS k, count(*) AS n FROM "
            f"{rows.owned(name, person)} GROUP BY ALL) AS n{number} "
            f"ON n{number}.k = {rows.key('z', person)}"
        )
        counts.append(f"coalesce(n{number}.n, 0) AS m{number}")
    shown = ", ".join([rows.cells("z", person, tables[person]["quasi"]), *counts])
    [unique] = rows.one(
        f"SELECT count(*) FROM (SELECT {shown}, count(*) AS people FROM {rows.view(person)} AS z "
        f"{' '.join(joins)} GROUP BY ALL) WHERE people = 1"
    )
    return int(unique)


RECORD = "release.json"
FORMAT = {"name": "shoal-set", "version": 1}
_TABLE = {
    "file": str,
    "sha256": str,
    "rows": int,
    "key": (str, None),
    "foreign": {str: str},
    "joined": {str: int},
    "people": [str],
    "quasi": [str],
    "sensitive": [str],
    "left_out?": int,
    str: object,
}
_RECORD = {"format": object, "model": [str], "person": str, "tables": {str: _TABLE}, str: object}
_ENDINGS = (".csv", ".tsv", ".parquet")
_MEMORY = 10**9  # bytes that DuckDB may use, if no budget is stated
_SHARE = 0.75  # of what DuckDB may use otherwise


@contextmanager
def database(source: Path, budget: Budget | None = None) -> Iterator[Any]:
    """Yield a DuckDB database in memory that spills to `TMPDIR` and loads nothing else.

    source: what is read, for messages. budget: the memory that may be used.
    """
    import duckdb

    unlike = f"{source}: a file does not have the columns of the record"
    shown = str(budget or Budget(_MEMORY))
    with temporary_folder(Path(tempfile.gettempdir())) as folder:
        settings: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": f"{_limit(budget)}B",
            "temp_directory": utf8_path(folder / "spill"),
            "preserve_insertion_order": "true",
        }
        with explained(source, folder.parent, shown, lambda _: unlike):
            connection = duckdb.connect(config=settings)
            try:
                yield connection
            finally:
                connection.close()


def _limit(budget: Budget | None) -> int:
    """Return the bytes that DuckDB may use beside the batches that are written."""
    return _MEMORY if budget is None else int(_SHARE * budget.for_duckdb)


def write_published(published: Published, path: Path, budget: Budget | None = None) -> None:
    """Write a table, sorted by its published values; budget: the memory that may be used."""
    unsorted = path.with_name(f"{path.stem}.unsorted")
    batches = published.batches()
    first = next(batches)
    with pq.ParquetWriter(utf8_path(unsorted), first.schema, compression="lz4") as writer:
        writer.write_table(first)
        for batch in batches:
            writer.write_table(batch.cast(first.schema))
    with database(path, budget) as connection:
        rows = connection.sql(
            "SELECT * FROM read_parquet($path, hive_partitioning=false) ORDER BY ALL",
            params={"path": exact_pattern(unsorted)},
        )
        with open_writer(path, first.schema) as writer:
            for batch in _batches(rows.to_arrow_reader(BATCH)):
                writer.write_table(batch.cast(first.schema))
    unsorted.unlink()
    return_memory(published.rows)


def _batches(reader: Any) -> Iterator[Any]:
    """Yield tables of `BATCH` rows, the last with the rest, whatever the batches of a reader."""
    waiting: list[Any] = []
    rows = 0
    for batch in reader:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= BATCH:
            joined = pa.Table.from_batches(waiting)
            yield joined.slice(0, BATCH)
            # the size of batches shows in a Parquet file, so it must not depend on the reader
            waiting, rows = joined.slice(BATCH).to_batches(), rows - BATCH
    if rows:
        yield pa.Table.from_batches(waiting)


def write_record(folder: Path, record: dict[str, Any]) -> None:
    """Write the record of a set."""
    text = json.dumps({"format": FORMAT, **record}, indent=2, ensure_ascii=False)
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")


def read_record(folder: Path) -> dict[str, Any]:
    """Return the record of a set.

    Raises:
        InputError: The record has another shape, or its parts contradict each other; the message
            names the part.
    """
    path = folder / RECORD
    record: dict[str, Any] = read_json(path, _RECORD)
    if record["format"] != FORMAT:
        raise InputError(f"{path}: not the record of a released set of this version")
    if not record["model"]:
        raise InputError(f"{path}: model must state the guarantee")
    tables, person = record["tables"], record["person"]
    if person not in tables:
        raise unknown(f"{path}: person must name a table: no table", person, tables)
    if not tables[person]["quasi"]:
        raise InputError(f"{path}: tables.{person}.quasi must not be empty")
    for name, table in tables.items():
        where = f"{path}: tables.{name}"
        if inside(folder, table["file"], f"{where}.file").suffix not in _ENDINGS:
            raise InputError(f"{where}.file must end in {', '.join(_ENDINGS)}")
        for column, to in table["foreign"].items():
            if to not in tables or tables[to]["key"] is None:
                raise InputError(f"{where}.foreign.{column} names no table with a key")
            if column not in table["joined"]:
                raise InputError(f"{where}.joined.{column} is missing")
        if table["people"] and not _leads_to(person, name, tables):
            raise InputError(f"{where}.people does not lead to the people")
    return record


def _leads_to(person: str, name: str, tables: dict[str, Any]) -> bool:
    """Return whether the first foreign keys to people of a table, and so on, end at the people."""
    for _ in tables:
        named = tables[name]["people"]
        if name == person or not named or named[0] not in tables[name]["foreign"]:
            break
        name = tables[name]["foreign"][named[0]]
    return name == person


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
