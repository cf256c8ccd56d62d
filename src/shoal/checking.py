"""A check for pipelines: raise an error if a data frame or file violates a guarantee.

`check`              frames and files in memory, and frames of Spark
`published_on_disk`  a file larger than memory, made by any tool: grouped where it is, so that
only classes are in memory; cells are equal if their text is
`counted_in_spark`   a frame of Spark: only counts leave Spark
`sample_rows`        some rows of a frame of Spark, for an inspection
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError, NotAnonymous
from shoal.files.requests import Request
from shoal.methods import as_model, check_askable
from shoal.privacy.model import Model
from shoal.release.verification import Verification, covers_rows, judge, old_codes
from shoal.risk.caveats import Caveats, count_singled_out
from shoal.risk.population.frequencies import Frequencies
from shoal.risk.sensitive import homogeneity
from shoal.rows.dictionaries import unit_of
from shoal.rows.file_sources import find_source
from shoal.rows.large_table import LargeTable
from shoal.rows.memory import Budget
from shoal.rows.packing import Packing
from shoal.rows.queries import Released
from shoal.rows.spark.codes import functions
from shoal.rows.spark.frame_sources import SparkFrame
from shoal.rows.spark.sessions import explained
from shoal.rows.store import (
    HOUSEHOLD,
    LINKED,
    PERSON,
    Counted,
    Counting,
    Links,
    Plan,
    Source,
    counted_classes,
    order_of,
)
from shoal.support.arrays import Bools
from shoal.support.wording import counted
from shoal.table.classes import Classes, CountedClasses, Marginals
from shoal.table.column import Column, Kind, Role
from shoal.table.frames import from_frame, is_spark_frame
from shoal.table.linked import link_sets
from shoal.table.people import Unit, group_keys
from shoal.table.roles import as_names
from shoal.table.table import Table

_BYTES_PER_CLASS = 200
_SHARE = 0.5  # of the budget, for the classes
_NOBODY: Mapping[str, Any] = {"person": (), "household": ()}
SAMPLE_ROWS = 100_000
_MARGIN = 1.1  # a random share of rows may have a few rows less than expected


def check(
    data: Any,
    model: Model | str | None = None,
    *,
    k: int | None = None,
    quasi: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    household: str | Sequence[str] = (),
    linked: bool = True,
) -> Verification:
    """Check that published rows meet a guarantee, and raise if they do not.

    Cells are equal only if their text is equal: `[30, 40]` and `35` are different. The check counts
    rows unless `person` names the column that identifies people. Such a column links the rows of a
    person, so the guarantee must then hold for all rows of a person together.

    Parameters:
        data: A data frame, or the path of a CSV, Parquet or JSON lines file. The classes of a frame
            of Spark are counted there, and `person` needs `linked=False`.
        model: The guarantee: a privacy model, or its text such as `"l-diversity(3, disease)"`.
        k: Adds k-anonymity to the guarantee; without a model, it is the whole guarantee.
        quasi: Columns that others may know about a person.
        sensitive: Sensitive columns, in addition to those that the model names.
        person: Columns that identify the person behind a row.
        household: Columns that identify the household.
        linked: With False, the columns of `person` are only there to count people and will be
            removed before the rows are published: each row then counts on its own.

    Returns:
        The result: the number of classes, the smallest class, and the level of each model.

    Raises:
        NotAnonymous: The guarantee does not hold; the message counts the failing classes and rows.

    >>> import pyarrow as pa
    >>> published = pa.table({"age": ["30-39", "30-39", "40-49", "40-49"]})
    >>> check(published, k=2, quasi="age").smallest
    2
    >>> check(published, k=3, quasi="age")
    Traceback (most recent call last):
    shoal.errors.NotAnonymous: k-anonymity(k=3) does not hold: 2 of 2 classes break it (4 of 4 rows)
    """
    wanted = as_model(model, k)
    roles = _roles(as_names(quasi), as_names(sensitive), wanted)
    units = {"person": as_names(person), "household": as_names(household)}
    if is_spark_frame(data):
        outcome = _judge_in_spark(data, roles, units, wanted, linked=linked)
    else:
        table = _published(data, roles, as_names(quasi), **units)
        check_askable(table, wanted)
        if linked and table.person is not None:
            table = link_sets(table, table.person.ids, as_profiles=not covers_rows(wanted))
        outcome = judge(Classes.by_quasi(table), wanted)
    if not outcome:
        verb = "breaks" if outcome.failing == 1 else "break"
        raise NotAnonymous(
            f"{wanted} does not hold: {outcome.failing:,} of "
            f"{counted(outcome.classes, 'class')} {verb} it "
            f"({outcome.failing_records:,} of {counted(outcome.records, 'row')})"
        )
    return outcome


def _roles(quasi: Sequence[str], sensitive: Sequence[str], model: Model) -> dict[str, Any]:
    """Return the specification of each column that the check reads."""
    if not quasi:
        raise InputError("no quasi-identifier is given; name at least one column with quasi=[…]")
    named = [getattr(part, "column", None) for part in model.parts]
    guarded = dict.fromkeys([*sensitive, *(name for name in named if name and name not in quasi)])
    roles: dict[str, Any] = {name: {"role": Role.QUASI, "kind": Kind.NOMINAL} for name in quasi}
    return roles | {name: {"role": Role.SENSITIVE} for name in guarded}


def _published(data: Any, roles: dict[str, Any], quasi: Sequence[str], **units: Any) -> Table:
    """Return the published rows as a table whose quasi-identifiers are plain text."""
    if isinstance(data, (str, Path)):
        from shoal.files.formats import Format
        from shoal.files.reading import read_arrow

        data = read_arrow(Path(data), Format(), quasi, expected=quasi)
    return Table.from_arrow(from_frame(data), roles, rows_are_people=not units["person"], **units)


def _judge_in_spark(
    frame: Any,
    roles: dict[str, Any],
    units: dict[str, tuple[str, ...]],
    model: Model,
    *,
    linked: bool,
) -> Verification:
    """Check a frame of Spark, whose rows stay there."""
    if units["person"] and linked:
        raise InputError(
            "person links the rows of a frame of Spark, which is checked only in memory; state "
            "linked=False if the column will be removed before publication"
        )
    if not all(part.by_class for part in model.parts):
        raise InputError(
            f"{model} compares single rows, which is checked only in memory; use k-anonymity"
        )
    with counted_in_spark(frame, roles, units) as classes:
        return judge(classes, model)


@dataclass(frozen=True)
class Published:
    """A published file whose rows stay on disk; `published_on_disk` returns one.

    table: the file, with its quasi-identifiers as text.
    original: how many people of the original have each sensitive value; None for the file itself.
    by_profile: whether a class is a set of people whose linked rows look the same.
    """

    table: LargeTable
    original: Marginals | None = None
    by_profile: bool = True

    @property
    def records(self) -> int:
        """Number of rows."""
        return self.table.records

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return self.table.names(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive columns."""
        return self.table.names(Role.SENSITIVE)

    @property
    def linked(self) -> bool:
        """Whether something may link the rows of a person."""
        return self.table.links.people or bool(self.table.links.columns)

    @cached_property
    def people(self) -> int | None:
        """Number of people, None if the file does not show them."""
        return None if self._rows.total.people is None else self.classes.released_people

    @cached_property
    def _plan(self) -> Plan:
        """All rows, with the quasi-identifiers as their classes."""
        columns = {n: self.table.encoded[n].column for n in self.quasi}
        packing = Packing.of({name: column.domain + 1 for name, column in columns.items()})
        maps = {name: np.arange(c.domain, dtype=np.int32) for name, c in columns.items()}
        return Plan(packing, maps, by_profile=self.by_profile and self.linked)

    @cached_property
    def _rows(self) -> Any:
        records, engine = self.records, self.table.engine
        packing = Packing.of({n: self.table.encoded[n].column.domain for n in self.quasi})
        about = engine.tuples(packing, [{}], 0)
        assert isinstance(about, int)
        self._check_classes(min(about, records))
        if engine.name == "spark" and (self._plan.by_profile or self.table.links.columns):
            raise InputError(
                f"{self.table.files.name}: rows of a person that are linked are not checked in "
                "Spark; use the engine duckdb, or state that what links them will be removed"
            )
        rows: Any = engine.release(self._plan)
        if self._plan.by_profile:
            self._check_classes(int(rows.sizes()[1].sum()))
        return rows

    def _check_classes(self, classes: int) -> None:
        """Reject a file whose classes do not fit in memory."""
        limit = self.table.budget.share(_SHARE) // (_BYTES_PER_CLASS + 8 * len(self.quasi))
        if classes > limit:
            raise InputError(
                f"{self.table.files.name}: has about {classes:,} classes, too many for "
                f"{self.table.budget} of memory; state a larger memory"
            )

    def _count_people(self, classes: Bools) -> int:
        """Return the number of different people in some classes."""
        counts = self._rows.count_classes()
        left_out = order_of(counts)[~classes]
        plan = replace(self._plan, dropped=[word[left_out] for word in counts.words])
        people = self.table.engine.release(plan).total.people
        assert people is not None
        return people

    @cached_property
    def classes(self) -> CountedClasses:
        """The classes, with the values of all sensitive columns."""
        rows, table = self._rows, self.table
        cells = {n: table.encoded[n].column.values for n in table.names(Role.QUASI)}
        sensitive = {name: table.encoded[name].column for name in self.sensitive}
        count_people = None if rows.total.people is None else self._count_people
        if self.original is None:
            counting = Counting(
                rows.count_classes,
                rows.count_with_value,
                cells,
                rows.total,
                count_people=count_people,
            )
            quasi = [table.encoded[name].column for name in self.quasi]
            return counted_classes(counting, sensitive, _marginals(rows, sensitive, quasi))
        known = {name: self.original[name] for name in sensitive}
        codes = {name: old_codes(c.values, known[name]) for name, c in sensitive.items()}

        def count_with_value(name: str, _: int) -> Counted:
            missing = sensitive[name].missing
            counts: Counted = (
                rows.count_classes() if missing is None else rows.count_with_value(name, missing)
            )
            return counts

        counting = Counting(
            rows.count_classes, count_with_value, cells, rows.total, codes, count_people
        )
        return counted_classes(counting, known, self.original)

    def stand_in(self) -> Table:
        """Return a table with the roles, people and households of the file, without its rows."""
        classes, total = self.classes, self._rows.total
        blank = np.zeros(len(classes), dtype=np.int32)
        units = (
            None if count is None else Unit((what,), blank, count)
            for what, count in ((PERSON, total.people), (HOUSEHOLD, total.households))
        )
        person, household = units
        return replace(classes.table, person=person, household=household)

    def class_sizes(self) -> Table | Frequencies:
        """Return the sizes of the classes, for their risk, in any number.

        If people have several rows, return the table of their distinct rows.
        """
        table, names, units = self.table, self.quasi, self.table.units
        if units["person"] or units["household"]:
            return self.rows_of_people()
        table.records  # noqa: B018  encodes the rows
        packing = Packing.of({name: table.encoded[name].column.domain for name in names})
        first = names[0]
        maps = {first: np.arange(table.encoded[first].column.domain, dtype=np.int32)}
        plan = Plan(Packing.of({first: len(maps[first]) + 1}), maps)
        return Frequencies(*table.engine.release(plan).sizes(packing))

    def rows_of_people(self, sensitive: Sequence[str] = ()) -> Table:
        """Return the distinct rows of each person, with their numbers, if they fit in memory.

        Parameters:
            sensitive: Columns that distinguish rows, in addition to the quasi-identifiers.
        """
        table, names, units = self.table, (*self.quasi, *sensitive), self.table.units
        records = table.records
        packing = Packing.of({name: table.encoded[name].column.domain for name in names})
        tuples = table.engine.tuples(packing, [{}], table.most_tuples(len(names)), True)
        if isinstance(tuples, int):
            raise InputError(
                f"{table.files.name}: has about {tuples:,} pairs of a person and a tuple in "
                f"{records:,} rows, too many for {table.budget} of memory; state a larger memory"
            )
        columns = tuple(
            replace(table.encoded[name].column, codes=packing.unpack(tuples.words, name))
            for name in names
        )
        rows = Table(
            columns,
            tuples.counts,
            person=unit_of(units["person"] or (LINKED,), tuples.person),
            household=unit_of(units["household"], tuples.household),
        )
        if tuples.linked is None or not self.linked:
            return rows
        return link_sets(rows, group_keys(tuples.linked).ids, as_profiles=self.by_profile)

    def caveats(self) -> Caveats:
        """Count what a guarantee does not cover."""
        classes, rows = self.classes, self._rows
        people = classes.released_people
        unchanged = [n for n in self.table.published if n not in self.quasi]
        insensitive = [n for n in unchanged if n not in self.sensitive]
        singled_out = count_singled_out(rows, unchanged, insensitive, people)
        return Caveats(singled_out, tuple(homogeneity(classes, name) for name in self.sensitive))


def _marginals(
    rows: Released, columns: Mapping[str, Column], others: Sequence[Column] = ()
) -> Marginals:
    """Return how many people have each value of some columns.

    Parameters:
        others: Columns of the result without counts.
    """
    people = rows.total.rows if rows.total.people is None else rows.total.people
    by_value = {name: rows.people_with(name, c.domain) for name, c in columns.items()}
    every = (*others, *columns.values())
    empty = tuple(column.take(np.zeros(0, dtype=np.int64)) for column in every)
    return Marginals(empty, total=people, by_value=by_value)


def baseline_on_disk(
    file: Path,
    columns: Mapping[str, Mapping[str, Any]],
    settings: Mapping[str, Any],
    units: Mapping[str, Any],
    budget: Budget,
) -> Marginals:
    """Return how many people of an original table have each sensitive value.

    Parameters: as for `published_on_disk`; only sensitive columns are read.
    """
    specs = {n: dict(spec) for n, spec in columns.items() if spec["role"] == Role.SENSITIVE}
    if not specs:
        raise InputError("the original is the baseline of sensitive columns; name them first")
    with LargeTable(find_source(file), Request(specs, {}, units, dict(settings)), budget) as table:
        table.records  # noqa: B018  encodes the rows
        sensitive = {name: table.encoded[name].column for name in specs}
        first = next(iter(sensitive.values()))
        maps = {first.name: np.arange(first.domain, dtype=np.int32)}
        plan = Plan(Packing.of({first.name: first.domain + 1}), maps)
        return _marginals(table.engine.release(plan), sensitive)


def published_on_disk(
    source: Source,
    columns: Mapping[str, Mapping[str, Any]],
    settings: Mapping[str, Any],
    units: Mapping[str, Any],
    budget: Budget,
    original: Marginals | None = None,
    links: Links | None = None,
    *,
    by_profile: bool = True,
) -> Published:
    """Open a published file.

    Parameters:
        source: The file, a folder of parts, or what else an engine reads.
        columns: The specification of each column; quasi-identifiers become text.
        settings: The file format, as far as it is stated.
        units: The columns that identify people and households, if the file has them.
        budget: The memory that may be used.
        original: The baseline of the sensitive columns; by default the file itself.
        links: What links the rows of a person. If it is stated, the file may lack its columns,
            those of people and households, and insensitive ones.
        by_profile: As for `Published`.
    """
    stated = dict(settings)
    missing = tuple(stated.pop("missing", ()) or ())
    specs: dict[str, dict[str, Any]] = {}
    for name, spec in columns.items():
        if spec["role"] == Role.QUASI:  # different codes of missing values look different
            specs[name] = {"role": Role.QUASI, "kind": "nominal", "type": "text"}
        else:
            both = (*missing, *spec.get("missing", ()))
            specs[name] = {**spec, "missing": both} if both else dict(spec)
    if links is None:
        links, request = Links(missing=missing), Request(specs, {}, units, stated)
        return Published(LargeTable(source, request, budget, links=links), original)
    needed = {n: spec for n, spec in specs.items() if spec["role"] != Role.INSENSITIVE}
    table = LargeTable(source, Request(needed, {}, {**units, **_NOBODY}, stated), budget)
    present = set(table.columns)
    specs = {name: spec for name, spec in specs.items() if name in present}
    found = {n: each for n, each in units.items() if n in _NOBODY and set(each) <= present}
    request = Request(specs, {}, {**units, **_NOBODY, **found}, stated)
    person = request.units["person"]
    linking = [n for n in links.columns if n in present and not (links.people and person == (n,))]
    links = Links(tuple(linking), links.people and bool(person), missing)
    return Published(table.described(request, links), original, by_profile)


@contextmanager
def counted_in_spark(
    frame: Any, columns: Mapping[str, Mapping[str, Any]], units: Mapping[str, Sequence[str]]
) -> Iterator[CountedClasses]:
    """Yield the classes of a published frame; only their counts leave Spark.

    Parameters:
        columns: The specification of each quasi-identifier and sensitive column.
        units: The columns that identify people and households.
    """
    asked = {**units, "rows_are_people": True}
    published = published_on_disk(SparkFrame(frame), columns, {}, asked, Budget.parse(None))
    with published.table:
        yield published.classes


def sample_rows(frame: Any, most: int = SAMPLE_ROWS) -> tuple[Any, int]:
    """Return at most some random rows as an Arrow table, and the number of all rows."""
    f = functions()
    with explained("sample the rows"):
        rows = int(frame.agg(f.count("*").alias("n")).toArrow().column("n")[0].as_py())
        if rows > most:
            frame = frame.sample(fraction=min(_MARGIN * most / rows, 1.0)).limit(most)
        return frame.toArrow(), rows
