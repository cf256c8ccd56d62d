"""Check a released set of tables from its files alone: keys, joins, and the guarantee for people.

Cells of other tables must add nothing to the class of a person: all rows of the people of a class
show the same quasi-identifiers. Under kᵐ-anonymity they may differ, and the combinations of a
person's rows in all tables are counted. The exact number of rows is not covered, and is measured.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.counted_classes import CountedClasses
from shoal.core.linked_events import count_combinations
from shoal.core.roles import UnassignedColumns
from shoal.core.table import Table
from shoal.core.verification import Guarantee, covers_rows, judge
from shoal.engines.choice import choose
from shoal.engines.duckdb_session import literal, quoted
from shoal.engines.memory import Budget
from shoal.errors import InputError
from shoal.privacy.expressions import parse
from shoal.privacy.model import Model
from shoal.projects.files import database, digest, read_record
from shoal.reading import Format, read_arrow
from shoal.reading.engine import exact_pattern
from shoal.support.file_names import inside
from shoal.support.wording import count_of, counted

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
        for name, table in tables.items():
            _load(connection, folder, table, name)
        problems += _key_problems(connection, tables)
        found, joins = _join_problems(connection, tables)
        problems += found + _class_problems(connection, tables, person, covers_rows(model))
        problems += _event_problems(connection, tables, person, model, budget)
        by_rows = _unique_by_rows(connection, tables, person)
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


def _load(connection: Any, folder: Path, table: dict[str, Any], name: str) -> None:
    """Make a view of a file in which every cell that is checked is text."""
    path = folder / table["file"]
    file = literal(exact_pattern(path))
    reader = (
        f"read_parquet({file}, hive_partitioning=false)"
        if path.suffix == ".parquet"
        else f"read_csv({file}, delim='{_DELIMITERS[path.suffix]}', header=true, "
        "all_varchar=true, quote='\"', escape='\"', strict_mode=true, hive_partitioning=false)"
    )
    connection.execute(f"CREATE VIEW {quoted(name)} AS SELECT * FROM {reader}")


def _key_problems(connection: Any, tables: dict[str, Any]) -> list[str]:
    problems = []
    for name, table in tables.items():
        if table["key"] is not None:
            key = quoted(table["key"])
            rows, keys = connection.execute(
                f"SELECT count(*), count(DISTINCT {key}) FROM {quoted(name)}"
            ).fetchone()
            if rows != keys:
                problems.append(f"the key of table {name!r} repeats or is missing")
    return problems


def _join_problems(
    connection: Any, tables: dict[str, Any]
) -> tuple[list[str], dict[str, dict[str, int]]]:
    """Compare how many foreign keys join with how many did in the original rows."""
    problems = []
    joins: dict[str, dict[str, int]] = {}
    for name, table in tables.items():
        joins[name] = {}
        for column, to in table["foreign"].items():
            [joined] = connection.execute(
                f"SELECT count(*) FROM {quoted(name)} AS a JOIN {quoted(to)} AS b "
                f"ON {_equal('a', column, 'b', tables[to]['key'])}"
            ).fetchone()
            joins[name][column] = joined
            if joined != table["joined"][column]:
                problems.append(f"{column!r} of table {name!r} joins other rows than before")
    return problems, joins


def _class_problems(
    connection: Any, tables: dict[str, Any], person: str, events: bool
) -> list[str]:
    """Return the tables whose quasi-identifiers distinguish people of one class.

    events: whether rows may distinguish them, as far as the guarantee for combinations allows.
    """
    problems = []
    for name in _tables_about(tables, person):
        table = tables[name]
        if not table["people"]:
            problems.append(f"table {name!r} has quasi-identifiers, but shows no people")
            continue
        if events:
            continue
        owners, own = _owners(tables, name, person), _list("p", tables[person]["quasi"])
        [pairs, classes] = connection.execute(
            f"SELECT count(*), count(DISTINCT c) FROM (SELECT DISTINCT row({own}) AS c, "
            f"row({_list('a', table['quasi'])}) AS q FROM {owners})"
        ).fetchone()
        if pairs != classes:
            problems.append(f"the linked rows of table {name!r} single people of a class out")
    return problems


def _tables_about(tables: dict[str, Any], person: str) -> list[str]:
    """Return the other tables with quasi-identifiers."""
    return [name for name, table in tables.items() if name != person and table["quasi"]]


def _event_problems(
    connection: Any, tables: dict[str, Any], person: str, model: Guarantee, budget: Budget | None
) -> list[str]:
    """Return the combinations of rows, in all tables, that too few people have.

    budget: the memory that may be used.
    """
    shown = [name for name in _tables_about(tables, person) if tables[name]["people"]]
    if not covers_rows(model) or not shown:
        return []
    rows = sum(tables[name]["rows"] for name in shown)
    if budget is not None and rows * _BYTES_PER_EVENT > budget.size:
        raise InputError(
            f"{model} is checked in memory, and {counted(rows, 'event')} do not fit in {budget}; "
            "state a larger memory"
        )
    key, own = quoted(tables[person]["key"]), _list("p", tables[person]["quasi"])
    events = " UNION ALL ".join(
        f"SELECT p.{key}::VARCHAR AS owner, {number} AS source, dense_rank() OVER "
        f"(ORDER BY {own}, {_list('a', tables[name]['quasi'])}) AS event "
        f"FROM {_owners(tables, name, person)}"
        for number, name in enumerate(shown)
    )
    ids = connection.execute(
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


def _owners(tables: dict[str, Any], name: str, person: str) -> str:
    """Return a join of a table (a) with the people (p) that its rows belong to."""
    column = tables[name]["people"][0]
    joins: list[str] = []
    left, at = "a", name
    while at != person:
        to = tables[at]["foreign"][column]
        right = "p" if to == person else f"t{len(joins)}"
        joins.append(
            f"JOIN {quoted(to)} AS {right} ON {_equal(left, column, right, tables[to]['key'])}"
        )
        left, at = right, to
        column = tables[at]["people"][0] if at != person else ""
    return f"{quoted(name)} AS a {' '.join(joins)}"


def _classes(
    folder: Path, table: dict[str, Any], memory: str | int | None
) -> Classes | CountedClasses:
    """Return the classes of the people, counted on disk if their table does not fit in memory."""
    path = folder / table["file"]
    roles: dict[str, Any] = {n: {"role": "quasi", "kind": "nominal"} for n in table["quasi"]}
    roles |= {name: {"role": "sensitive"} for name in table["sensitive"]}
    choice = choose(path, memory, None, None, len(roles))
    if choice.on_disk:
        from shoal.engines.large_verification import published_on_disk

        units = {"person": (), "household": (), "rows_are_people": True}
        source = choice.source(path)
        with warnings.catch_warnings(action="ignore", category=UnassignedColumns):
            published = published_on_disk(source, roles, {}, units, choice.budget)
        with published.table:
            return published.classes
    data = read_arrow(path, Format(), table["quasi"], may_be_empty=True)
    return Classes.by_quasi(Table.from_arrow(data, roles, rows_are_people=True))


def _unique_by_rows(connection: Any, tables: dict[str, Any], person: str) -> int:
    """Count people who are unique by their quasi-identifiers and their numbers of rows."""
    key = tables[person]["key"]
    if key is None:
        return 0
    counts, joins = [], []
    for number, (name, table) in enumerate(tables.items()):
        if name == person or not table["people"]:
            continue
        joins.append(
            f"LEFT JOIN (SELECT p.{quoted(key)} AS k, count(*) AS n FROM "
            f"{_owners(tables, name, person)} GROUP BY ALL) AS c{number} "
            f"ON c{number}.k = z.{quoted(key)}"
        )
        counts.append(f"coalesce(c{number}.n, 0)")
    shown = ", ".join([_list("z", tables[person]["quasi"]), *counts])
    [unique] = connection.execute(
        f"SELECT count(*) FROM (SELECT count(*) AS n FROM {quoted(person)} AS z {' '.join(joins)} "
        f"GROUP BY {shown}) WHERE n = 1"
    ).fetchone()
    return int(unique)


def _equal(left: str, column: str, right: str, other: str) -> str:
    """Return a comparison of two columns as text: a file may hold a key as a number."""
    return f"{left}.{quoted(column)}::VARCHAR = {right}.{quoted(other)}::VARCHAR"


def _list(table: str, names: list[str]) -> str:
    return ", ".join(f"{table}.{quoted(name)}" for name in names)
