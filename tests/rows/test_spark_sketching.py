"""The smallest hashes of mapped tuples give their number, without Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from shoal.rows.packing import Packing
from shoal.rows.spark import codes as sketching

STORED = Packing.of({"town": 5000, "age": 100, "sex": 2, "job": 1 << 30, "street": 1 << 20})
ASKED = Packing.of({"street": 1 << 20, "town": 5000, "age": 100})
HALVED = {"town": np.arange(5000) // 2, "age": np.zeros(100, dtype=np.int32)}


def counts(codes, units=None, tasks=3):
    """Return the counts at three nodes, of rows that several tasks read in batches."""
    columns = {f"w{j}": word for j, word in enumerate(STORED.pack(codes))}
    if units is not None:
        columns["units"] = units
    table = pa.table(columns)
    nodes = [{}, HALVED, {"street": np.zeros(1 << 20, dtype=np.int32)}]
    smallest = sketching._smallest(
        sketching._columns(STORED, ASKED, nodes), 3, units is not None, sketching._KEPT
    )
    rows = -(-table.num_rows // tasks)
    found = [
        batch
        for task in range(tasks)
        for batch in smallest(table.slice(task * rows, rows).to_batches(max_chunksize=9000))
    ]
    assert max(batch.num_rows for batch in found) <= sketching._KEPT
    merged = list(sketching._merging(sketching._KEPT)(found))
    return [row["tuples"] for batch in merged for row in batch.to_pylist()]


def drawn(rows):
    draw = np.random.default_rng(4)
    codes = {name: draw.integers(0, 1 << place.bits, rows) for name, place in STORED.places.items()}
    return codes | {"town": draw.integers(0, 5000, rows), "age": draw.integers(0, 100, rows)}


def exact(codes, persons):
    """Return the numbers of distinct tuples at the three nodes."""
    street, town, age = (codes[name] for name in ("street", "town", "age"))
    nodes = [(street, town, age), (street, town // 2), (town, age)]
    more = () if persons is None else (persons,)
    return [len(np.unique(np.stack([*node, *more]), axis=1).T) for node in nodes]


@pytest.mark.parametrize("people", [False, True])
def test_few_tuples_are_counted_exactly_and_many_nearly(people):
    codes, persons = drawn(200_000), None
    if people:
        units = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 40)
        persons = units[np.arange(200_000) % 40]
    assert counts(codes, persons) == pytest.approx(exact(codes, persons), rel=0.06)
    twice = np.arange(1800) % 900
    few = {name: each[twice] for name, each in codes.items()}
    persons = None if persons is None else persons[twice]
    assert counts(few, persons) == exact(few, persons)
