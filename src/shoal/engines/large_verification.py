"""The classes of a published file that is larger than memory, made by any tool.

The file is grouped where it is: cells are equal if their text is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.column import Column, Role
from shoal.core.counted_classes import CountedClasses, Marginals
from shoal.core.grouping import group_keys
from shoal.core.linked_rows import link_sets
from shoal.core.people import Unit
from shoal.core.table import Table
from shoal.core.verification import old_codes
from shoal.engines.counting import Counting, counted_classes, order_of
from shoal.engines.engine import (
    HOUSEHOLD,
    LINKED,
    PERSON,
    Counted,
    Links,
    Plan,
    Released,
    Source,
)
from shoal.engines.large_caveats import count_singled_out
from shoal.engines.large_table import LargeTable
from shoal.engines.memory import Budget
from shoal.engines.packing import Packing
from shoal.engines.people import unit_of
from shoal.engines.stores import find_source
from shoal.errors import InputError
from shoal.reading.requests import Request
from shoal.risk.caveats import Caveats
from shoal.risk.homogeneity import homogeneity
from shoal.risk.population.frequencies import Frequencies
from shoal.support.arrays import Bools

_BYTES_PER_CLASS = 200
_SHARE = 0.5  # of the budget, for the classes
_NOBODY: Mapping[str, Any] = {"person": (), "household": ()}


@dataclass(frozen=True)
class Published:
    """A published file whose rows stay on disk; `published_on_disk` returns one.

    table: the file, with its quasi-identifiers as text.
    original: how many people of the original have each sensitive value; None for the file itself.
    by_profile: whether a class is a set of people whose linked rows show the same, together.
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
        most = self.table.budget.share(_SHARE) // (_BYTES_PER_CLASS + 8 * len(self.quasi))
        if classes > most:
            raise InputError(
                f"{self.table.files.name}: has about {classes:,} classes, too many for "
                f"{self.table.budget} of memory; state a larger memory"
            )

    def _count_people(self, classes: Bools) -> int:
        """Return the number of different people in some classes."""
        whole = self._rows.count_classes()
        left_out = order_of(whole)[~classes]
        plan = replace(self._plan, dropped=[word[left_out] for word in whole.words])
        people = self.table.engine.release(plan).total.people
        assert people is not None
        return int(people[0])

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
            found: Counted = (
                rows.count_classes() if missing is None else rows.count_with_value(name, missing)
            )
            return found

        counting = Counting(
            rows.count_classes, count_with_value, cells, rows.total, codes, count_people
        )
        return counted_classes(counting, known, self.original)

    def stand_in(self) -> Table:
        """Return a table with the roles, people and households of the file, without its rows."""
        classes, total = self.classes, self._rows.total
        blank = np.zeros(len(classes), dtype=np.int32)
        units = (
            None if counts is None else Unit((what,), blank, int(counts[0]))
            for what, counts in ((PERSON, total.people), (HOUSEHOLD, total.households))
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

        sensitive: columns that distinguish rows, in addition to the quasi-identifiers.
        """
        table, names, units = self.table, (*self.quasi, *sensitive), self.table.units
        records = table.records
        packing = Packing.of({name: table.encoded[name].column.domain for name in names})
        found = table.engine.tuples(packing, [{}], table.most_tuples(len(names)), True)
        if isinstance(found, int):
            raise InputError(
                f"{table.files.name}: has about {found:,} pairs of a person and a tuple in "
                f"{records:,} rows, too many for {table.budget} of memory; state a larger memory"
            )
        columns = tuple(
            replace(table.encoded[name].column, codes=packing.unpack(found.words, name))
            for name in names
        )
        rows = Table(
            columns,
            found.counts,
            person=unit_of(units["person"] or (LINKED,), found.person),
            household=unit_of(units["household"], found.household),
        )
        if found.linked is None or not self.linked:
            return rows
        return link_sets(rows, group_keys(found.linked).ids, as_profiles=self.by_profile)

    def caveats(self) -> Caveats:
        """Count what a guarantee does not cover."""
        classes, rows = self.classes, self._rows
        people = classes.released_people
        unchanged = [n for n in self.table.published if n not in self.quasi]
        insensitive = [n for n in unchanged if n not in self.sensitive]
        found = count_singled_out(rows, unchanged, insensitive, people)
        return Caveats(found, tuple(homogeneity(classes, name) for name in self.sensitive))


def _marginals(
    rows: Released, columns: Mapping[str, Column], others: Sequence[Column] = ()
) -> Marginals:
    """Return how many people have each value of some columns, which have no rows any more.

    others: columns that it also has, without counts.
    """
    people = rows.total.rows if rows.total.people is None else rows.total.people
    by_value = {name: rows.people_with(name, c.domain) for name, c in columns.items()}
    every = (*others, *columns.values())
    empty = tuple(column.take(np.zeros(0, dtype=np.int64)) for column in every)
    return Marginals(empty, total=int(people[0]), by_value=by_value)


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
        found = {name: table.encoded[name].column for name in specs}
        first = next(iter(found.values()))
        maps = {first.name: np.arange(first.domain, dtype=np.int32)}
        plan = Plan(Packing.of({first.name: first.domain + 1}), maps)
        return _marginals(table.engine.release(plan), found)


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
    there = set(table.columns)
    specs = {name: spec for name, spec in specs.items() if name in there}
    known = {n: each for n, each in units.items() if n in _NOBODY and set(each) <= there}
    request = Request(specs, {}, {**units, **_NOBODY, **known}, stated)
    person = request.units["person"]
    linking = [n for n in links.columns if n in there and not (links.people and person == (n,))]
    links = Links(tuple(linking), links.people and bool(person), missing)
    return Published(table.described(request, links), original, by_profile)
