"""Small random tables whose people have several rows, and what dicts of sets say of their nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from tests.methods.lattice.drawing import Drawn, draw_table

from shoal.table.people import Unit

KINDS = ("alone", "constant", "several", "homes", "only homes", "shared homes")


@dataclass(frozen=True)
class Crowd:
    """A drawn table with the person and the household of each row; None where none is named."""

    drawn: Drawn
    person: list
    home: list | None

    @property
    def table(self):
        return self.drawn.table

    def size(self, members):
        """Return what k is compared with: people, or households where those are fewer."""
        people = len({self.person[i] for i in members})
        if self.person == list(range(len(self.person))):
            people = self.drawn.size(members)  # nobody is named: each record is a person
        return people if self.home is None else min(people, len({self.home[i] for i in members}))

    def pairs(self, members):
        """Return the people of some rows, once for each illness that they have there."""
        if self.person == list(range(len(self.person))):
            return [(i, n, self.drawn.illness[i]) for i in members for n in range(self.times(i))]
        return sorted({(self.person[i], 0, self.drawn.illness[i]) for i in members})

    def times(self, i):
        return self.drawn.counts[i]

    def keeps(self, part, members):
        """Return whether a class keeps a model, from its definition."""
        if part.name == "k-anonymity":
            return self.size(members) >= part.k
        pairs, everybody = self.pairs(members), self.pairs(range(len(self.person)))
        people = len({(who, n) for who, n, _ in pairs})
        here = Counter(illness for _, _, illness in pairs)
        if part.name == "l-diversity":
            return min(len(here), people) >= part.l
        if part.name == "alpha-k-anonymity":
            enough = self.size(members) >= part.k
            return enough and max(here.values()) / people <= part.alpha
        assert part.name == "t-closeness"
        usual = Counter(illness for _, _, illness in everybody)
        moved = sum(
            abs(here[value] / here.total() - count / usual.total())
            for value, count in usual.items()
        )
        return moved / 2 <= part.t + 1e-9

    def kept(self, node, model):
        """Return the classes of a node that keep a model."""
        return self.drawn.kept(
            node, lambda members: all(self.keeps(part, members) for part in model.parts)
        )

    def suppressed(self, kept):
        return self.drawn.records - sum(map(self.drawn.size, kept))


def draw_crowd(draw, kind, rows=None, attributes=None, weighted=None):
    """Draw a table and say whom each row is about."""
    drawn = draw_table(draw, rows=rows, attributes=attributes, weighted=weighted)
    count = len(drawn.rows)
    person, home = list(range(count)), None
    if kind == "constant":  # a person's rows are all alike
        first = {row: i for i, row in reversed(list(enumerate(drawn.rows)))}
        person = [first[row] * 2 + int(draw.integers(2)) for row in drawn.rows]
    elif kind not in ("alone", "only homes"):
        person = draw.integers(0, max(count // 2, 1), count).tolist()
    if kind == "homes":
        home = [who // 3 for who in person]
    elif kind in ("only homes", "shared homes"):  # in the latter, people have several
        home = draw.integers(0, max(count // 3, 1), count).tolist()
    table = replace(
        drawn.table,
        person=None if kind in ("alone", "only homes") else _unit("person", person),
        household=None if home is None else _unit("home", home),
    )
    return Crowd(replace(drawn, table=table), person, home)


def _unit(name, numbers):
    distinct, ids = np.unique(numbers, return_inverse=True)
    return Unit((name,), ids.astype(np.int32), len(distinct))
