"""Privacy models as rules that kernels can check while records move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.methods.partition._annealing_rules import (
    CLOSE,
    CLOSE_ORDERED,
    DISTINCT,
    ENTROPY,
    PEOPLE,
    RECURSIVE,
    SHARES,
    Rules,
)
from shoal.privacy.l_diversity import EntropyLDiversity, LDiversity, RecursiveLDiversity
from shoal.privacy.likeness import AlphaKAnonymity, BetaLikeness, DeltaDisclosure
from shoal.privacy.model import ROUNDING, Model
from shoal.privacy.t_closeness import TCloseness, natural_distance
from shoal.support.arrays import Codes, Counts, Floats
from shoal.table.table import Table

_SLACK = ROUNDING / 2  # below the rounding error that models allow, so that both agree


@dataclass
class _Draft:
    """Rules under construction, each with its views of the value columns."""

    table: Table
    rows: Counts
    kinds: list[int] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    limits: list[tuple[Floats, Floats] | None] = field(default_factory=list)
    values: list[Codes] = field(default_factory=list)
    references: list[Floats] = field(default_factory=list)

    def add(
        self,
        kind: int,
        bound: float,
        rank: int,
        views: Sequence[tuple[Codes, Floats]],
        limits: tuple[Floats, Floats] | None = None,
        counted: int | None = None,
    ) -> None:
        """Add a rule over views of a column: codes of the records and shares in the table.

        counted: only this many of the first values count; by default all.
        """
        self.kinds.append(kind)
        self.bounds.append(bound)
        self.ranks.append(rank)
        self.columns.append(len(self.values))
        self.counted.append(len(views[0][1]) if counted is None else counted)
        self.limits.append(limits)
        for codes, reference in views:
            self.values.append(codes)
            self.references.append(reference)

    def view(self, name: str) -> tuple[Codes, Floats]:
        """Return the view of a column without changes."""
        return self.table[name].codes[self.rows], self.table.shares(name)

    def rules(self) -> Rules:
        """Return the rules in the form of the kernels."""
        start = np.concatenate(([0], np.cumsum([len(r) for r in self.references])))
        least, most = np.zeros((2, len(self.kinds), int(start[-1])))
        for rule, limits in enumerate(self.limits):
            if limits is not None:
                first = int(start[self.columns[rule]])
                least[rule, first : first + len(limits[0])] = limits[0]
                most[rule, first : first + len(limits[1])] = limits[1]
        value = np.zeros((len(self.rows), len(self.values)), dtype=np.int32)
        for column, codes in enumerate(self.values):
            value[:, column] = codes
        return Rules(
            np.array(self.kinds, dtype=np.int64),
            np.array(self.bounds, dtype=np.float64),
            np.array(self.ranks, dtype=np.int64),
            np.array(self.columns, dtype=np.int64),
            np.array(self.counted, dtype=np.int64),
            start.astype(np.int64),
            least,
            most,
            np.concatenate([*self.references, np.zeros(0)]),
            value,
        )


def rules_of(model: Model, table: Table, rows: Counts) -> tuple[Rules, tuple[Model, ...]]:
    """Return the rules of a model for these rows, and the parts that have none.

    Sizes need no rule: the search maintains them. If people have several rows, a group must have k
    people, and that is the only rule: a row that stands for other rows has values that are not
    visible here.
    """
    draft = _Draft(table, rows)
    if table.unit is not None:
        draft.add(PEOPLE, model.least_size, 0, [(table.unit.ids[rows], np.zeros(0))])
        return draft.rules(), tuple(part for part in model.parts if not part.by_size)
    without = [part for part in model.parts if not part.by_size and not _add(draft, part)]
    return draft.rules(), tuple(without)


def _add(draft: _Draft, part: Model) -> bool:
    if isinstance(part, (LDiversity, EntropyLDiversity, RecursiveLDiversity)):
        _add_diversity(draft, part)
    elif isinstance(part, TCloseness):
        _add_closeness(draft, part)
    elif isinstance(part, (AlphaKAnonymity, BetaLikeness, DeltaDisclosure)):
        view = draft.view(part.column)
        draft.add(SHARES, 0.0, 0, [view], _limits(draft.table, part, view[1]))
    else:
        return False
    return True


def _add_diversity(
    draft: _Draft, part: LDiversity | EntropyLDiversity | RecursiveLDiversity
) -> None:
    """Add a rule over all values, and one over the known values if missing values do not count."""
    if isinstance(part, LDiversity):
        kind, bound, rank = DISTINCT, float(part.l), 0
    elif isinstance(part, EntropyLDiversity):
        kind, bound, rank = ENTROPY, math.log(part.l) - _SLACK, 0
    else:
        kind, bound, rank = RECURSIVE, part.c / (1 + 2 * ROUNDING), part.l
    column, view = draft.table[part.column], draft.view(part.column)
    without = column.missing is not None and not part.count_missing
    if kind != DISTINCT or not without:
        draft.add(kind, bound, rank, [view])
    if without:
        draft.add(kind, bound, rank, [view], counted=column.known)


def _limits(
    table: Table, part: AlphaKAnonymity | BetaLikeness | DeltaDisclosure, reference: Floats
) -> tuple[Floats, Floats]:
    """Return the least and greatest share that each value may have."""
    none = np.zeros(len(reference))
    if isinstance(part, AlphaKAnonymity):
        if part.value is None:
            return none, np.full(len(reference), part.alpha)
        guarded = np.array([text == part.value for text in table[part.column].labels])
        return none, np.where(guarded, part.alpha, 1.0)
    if isinstance(part, DeltaDisclosure):
        slack = 1e-11
        least = reference * np.exp(-part.delta + slack)
        return least, reference * np.exp(part.delta - slack)
    with np.errstate(divide="ignore"):
        cap = -np.log(reference) if part.enhanced else np.full(len(reference), np.inf)
    gain = np.minimum(part.beta, cap) + _SLACK
    return none, np.where(reference > 0, reference * (1 + gain), 0.0)


def _add_closeness(draft: _Draft, part: TCloseness) -> None:
    column = draft.table[part.column]
    codes, reference = draft.view(part.column)
    kind = part.distance or natural_distance(column)
    if kind == "ordered":
        present = np.flatnonzero(reference > 0)
        place = np.zeros(column.domain, dtype=np.int32)
        place[present] = np.arange(len(present), dtype=np.int32)
        steps = len(present) - 1
        draft.add(CLOSE_ORDERED, part.t + _SLACK, steps, [(place[codes], reference[present])])
    elif kind == "equal" or column.hierarchy is None:
        draft.add(CLOSE, part.t + _SLACK, 1, [(codes, reference)])
    else:
        below = column.hierarchy.levels[:-1]
        views: list[tuple[Codes, Floats]] = []
        for level in below:
            shares: Any = np.bincount(level.groups, reference, minlength=len(level))
            views.append((level.groups[codes], shares))
        draft.add(CLOSE, part.t + _SLACK, len(views), views)
