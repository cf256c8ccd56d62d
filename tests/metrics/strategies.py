"""Random releases of small tables, by every way of recoding that there is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import Recoding
from shoal.table.table import Table

ORDER = ["low", "mid", "high"]
TREE = Hierarchy.from_rows(
    [("a", "ab", "abc", "*"), ("b", "ab", "abc", "*"), ("c", "c", "abc", "*"), ("d", "d", "d", "*")]
)
KINDS = {"age": pa.int64(), "size": pa.float64(), "rank": pa.string(), "town": pa.string()}
OPTIONS = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [2, 4]}, "bounds": (0, 12)},
    "size": {"role": "quasi"},
    "rank": {"role": "quasi", "order": ORDER},
    "town": {"role": "quasi", "hierarchy": TREE},
    "ill": {"role": "sensitive"},
    "note": {"role": "insensitive"},
}
row = st.fixed_dictionaries(
    {
        "age": st.none() | st.integers(0, 9),
        "size": st.none() | st.sampled_from([0.5, 1.0, 4.0, 9.0]),
        "rank": st.none() | st.sampled_from(ORDER),
        "town": st.none() | st.sampled_from("abcd"),
        "ill": st.sampled_from("xyz"),
        "note": st.none() | st.sampled_from("pq"),
    }
)


@st.composite
def tables(draw, most=9, quasi=None):
    """Draw a table of some of the columns, weighted or not."""
    rows = draw(st.lists(row, min_size=1, max_size=most))
    names = quasi or draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, unique=True))
    data = {n: pa.array([r[n] for r in rows], KINDS[n]) for n in names}
    data |= {n: pa.array([r[n] for r in rows], pa.string()) for n in ("ill", "note")}
    counts = draw(st.none() | st.just([1 + i % 3 for i in range(len(rows))]))
    return Table.from_arrow(pa.table(data), {n: OPTIONS[n] for n in data}, counts=counts)


def with_trees(table):
    """Return the quasi-identifiers, those without a hierarchy to be kept or hidden."""
    return [
        c if c.hierarchy else c.with_hierarchy({"suppression": None}) for c in table.quasi_columns
    ]


@st.composite
def grouped(draw):
    """Rows in groups, each published by what covers it; some are left out."""
    table = draw(tables())
    ids = _ids(draw, len(table), -1)
    summary = draw(st.sampled_from(["range", "set", "representative"]))
    trees = draw(st.booleans())
    groups = int(ids.max(initial=-1)) + 1
    return Release.of_groups(table, ids, groups, KAnonymity(2), summary, use_hierarchies=trees)


@st.composite
def freeform(draw):
    """Every row its own box: columns are grouped each in its own way."""
    table = draw(tables())
    recodings = {}
    for column in table.quasi_columns:
        ids = _ids(draw, len(table), 0)
        summary = draw(st.sampled_from(["range", "set"]))
        groups = int(ids.max()) + 1
        trees = draw(st.booleans())
        made = Recoding.of_groups(column, ids, groups, summary, use_hierarchy=trees)
        recodings[column.name] = made
    return Release(table, recodings, KAnonymity(3), _hidden(draw, len(table)))


@st.composite
def full_domain(draw):
    """Every column at one level of its hierarchy; some rows are left out."""
    table = draw(tables())
    recodings = {}
    for column in with_trees(table):
        level = draw(st.integers(0, column.hierarchy.height))
        recodings[column.name] = Recoding.at_level(column, level)
    return Release(table, recodings, KAnonymity(2), _hidden(draw, len(table)))


releases = grouped() | freeform() | full_domain()


def _ids(draw, rows, least):
    drawn = draw(st.lists(st.integers(least, 3), min_size=rows, max_size=rows))
    names = sorted(set(drawn) - {-1})
    return np.array([i if i < 0 else names.index(i) for i in drawn], dtype=np.int32)


def _hidden(draw, rows):
    hidden = draw(st.none() | st.lists(st.booleans(), min_size=rows, max_size=rows))
    return None if hidden is None or not any(hidden) else np.array(hidden)
