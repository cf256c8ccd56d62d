"""A hierarchy: nested groupings of a domain, from single values to one root.

Read and written in the CSV form of ARX: one line per value, `value;level 1;…;*`.

    rows or recipe ─→ Hierarchy over all its values ─ aligned(column) ─→ over the column's codes

    values            Malta  Japan  Spain
    levels[0].groups      0      1      2      labels Malta, Japan, Spain
    levels[1].groups      0      1      0      labels Europe, Asia
    levels[2].groups      0      0      0      label  *
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from shoal.errors import HierarchyError, InputError
from shoal.support.arrays import Codes, Counts, Floats, frozen
from shoal.support.files import read_text, replace_file
from shoal.support.options import check_sign
from shoal.support.wording import counted
from shoal.table.ruler import PLAIN, Ruler

if TYPE_CHECKING:
    from shoal.table.column import Column

ROOT = "*"
Origin = Literal["declared", "file", "values", "data"]


@dataclass(frozen=True, eq=False)
class Level:
    """One grouping of the domain.

    groups: (values,) the group of each value.
    labels: one text per group; None is the group that contains only the missing value.
    leaves: (groups,) number of values under each group, in the whole hierarchy.
    bounds: (groups, 2) published least and greatest position of each group, if it has bounds.
    """

    groups: Codes
    labels: tuple[str | None, ...]
    leaves: Counts
    bounds: Floats | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Level(groups={len(self)}, values={len(self.groups)})"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels over values: level 0 is the values themselves, the last level is a single root.

    Attributes:
        values: The domain as text, None for missing.
        levels: The grouping of each level.
        origin: What its groups are derived from. `declared`: its owner's rows or tree, or a recipe
            over a declared domain; `file`: a file, which is public because its owner says so;
            `values`: a recipe that fixes the group of each value, over values of unknown origin;
            `data`: the values that a table happens to have.
        source: The recipe as text, or the hierarchy that this one was aligned from, which has all
            values and not only those of a column.
        ruler: Maps the bounds of its groups to positions.

    >>> Hierarchy.from_rows([("Malta", "Europe", "*"), ("Japan", "Asia", "*")]).height
    2
    """

    values: tuple[str | None, ...]
    levels: tuple[Level, ...]
    origin: Origin = "declared"
    source: Hierarchy | str | None = None
    ruler: Ruler = PLAIN

    def __post_init__(self) -> None:
        not_nested = [
            (height, fine.labels[int(g)] or "")
            for height, (fine, coarse) in enumerate(
                zip(self.levels, self.levels[1:], strict=False), start=1
            )
            for g in _split_groups(fine, coarse)
        ]
        if not_nested:
            raise HierarchyError(
                f"hierarchy: {counted(len(not_nested), 'group is', 'groups are')} not nested: "
                "members have different labels at a higher level; values that share a label must "
                "share all labels above it",
                not_nested=not_nested,
            )
        if len(self.levels[-1]) > 1:
            raise HierarchyError(
                f"hierarchy: its last level has {len(self.levels[-1])} labels; "
                f"end every line with one common root such as {ROOT!r}"
            )

    @property
    def from_data(self) -> bool:
        """Whether the groups were derived from the values of a table and so reveal them."""
        return self.origin == "data"

    @property
    def height(self) -> int:
        """The level of the root."""
        return len(self.levels) - 1

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Hierarchy(values={len(self)}, groups={[len(level) for level in self.levels]})"

    @cached_property
    def parents(self) -> tuple[Codes, ...]:
        """For each level below the root, the parent of each of its groups."""
        links = []
        for fine, coarse in zip(self.levels, self.levels[1:], strict=False):
            parent = np.empty(len(fine), dtype=np.int32)
            parent[fine.groups] = coarse.groups
            links.append(frozen(parent))
        return tuple(links)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Sequence[str | None]],
        bounds: Mapping[int, Mapping[str, tuple[float, float]]] | None = None,
        origin: Origin = "declared",
        ruler: Ruler = PLAIN,
    ) -> Hierarchy:
        """Create a hierarchy from rows `(value, level 1, …, root)`, all of one length.

        An empty text is the missing value, and its label. Other values have labels that are not
        empty, because a released cell without text would be read as missing.

        Parameters:
            bounds: For a level, the published bounds of its labels, as positions.
            origin: What the groups are derived from; rows given by the owner are declared.
            ruler: Maps the bounds to positions.
        """
        table = [tuple(text or None for text in row) for row in rows]
        if not table:
            raise HierarchyError("hierarchy: has no values")
        width = len(table[0])
        ragged = sum(len(row) != width for row in table)
        if ragged:
            raise HierarchyError(
                f"hierarchy: {ragged:,} of {counted(len(table), 'line')} without "
                f"{counted(width, 'field')} as in the first line"
            )
        values = tuple(row[0] for row in table)
        if len(set(values)) < len(values):
            twice = len(values) - len(set(values))
            values_are = counted(twice, "value is", "values are")
            raise HierarchyError(f"hierarchy: {values_are} listed more than once")
        unnamed = sum(row[0] is not None and None in row for row in table)
        if unnamed:
            raise HierarchyError(
                f"hierarchy: {counted(unnamed, 'value has', 'values have')} an empty label, which "
                f"a release would show like a missing value; write {ROOT!r} or another text there"
            )
        if width == 1 and len(values) > 1:  # only values are listed: add the root
            table = [(row[0], ROOT) for row in table]
        levels = [
            _level([row[height] for row in table], (bounds or {}).get(height))
            for height in range(len(table[0]))
        ]
        return cls(values, tuple(levels), origin, ruler=ruler)

    @classmethod
    def read(cls, path: str | Path, delimiter: str | None = None) -> Hierarchy:
        """Read ARX's CSV form; the delimiter is `;` or `,`, whichever the file uses."""
        if delimiter is not None:
            _check_delimiter(delimiter)
        path = Path(path)
        text = read_text(path)
        if not text.strip():
            raise HierarchyError(f"{path}: the file is empty; expected  value;level 1;…;*")
        try:
            return cls.from_rows(_parse(text, delimiter or ";,\t"), origin="file")
        except csv.Error:
            raise HierarchyError(
                f"{path}: not readable as CSV; look for a quotation mark that is not closed"
            ) from None
        except HierarchyError as error:
            raise HierarchyError(f"{path}: {error}", error.missing, error.not_nested) from None

    def rows(self) -> list[tuple[str, ...]]:
        """Return the hierarchy as rows `(value, level 1, …, root)`."""
        columns = [[level.labels[g] or "" for g in level.groups] for level in self.levels]
        return list(zip(*columns, strict=True))

    def to_csv(self, delimiter: str = ";") -> str:
        """Return ARX's CSV form as text."""
        _check_delimiter(delimiter)
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(self.rows())
        return out.getvalue()

    def write(self, path: str | Path, delimiter: str = ";", *, force: bool = False) -> None:
        """Write ARX's CSV form, completely or not at all."""
        text = self.to_csv(delimiter)
        with replace_file(Path(path), force=force) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def aligned(self, column: Column) -> Hierarchy:
        """Return the hierarchy restricted to the column's values, in the order of its codes.

        Group sizes and bounds are still those of the whole hierarchy. A missing value that the
        hierarchy does not list forms its own group below the root.
        """
        code_of = {text: code for code, text in enumerate(self.values)}
        absent = [t for t in column.labels if t is not None and t not in code_of]
        if absent:
            raise HierarchyError(
                f"column {column.name!r}: its hierarchy lacks {len(absent)} of {column.known} "
                "values; `shoal hierarchy check` lists them",
                missing=absent,
            )
        alone = column.missing is not None and None not in code_of
        picks = np.array([code_of.get(t, -1) for t in column.labels], dtype=np.int64)
        ends = _leaf_bounds(self, column)
        measured = [
            level
            if level.bounds is None
            else replace(level, bounds=frozen(column.ruler.converted(level.bounds, self.ruler)))
            for level in self.levels
        ]
        ground = _restricted(measured[0], picks, alone, ends)
        bounds = None if ground.bounds is None else frozen(ground.bounds[ground.groups])
        codes = np.arange(column.domain, dtype=np.int32)
        # level 0 is the column's own values, whatever the texts of the hierarchy were
        ones = np.ones(column.domain, dtype=np.int64)
        levels = [Level(frozen(codes), column.labels, frozen(ones), bounds)]
        for height, level in enumerate(measured[1:], start=1):
            levels.append(_restricted(level, picks, alone and height < self.height, ends))
        if len(levels) == 1 and len(levels[0]) > 1:
            levels.append(_level([ROOT] * len(picks), None))
        source = self.source or self
        return Hierarchy(column.labels, tuple(levels), self.origin, source, column.ruler)

    def digest(self) -> str:
        """Return a digest of the recipe, or of all values with their labels at every level.

        It does not depend on the values that occur in a column.
        """
        if isinstance(self.source, Hierarchy):
            return self.source.digest()
        text = json.dumps(self.rows()) if self.source is None else self.source
        return hashlib.sha256(text.encode()).hexdigest()


def _check_delimiter(delimiter: str) -> None:
    check_sign("delimiter", delimiter)
    if delimiter == '"':
        raise InputError("delimiter must not be the quotation mark")


def _parse(text: str, marks: str) -> list[list[str]]:
    """Split lines at the first delimiter that gives every line the same number of fields."""
    parsed = [
        [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
        for mark in marks
    ]
    even = [rows for rows in parsed if len(rows[0]) > 1 and len({len(row) for row in rows}) == 1]
    return even[0] if even else max(parsed, key=lambda rows: len(rows[0]))


def _level(labels: Sequence[str | None], bounds: Mapping[str, tuple[float, float]] | None) -> Level:
    number: dict[str | None, int] = {}
    groups = np.array([number.setdefault(label, len(number)) for label in labels], dtype=np.int32)
    leaves = np.bincount(groups, minlength=len(number)).astype(np.int64)
    limits = None
    if bounds:
        nowhere = (np.nan, np.nan)
        limits = frozen(np.array([bounds.get(label or "", nowhere) for label in number]))
    return Level(frozen(groups), tuple(number), frozen(leaves), limits)


def _split_groups(fine: Level, coarse: Level) -> Counts:
    """Return the groups of a level whose members are in several groups of the next."""
    low = np.full(len(fine), len(coarse), dtype=np.int64)
    high = np.full(len(fine), -1, dtype=np.int64)
    np.minimum.at(low, fine.groups, coarse.groups)
    np.maximum.at(high, fine.groups, coarse.groups)
    return np.flatnonzero(low < high)


def _leaf_bounds(hierarchy: Hierarchy, column: Column) -> Floats | None:
    """(values, 2) each leaf of a numeric hierarchy as a number, from which groups get bounds."""
    if not column.ordered or not column.known:
        return None
    place = {text: column.positions[code] for code, text in enumerate(column.labels)}
    numbers = np.array([place.get(text, np.nan) for text in hierarchy.values])
    for code in np.flatnonzero(np.isnan(numbers)):
        try:
            numbers[code] = column.ruler.position(Decimal(hierarchy.values[code] or "nan"))
        except (ArithmeticError, ValueError):
            continue
    return np.stack([numbers, numbers], axis=1)


def _restricted(level: Level, picks: Counts, missing_alone: bool, ends: Floats | None) -> Level:
    """Return the level over the picked values; pick −1 is the missing value."""
    # old: the group of each picked value in the whole level; the groups that occur are renumbered
    old = np.where(picks >= 0, level.groups[picks], -1 if missing_alone else level.groups[0])
    kept, groups = np.unique(old, return_inverse=True)
    labels = tuple(None if g < 0 else level.labels[g] for g in kept)
    leaves = np.where(kept < 0, 1, level.leaves[kept])
    limits = level.bounds
    if limits is None and ends is not None:
        limits = np.full((len(level), 2), np.nan)
        np.fmin.at(limits[:, 0], level.groups, ends[:, 0])
        np.fmax.at(limits[:, 1], level.groups, ends[:, 1])
    if limits is not None:
        limits = frozen(np.where((kept < 0)[:, None], np.nan, limits[kept]))
    return Level(frozen(groups.astype(np.int32)), labels, frozen(leaves.astype(np.int64)), limits)
