"""Tables that have broken software for tables before, some by hand and as many as one draws."""

from __future__ import annotations

import sys
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal import Table
from shoal.table.people import Unit

COUNTIES = {"north": ["aa", "ab"], "south": {"coast": ["ba", "bb"], "hills": ["bc"]}}

# names of columns: the aliases of queries, keywords, functions and virtual columns of DuckDB and
# Spark, and names that look like syntax; no two differ only in case
ALIASES = [
    "n", "rowid", "person", "household", "count", "select", "order", "value", "class", "c0",
    "k0", "d0", "v", "w0", "r0", "t0", "p0", "e0", "l0", "x0",
    "file_row_number", "filename", "file_index", "rows", "row", "part", "id", "text", "cell", "key",
    "keys", "links", "linked", "encoded", "source", "given", "labels0", "codes0", "person_ids",
    "person0", "household_ids", "made", "numbers_r0", "released1", "entries", "sorted", "shown",
    "people", "tuples", "place", "digest", "info", "node", "hash", "units", "known", "time",
    "a", "b", "c", "d", "e", "g", "h", "m", "o", "q", "s", "z", "one", "old", "new", "old_name",
    "from", "where", "group", "by", "limit", "table", "all", "null", "true", "case", "end", "join",
    "union", "distinct", "exclude", "replace", "using", "as", "is", "in", "not", "primary", "user",
    "current_date", "current_user", "now()", "random()", "count(*)", "sum", "min", "max", "min(n)",
    "damaged", "_metadata", "_c0", "_1", "0", "1", "-1", "1.5", "*", "a.b", "a b", "a,b", "a;b",
    "a-b", 'a"b', "a'b", "a`b", "a\\b", '"', "'", "`", "--", "/*", "$path", "?", "{a}", "%", "$1",
    "é", "日本", "ß", "N'x'", "\u202ea", "\x1b[1m",
]  # fmt: skip


def people(rows=60, seed=0, missing=0.1):
    """A table with numbers, ranks, names, hierarchies, missing values and a sensitive column."""
    draw = np.random.default_rng(seed)

    def holes(values):
        return [None if draw.random() < missing else v for v in values]

    data = pa.table(
        {
            "age": pa.array(holes(draw.integers(18, 80, rows).tolist()), pa.int64()),
            "pay": pa.array(holes(draw.choice([1.5, 2.25, 3.0, 8.0], rows).tolist()), pa.float64()),
            "school": pa.array(holes(draw.choice(["low", "mid", "high"], rows).tolist())),
            "county": pa.array(holes(draw.choice(["aa", "ab", "ba", "bb", "bc"], rows).tolist())),
            "sex": pa.array(draw.choice(["f", "m"], rows).tolist()),
            "illness": pa.array(draw.choice(["flu", "cold", "gout", "none"], rows).tolist()),
            "note": pa.array([f"row {i}" for i in range(rows)]),
        }
    )
    return Table.from_arrow(data, roles())


def roles():
    return {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 40]}, "weight": 2},
        "pay": {"role": "quasi", "bounds": [0, 10]},
        "school": {"role": "quasi", "kind": "ordinal", "order": ["low", "mid", "high"]},
        "county": {"role": "quasi", "hierarchy": {"tree": COUNTIES}},
        "sex": {"role": "quasi"},
        "illness": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    }


def tiny(person=None, household=None, **columns):
    """A table of the given quasi-identifiers, with an illness that varies."""
    return about(tiny_of(columns), person, household)


def tiny_of(columns):
    """A table of quasi-identifiers, given by their names, with an illness that varies."""
    rows = len(next(iter(columns.values())))
    illness = [("flu", "cold", "gout", "none")[i % 4] for i in range(rows)]
    data = pa.table({**columns, "illness": illness})
    return Table.from_arrow(data, {**dict.fromkeys(columns, "quasi"), "illness": "sensitive"})


def about(table, person=None, household=None):
    """Return the table with whom each row is about, by any numbers."""
    units = [
        None if ids is None else Unit((what,), *_numbered(ids))
        for what, ids in (("person", person), ("household", household))
    ]
    return replace(table, person=units[0], household=units[1])


def _numbered(ids):
    found, dense = np.unique(np.asarray(ids), return_inverse=True)
    return dense.astype(np.int32), len(found)


def blanks():
    """A table whose missing cells are nulls, NaN and empty texts, among texts that look like it."""
    draw = np.random.default_rng(11)
    data = pa.table(
        {
            "text": draw.permutation(["", " ", "NA", "missing"] * 6).tolist(),
            "size": draw.choice([float("nan"), 1.5], 24),
            "illness": draw.permutation(["", "flu"] * 12).tolist(),
        }
    )
    return Table.from_arrow(data, {"text": "quasi", "size": "quasi", "illness": "sensitive"})


def declared():
    """A table with closed domains, most of whose values nobody has."""
    draw = np.random.default_rng(7)
    data = pa.table(
        {
            "age": draw.integers(30, 40, 24).tolist(),
            "sex": draw.choice(["f", "m"], 24).tolist(),
            "school": draw.choice(["mid", "low"], 24).tolist(),
            "pay": pa.array([None, *["12.50", "9.10"] * 11, None]),
            "smokes": ["true"] * 24,
            "illness": draw.choice(["flu", "cold", "gout", "none"], 24).tolist(),
        }
    )
    return Table.from_arrow(
        data,
        {
            "age": {
                "role": "quasi",
                "type": "integer",
                "bounds": [0, 110],
                "hierarchy": {"intervals": [5, 10]},
            },
            "sex": {"role": "quasi", "values": ["x", "m", "f"]},
            "school": {"role": "quasi", "kind": "ordinal", "values": ["low", "mid", "high"]},
            "pay": {"role": "quasi", "type": "decimal"},
            "smokes": {"role": "quasi", "type": "boolean"},
            "illness": {"role": "sensitive", "values": ["cold", "flu", "gout", "none", "pox"]},
        },
    )


def oddly_named():
    """A table whose columns are named like parts of a query."""
    draw = np.random.default_rng(13)
    names = ["n", "person", "count(*)", "ORDER", "c0"]
    return tiny_of({name: draw.integers(0, 4, 24).tolist() for name in names})


NASTY = {
    "people": people(),
    "many people": people(240, seed=1, missing=0.02),
    "all alike": tiny(age=[30] * 12, sex=["f"] * 12),
    "two alike groups": tiny(age=[30] * 8 + [70] * 8),
    "one odd row": tiny(age=[*[30] * 15, 99]),
    "all missing": tiny(age=pa.nulls(12, pa.int64()), sex=["f", "m"] * 6),
    "one missing": tiny(age=[None, *range(20, 35)]),
    "huge integers": tiny(number=pa.array([2**63 - 1 - i for i in range(16)], pa.int64())),
    "huger integers": tiny(number=[Decimal(10**30 + i // 3) for i in range(16)]),
    "odd texts": tiny(text=["*", "{a, b}", "a", "b", "[1, 2]", "", " ", "missing", "é", "'\""] * 2),
    "all different": tiny(age=list(range(20)), code=[f"c{i:02}" for i in range(20)]),
    "nan": tiny(size=[float("nan"), 1.5, 2.5, float("nan"), *[3.5] * 8]),
    "blanks": blanks(),
    "declared domains": declared(),
    "odd names": oddly_named(),
    "visits": about(people(90, seed=4), np.arange(90) // 3),
    "visits alike": tiny(age=[30 + i // 5 for i in range(60)], person=np.arange(60) // 5),
    "one busy person": tiny(age=[*range(20), *range(20)], person=[*range(20), *[3] * 20]),
    "few come again": tiny(age=[*range(20), 3, 4], person=[*range(20), 3, 4]),
    "homes": about(people(80, seed=6), np.arange(80) // 2, np.arange(80) // 6),
    "linked homes": tiny(
        age=list(range(16)), person=[0] * 8 + [*range(8)], household=[*range(8), *range(8)]
    ),
    "everybody is one": tiny(age=list(range(12)), person=[0] * 12),
    "many columns": tiny(**{f"q{i}": [(i * j) % 5 for j in range(24)] for i in range(30)}),
}
_LARGEST = sys.float_info.max
_ILLNESSES = ["flu", "cold", "gout", "none"]
_KINDS = {  # the cells of a drawn column, and its role
    "number": (st.integers(-3, 12), "quasi"),
    "banded": (st.integers(0, 60), {"role": "quasi", "hierarchy": {"intervals": [5, 20]}}),
    "huge": (st.integers(2**63 - 5, 2**63 - 1), "quasi"),
    "measure": (st.sampled_from([-1.5, 0.0, 2.25, 3.0, 1e6, float("nan")]), {"role": "quasi"}),
    "extreme": (
        st.sampled_from([-_LARGEST, _LARGEST, -1e308, 5e-324, -0.0, 0.0, 1.0, float("nan")]),
        "quasi",
    ),
    "end": (st.sampled_from([2**63 - 1, 2**63 - 2, -(2**63), 0, 1]), "quasi"),
    "unsigned": (st.integers(2**64 - 5, 2**64 - 1), "quasi"),
    "long decimal": (st.integers(0, 5).map(lambda n: Decimal(f"{10**30 + n}.5")), "quasi"),
    "word": (st.sampled_from(["a", "b", "c", "d"]), "quasi"),
    "odd text": (st.sampled_from(["*", "{a, b}", "a", "[1, 2]", "", " ", "missing", "é"]), "quasi"),
    "rank": (
        st.sampled_from(["low", "mid", "high"]),
        {"role": "quasi", "kind": "ordinal", "order": ["low", "mid", "high"]},
    ),
    "county": (
        st.sampled_from(["aa", "ab", "ba", "bb", "bc"]),
        {"role": "quasi", "hierarchy": {"tree": COUNTIES}},
    ),
    "flag": (st.booleans(), "quasi"),
    "constant": (st.just("same"), "quasi"),
    "nothing": (st.none(), "quasi"),
}
_TYPES = {
    "number": pa.int64(), "banded": pa.int64(), "huge": pa.int64(), "measure": pa.float64(),
    "extreme": pa.float64(), "end": pa.int64(), "unsigned": pa.uint64(), "flag": pa.bool_(),
    "long decimal": pa.decimal128(38, 1),
}  # fmt: skip


@st.composite
def _mixed(draw):
    """A table of one to four columns, each of a kind of its own."""
    rows = draw(st.integers(2, 40))
    kinds = draw(st.lists(st.sampled_from(sorted(_KINDS)), min_size=1, max_size=4, unique=True))
    illnesses = _ILLNESSES[: draw(st.integers(1, 4))]
    illnesses += draw(st.sampled_from([[], [""], [None], ["", None]]))
    cells = draw(st.lists(st.sampled_from(illnesses), min_size=rows, max_size=rows))
    columns = {"illness": pa.array(cells, pa.string())}
    for kind in kinds:
        values = _KINDS[kind][0]
        values = values if draw(st.booleans()) else st.none() | values
        cells = draw(st.lists(values, min_size=rows, max_size=rows))
        columns[kind] = pa.array(cells, _TYPES.get(kind, pa.string()))
    chosen = {kind: _KINDS[kind][1] for kind in kinds}
    return Table.from_arrow(pa.table(columns), {**chosen, "illness": "sensitive"})


@st.composite
def _visits(draw):
    """A table in which some people, and some households, have several rows."""
    table = draw(_mixed())
    ids = st.lists(st.integers(0, draw(st.integers(1, 30))), min_size=len(table))
    person = draw(ids)[: len(table)]
    household = draw(st.none() | ids)
    return about(table, person, household and household[: len(table)])


@st.composite
def visits(draw):
    """A table of people with several rows, some columns of which do not differ between them."""
    people = draw(st.integers(2, 14))
    numbers = draw(st.lists(st.integers(1, 4), min_size=people, max_size=people))
    person = [who for who, number in enumerate(numbers) for _ in range(number)]
    kinds = draw(st.lists(st.sampled_from(sorted(_KINDS)), min_size=1, max_size=3, unique=True))
    illnesses = st.lists(st.sampled_from(_ILLNESSES), min_size=len(person), max_size=len(person))
    columns = {"illness": draw(illnesses)}
    for kind in kinds:
        values = _KINDS[kind][0]
        values = values if draw(st.booleans()) else st.none() | values
        own = draw(st.lists(values, min_size=people, max_size=people))
        cells = [own[who] for who in person]
        if draw(st.booleans()):
            cells = draw(st.lists(values, min_size=len(person), max_size=len(person)))
        columns[kind] = pa.array(cells, _TYPES.get(kind, pa.string()))
    chosen = {kind: _KINDS[kind][1] for kind in kinds}
    table = Table.from_arrow(pa.table(columns), {**chosen, "illness": "sensitive"})
    return about(table, person)


def tables():
    """Draw a table of few columns, or one of people, who may have several rows."""
    shares = st.sampled_from([0.0, 0.1, 0.6])
    crowds = st.builds(people, st.integers(2, 50), st.integers(0, 10**6), shares)
    return _mixed() | _visits() | crowds
