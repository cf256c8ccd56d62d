"""Questions about released rows have the same answers in every store, and those of plain loops."""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.rows import spark_sessions

from shoal.rows.duckdb_rows import DuckDBRows
from shoal.rows.duckdb_session import Session
from shoal.rows.memory import Budget
from shoal.rows.packing import Packing
from shoal.rows.queries import EncodedRows, Released, count_files, numbers_of
from shoal.rows.store import HOUSEHOLD, PERSON, Joined, Order, Plan

SPARK = pytest.param(
    "spark",
    marks=[
        pytest.mark.slow,
        pytest.mark.skipif(bool(spark_sessions.missing()), reason=spark_sessions.missing()),
        pytest.mark.filterwarnings("ignore::FutureWarning"),
        pytest.mark.filterwarnings("ignore::ResourceWarning"),
        pytest.mark.xdist_group("spark"),
    ],
)
NAN = float("nan")
CLASSES = Packing.of({"age": 4, "sex": 3})


@pytest.fixture(params=["duckdb", SPARK])
def stored(request, tmp_path):
    """Return a function that stores an Arrow table as rows."""
    if request.param == "spark":
        from shoal.rows.spark.codes import small_frame
        from shoal.rows.spark.rows import SparkRows

        session = request.getfixturevalue("spark")
        yield lambda table: SparkRows(small_frame(session, table))
        return
    session = Session(tmp_path, Budget.parse("400MB"), Path("rows"))

    def store(table):
        session.store("stored", table)
        return DuckDBRows(session, "stored")

    yield store
    session.close()


def plain(stored, cells, kind=None, order=None):
    """Return released rows of one class with a plain column, and its type."""
    array = pa.array(cells, kind)
    table = pa.table({"k0": np.zeros(len(array), dtype=np.int64), "p0": array})
    return Released(stored(table), {"note": "p0"}, Packing.of({"age": 2}), {}), array.type


def in_order(stored, cells, how, kind=None):
    """Return the cells of a plain column in the order of this kind."""
    released, _ = plain(stored, cells, kind)
    order = Order(Packing.of({"age": 2}), {}, {"note": how}, ["note", "age"])
    batches = pa.Table.from_batches(list(released.batches(order, 3)))
    return batches.column("p0").to_pylist()


def matching(stored, pattern, texts):
    rows = stored(pa.table({"p0": texts}))
    found = rows.arrow(f"SELECT p0 FROM {{rows}} WHERE {rows.matches('p0', pattern)}")
    return sorted(found.column("p0").to_pylist())


def test_nulls_come_last(stored):
    assert in_order(stored, [None, 2, None, 1], "value") == [1, 2, None, None]
    assert in_order(stored, [None, "b", "a"], "text") == ["a", "b", None]
    assert in_order(stored, ["10", None, "9"], "number") == ["9", "10", None]


def test_nulls_are_ranked_among_few_texts(stored):
    assert in_order(stored, ["10", None, "9", "a", "9"], "natural") == ["9", "9", "10", "a", None]


def test_backslashes_of_patterns_are_not_escapes_of_texts(stored):
    assert matching(stored, r"^\d\\$", ["1\\", "d\\", "1"]) == ["1\\"]


def test_quotes_and_braces_of_patterns_are_part_of_them(stored):
    assert matching(stored, "^'{2,3}$", ["'", "''", "'''", "{2,3}"]) == ["''", "'''"]


def test_the_end_of_a_pattern_is_the_end_of_the_text(stored):
    assert matching(stored, "a$", ["a", "a\n", "a\nb"]) == ["a"]


@pytest.mark.parametrize("text", ["1_000", "1d", "1f", "0x10", "NaN", "1e5", " 1", "1e400", ""])
def test_only_our_pattern_says_what_is_a_number(stored, text):
    released, kind = plain(stored, ["12.5", None, text])
    assert not released.facts("note", kind).numbers


def test_numbers_of_texts_are_compared_as_numbers(stored):
    released, kind = plain(stored, ["12.5", None, "-3"])
    assert released.facts("note", kind).numbers
    assert in_order(stored, ["9", "10", "-3", "2.5"], "number") == ["-3", "2.5", "9", "10"]


def test_decimals_are_not_rounded_by_the_order(stored):
    cells = [Decimal("2.5"), Decimal("1.5"), Decimal("2.4"), Decimal("-0.1")]
    kind = pa.decimal128(5, 1)
    assert in_order(stored, cells, "value", kind) == sorted(cells)


@pytest.mark.parametrize(
    ("kind", "cells"), [(pa.int64(), [-(2**63), 5]), (pa.uint64(), [2**64 - 1, 0])]
)
def test_the_widest_integer_does_not_overflow(stored, kind, cells):
    released, _ = plain(stored, cells, kind)
    assert released.facts("note", kind).widest == max(map(abs, cells))


def test_words_of_all_bits_are_those_of_numpy(stored):
    domains = {"a": 1 << 31, "b": 1 << 31, "c": 1 << 20, "d": 3}
    packing, draw = Packing.of(domains), np.random.default_rng(1)
    codes = {n: np.append(draw.integers(0, d, 50), [0, d - 1]) for n, d in domains.items()}
    rows = stored(pa.table(codes))
    words = packing.pack_in_sql({name: name for name in codes})
    listed = ", ".join(f"{word} AS k{j}" for j, word in enumerate(words))
    packed = rows.select(f"SELECT x.*, {listed} FROM {{rows}} x")
    unpacked = ", ".join(f"{packing.unpack_in_sql(name)} AS u{name}" for name in codes)
    found = packed.arrow(f"SELECT x.*, {unpacked} FROM {{rows}} x ORDER BY k0, k1")
    order = np.lexsort(packing.pack(codes)[::-1])
    for j, word in enumerate(packing.pack(codes)):
        assert numbers_of(found, f"k{j}").tolist() == word[order].tolist()
    for name in codes:
        assert numbers_of(found, f"u{name}").tolist() == codes[name][order].tolist()


def test_no_query_has_the_name_of_a_column():
    asked = []

    class Recorded:
        def arrow(self, query, **small):
            asked.append(query)
            columns = [*re.findall(r" AS (\w+)", query), *re.findall(r"\bk0\b", query)]
            return pa.table({column: [0] for column in columns})

        def sorted(self, query, size, **small):
            asked.append(query)
            return iter(())

        def matches(self, cell, pattern):
            return f"{cell} ~ ?"

    name, note = '"secret"', 'the "secret" note'
    packing = Packing.of({name: 2})
    released = Released(Recorded(), {name: "d0", note: "p0"}, packing, {})
    released.used(name, np.array([0]))
    released.facts(note, pa.string())
    released.count_alone([name, note], with_quasi=True)
    released.sizes(packing)
    released.count_classes(name)
    released.count_with_value(name, 0)
    released.count_cells(name)
    released.people_with(name, 1)
    list(released.batches(Order(packing, {}, {note: "natural"}, [name, note]), 1))
    assert len(asked) == 10
    assert not any('"' in query or "secret" in query for query in asked)


def test_times_are_midnights_whatever_the_zone_of_the_session(stored):
    # in Brazil, 4 November 2018 began at one o'clock
    midnights = [datetime(2018, 11, 4), datetime(2020, 1, 1), None]
    for kind in (pa.timestamp("us"), pa.timestamp("ms")):
        assert plain(stored, midnights, kind)[0].facts("note", kind).midnights
        later = [*midnights, datetime(2020, 1, 1, 0, 0, 0, 1000)]
        assert not plain(stored, later, kind)[0].facts("note", kind).midnights


def test_texts_are_in_the_order_of_their_bytes(stored):
    texts = [
        "\uffff",
        "\U0001f600",
        "\ue000",
        "a",
        "A",
        "é",
        "e\u0301",
        "ß",
        "",
        "\t",
        "~",
        "\ud7ff",
    ]
    expected = sorted(texts, key=lambda text: text.encode())
    assert in_order(stored, texts, "text") == expected


def test_nan_is_one_value_and_zero_has_no_sign(stored):
    released, kind = plain(stored, [NAN, -NAN, -0.0, 0.0, 1.5])
    assert released.facts("note", kind).distinct == 3


def test_an_empty_text_is_not_null(stored):
    released, kind = plain(stored, ["", None, "a"])
    assert released.facts("note", kind).distinct == 2
    assert released.count_alone(["note"]) == 3


def test_large_integers_are_compared_as_texts(stored):
    cells = [10**17, -(10**17), 9, 80]
    assert in_order(stored, cells, "text") == sorted(cells, key=str)


@pytest.fixture(params=[0, 1, 2])
def drawn(request):
    """Return encoded rows with the words of their classes, and the same rows for loops."""
    draw, rows = random.Random(request.param), 200
    cells = {
        "d0": [draw.randrange(4) for _ in range(rows)],
        "d1": [draw.randrange(3) for _ in range(rows)],
        "d2": [draw.randrange(5) for _ in range(rows)],
        "person": [draw.randrange(80) for _ in range(rows)],
        "household": [draw.randrange(30) for _ in range(rows)],
    }
    published = {"age": np.array(cells["d0"]) // 2, "sex": np.array(cells["d1"])}
    cells["k0"] = CLASSES.pack(published)[0].tolist()
    return pa.table(cells), [
        dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)
    ]


COLUMNS = {"age": "d0", "sex": "d1", "ill": "d2"}


@pytest.fixture(params=["rows", "people", "people of two columns"])
def encoded(request, stored, drawn):
    units = {} if request.param == "rows" else {PERSON: ["person"], HOUSEHOLD: ["household"]}
    rows = stored(drawn[0])
    if request.param == "people of two columns":
        if isinstance(rows, DuckDBRows):
            pytest.skip("DuckDB numbers people by one column")
        units = {PERSON: ["person", "household"], HOUSEHOLD: ["household"]}
    return EncodedRows(rows, COLUMNS, units)


@pytest.fixture
def released(encoded):
    return encoded.released(encoded.rows, CLASSES, None), encoded.units


def counts(rows, key, units):
    """Return the numbers of rows, people and households of each group."""
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return {
        key: (
            len(some),
            *(len({tuple(row[c] for c in cells) for row in some}) for cells in units.values()),
        )
        for key, some in groups.items()
    }


def as_counts(counted):
    """Return counts by the words of the class, and the further value if there is one."""
    keys = [word.tolist() for word in counted.words]
    keys += [] if counted.value is None else [counted.value.tolist()]
    numbers = [counted.rows, counted.people, counted.households]
    listed = [each.tolist() for each in numbers if each is not None]
    found = dict(zip(zip(*keys, strict=True), zip(*listed, strict=True), strict=True))
    assert len(found) == len(counted.rows)
    return found


def test_classes_are_counted_like_in_a_loop(released, drawn):
    released, units = released
    rows = drawn[1]
    assert as_counts(released.count_classes()) == counts(rows, lambda r: (r["k0"],), units)
    by_value = counts(rows, lambda r: (r["k0"], r["d2"]), units)
    assert as_counts(released.count_classes("ill")) == by_value
    known = [row for row in rows if row["d2"] != 3]
    expected = counts(known, lambda r: (r["k0"],), units)
    assert as_counts(released.count_with_value("ill", 3)) == expected
    (total,) = counts(rows, lambda _: (), units).values()
    numbers = released.total.rows, released.total.people, released.total.households
    assert tuple(each for each in numbers if each is not None) == total


def test_sizes_are_counted_like_in_a_loop(released, drawn):
    released, _ = released
    for packing, columns in ((None, ["k0"]), (CLASSES, ["d0", "d1"])):
        sizes = Counter(Counter(tuple(row[c] for c in columns) for row in drawn[1]).values())
        found = zip(*(each.tolist() for each in released.sizes(packing)), strict=True)
        assert list(found) == sorted(sizes.items())


def test_cells_and_values_are_counted_like_in_a_loop(released, drawn):
    released, units = released
    rows = drawn[1]
    pairs = zip(*(part.tolist() for part in released.count_cells("age")), strict=True)
    cells = Counter((row["d0"] // 2, row["d0"]) for row in rows)
    assert [((cell, code), n) for cell, code, n in pairs] == sorted(cells.items())
    people = counts(rows, lambda r: r["d2"], units)
    expected = [people.get(code, (0, 0))[1 if units else 0] for code in range(6)]
    assert released.people_with("ill", 6).tolist() == expected
    assert released.used("ill", np.array([1, 4, 9])).tolist() == [1, 4]


@pytest.mark.parametrize("with_quasi", [False, True])
def test_people_who_are_alone_are_counted_like_in_a_loop(released, drawn, with_quasi):
    released, units = released
    rows = drawn[1]
    person = units.get(PERSON, ())
    groups = {}
    for place, row in enumerate(rows):
        key = row["d0"], row["d2"], *([row["k0"]] if with_quasi else [])
        someone = tuple(row[cell] for cell in person) if person else place
        groups.setdefault(key, set()).add(someone)
    alone = {next(iter(people)) for people in groups.values() if len(people) == 1}
    assert released.count_alone(["age", "ill"], with_quasi=with_quasi) == len(alone)


def test_rows_are_sorted_like_in_a_loop(released, drawn):
    released, _ = released
    ranks = np.array([2, 0, 1, 4, 3], dtype=np.int32)
    packing = Packing.of({"ill": 5, "sex": 3, "age": 4})
    batches = released.batches(Order(packing, {"ill": ranks}, {}, ["ill", "sex", "age"]), 64)
    found = pa.Table.from_batches(list(batches))
    words = [numbers_of(found, "w0")]
    cells = [packing.unpack(words, name).tolist() for name in ("ill", "sex", "age")]
    expected = sorted((int(ranks[r["d2"]]), r["d1"], r["d0"] // 2) for r in drawn[1])
    assert list(zip(*cells, strict=True)) == expected


HALVED = {"age": np.array([0, 0, 1, 1]), "sex": np.array([0, 1, 2])}


@pytest.mark.parametrize("people", [False, True])
def test_tuples_are_grouped_like_in_a_loop(encoded, drawn, people):
    nodes = [{}, {"age": HALVED["age"]}, {"age": np.zeros(4, dtype=np.int32)}]
    asked = []

    def count_about(units):
        for about in (90, 10, 2):
            asked.append(units)
            yield about

    packing = Packing.of({"ill": 5, "age": 4})
    found = encoded.tuples(packing, nodes, 20, people, count_about)
    units = encoded.units if people else {}
    assert asked == [list(dict.fromkeys(cell for each in units.values() for cell in each))] * 2
    assert found.node == 1  # the first with at most 20
    keys = [packing.unpack(found.words, name).tolist() for name in ("ill", "age")]
    ids = [each.tolist() for each in (found.person, found.household) if each is not None]
    tuples = Counter()
    people_of = {}
    for row in drawn[1]:
        own = tuple(tuple(row[cell] for cell in cells) for cells in units.values())
        tuples[row["d2"], row["d0"] // 2, *own] += 1
    rows = list(zip(*keys, *ids, found.counts.tolist(), strict=True))
    assert sorted(n for *_, n in rows) == sorted(tuples.values())
    for ill, age, *numbers, _ in rows:
        people_of.setdefault(tuple(numbers), set()).add((ill, age))
    own = {}
    for ill, age, *keys in tuples:
        own.setdefault(tuple(keys), set()).add((ill, age))
    assert sorted(map(sorted, people_of.values())) == sorted(map(sorted, own.values()))


def test_too_many_tuples_are_only_counted(encoded):
    packing = Packing.of({"age": 4})
    assert encoded.tuples(packing, [{}, {}], 1, False, lambda _: iter([8, 4])) == 4
    assert len(encoded.tuples(packing, [{}], None, False, lambda _: iter(()))) == 4


def test_maps_and_results_of_tuples_give_the_same_classes(encoded, drawn):
    maps = Plan(CLASSES, HALVED)
    packing = Packing.of({"age": 4, "sex": 3})
    grid = {"age": np.repeat(np.arange(4), 3), "sex": np.tile(np.arange(3), 4)}
    classes = CLASSES.pack({name: HALVED[name][grid[name]] for name in grid})
    joined = Plan(CLASSES, {}, joined=Joined(packing, packing.pack(grid), classes))
    expected = counts(drawn[1], lambda r: (r["k0"],), encoded.units)
    bare = EncodedRows(
        encoded.rows.select("SELECT d0, d1, d2, person, household FROM {rows} x"),
        COLUMNS,
        encoded.units,
    )
    for plan in (maps, joined):
        released = bare.released(bare.with_classes(plan), CLASSES, None)
        assert as_counts(released.count_classes()) == expected
    gone = [np.array(sorted(key for (key,) in expected))[:2]]
    released = bare.released(bare.with_classes(maps), CLASSES, gone)
    kept = {key: n for key, n in expected.items() if key[0] not in gone[0]}
    assert as_counts(released.count_classes()) == kept


def test_classes_of_written_rows_are_counted_by_label(stored):
    rows = stored(
        pa.table(
            {
                "c0": ["a", None, "", "a", "a", "new"],
                "c1": [1.5, 1.5, 0.0, None, 1.5, 0.0],
                "c2": ["p", "p", None, None, "q", "r"],
            }
        )
    )
    labels = {"town": pa.array(["", "a", None]), "size": pa.array([0.0, 1.5, None])}
    columns = {"town": "c0", "size": "c1", "id": "c2"}
    packing = Packing.of({"town": 4, "size": 4})
    codes = {"town": np.array([1, 2, 0, 1]), "size": np.array([1, 1, 0, 2])}
    keys = [(word,) for word in packing.pack(codes)[0].tolist()]
    found = count_files(rows, columns, labels, "id")
    expected = dict(zip(keys, [(2, 2), (1, 1), (1, 1), (1, 1)], strict=True))
    assert as_counts(found) == {**expected, (-1,): (1, 1)}  # "new" is no label
    by_size = as_counts(count_files(rows, columns, labels, "size"))
    assert by_size == {(1, 1): (2,), (2, 1): (1,), (0, 0): (1,), (1, 2): (1,), (-1, 0): (1,)}
    people = count_files(rows, columns, {}, "id")  # two missing cells are two people
    assert (people.rows.tolist(), people.people.tolist()) == ([6], [5])
