"""The hierarchy editor: one model for automatic, built, imported and hand-made hierarchies.

Levels are columns and values are rows; the groups form a valid hierarchy after every edit. Every
edit can be undone, without a limit, because `History` stores only the entries that it changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shoal.inspection.recipes import suggest_recipe
from shoal.support.arrays import Bools, Codes, Counts, frozen
from shoal.support.wording import counted
from shoal.table.column import Column
from shoal.table.hierarchy import Hierarchy, Origin
from shoal.table.recipes import build, suggest
from shoal.web.project.grouping import (
    PAGE_ROWS,
    EditError,
    Grouping,
    Page,
    find_values,
    order_values,
    value_rows,
)

_EDITED: dict[str, Origin] = {"file": "file", "declared": "declared"}


@dataclass(frozen=True)
class LevelSummary:
    """What one level does to the values of the file.

    Parameters:
        level: 0 for the values themselves.
        groups: Groups with at least one row.
        smallest: Rows of the smallest group, 0 without rows.
        ungrouped: Values that stand for themselves at this level.
    """

    level: int
    groups: int
    smallest: int
    ungrouped: int


@dataclass(frozen=True)
class Coverage:
    """How an imported hierarchy fits the values of the file.

    Parameters:
        values: Values of the file.
        covered: Those that the hierarchy has.
        missing: Those that it lacks.
        further: Values of the hierarchy that the file lacks.
        groups: The number of groups at each level between the values and the root.
    """

    values: int
    covered: int
    missing: tuple[str, ...]
    further: int
    groups: tuple[int, ...]

    @property
    def complete(self) -> bool:
        """Whether it has all values of the file."""
        return not self.missing


class HierarchyEditor:
    """The hierarchy of one column while it is edited.

    Parameters:
        column: The column; its known values are the rows of the editor.
        sheet: The groups to begin with; by default the suggested ones.
        counts: (known,) rows that have each value; by default those of the column.

    >>> editor = HierarchyEditor(Column.encode("country", ["Malta", "Italy", "Japan", "Malta"]))
    >>> editor.add_level(); editor.tick([0, 2]); editor.group("Europe", 1)
    >>> editor.ungrouped_text, editor.hierarchy().rows()[0]
    ('1 value not grouped yet', ('Italy', 'Europe', '*'))
    >>> editor.undo(); editor.ungrouped_text
    '3 values not grouped yet'
    """

    def __init__(
        self, column: Column, sheet: Sheet | None = None, counts: Counts | None = None
    ) -> None:
        self.column = column
        self.values = tuple(str(label) for label in column.labels[: column.known])
        if counts is None:
            counts = np.bincount(column.codes, minlength=column.domain)[: column.known]
        self._file_rows: Counts = counts.astype(np.int64)
        self._history = History(sheet or self._automatic())
        self._built: tuple[Sheet, Hierarchy] | None = None
        self._order: tuple[Sheet, str, Counts] | None = None
        self.ticked: Bools = np.zeros(len(self.grouping.domain), dtype=np.bool_)
        self.notice = ""

    @property
    def sheet(self) -> Sheet:
        """The present groups with their origin."""
        return self._history.sheet

    @property
    def grouping(self) -> Grouping:
        """The present groups."""
        return self.sheet.grouping

    @property
    def height(self) -> int:
        """The number of levels between the values and the root."""
        return self.grouping.height

    @property
    def rows_of_values(self) -> Counts:
        """(values,) rows of the file that have each value, 0 for values that it lacks."""
        more = len(self.grouping.domain) - len(self._file_rows)
        return np.concatenate([self._file_rows, np.zeros(more, dtype=np.int64)])

    @property
    def undo_text(self) -> str | None:
        """The edit that `undo` takes back."""
        return self._history.undo_text

    @property
    def redo_text(self) -> str | None:
        """The edit that `redo` repeats."""
        return self._history.redo_text

    @property
    def ungrouped_text(self) -> str:
        """How many values of the file no level groups, in words."""
        many = len(self.grouping.ungrouped)
        if not many:
            return "every value is grouped"
        return f"{counted(many, 'value')} not grouped yet"

    def hierarchy(self) -> Hierarchy:
        """Return the present hierarchy: nested levels from the values to one root."""
        if self._built is None or self._built[0] is not self.sheet:
            sheet = self.sheet
            if sheet.recipe is None:
                made = sheet.grouping.to_hierarchy(sheet.origin)
            else:
                text = json.dumps(sheet.recipe, sort_keys=True, default=str)
                made = replace(build(self.column, sheet.recipe), source=text)
            self._built = (sheet, made)
        return self._built[1]

    def tick(self, rows: Iterable[int], on: bool = True) -> None:
        """Select values, or deselect them.

        Parameters:
            rows: Positions of values.
            on: Whether to select them.
        """
        self.ticked[np.fromiter(rows, dtype=np.int64)] = on

    def tick_found(self, text: str = "", *, only_ungrouped: bool = False) -> int:
        """Select all values that a filter finds; return their number."""
        every = np.arange(len(self.grouping.domain))
        found = find_values(self.grouping, every, text, only_ungrouped=only_ungrouped)
        self.ticked[found] = True
        return len(found)

    def clear_ticks(self) -> None:
        """Deselect all values."""
        self.ticked[:] = False

    def group(self, name: str, level: int) -> None:
        """Put the ticked values into one group of a level.

        Parameters:
            name: The name of the group; a group of this name is joined.
            level: The level, from 1; one more than there are adds a level.

        Raises:
            EditError: Nothing is ticked, or the name or the level cannot be used.
        """
        rows, present = self._ticked_rows(), self.grouping
        if level == self.height + 1:
            present = present.add_level(level)
        moved = present.extended(rows, level)
        grouping = present.group(rows, level, name)
        self._edit(grouping, f"group {counted(len(moved), 'value')}")
        self.notice = _moved_along(len(moved) - len(rows), level)
        self.clear_ticks()

    def ungroup(self, level: int) -> None:
        """Take the ticked values out of their groups at a level.

        Parameters:
            level: The level, from 1.

        Raises:
            EditError: Nothing is ticked, or a value has the name of its group.
        """
        rows = self._ticked_rows()
        moved = self.grouping.extended(rows, level)
        grouping = self.grouping.ungroup(rows, level)
        self._edit(grouping, f"ungroup {counted(len(moved), 'value')}")
        self.notice = _moved_along(len(moved) - len(rows), level)
        self.clear_ticks()

    def rename(self, level: int, label: str, name: str) -> None:
        """Give a group of a level another name."""
        self._edit(self.grouping.rename(level, label, name), "rename a group")

    def add_level(self, level: int | None = None) -> None:
        """Add a level; by default the last one below the root."""
        level = self.height + 1 if level is None else level
        self._edit(self.grouping.add_level(level), f"add level {level}")

    def remove_level(self, level: int) -> None:
        """Remove a level; the labels of the others stay."""
        self._edit(self.grouping.remove_level(level), f"remove level {level}")

    def undo(self) -> None:
        """Take the last edit back, if there is one."""
        self._move(self._history.undo)

    def redo(self) -> None:
        """Repeat the edit that was taken back last, if there is one."""
        self._move(self._history.redo)

    def reset(self) -> None:
        """Return to the suggested groups; this can be undone."""
        self._replace(self._automatic(), "use the automatic groups")

    def build(self, recipe: Mapping[str, Any]) -> None:
        """Replace the groups by those of a recipe, such as `{"intervals": [5, 10]}`.

        Parameters:
            recipe: The name of a recipe with its arguments.

        Raises:
            InputError: The recipe does not suit the column, or an argument is wrong.
            HierarchyError: The groups of the recipe are not nested.
        """
        made = build(self.column, recipe)
        grouping = Grouping.of(made, self.values)
        if "tree" in recipe:  # it need not have all values
            origin: Origin = made.origin if self.coverage(made).complete else "data"
            self._replace(Sheet(grouping, origin, None, "recipe"), "build groups")
        else:
            self._replace(Sheet(grouping, made.origin, dict(recipe), "recipe"), "build groups")

    def coverage(self, imported: Hierarchy) -> Coverage:
        """Return how an imported hierarchy fits the file, before it replaces the groups."""
        has = {text for text in imported.values if text is not None}
        own = set(self.values)
        missing = tuple(text for text in self.values if text not in has)
        return Coverage(
            len(own),
            len(own) - len(missing),
            missing,
            len(has - own),
            tuple(len(level) for level in imported.levels[1:-1]),
        )

    def import_groups(self, imported: Hierarchy) -> None:
        """Replace the groups by imported ones; values that they lack are not grouped yet."""
        complete = self.coverage(imported).complete
        origin: Origin = imported.origin if complete else "data"
        sheet = Sheet(Grouping.of(imported, self.values), origin, None, "file")
        self._replace(sheet, "import groups")

    def reopen(self, saved: Hierarchy | Mapping[str, Any]) -> None:
        """Go on with the groups of an earlier session; there is nothing to undo then.

        Parameters:
            saved: The hierarchy, or its recipe, as a schema states it.
        """
        if isinstance(saved, Hierarchy) and isinstance(saved.source, str):
            saved = json.loads(saved.source)
        if isinstance(saved, Hierarchy):
            complete = self.coverage(saved).complete
            origin: Origin = saved.origin if complete else "data"
            sheet = Sheet(Grouping.of(saved, self.values), origin, None, "edited")
        else:
            made = build(self.column, saved)
            grouping = Grouping.of(made, self.values)
            sheet = Sheet(grouping, made.origin, None if "tree" in saved else dict(saved), "recipe")
        self._history = History(sheet)
        self._after(same_values=False)

    def groups(self, level: int) -> list[tuple[str, int, int]]:
        """Return the label, the values and the rows of each group of a level."""
        grouping = self.grouping
        sizes, rows = grouping.sizes(level), grouping.sizes(level, self.rows_of_values)
        first = dict.fromkeys(grouping.labels[level].tolist())
        texts = grouping.domain.texts
        return [(texts[number], int(sizes[number]), int(rows[number])) for number in first]

    def levels(self) -> list[LevelSummary]:
        """Return what each level, from the values to below the root, does to the file."""
        own, rows = self.grouping.domain.own, self.rows_of_values
        found = []
        for level in range(self.height + 1):
            sizes = self.grouping.sizes(level, rows)
            used = sizes[sizes > 0]
            ungrouped = int((self.grouping.alone(level) & own).sum())
            smallest = int(used.min()) if len(used) else 0
            found.append(LevelSummary(level, len(used), smallest, ungrouped))
        return found

    def page(
        self,
        number: int = 0,
        *,
        text: str = "",
        only_ungrouped: bool = False,
        order: str = "value",
        size: int = PAGE_ROWS,
    ) -> Page:
        """Return one page of the values that a filter finds.

        Parameters:
            number: The page, from 0; a page beyond the last is the last.
            text: Only values whose text, or a label of theirs, contains this text.
            only_ungrouped: Only values that no level groups.
            order: `value`, `rows` (most rows first) or `group` (by the labels, coarse first).
            size: Values on a page.
        """
        found = find_values(
            self.grouping,
            self._ordered(order),
            text,
            only_ungrouped=only_ungrouped,
        )
        pages = max(-(-len(found) // size), 1)
        number = min(max(number, 0), pages - 1)
        shown = found[number * size : (number + 1) * size]
        rows = value_rows(self.grouping, shown, self.rows_of_values, self.ticked)
        return Page(rows, number, pages, len(found))

    def _ordered(self, order: str) -> Counts:
        """Return all values in an order; the last answer is kept."""
        key = (self.sheet, order)
        if self._order is None or self._order[0] is not self.sheet or self._order[1] != order:
            self._order = (*key, order_values(self.grouping, order, self.rows_of_values))
        return self._order[2]

    def _automatic(self) -> Sheet:
        recipe = suggest_recipe(self.column)
        made = suggest(self.column) if recipe is None else build(self.column, recipe)
        return Sheet(Grouping.of(made, self.values), made.origin, recipe)

    def _ticked_rows(self) -> Counts:
        rows = np.flatnonzero(self.ticked)
        if not len(rows):
            raise EditError("tick at least one value first")
        return rows

    def _edit(self, grouping: Grouping, text: str) -> None:
        origin = _EDITED.get(self.sheet.origin, "data")
        self._replace(Sheet(grouping, origin, None, "edited"), text)

    def _replace(self, sheet: Sheet, text: str) -> None:
        same = sheet.grouping.domain is self.grouping.domain
        self._history.push(sheet, text)
        self._after(same)

    def _move(self, move: Callable[[], bool]) -> None:
        domain = self.grouping.domain
        move()
        self._after(self.grouping.domain is domain)

    def _after(self, same_values: bool) -> None:
        self.notice = ""
        if not same_values:
            self.ticked = np.zeros(len(self.grouping.domain), dtype=np.bool_)


def _moved_along(more: int, level: int) -> str:
    if more <= 0:
        return ""
    others = counted(more, "more value", "more values")
    return f"{others} moved along, because they share a group at level {level - 1}"


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
    # both sides without their levels; `_moved` takes these from the present sheet
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
