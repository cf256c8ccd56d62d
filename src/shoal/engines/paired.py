"""A released file with its original, both larger than memory, for metrics.

Rows are matched by a key, by position or by their values, as in memory. The distinct pairs of an
original tuple and a published one become a weighted release. If these do not fit in memory, each
column is counted on its own; if rows could be matched by their values only, cells are then counted
without their originals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.core.column import Role
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.core.verification import Guarantee
from shoal.engines.dictionaries import Encoded
from shoal.engines.joined_files import JoinedFiles
from shoal.engines.large_table import LargeTable
from shoal.engines.matched_rows import JoinedRows, match_by_value
from shoal.engines.memory import Budget
from shoal.engines.released_texts import JoinedTable, ReleasedTable
from shoal.engines.sources import Files
from shoal.errors import InputError, NotCovering
from shoal.reading.requests import Request

_FIRST_ROWS = 1_000  # that show whether rows may be matched by position
_NOBODY: Mapping[str, Any] = {"person": (), "household": (), "rows_are_people": True}
_TEXT = {"role": "quasi", "kind": "nominal", "type": "text"}


@dataclass(frozen=True)
class Pair:
    """An original and its release.

    request: roles, hierarchies and format of the original. settings: the format of the release.
    target: a further column of the original that is measured.
    """

    original: Files
    released: Files
    request: Request
    settings: Mapping[str, Any]
    budget: Budget
    target: str | None = None

    def read(self, key: str | None = None, model: Guarantee | None = None) -> Release:
        """Return the release in memory, as weighted rows.

        Parameters:
            key: A column of both files with unique values; None to match by position or values.
            model: The guarantee that the release claims.

        Raises:
            NotCovering: Rows do not cover their originals, or cannot be matched.
            InputError: There is too much to count for the memory.
        """
        with ExitStack() as stack:
            if key is not None:
                return self._joined(stack, key).release(model)
            original = stack.enter_context(LargeTable(self.original, self.request, self.budget))
            original.records  # noqa: B018  encodes the rows
            released = self._released(original)
            stack.callback(released.close)
            if released.records == original.records:
                found = self._by_position(stack, original, released, model)
                if found is not None:
                    return found
            return match_by_value(original, released, self.target, model)

    def _by_position(
        self,
        stack: ExitStack,
        original: LargeTable,
        released: ReleasedTable,
        model: Guarantee | None,
    ) -> Release | None:
        """Return the release if every row covers the original at its position, else None."""
        known = original.encoded, released.encoded
        for table in (original, released):
            table.engine.rest()
        try:
            for first in (_FIRST_ROWS, None):
                joined = self._joined(stack, None, known, first)
                found = joined.release(model)
                joined.table.close()
        except NotCovering:  # the rows are in another order
            return None
        return found

    def _shared(self, names: Sequence[str], roles: Mapping[str, Role]) -> list[str]:
        """Return which columns of the original the release has."""
        form = Request({}, {}, _NOBODY, dict(self.settings)).form
        with self.released.scan(form, set()) as scan:
            there = scan.names
        for name in names:
            if roles[name] is Role.QUASI and there.count(name) != 1:
                raise InputError(
                    f"{self.released.name}: has no column {name!r}, or several; the original has it"
                )
        return [name for name in names if there.count(name) == 1]

    def _released(self, original: LargeTable) -> ReleasedTable:
        """Return the released file, with the columns that it shares with the original."""
        shared = self._shared(list(original.encoded), original.roles)
        request = Request(dict.fromkeys(shared, _TEXT), {}, _NOBODY, dict(self.settings))
        table = ReleasedTable(self.released, request, self.budget)
        empty = np.zeros(0, dtype=np.int64)
        table.original = Table(tuple(original.encoded[n].column.take(empty) for n in shared))
        return table

    def _joined(
        self,
        stack: ExitStack,
        key: str | None,
        known: tuple[Mapping[str, Encoded], Mapping[str, Encoded]] | None = None,
        first: int | None = None,
    ) -> JoinedRows:
        """Return both files joined.

        known: the columns of both files, if they are encoded already. first: how many rows to join.
        """
        specs, units = self.request.specs, self.request.units
        roles = {name: Role(spec["role"]) for name, spec in specs.items()}
        measured = [n for n in specs if roles[n] in (Role.QUASI, Role.SENSITIVE)]
        shared = self._shared(measured, roles)
        prefix = "released "
        while any(f"{prefix}{name}" in specs for name in (*shared, "row")):
            prefix = f"the {prefix}"
        columns, matched = {name: f"{prefix}{name}" for name in shared}, f"{prefix}row"
        form = Request(dict.fromkeys(columns.values(), _TEXT), {}, _NOBODY, dict(self.settings))
        own = frozenset((*specs, *units["person"], *units["household"]))
        if key is not None and key not in own:
            raise InputError(f"key {key!r}: the original has no such column")
        files = JoinedFiles(
            self.original, self.released, form.form, columns, matched, own, key, first
        )
        both = {**specs, **form.specs, matched: {"role": "quasi", "kind": "nominal"}}
        table = JoinedTable(files, replace(self.request, specs=both), self.budget)
        stack.callback(table.close)
        table.released = {new: name for name, new in columns.items()}
        table.form = form
        if known is not None:
            theirs = {new: known[1][name] for name, new in columns.items()}
            table.known = {**known[0], **theirs}
        return JoinedRows(table, columns, matched, roles, self.target)
