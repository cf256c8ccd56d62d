"""Rows in Spark give the release that the same rows in memory give, byte for byte."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines import spark_sessions
from tests.engines.conftest import ROLES, TREES, rows

import shoal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.skipif(bool(spark_sessions.missing()), reason=spark_sessions.missing()),
    pytest.mark.xdist_group("spark"),
]
BY_ROLE = {
    role: [name for name, each in ROLES.items() if each == role] for role in set(ROLES.values())
}
NAN = float("nan")


def table(count=300):
    """Return records as a frame reads them: numbers are numbers, and NA is missing."""
    records = rows(count)
    cells = {name: [record[name] for record in records] for name in records[0]}
    cells["age"] = [None if age == "NA" else int(age) for age in cells["age"]]
    cells["income"] = list(map(float, cells["income"]))
    cells["cost"] = [Decimal(cost).quantize(Decimal("0.01")) for cost in cells["cost"]]
    cells["house"] = [record["patient"][:2] for record in records]
    kinds = {"age": pa.int16(), "cost": pa.decimal128(9, 2)}
    return pa.table({name: pa.array(each, kinds.get(name)) for name, each in cells.items()})


@pytest.fixture(scope="session")
def spark():
    session = spark_sessions.started()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def frame(spark):
    return spark.createDataFrame(table()).cache()


def assert_same(one, other, folder, endings=("csv", "parquet")):
    for ending in endings:
        first, second = folder / f"one.{ending}", folder / f"other.{ending}"
        assert one.write(first, force=True) == other.write(second, force=True)
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("model", "method", "options", "units"),
    [
        ("k-anonymity(3)", "flash", {}, {"rows_are_people": True}),
        ("k-anonymity(2)", "mondrian", {}, {"person": "patient"}),
        (
            "k-anonymity(2) & l-diversity(2, illness)",
            "ola",
            {"max_suppression": 0.2},
            {"person": "patient", "household": "house"},
        ),
    ],
)
def test_a_frame_gives_the_release_of_the_table_in_memory(
    model, method, options, units, frame, tmp_path
):
    asked = {**BY_ROLE, **units, "hierarchies": TREES, **options}
    one = shoal.anonymize(table(), model, method, **asked)
    other = shoal.anonymize(frame, model, method, **asked)
    assert one.node == other.node
    assert_same(one, other, tmp_path)
    checked = other.write(tmp_path / "parts")
    assert checked == one.verify()
    parts = pq.ParquetDataset(tmp_path / "parts").read()
    assert parts.equals(pq.read_table(tmp_path / "one.parquet"))
    assert other.to_native().toArrow().equals(parts)
    assert {path.name[:5] for path in (tmp_path / "parts").iterdir()} == {"part-", "_mani"}
