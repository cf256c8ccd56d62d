"""The classes of a published file that is larger than memory, made by any tool.

The file is grouped where it is: cells are equal if their text is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.column import Role
from shoal.core.counted_classes import CountedClasses, Marginals
from shoal.engines.counting import Counting, counted_classes
from shoal.engines.engine import Plan
from shoal.engines.large_caveats import count_singled_out
from shoal.engines.large_table import LargeTable
from shoal.engines.memory import Budget
from shoal.engines.packing import Packing
from shoal.engines.sources import find_files
from shoal.errors import InputError
from shoal.reading.requests import Request
from shoal.risk.caveats import Caveats
from shoal.risk.homogeneity import homogeneity

_BYTES_PER_CLASS = 200
_SHARE = 0.5  # of the budget, for the classes


@dataclass(frozen=True)
class Published:
    """A published file whose rows stay on disk; `published_on_disk` returns one.

    table: the file, with its quasi-identifiers as text.
    """

    table: LargeTable

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

    @cached_property
    def _rows(self) -> Any:
        """All rows, with the quasi-identifiers as their classes."""
        columns = {n: self.table.encoded[n].column for n in self.table.names(Role.QUASI)}
        packing = Packing.of({name: column.domain + 1 for name, column in columns.items()})
        maps = {name: np.arange(c.domain, dtype=np.int32) for name, c in columns.items()}
        self._check_classes(len(self.table.names(Role.QUASI)))
        return self.table.engine.release(Plan(packing, maps))

    def _check_classes(self, columns: int) -> None:
        """Reject a file whose classes do not fit in memory."""
        records, names = self.records, self.table.names(Role.QUASI)
        packing = Packing.of({n: self.table.encoded[n].column.domain for n in names})
        most = self.table.budget.share(_SHARE) // (_BYTES_PER_CLASS + 8 * columns)
        about = self.table.engine.count_tuples(packing)
        if min(about, records) > most:
            raise InputError(
                f"{self.table.files.name}: has about {about:,} classes, too many for "
                f"{self.table.budget} of memory; state a larger memory"
            )

    @cached_property
    def classes(self) -> CountedClasses:
        """The classes, with the values of all sensitive columns."""
        rows, table = self._rows, self.table
        cells = {n: table.encoded[n].column.values for n in table.names(Role.QUASI)}
        sensitive = {name: table.encoded[name].column for name in self.sensitive}
        counting = Counting(rows.count_classes, rows.count_with_value, cells, rows.total)
        people = rows.total.rows if rows.total.people is None else rows.total.people
        by_value = {name: rows.people_with(name, c.domain) for name, c in sensitive.items()}
        columns = tuple(table.encoded[n].column for n in (*cells, *sensitive))
        origin = Marginals(_of_one_length(columns), total=int(people[0]), by_value=by_value)
        return counted_classes(counting, sensitive, origin)

    def caveats(self) -> Caveats:
        """Count what a guarantee does not cover.

        People with several rows are not counted by the values of their classes.
        """
        classes, rows = self.classes, self._rows
        people = classes.released_people
        unchanged = [n for n in self.table.published if n not in self.quasi]
        insensitive = [n for n in unchanged if n not in self.sensitive]
        found = count_singled_out(rows, unchanged, insensitive, people)
        several = rows.total.people is not None
        same = () if several else tuple(homogeneity(classes, name) for name in self.sensitive)
        return Caveats(found, same)


def _of_one_length(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return columns without rows, for their domains."""
    return tuple(column.take(np.zeros(0, dtype=np.int64)) for column in columns)


def published_on_disk(
    file: Path,
    columns: Mapping[str, Mapping[str, Any]],
    settings: Mapping[str, Any],
    units: Mapping[str, Any],
    budget: Budget,
) -> Published:
    """Open a published file.

    Parameters:
        file: A file, a folder or a pattern.
        columns: The specification of each column; quasi-identifiers become text.
        settings: The file format, as far as it is stated.
        units: The columns that identify people and households, if the file has them.
        budget: The memory that may be used.
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
    return Published(LargeTable(find_files(file), Request(specs, {}, units, stated), budget))
