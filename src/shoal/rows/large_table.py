"""A table that stays on disk: its distinct tuples are anonymized, and its rows are joined back."""

from __future__ import annotations

import copy
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.files.requests import Request
from shoal.files.writing import MAX_NATURAL
from shoal.identifiers.replacement import Context
from shoal.rows.dictionaries import (
    Encoded,
    Encoder,
    WeightValues,
    check_names,
    column_of_weights,
    refuse_repeated,
    stand_in,
)
from shoal.rows.memory import Budget
from shoal.rows.packing import Packing
from shoal.rows.replacing import Publisher, publishers_of
from shoal.rows.store import (
    UNLINKED,
    Encoding,
    Engine,
    Links,
    Source,
    Totals,
    Tuples,
    Values,
)
from shoal.support.files import temporary_folder
from shoal.table.column import Role
from shoal.table.linked import Replaced
from shoal.table.people import is_person_number
from shoal.table.roles import warn_unassigned
from shoal.table.table import Table

_BYTES_PER_TUPLE = (120, 24)  # of a search in memory: in any case, and for each column
_CORE_SHARE = 0.7  # of the budget, for a search in memory
_BYTES_PER_VALUE = 200  # of a dictionary


class LargeTable:
    r"""A table in files, described by roles; `shoal.open` returns one.

    It reads nothing before it is anonymized. Its working files are in a private folder of the
    temporary directory, until it is closed or no longer used.

    Attributes:
        files: The files, or another source of rows.
        budget: The memory that may be used.
        partition_rows: Rows of a partition, for methods that run on partitions.
        processes: Number of worker processes for partitions; by default one per core.
        links: What links the rows of a file that is published already.
        in_project: Whether it is one of several linked tables. It may then be empty, and its rows
            are sorted by their values, so that unchanged floats need no dictionary.

    >>> import shoal
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ages.csv")
    ...     size = path.write_text("age,sex\n" + "31,f\n47,m\n" * 5)
    ...     with shoal.open(path, roles={"age": "quasi", "sex": "quasi"}) as table:
    ...         release = shoal.anonymize(table, k=5, method="flash")
    ...         checked = release.write(Path(folder, "release"))
    >>> checked.holds
    True
    """

    def __init__(
        self,
        files: Source,
        request: Request,
        budget: Budget,
        partition_rows: int | None = None,
        processes: int | None = None,
        links: Links = UNLINKED,
        *,
        in_project: bool = False,
    ) -> None:
        self.files, self.budget, self.links = files, budget, links
        self.in_project = in_project
        self.partition_rows, self.processes = partition_rows, processes
        self._request = request
        self._publishers: Mapping[str, Publisher] = {}  # of identifiers that are published
        self._origin: LargeTable | None = None  # keeps the working files of a described table
        self._stack = ExitStack()
        self._finalizer = weakref.finalize(self, self._stack.close)
        try:
            self._scan = self._stack.enter_context(files.scan(request.form, request.expected))
            check_names(self._scan, request, self.files.name)
        except BaseException:
            self.close()
            raise
        self.unassigned = self._without_role()
        warn_unassigned(self.unassigned, stacklevel=4)

    def __repr__(self) -> str:
        roles = {role: self.names(role) for role in Role}
        columns = ", ".join(f"{role}={list(names)}" for role, names in roles.items() if names)
        return f"LargeTable({self.files}, {columns})"

    def __enter__(self) -> LargeTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def described(self, request: Request, links: Links = UNLINKED) -> LargeTable:
        """Return the same rows with other roles or hierarchies.

        Both share the working files: rows are read once, and encoded again only if their codes
        change. This table must not be used any more, and stays open as long as the other.
        """
        other = copy.copy(self)
        other._request, other.links = request, links
        other._origin = self._origin or self
        other._publishers = {}
        for name in ("encoded", "plain", "counts"):
            other.__dict__.pop(name, None)
        check_names(other._scan, request, other.files.name)
        other.unassigned = other._without_role()
        return other

    def _without_role(self) -> tuple[str, ...]:
        return tuple(name for name in self._scan.names if name not in self._known)

    def close(self) -> None:
        """Remove the working files; releases that are not written yet are lost."""
        self._finalizer()

    @property
    def _known(self) -> set[str]:
        units = self._request.units
        return {*self._request.specs, *units["person"], *units["household"]}

    def names(self, role: Role | str) -> tuple[str, ...]:
        """Return the names of the columns with this role, in the order of the file."""
        return tuple(name for name in self._scan.names if self._role(name) is Role(role))

    def _role(self, name: str) -> Role | None:
        units = self._request.units
        if name in (*units["person"], *units["household"]):
            return Role.IDENTIFIER
        spec = self._request.specs.get(name)
        return None if spec is None else Role(spec["role"])

    @property
    def roles(self) -> Mapping[str, Role]:
        """The role of each column that has one, in the order of the file."""
        found = {name: self._role(name) for name in self._scan.names}
        return {name: role for name, role in found.items() if role is not None}

    @property
    def published(self) -> tuple[str, ...]:
        """The names of the columns that are released, in the order of the file."""
        passing = (None, Role.IDENTIFIER, Role.WEIGHT)
        made = self._publishers
        return tuple(n for n in self._scan.names if n in made or self._role(n) not in passing)

    @property
    def replaced(self) -> Mapping[str, Replaced]:
        """The identifiers that are published in another form, without their cells."""
        return {name: each.replaced for name, each in self._publishers.items()}

    @property
    def linking(self) -> tuple[str, ...]:
        """The published identifiers that link rows."""
        return tuple(name for name, each in self._publishers.items() if each.links)

    def type_of(self, name: str) -> Any:
        """Return the Arrow type of a column without a dictionary, as it is published."""
        if name in self._publishers:
            return self._publishers[name].kind.type
        return pa.string() if self._scan.types is None else self._scan.types[name]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns of the files."""
        return tuple(self._scan.names)

    @property
    def types(self) -> Mapping[str, Any] | None:
        """The Arrow type of each column of Parquet files, None for text."""
        return self._scan.types

    def new_folder(self) -> Path:
        """Return a new private folder for working files, which is removed with them."""
        return self._stack.enter_context(temporary_folder(Path(tempfile.gettempdir())))

    @cached_property
    def engine(self) -> Engine:
        """The engine, which reads the rows on first use."""
        engine = self.files.engine(self._scan, self.new_folder(), self.budget)
        self._stack.callback(engine.close)
        return engine

    @cached_property
    def encoded(self) -> Mapping[str, Encoded]:
        """The published columns that have a dictionary."""
        found = {}
        names = [name for name in self.published if name not in self._publishers]
        most = {name: self._most_values(name) for name in names}
        for name, values in self.engine.statistics(most).items():
            if isinstance(values, int):
                self._check_plain(name, values)
                continue
            assert isinstance(values, Values)
            found[name] = values
        return self.encode_values(found)

    def encode_values(self, found: Mapping[str, Values]) -> Mapping[str, Encoded]:
        """Return columns from their distinct values."""
        encoder = Encoder(self._request, self._scan.types, self.files.name)
        encoded = {name: encoder.encode(name, values) for name, values in found.items()}
        encoder.check_dates()
        return encoded

    def _most_values(self, name: str) -> int:
        """Return how many distinct values a dictionary of a column may have."""
        fits = self.budget.share(0.3) // _BYTES_PER_VALUE
        kind = None if self._scan.types is None else self._scan.types[name]
        floating = kind is not None and pa.types.is_floating(kind)
        plain = self._role(name) is Role.INSENSITIVE and (self.in_project or not floating)
        spec = self._request.specs[name]
        declared = {"type", "values", "bounds", "missing"} & set(spec)
        return min(2 * MAX_NATURAL, fits) if plain and not declared else fits

    def _check_plain(self, name: str, values: int) -> None:
        """Reject a column with too many values for a dictionary, unless it stays as it is."""
        if self._role(name) is Role.INSENSITIVE and self._most_values(name) <= 2 * MAX_NATURAL:
            if self._request.form.missing_of(name):
                raise InputError(
                    f"{self.files.name}: column {name!r}: has too many values to look for texts "
                    "that mean missing; leave them as they are"
                )
            return
        raise InputError(
            f"{self.files.name}: column {name!r}: has about {values:,} distinct values, which is "
            f"too many for {self.budget} of memory; state a larger memory, round the values or "
            "leave the column out"
        )

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The published columns without a dictionary."""
        return tuple(name for name in self.published if name not in self.encoded)

    @property
    def records(self) -> int:
        """The number of rows, once they are encoded."""
        return self.counts.rows

    @cached_property
    def counts(self) -> Totals:
        """The numbers of rows, people and households, once they are encoded."""
        units = self._request.units
        if not units["person"] and not units["rows_are_people"]:
            names = [n for n in self.names(Role.IDENTIFIER) if n not in units["household"]]
            names += [n for n, spec in self._request.specs.items() if "replace" in spec]
            names += [n for n in self.unassigned if is_person_number(n)]
            refuse_repeated(self.engine, names, self.files.name)
        dictionaries = {name: found.dictionary for name, found in self.encoded.items()}
        if self.weights is not None:
            dictionaries[self.weights.column] = self.weights.dictionary
        plain = [name for name in self.plain if name not in self._publishers]
        replaced = {name: each.replacing for name, each in self._publishers.items()}
        encoding = Encoding(
            dictionaries, plain, units["person"], units["household"], replaced, self.links
        )
        found = self.engine.encode(encoding)
        if not found.rows and not self.in_project:
            raise InputError(f"{self.files.name}: has a header but no rows; nothing to anonymize")
        if self.weights is not None and units["person"]:
            self.weights.check_people(self.engine, self.files.name)
        return found

    @cached_property
    def weights(self) -> WeightValues | None:
        """The sampling weights by their distinct values, None if the table declares none."""
        names = self.names(Role.WEIGHT)
        name = column_of_weights(names, self._request.specs)
        if name is None:
            return None
        values = self.engine.statistics({name: self._most_values(name)})[name]
        if isinstance(values, int):
            self._check_plain(name, values)
        assert isinstance(values, Values)
        encoder = Encoder(self._request, self._scan.types, self.files.name)
        return WeightValues.of(name, encoder, values)

    def prepare_identifiers(self, secrets: Context) -> None:
        """Set how identifiers are published.

        secrets: the key, the domain and the lookup table; the same as before if rows are encoded.
        """
        known = self._publishers if "counts" in self.__dict__ else {}
        made = publishers_of(self, self._request, secrets, known)
        if made is not known:
            self._publishers = made
            for name in ("plain", "counts"):
                self.__dict__.pop(name, None)

    @property
    def published_identifiers(self) -> tuple[str, ...]:
        """The identifiers that are published in another form."""
        return tuple(self._publishers)

    @property
    def declared(self) -> Table:
        """A table without rows that has the declared columns and people, for a ledger."""
        nothing = np.zeros(0, dtype=np.int64)
        return stand_in(self, Packing.of({}), Tuples(0, [nothing], nothing, nothing, nothing))

    @property
    def specs(self) -> Mapping[str, Mapping[str, Any]]:
        """What is stated about each column."""
        return self._request.specs

    @property
    def guessed(self) -> tuple[str, ...]:
        """The file settings that the data determines."""
        return tuple(self._scan.guesses)

    @property
    def units(self) -> Mapping[str, Any]:
        """The columns that identify people and households."""
        return self._request.units

    def count_people(self) -> tuple[int, int | None]:
        """Return the numbers of people and households; None if there are no households."""
        found = self.counts
        return found.rows if found.people is None else found.people, found.households

    def most_tuples(self, columns: int) -> int:
        """Return how many distinct tuples a search in memory may have."""
        each = _BYTES_PER_TUPLE[0] + _BYTES_PER_TUPLE[1] * columns
        return self.budget.share(_CORE_SHARE) // each
