"""People with several rows, as records that a method may group.

An appearance is a person with one tuple of quasi-identifiers, however many rows have it. A slice
contains at most one appearance of each person, so k records of a slice are k people: a method that
groups records is applied to each slice, and appearances that are too few for a slice join existing
groups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.core.grouping import group
from shoal.core.table import Table
from shoal.support.arrays import Codes, Counts

if TYPE_CHECKING:
    from shoal.anonymize.partition.groups import Cluster
    from shoal.anonymize.partition.records import Records


@dataclass(frozen=True, eq=False)
class Appearances:
    """The appearances of a table's people.

    table: one row for each, with the columns of its first row.
    of_row: (rows of the source,) the appearance of each row.
    slices: (appearances,) the slice of each, from 0; later slices are never larger.
    """

    table: Table
    of_row: Codes
    slices: Codes

    @classmethod
    def of(cls, table: Table, *, row_by_row: bool = False) -> Appearances:
        """Return the appearances of a table whose people may have several rows.

        row_by_row: make each row a separate appearance, even equal rows of a person.
        """
        assert table.unit is not None
        quasi, unit = table.quasi_columns, table.unit
        codes = [*(c.codes for c in quasi), unit.ids]
        domains = [*(c.domain for c in quasi), unit.count]
        if row_by_row:
            codes.append(_occurrence(group(codes, domains).ids))
            domains.append(len(table))
        found = group(codes, domains)
        return cls(table.take(found.first), found.ids, _occurrence(unit.ids[found.first]))

    def __len__(self) -> int:
        return len(self.slices)

    @property
    def once(self) -> bool:
        """Whether every person has exactly one appearance."""
        return not self.slices.any()

    @cached_property
    def single(self) -> Table:
        """The appearances as a table whose rows are people; valid only within one slice."""
        return replace(self.table, counts=None, person=None, household=None)

    def members(self, number: int) -> Counts:
        """Return the appearances of one slice."""
        return np.flatnonzero(self.slices == number)

    def cluster(self, records: Records, k: int, method: Cluster) -> Codes:
        """Group each slice by a method; the appearances of small slices stay single.

        records: the appearances laid out. Returns (records,) groups from 0 without gaps.
        """
        ids = np.full(len(records), -1, dtype=np.int32)
        slices, groups = self.slices[records.rows], 0
        for number in range(int(slices.max()) + 1):
            chosen = np.flatnonzero(slices == number)
            if len(chosen) < k:
                break
            part, rows = records.take(chosen), self.single.take(records.rows[chosen])
            alone = len(chosen) < 2 * k
            found = (
                np.zeros(len(chosen), dtype=np.int32)
                if alone
                else method(replace(part, rows=np.arange(len(chosen))), k, rows)
            )
            ids[chosen] = found + groups
            groups += int(found.max()) + 1
        left = np.flatnonzero(ids < 0)
        ids[left] = np.arange(groups, groups + len(left), dtype=np.int32)
        return ids


def _occurrence(ids: Codes) -> Codes:
    """(rows,) number of earlier rows with the same id."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    first = np.searchsorted(ordered, ordered)
    number = np.empty(len(ids), dtype=np.int32)
    number[order] = np.arange(len(ids)) - first
    return number
