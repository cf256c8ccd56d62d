"""A table about people: immutable columns, rows by position.

    frame or Arrow ─ from_arrow ─→ specifications checked ─→ missing texts to nulls ─→ weights
                   ─→ each column encoded (`Column`) ─→ people and households (`Unit`) ─→ Table
    Table ─ distinct ─→ a weighted table: one row per distinct tuple, with the number of its records

A table may have columns that identify the person and the household of each row; otherwise each
record is one person.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, UnknownColumn, did_you_mean
from shoal.support.arrays import Codes, Counts, Floats, frozen
from shoal.support.wording import counted, html_table
from shoal.table.column import Column, Role
from shoal.table.frames import Origin, as_dates, check_unique, from_frame
from shoal.table.people import (
    Grouping,
    Unit,
    check_repeated,
    distinct_rows,
    group,
    is_person_number,
    joined,
    sum_by,
)
from shoal.table.roles import as_names, checked_spec, encoding_options, without_missing
from shoal.table.weights import Weights, weights_of


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct tuples of a table.

    table: one weighted row per tuple.
    inverse: (rows,) the tuple of each row.
    """

    table: Table
    inverse: Codes

    def __len__(self) -> int:
        return len(self.table)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length, each with a role; `shoal.read` returns one.

    Attributes:
        columns: The columns.
        counts: (rows,) records of each row of a weighted table; None if each row is one record.
        unassigned: Columns of the source without a role; they are not stored.
        person: The person of each row; None if each record is a different person.
        household: The household of each row's person, if the table has households.
        rows_are_people: Whether the owner states that every row is a different person.
        guessed: File settings that were neither declared nor the default, such as the encoding.
        origin: The type of frame it was read from, None for a file.
        replacements: How identifiers are replaced in a release, by column; others are left out.
        weights: The sampling weights, None if the table declares none.
        population: A table of everyone, for models that compare with it; None if none is stated.

    >>> Table((Column.encode("age", [31, 42]), Column.encode("ill", ["flu", "gout"], "sensitive")))
    Table(rows=2, quasi=['age'], sensitive=['ill'])
    """

    columns: tuple[Column, ...]
    counts: Counts | None = None
    unassigned: tuple[str, ...] = ()
    person: Unit | None = None
    household: Unit | None = None
    rows_are_people: bool = False
    guessed: tuple[str, ...] = ()
    origin: Origin | None = None
    replacements: Mapping[str, Any] = field(default_factory=dict)
    weights: Weights | None = None
    population: Table | None = None
    _by_name: dict[str, Column] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not self.columns:
            raise InputError("no column has a role; name at least the quasi-identifiers")
        names = [column.name for column in self.columns]
        check_unique(names)
        lengths = {len(column) for column in self.columns}
        if len(lengths) > 1:
            raise InputError("columns differ in length")
        if self.counts is not None:
            self._check_counts(self.counts)
            object.__setattr__(self, "counts", frozen(self.counts.astype(np.int64)))
        for unit in (self.person, self.household):
            if unit is not None and len(unit.ids) != len(self.columns[0]):
                raise InputError("a table needs the person of every row, or of none")
        if self.weights is not None and len(self.weights.values) != len(self.columns[0]):
            raise InputError("a table needs the sampling weight of every row, or of none")
        self._by_name.update(zip(names, self.columns, strict=True))

    def _check_counts(self, counts: Counts) -> None:
        whole = np.issubdtype(counts.dtype, np.integer) or not len(counts)
        if not whole or len(counts) != len(self.columns[0]) or (len(counts) and counts.min() < 1):
            raise InputError("a weighted table needs one whole count of 1 or more for each row")

    def __len__(self) -> int:
        """Return the number of stored rows; `records` is the number of records."""
        return len(self.columns[0])

    def __getitem__(self, name: str) -> Column:
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownColumn(
                f"no column {name!r} with a role; there are {', '.join(self._by_name)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __repr__(self) -> str:
        roles = {role: [c.name for c in self.columns if c.role is role] for role in Role}
        columns = ", ".join(f"{role}={names}" for role, names in roles.items() if names)
        people = "" if self.person is None else f", people={self.people}"
        weight = "" if self.weights is None else f", weight={self.weights.column!r}"
        return f"Table(rows={len(self)}{people}, {columns}{weight})"

    def _repr_html_(self) -> str:
        rows = [
            (c.name, c.role, c.kind, f"{c.known:,}", "" if c.hierarchy is None else "yes")
            if c.role in (Role.QUASI, Role.SENSITIVE)
            else (c.name, c.role, "", "", "")
            for c in self.columns
        ]
        people = "" if self.person is None else f" about {counted(self.people, 'person', 'people')}"
        return html_table(
            f"Table: {counted(self.records, 'row')}{people}",
            ("column", "role", "kind", "distinct values", "hierarchy"),
            rows,
        )

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export the table as it was read, identifiers included: for its owner."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @cached_property
    def records(self) -> int:
        """Number of records: rows of the source."""
        return len(self) if self.counts is None else int(self.counts.sum())

    @property
    def people(self) -> int:
        """Number of people: distinct values of the person columns, else the number of records."""
        return self.records if self.person is None else self.person.count

    @cached_property
    def unit(self) -> Unit | None:
        """The unit that k counts: people, or households if there are any; None for records."""
        unit = self.person
        if self.household is not None:
            unit = self.household if unit is None else joined(unit, self.household)
        # units of one row each: counting them is counting records
        alone = unit is not None and self.counts is None and unit.count == len(self)
        return None if alone else unit

    @cached_property
    def person_columns(self) -> tuple[str, ...]:
        """The columns that identify people and households."""
        units = (self.person, self.household)
        return tuple(dict.fromkeys(name for unit in units if unit for name in unit.columns))

    def names(self, role: Role | str) -> tuple[str, ...]:
        """Return the names of the columns with this role."""
        return tuple(c.name for c in self.columns if c.role is Role(role))

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return self.names(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive columns."""
        return self.names(Role.SENSITIVE)

    @property
    def quasi_columns(self) -> tuple[Column, ...]:
        """The quasi-identifiers."""
        return tuple(c for c in self.columns if c.role is Role.QUASI)

    def shares(self, name: str) -> Floats:
        """(domain,) share of each value of a column among all records."""
        cache: dict[str, Floats] = self.__dict__.setdefault("_shares", {})
        if name not in cache:
            column = self[name]
            totals = sum_by(column.codes, column.domain, self.counts)
            cache[name] = frozen(totals / max(self.records, 1))
        return cache[name]

    def people_with(self, name: str) -> Counts:
        """(domain,) number of people with each value of a column; one person may have several."""
        cache: dict[str, Counts] = self.__dict__.setdefault("_people_with", {})
        if name not in cache:
            column, person = self[name], self.person
            if person is None:
                cache[name] = frozen(sum_by(column.codes, column.domain, self.counts))
            else:
                pairs = distinct_rows(column.codes, column.domain, person.ids, person.count)
                cache[name] = frozen(sum_by(column.codes[pairs], column.domain))
        return cache[name]

    def distinct(self, *also: str, people: bool = False) -> Distinct:
        """Return the distinct quasi-identifier tuples (with the columns `also`), computed once.

        The rows of the result are in lexicographic order of the codes.

        Parameters:
            people: Keep tuples of different people and households apart, so that the result can
                count them; it has no effect if each record is one person.
        """
        cache: dict[Any, Distinct] = self.__dict__.setdefault("_distinct", {})
        units = [unit for unit in (self.person, self.household) if unit is not None and people]
        key = (tuple(dict.fromkeys(also)), bool(units))
        if key not in cache:
            columns = [*self.quasi_columns, *(self[name] for name in key[0])]
            codes = [*(c.codes for c in columns), *(unit.ids for unit in units)]
            domains = [*(c.domain for c in columns), *(unit.count for unit in units)]
            equal = group(codes, domains)
            tuples = Table(
                tuple(c.take(equal.first) for c in columns),
                equal.sizes(self.counts),
                person=_of_rows(self.person if people else None, equal.first),
                household=_of_rows(self.household if people else None, equal.first),
                weights=self._weights_of(equal, people),
            )
            cache[key] = Distinct(tuples, equal.ids)
        return cache[key]

    def forget_distinct(self) -> None:
        """Free the memory of the distinct tuples, which are computed again when needed."""
        self.__dict__.pop("_distinct", None)

    def _weights_of(self, tuples: Grouping, people: bool) -> Weights | None:
        """Return the weights of tuples: of their people, or the average of their records."""
        if self.weights is None or (self.person is not None and not people):
            return None
        if self.person is None:
            return self.weights.averaged(tuples, self.counts)
        return self.weights.take(tuples.first)

    def take(self, rows: Any) -> Table:
        """Return the rows at these positions, with the same domains."""
        return replace(
            self,
            columns=tuple(c.take(rows) for c in self.columns),
            counts=None if self.counts is None else self.counts[rows],
            person=None if self.person is None else self.person.take(rows),
            household=None if self.household is None else self.household.take(rows),
            origin=None if self.origin is None else self.origin.take(rows),
            weights=None if self.weights is None else self.weights.take(rows),
        )

    def with_column(self, column: Column) -> Table:
        """Return the table with one column replaced by name."""
        self[column.name]
        columns = (column if c.name == column.name else c for c in self.columns)
        return replace(self, columns=tuple(columns))

    def to_arrow(self) -> Any:
        """Return the table as it was read, identifiers included: for its owner."""
        return pa.table({c.name: c.to_arrow() for c in self.columns})

    @classmethod
    def from_arrow(
        cls,
        data: Any,
        roles: Mapping[str, Role | str | Mapping[str, Any]],
        hierarchies: Mapping[str, Any] | None = None,
        counts: Sequence[int] | None = None,
        *,
        person: str | Sequence[str] = (),
        household: str | Sequence[str] = (),
        rows_are_people: bool = False,
    ) -> Table:
        """Create a table from pandas, polars, pyarrow or any Arrow C stream.

        Parameters:
            data: The frame or Arrow table.
            roles: For each column its role, or a mapping with role, kind, weight, bounds, order,
                hierarchy, type, values, missing, replace, publish. A column without a role is not
                stored. The role weight is for the sampling weight: how many people of the
                population a record stands for; it is published only with `publish`.
            hierarchies: For some of these columns a hierarchy or its recipe.
            counts: (rows,) records of each row, which makes the table weighted.
            person: The columns that identify the person of a row; never published.
            household: The columns that identify the household; never published.
            rows_are_people: State that every row is a different person, even if identifiers
                repeat.

        Returns:
            The table.

        Raises:
            RepeatedIdentifier: An identifier repeats, and neither `person` nor `rows_are_people` is
                given.
        """
        arrow = from_frame(data)
        names = list(arrow.column_names)
        check_unique(names)
        specs = {name: checked_spec(name, stated) for name, stated in roles.items()}
        _check_known(specs, names, "given a role")
        units = {"person": as_names(person), "household": as_names(household)}
        for what, identifying in units.items():
            _check_known(identifying, names, f"named as {what}")
            for name in identifying:
                _make_identifier(specs.setdefault(name, {"role": Role.IDENTIFIER}), name, what)
        _check_known(hierarchies or {}, names, "given a hierarchy")
        for name, hierarchy in (hierarchies or {}).items():
            if name not in specs:
                raise InputError(f"column {name!r} has a hierarchy but no role; give it one")
            specs[name]["hierarchy"] = hierarchy
        # missing texts first: a weight or an identifier may be one
        arrow = without_missing(arrow, specs)
        weights, stored = weights_of(arrow, specs)
        columns = tuple(_column(arrow, name, stored) for name in names if name in stored)
        # nobody states who the people are: refuse identifiers that repeat instead of guessing
        if not units["person"] and not rows_are_people:
            identifiers = [c.name for c in columns if c.role is Role.IDENTIFIER]
            identifiers += [n for n in names if n not in specs and is_person_number(n)]
            check_repeated(arrow, [n for n in identifiers if n not in units["household"]])
        unit_of_rows = {
            what: Unit.of(arrow, identifying, what) if identifying else None
            for what, identifying in units.items()
        }
        if weights is not None and unit_of_rows["person"] is not None:
            weights.check_people(unit_of_rows["person"])
        return cls(
            columns,
            None if counts is None else np.asarray(counts),
            tuple(name for name in names if name not in specs),
            unit_of_rows["person"],
            unit_of_rows["household"],
            rows_are_people,
            replacements={n: s["replace"] for n, s in specs.items() if s.get("replace")},
            weights=weights,
        )


def _column(arrow: Any, name: str, specs: Mapping[str, dict[str, Any]]) -> Column:
    """Encode a column; levels of its hierarchy may come from other columns of the data."""
    from shoal.table.trees import from_columns, source_columns

    spec = encoding_options(specs[name])
    cells = arrow.column(name)
    if spec.get("role") == Role.QUASI and not {"type", "values"} & set(spec):
        cells = as_dates(cells)
    sources = source_columns(spec.get("hierarchy"), name)
    if not sources:
        return Column.encode(name, cells, **spec)
    _check_known(sources, arrow.column_names, f"named as a level of {name!r}")
    for source in sources:
        role = specs.get(source, {}).get("role")
        if role in (Role.IDENTIFIER, Role.SENSITIVE):
            raise InputError(
                f"column {name!r}: its levels would publish column {source!r}, which is {role}"
            )
    spec.pop("hierarchy")
    column = Column.encode(name, cells, **spec)
    if column.role in (Role.IDENTIFIER, Role.INSENSITIVE):
        return column
    tree = from_columns(column, {source: arrow.column(source) for source in sources})
    return column.with_hierarchy(tree)


def _make_identifier(spec: dict[str, Any], name: str, what: str) -> None:
    """Reject publishing a column that identifies people."""
    if spec["role"] != Role.IDENTIFIER:
        raise InputError(
            f"column {name!r} identifies the {what} and cannot be published as {spec['role']}; "
            "give it the role identifier, or none"
        )


def _of_rows(unit: Unit | None, rows: Counts) -> Unit | None:
    """Return the units of rows that include every unit, with their old numbers."""
    return None if unit is None else replace(unit, ids=unit.ids[rows])


def _check_known(wanted: Iterable[str], names: Sequence[str], what: str) -> None:
    """Reject names that the data lacks; list the data's names only if some of them match.

    Otherwise they may be the cells of a person: the first line of a file without a header.
    """
    asked = list(wanted)
    for name in asked:
        if name not in names:
            columns = f": {', '.join(names)}" if set(asked) & set(names) else ""
            raise InputError(
                f"column {name!r} is {what} but not in the data{did_you_mean(name, names)}"
                f"{columns or '; is its header line missing?'}"
            )
