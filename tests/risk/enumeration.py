"""Small releases cell by cell, and all ways to match their people with their records."""

from fractions import Fraction
from itertools import permutations
from math import prod

import numpy as np
from hypothesis import strategies as st

from shoal.privacy import KConcealment
from shoal.release.release import Release
from shoal.table.column import Column
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets, set_labels
from shoal.table.table import Table


def published(rows, cells, *, suppressed=(), counts=None):
    """A release of nominal columns a, b, …: rows[i][j] is a number, cells[i][j] a set of such."""
    columns, recodings = [], {}
    for j, name in enumerate("abcdef"[: len(rows[0])]):
        column = Column.encode(name, [f"v{row[j]}" for row in rows], "quasi")
        place = {label: code for code, label in enumerate(column.labels)}
        wanted = [sorted(place[f"v{v}"] for v in cell[j] if f"v{v}" in place) for cell in cells]
        entries = sorted(set(map(tuple, wanted)))
        members = np.array([code for entry in entries for code in entry], dtype=np.int32)
        subsets = Subsets.of_members(column.domain, np.cumsum([0, *map(len, entries)]), members)
        codes = np.array([entries.index(tuple(w)) for w in wanted], dtype=np.int32)
        columns.append(column)
        recodings[name] = Recoding(column, codes, subsets, set_labels(column, subsets))
    out = np.isin(np.arange(len(rows)), list(suppressed))
    table = Table(tuple(columns), None if counts is None else np.array(counts))
    return Release(table, recodings, KConcealment(2), out if out.any() else None)


@st.composite
def releases(draw, most=5, columns=2):
    """Rows of a few values, and for each cell a set of values that holds its own."""
    many = draw(st.integers(1, most))
    value = st.integers(0, 2)
    rows = [tuple(draw(value) for _ in range(columns)) for _ in range(many)]
    cells = [tuple({v} | draw(st.sets(value, max_size=2)) for v in row) for row in rows]
    return rows, cells


def weight(row, cell, known, rates):
    """What an attacker thinks of a pair: 0 where it cannot be."""
    factors = []
    for j in known:
        rate = Fraction(rates.get(j, 0))
        factors.append(1 - rate if row[j] in cell[j] else rate)
    return prod(factors, start=Fraction(1))


def cracks(rows, cells, known=(0, 1), *, suppressed=(), present=True, rates=None):
    """By rows: the chance to be found, the records that fit, those of some matching; exactly."""
    released = [i for i in range(len(rows)) if i not in suppressed]
    people = released if present else list(range(len(rows)))
    slots = [*released, *([None] * len(suppressed) if not present else [])]
    weights = [
        [1 if s is None else weight(rows[p], cells[s], known, rates or {}) for s in slots]
        for p in people
    ]
    total, own, seen = Fraction(0), dict.fromkeys(released, Fraction(0)), {p: set() for p in people}
    for way in permutations(range(len(slots))):
        mass = prod((weights[i][j] for i, j in enumerate(way)), start=Fraction(1))
        if not mass:
            continue
        total += mass
        for i, j in enumerate(way):
            if slots[j] is not None:
                seen[people[i]].add(j)
            if slots[j] == people[i]:
                own[people[i]] += mass
    place = {p: i for i, p in enumerate(people)}
    fits = {
        p: sum(w > 0 for w, s in zip(weights[place[p]], slots, strict=True) if s is not None)
        for p in released
    }
    return {p: (own[p] / total, fits[p], len(seen[p])) for p in released}


def people_found(rows, cells, person, known=(0, 1), *, suppressed=(), present=True, rates=None):
    """By people with a released record: the chance that a row is matched with one of theirs.

    Also the expected number of rows matched with a record of their person, the first of the two.
    """
    released = [i for i in range(len(rows)) if i not in suppressed]
    asking = released if present else list(range(len(rows)))
    slots = [*released, *([None] * len(suppressed) if not present else [])]
    weights = [
        [1 if s is None else weight(rows[p], cells[s], known, rates or {}) for s in slots]
        for p in asking
    ]
    total, links = Fraction(0), Fraction(0)
    found = {person[i]: Fraction(0) for i in released}
    for way in permutations(range(len(slots))):
        mass = prod((weights[i][j] for i, j in enumerate(way)), start=Fraction(1))
        if not mass:
            continue
        total += mass
        right = [
            person[asking[i]]
            for i, j in enumerate(way)
            if slots[j] is not None and person[slots[j]] == person[asking[i]]
        ]
        links += mass * len(right)
        for who in set(right):
            found[who] += mass
    return links / total, {who: mass / total for who, mass in found.items()}
