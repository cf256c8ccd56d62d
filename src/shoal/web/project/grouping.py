"""The groups of a column's values, level by level, the operations that change them, and pages.

Every operation returns a new grouping and keeps the levels nested: values that share a label share
all labels above it. A level stores for each value the number of its label, or SAME:

    value    level 1   level 2
    Malta    Europe    SAME        at level 2 still Europe
    Italy    Europe    SAME
    Japan    SAME      Asia        at level 1 still Japan
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, frozen
from shoal.table.hierarchy import ROOT, Hierarchy, Origin
from shoal.table.trees import MAX_LEVELS

SAME = -1  # an entry: the label of the level below


class EditError(InputError):
    """An edit that cannot be made, with what to do instead."""


@dataclass(eq=False)
class Domain:
    """The values of a hierarchy, and a number for each text that is or was one of its labels.

    Parameters:
        values: The values, without duplicates.
        own: (values,) whether the file has the value; others are only in the hierarchy.
    """

    values: tuple[str, ...]
    own: Bools
    texts: list[str] = field(default_factory=list, repr=False)
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.ground: Codes = frozen(self.numbers(self.values))

    def __len__(self) -> int:
        return len(self.values)

    def number(self, text: str) -> int:
        """Return the number of a text; a new text gets the next one."""
        found = self._numbers.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
        return found

    def find(self, text: str) -> int:
        """Return the number of a text, one that no label has if the text is new."""
        return self._numbers.get(text, len(self.texts))

    def numbers(self, texts: Iterable[str]) -> Codes:
        """Return the number of each text."""
        return np.array([self.number(text) for text in texts], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of values at each level between the values and the root.

    Parameters:
        domain: The values and the texts of labels.
        entries: For each level, (values,) the number of the label, or SAME.
        root: The label of the root.
    """

    domain: Domain
    entries: tuple[Codes, ...] = ()
    root: str = ROOT

    def __repr__(self) -> str:
        return f"Grouping(values={len(self.domain)}, levels={self.height})"

    @property
    def height(self) -> int:
        """The number of levels between the values and the root."""
        return len(self.entries)

    @cached_property
    def labels(self) -> tuple[Codes, ...]:
        """For the values and each level, (values,) the number of the label."""
        found = [self.domain.ground]
        for entries in self.entries:
            found.append(frozen(np.where(entries == SAME, found[-1], entries)))
        return tuple(found)

    def sizes(self, level: int, weights: Counts | None = None) -> Counts:
        """Return, for each text, how many values (or how much weight) have it as their label."""
        many = len(self.domain.texts)
        if weights is None:
            return np.bincount(self.labels[level], minlength=many).astype(np.int64)
        return np.rint(np.bincount(self.labels[level], weights, many)).astype(np.int64)

    def alone(self, level: int) -> Bools:
        """Return (values,) whether each value still stands for itself at a level."""
        labels = self.labels[level]
        same = labels == self.domain.ground
        return np.asarray(same & (self.sizes(level)[labels] == 1))

    @property
    def ungrouped(self) -> Counts:
        """The values of the file that no level groups: they are shown, or hidden entirely."""
        return np.flatnonzero(self.alone(self.height) & self.domain.own)

    def members(self, level: int, label: str) -> Counts:
        """Return the values with a label at a level."""
        return np.flatnonzero(self.labels[level] == self.domain.find(label))

    def extended(self, rows: Sequence[int] | Counts, level: int) -> Counts:
        """Return the values and all that share a group with them below a level.

        They can only move together.
        """
        self._check_level(level)
        below = self.labels[level - 1]
        return np.flatnonzero(self._marked(below[np.asarray(rows, dtype=np.int64)])[below])

    def group(self, rows: Sequence[int] | Counts, level: int, name: str) -> Grouping:
        """Return the grouping with the values in one group of a level.

        A group that has this name already is joined. Above the level, the group stays where the
        joined group, or else most of its values, already are.
        """
        name = self._checked_name(name)
        moved = self.extended(rows, level)
        if not len(moved):
            raise EditError("tick at least one value first")
        number = self.domain.number(name)
        joined = np.flatnonzero(self.labels[level] == number)
        members = np.union1d(moved, joined)
        entries = [each.copy() for each in self.entries]
        entries[level - 1][members] = number
        if level < self.height:
            # above this level, the group takes the place of what it joins
            followed = joined if len(joined) else moved
            chain = _most_common(np.stack([each[followed] for each in entries[level:]]))
            for each, entry in zip(entries[level:], chain, strict=True):
                each[members] = entry
        return self._settled(entries, level)

    def ungroup(self, rows: Sequence[int] | Counts, level: int) -> Grouping:
        """Return the grouping in which the values have no group of their own at a level."""
        moved = self.extended(rows, level)
        entries = [each.copy() for each in self.entries]
        entries[level - 1][moved] = SAME
        labels = replace(self, entries=tuple(entries)).labels[level]
        others = np.ones(len(self.domain), dtype=np.bool_)
        others[moved] = False
        if (self._marked(labels[moved])[labels] & others).any():
            raise EditError(
                "one of these values has the same name as its group; rename the group first"
            )
        return self._settled(entries, level)

    def rename(self, level: int, label: str, name: str) -> Grouping:
        """Return the grouping with another name of one group."""
        self._check_level(level)
        name = self._checked_name(name)
        members = self.members(level, label)
        if not len(members):
            raise EditError("there is no such group at this level")
        if name != label and len(self.members(level, name)):
            raise EditError(
                "a group or a value of this name is already at this level; to join them, tick the "
                "values and group them under the name"
            )
        entries = [each.copy() for each in self.entries]
        entries[level - 1][members] = self.domain.number(name)
        return self._settled(entries, level)

    def add_level(self, level: int) -> Grouping:
        """Return the grouping with a new level, which has the groups of the level below it."""
        if not 1 <= level <= self.height + 1:
            raise EditError(f"a new level must be 1 to {self.height + 1}, not {level}")
        if self.height >= MAX_LEVELS:
            raise EditError(f"there are {MAX_LEVELS} levels already, the maximum")
        fresh = frozen(np.full(len(self.domain), SAME, dtype=np.int32))
        at = level - 1
        return replace(self, entries=(*self.entries[:at], fresh, *self.entries[at:]))

    def remove_level(self, level: int) -> Grouping:
        """Return the grouping without a level; the labels of the other levels stay."""
        self._check_level(level)
        entries = list(self.entries)
        removed = entries.pop(level - 1)
        if level <= len(entries):
            above = entries[level - 1]
            entries[level - 1] = frozen(np.where(above == SAME, removed, above))
        return replace(self, entries=tuple(entries))

    def to_hierarchy(self, origin: Origin) -> Hierarchy:
        """Return the hierarchy of these groups."""
        texts = np.array(self.domain.texts, dtype=object)
        columns = [texts[labels].tolist() for labels in self.labels]
        columns.append([self.root] * len(self.domain))
        return Hierarchy.from_rows(zip(*columns, strict=True), origin=origin)

    @classmethod
    def of(cls, hierarchy: Hierarchy, values: Sequence[str]) -> Grouping:
        """Return the groups of a hierarchy, over its values and those of a file.

        Values of the file come first; those that the hierarchy lacks are not grouped.
        """
        listed = {text: row for row, text in enumerate(hierarchy.values) if text is not None}
        every = tuple(dict.fromkeys([*values, *listed]))
        known = np.arange(len(every)) < len(dict.fromkeys(values))
        domain = Domain(every, frozen(known))
        # picks: (values,) the row of the hierarchy, −1 for a value that it lacks
        picks = np.array([listed.get(text, -1) for text in every], dtype=np.int64)
        entries = []
        below = domain.ground
        for level in hierarchy.levels[1:-1]:
            numbers = domain.numbers(label or "" for label in level.labels)
            labels = np.where(picks < 0, below, numbers[level.groups[picks]]).astype(np.int32)
            many = len(domain.texts)
            kept = np.bincount(below, minlength=many) == np.bincount(labels, minlength=many)
            entries.append(frozen(np.where((labels == below) & kept[below], SAME, labels)))
            below = labels
        root = hierarchy.levels[-1].labels[0] if hierarchy.height else None
        grouping = cls(domain, (), root or ROOT)
        return grouping._settled(entries, 1)

    def _checked_name(self, name: str) -> str:
        name = name.strip()
        if not name:
            raise EditError("a group needs a name")
        if name == self.root:
            raise EditError(f"{self.root} is the name of the last level; choose another name")
        return name

    def _check_level(self, level: int) -> None:
        if not 1 <= level <= self.height:
            raise EditError("there is no such level; add a level first")

    def _marked(self, numbers: Codes) -> Bools:
        """Return, for each text, whether its number is one of these."""
        marks = np.zeros(len(self.domain.texts), dtype=np.bool_)
        marks[numbers] = True
        return marks

    def _settled(self, entries: Sequence[Codes], level: int) -> Grouping:
        """Return the grouping of these entries, nested from a level upwards.

        Where values that share a label differ one level above, all get the label that most have.
        """
        found = replace(self, entries=tuple(entries))
        settled = [np.array(each, dtype=np.int32) for each in entries]
        labels = found.labels[min(level, found.height)]
        for each in settled[level:]:
            above = np.where(each == SAME, labels, each)
            # some: (texts,) one label above each label; where it differs, the values are not nested
            some = np.full(len(self.domain.texts), SAME, dtype=np.int32)
            some[labels] = above
            for number in np.unique(labels[some[labels] != above]).tolist():
                members = labels == number
                choices, counts = np.unique(above[members], return_counts=True)
                counts = counts * 2 - (choices == number)  # a group above, where it is a tie
                chosen = int(choices[counts.argmax()])
                above[members], each[members] = chosen, chosen
            labels = above
        return replace(self, entries=tuple(frozen(each) for each in settled))


def _most_common(chains: Codes) -> Codes:
    """Return the column that occurs most often, one with a group above if there is any."""
    found, counts = np.unique(chains, axis=1, return_counts=True)
    grouped = (found != SAME).any(axis=0)
    return np.asarray(found[:, int(np.argmax(counts + grouped * chains.shape[1]))])


PAGE_ROWS = 50
ORDERS = ("value", "rows", "group")


@dataclass(frozen=True)
class ValueRow:
    """One value in the editor.

    Parameters:
        row: Its position among the values.
        value: Its text.
        rows: Rows of the file that have it.
        labels: Its label at each level between the value and the root.
        grouped: For each level, whether it has a group there.
        ticked: Whether it is selected.
        own: Whether the file has it; others are only in the hierarchy.
    """

    row: int
    value: str
    rows: int
    labels: tuple[str, ...]
    grouped: tuple[bool, ...]
    ticked: bool
    own: bool


@dataclass(frozen=True)
class Page:
    """A page of values.

    Parameters:
        rows: The values.
        number: The page, from 0.
        pages: The number of pages, at least 1.
        found: The number of values that the filter finds.
    """

    rows: tuple[ValueRow, ...]
    number: int
    pages: int
    found: int


def find_values(
    grouping: Grouping, rows: Counts, text: str = "", *, only_ungrouped: bool = False
) -> Counts:
    """Return those of the values that a filter finds, in the same order.

    Parameters:
        grouping: The groups.
        rows: The values in some order.
        text: Only values whose text, or a label of theirs, contains this text.
        only_ungrouped: Only values of the file that no level groups.
    """
    if only_ungrouped:
        keep = np.zeros(len(grouping.domain), dtype=np.bool_)
        keep[grouping.ungrouped] = True
        rows = rows[keep[rows]]
    wanted = text.strip().casefold()
    if wanted:
        fits = np.array([wanted in each.casefold() for each in grouping.domain.texts])
        keep = np.logical_or.reduce([fits[labels] for labels in grouping.labels])
        rows = rows[keep[rows]]
    return rows


def order_values(grouping: Grouping, order: str, file_rows: Counts) -> Counts:
    """Return the values in an order.

    Parameters:
        grouping: The groups.
        order: `value`, `rows` (most rows first) or `group` (values of one group together).
        file_rows: (values,) rows of the file that have each value.
    """
    if order == "value":
        return np.arange(len(grouping.domain))
    if order == "rows":
        return np.argsort(-file_rows, kind="stable")
    if order == "group":
        levels = grouping.labels[1:] or grouping.labels
        return np.lexsort([_first_rows(labels) for labels in levels])
    raise EditError(f"order must be one of {', '.join(ORDERS)}")


def value_rows(
    grouping: Grouping, shown: Counts, file_rows: Counts, ticked: Bools
) -> tuple[ValueRow, ...]:
    """Return some values with their labels.

    Parameters:
        grouping: The groups.
        shown: The values.
        file_rows: (values,) rows of the file that have each value.
        ticked: (values,) whether each value is selected.
    """
    texts, levels = grouping.domain.texts, range(1, grouping.height + 1)
    labels = [[texts[n] for n in grouping.labels[level][shown]] for level in levels]
    grouped = [(~grouping.alone(level)[shown]).tolist() for level in levels]
    return tuple(
        ValueRow(
            int(row),
            grouping.domain.values[row],
            int(file_rows[row]),
            tuple(column[i] for column in labels),
            tuple(column[i] for column in grouped),
            bool(ticked[row]),
            bool(grouping.domain.own[row]),
        )
        for i, row in enumerate(shown)
    )


def _first_rows(labels: Codes) -> Counts:
    """Return, for each value, the first value with the same label."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])
