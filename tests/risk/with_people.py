"""Releases of people with several rows, and recounts of them with loops and dicts."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.people import Unit
from shoal.table.table import Table


def unit(ids):
    """Whom each row is about, numbered without gaps."""
    known = sorted(set(ids))
    return Unit(("who",), np.array([known.index(i) for i in ids], dtype=np.int32), len(known))


def about(release, person, household=None):
    """The same release of a table that names its people and households."""
    table = replace(
        release.original,
        person=unit(person),
        household=None if household is None else unit(household),
    )
    return replace(release, original=table)


def grouped_people(person, ids, household=None, **columns):
    """A release of rows in the classes given, −1 for a row that is left out."""
    rows = len(ids)
    data = pa.table({"x": [f"v{i}" for i in ids], **columns})
    roles = {"x": "quasi", **dict.fromkeys(columns, "sensitive")}
    table = Table.from_arrow(data, roles)
    codes = np.array(ids, dtype=np.int32)
    release = Release.of_groups(table, codes, max(ids, default=-1) + 1, KAnonymity(2))
    assert len(release.original) == rows
    return about(release, person, household)


@st.composite
def several_rows(draw, most=9, people=4, classes=3, left_out=True):
    """Lists of the person and of the class of each row; classes are numbered without gaps."""
    rows = draw(st.integers(1, most))
    person = draw(st.lists(st.integers(0, people - 1), min_size=rows, max_size=rows))
    least = -1 if left_out else 0
    drawn = draw(st.lists(st.integers(least, classes - 1), min_size=rows, max_size=rows))
    used = sorted({i for i in drawn if i >= 0})
    return person, [used.index(i) if i >= 0 else -1 for i in drawn]


def tallies(person, ids):
    """For each class how many rows each person has in it."""
    found = defaultdict(Counter)
    for who, place in zip(person, ids, strict=True):
        if place >= 0:
            found[place][who] += 1
    return found


def prosecutor(person, ids):
    """For each released person the largest of m/n and 1/people over her classes."""
    found = defaultdict(float)
    for members in tallies(person, ids).values():
        for who, mine in members.items():
            chance = max(mine / members.total(), 1 / len(members))
            found[who] = max(found[who], chance)
    return dict(found)
