"""Random tables, and groups made the slow and obvious way, record by record."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal import Table

RANKS = ["low", "mid", "high"]
WIDE = 150  # values of a nominal column, more than a word has bits


@st.composite
def tables(draw, least=4, most=40):
    """Equal records, missing values, ranks, names, weights and bounds."""
    rows = draw(st.integers(least, most))
    few = draw(st.integers(1, 12))
    cell = {
        "number": st.none() | st.integers(-3, few),
        "rank": st.none() | st.sampled_from(RANKS),
        "word": st.none() | st.sampled_from("abcde"),
        "code": st.integers(0, WIDE - 1) if few % 2 else st.sampled_from([0, 64, 128, 3]),
        "size": st.floats(0, 1, width=16),
    }
    types = {"number": pa.int64(), "rank": pa.string(), "word": pa.string(), "code": pa.int64()}
    chosen = draw(st.lists(st.sampled_from(list(cell)), min_size=1, unique=True))
    data, roles = {}, {}
    for name in chosen:
        values = draw(st.lists(cell[name], min_size=rows, max_size=rows))
        whole = list(range(WIDE)) if name == "code" else [None] * WIDE
        data[name] = pa.array(values + whole, types.get(name, pa.float64()))
        roles[name] = {"role": "quasi", "weight": draw(st.sampled_from([0, 0.3, 1, 1, 4]))}
    for name, more in (
        ("number", {"bounds": [-10, 20]} if few % 3 else {}),
        ("rank", {"kind": "ordinal", "order": RANKS}),
        ("code", {"kind": "nominal"}),
    ):
        if name in roles:
            roles[name] |= more
    return Table.from_arrow(pa.table(data), roles).take(np.arange(rows))


def crowd(seed, rows=300):
    """Many records that are much alike, with every kind of column."""
    draw = np.random.default_rng(seed)
    data = pa.table(
        {
            "number": pa.array(draw.integers(0, 9, rows), mask=draw.random(rows) < 0.05),
            "other": draw.integers(0, 5, rows),
            "word": draw.choice(list("abcd"), rows),
            "code": draw.choice([f"{i:03}" for i in range(WIDE)], rows),
        }
    )
    return Table.from_arrow(data, dict.fromkeys(data.column_names, "quasi"))


def width(points, members, expand=False):
    """The width of the box over some records, from the definition."""
    members = list(members)
    total = 0
    for places, cap in zip(points.line[members].T.tolist(), points.cap.tolist(), strict=True):
        total += min(max(places) - min(places), cap)
    for codes, unit in zip(points.name[members].T.tolist(), points.unit.tolist(), strict=True):
        values = len(set(codes))
        total += unit * (values if expand and values > 1 else values - 1)
    return total


def loss(points, groups):
    return sum(len(members) * width(points, members) for members in groups)


def grow(points, waiting, seed, k, expand=False):
    """Take a seed and the k − 1 records that stretch its box least out of those that wait."""
    members = [seed]
    waiting.remove(seed)
    while len(members) < k:
        best = min(waiting, key=lambda r: (width(points, [*members, r], expand), r))
        members.append(best)
        waiting.remove(best)
    return members


def added(points, members, record, expand=False):
    """What one more record adds to the loss of a group."""
    before = len(members) * width(points, members, expand)
    return (len(members) + 1) * width(points, [*members, record], expand) - before


def numbered(groups, records):
    ids = np.full(records, -1)
    for group, members in enumerate(groups):
        ids[members] = group
    return ids.tolist()


def sets(table, records, ids):
    """The groups as lists of rows, each in the order of records."""
    rows = records.rows.tolist()
    return [[rows[i] for i in np.flatnonzero(ids == g)] for g in range(max(ids) + 1)]
