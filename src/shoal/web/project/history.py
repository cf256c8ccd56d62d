"""Undo and redo without a limit: each step stores only what it changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shoal.core.hierarchies.hierarchy import Origin
from shoal.support.arrays import Codes, Counts, frozen
from shoal.web.project.grouping import Grouping


@dataclass(frozen=True, eq=False)
class Sheet:
    """A hierarchy in the editor, with where its groups come from.

    Parameters:
        grouping: The groups.
        origin: What the groups are derived from.
        recipe: The recipe that gives exactly these groups, None for edited ones.
        made: What made it: `automatic`, `recipe`, `file` or `edited`.
    """

    grouping: Grouping
    origin: Origin
    recipe: dict[str, Any] | None = None
    made: str = "automatic"


@dataclass(frozen=True)
class _Cells:
    """The changed entries of one level: its values, and their entries on both sides."""

    level: int
    rows: Counts
    old: Codes
    new: Codes


@dataclass(frozen=True)
class _Step:
    """One edit; `cells` is None if both sides are stored whole."""

    text: str
    old: Sheet
    new: Sheet
    cells: tuple[_Cells, ...] | None = None


@dataclass
class History:
    """The present sheet, and the edits before and after it.

    Parameters:
        sheet: The present sheet.
    """

    sheet: Sheet
    _done: list[_Step] = field(default_factory=list, repr=False)
    _undone: list[_Step] = field(default_factory=list, repr=False)

    @property
    def undo_text(self) -> str | None:
        """The edit that `undo` takes back, None if there is none."""
        return self._done[-1].text if self._done else None

    @property
    def redo_text(self) -> str | None:
        """The edit that `redo` repeats, None if there is none."""
        return self._undone[-1].text if self._undone else None

    def push(self, sheet: Sheet, text: str) -> None:
        """Make a sheet the present one; edits that were undone are forgotten."""
        self._done.append(_step(self.sheet, sheet, text))
        self._undone.clear()
        self.sheet = sheet

    def undo(self) -> bool:
        """Take the last edit back; return whether there was one."""
        if not self._done:
            return False
        step = self._done.pop()
        self._undone.append(step)
        self.sheet = _moved(step, self.sheet, back=True)
        return True

    def redo(self) -> bool:
        """Repeat the edit that was taken back last; return whether there was one."""
        if not self._undone:
            return False
        step = self._undone.pop()
        self._done.append(step)
        self.sheet = _moved(step, self.sheet, back=False)
        return True


def _step(old: Sheet, new: Sheet, text: str) -> _Step:
    """Return the difference of two sheets, without their groups where few entries differ."""
    before, after = old.grouping, new.grouping
    if before.domain is not after.domain or before.height != after.height:
        return _Step(text, old, new)
    cells = []
    for level, (one, other) in enumerate(zip(before.entries, after.entries, strict=True)):
        rows = np.flatnonzero(one != other)
        if len(rows):
            cells.append(_Cells(level, rows.astype(np.int32), one[rows], other[rows]))
    bare = Grouping(before.domain)
    was, now = (replace(s, grouping=replace(bare, root=s.grouping.root)) for s in (old, new))
    return _Step(text, was, now, tuple(cells))


def _moved(step: _Step, present: Sheet, *, back: bool) -> Sheet:
    side = step.old if back else step.new
    if step.cells is None:
        return side
    entries = list(present.grouping.entries)
    for cells in step.cells:
        changed = entries[cells.level].copy()
        changed[cells.rows] = cells.old if back else cells.new
        entries[cells.level] = frozen(changed)
    return replace(side, grouping=replace(side.grouping, entries=tuple(entries)))
