"""A release of safe-la in Spark is the release in memory and in DuckDB."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.rows import spark_sessions
from tests.rows.test_sampling import LOOSE, UNITS, records, schema_file, written

import shoal
from shoal.report import contents
from shoal.support.wording import plain

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.skipif(bool(spark_sessions.missing()), reason=spark_sessions.missing()),
    pytest.mark.xdist_group("spark"),
]


@pytest.mark.parametrize(
    ("units", "most"), [(UNITS[0], 1), (UNITS[1], 3), (UNITS[2], 2), (UNITS[3], 1)]
)
def test_a_seed_gives_the_release_in_memory(spark, units, most, tmp_path):
    path, schema = written(tmp_path, records()), schema_file(tmp_path, units)
    rows = {"rows_are_people": True} if "rows_are_people" in units else {}
    asked = {"method": "safe-la", "k": 3, "seed": 5, "max_rows_per_person": most, **LOOSE}
    one = shoal.anonymize(shoal.read(path, schema, **rows), **asked)
    other = shoal.anonymize(shoal.open(path, schema, engine="spark", **rows), **asked)
    assert one.node == other.node
    assert one.claims == other.claims
    assert other.claims[0].max_rows_per_person == most
    for ending in ("csv", "parquet"):
        first, second = tmp_path / f"one.{ending}", tmp_path / f"other.{ending}"
        assert one.write(first) == other.write(second)
        assert first.read_bytes() == second.read_bytes()
    assert plain(contents(one)) == plain(contents(other))
    assert other.write(tmp_path / "parts").holds
    parts = pq.ParquetDataset(tmp_path / "parts").read()
    assert parts.num_rows > 0
    assert parts.equals(one.to_arrow())
    assert other.to_native().toArrow().to_pylist() == parts.to_pylist()
    frame = spark.read.csv(str(path), header=True, escape='"').repartition(5)  # in another order
    again = shoal.anonymize(shoal.open(frame, schema, **rows), **asked)
    assert again.to_arrow().equals(one.to_arrow())


@pytest.mark.parametrize("most", [1, 3])
def test_live_draws_take_few_rows_of_a_person_under_the_claim_in_memory(spark, most):
    """60 people with 30 equal rows each; at most `most` rows of each may be drawn."""
    roles = {"town": {"role": "quasi", "type": "text", "values": ["a", "b"]}, "who": "identifier"}
    cells = [(f"p{n}", "ab"[n % 2]) for n in range(60) for _ in range(30)]
    asked = {"method": "safe-la", "k": 3, "max_rows_per_person": most, **LOOSE}
    frame = spark.createDataFrame(cells, "who string, town string").repartition(3)
    table = shoal.open(frame, roles=roles, person="who")
    releases = [shoal.anonymize(table, **asked) for _ in range(2)]
    people, towns = (pa.array(each) for each in zip(*cells, strict=True))
    rows = pa.table({"who": people, "town": towns})
    in_memory = shoal.anonymize(shoal.read(rows, roles=roles, person="who"), **asked)
    assert {release.claims for release in releases} == {in_memory.claims}
    assert 0 < max(release.to_arrow().num_rows for release in releases) <= 60 * most


def test_an_empty_release_of_a_frame_is_written(spark, tmp_path):
    role = {"role": "quasi", "type": "text", "values": ["a", "b"]}
    frame = spark.createDataFrame([("a",), ("b",)], "town string")
    table = shoal.open(frame, roles={"town": role})
    release = shoal.anonymize(table, k=50, method="safe-la")
    assert release.write(tmp_path / "none.csv").holds
    assert (tmp_path / "none.csv").read_text() == "town\n"
    assert release.to_spark().count() == 0


def test_rows_of_a_large_count_are_repeated_in_pieces(spark, tmp_path, monkeypatch):
    from shoal.rows.spark import parts as publishing

    monkeypatch.setattr(publishing, "_REPEATS", 7)
    role = {"role": "quasi", "type": "text", "values": ["a", "b"]}
    frame = spark.createDataFrame([("b",)] * 200 + [("a",)] * 100, "town string")
    release = shoal.anonymize(
        shoal.open(frame, roles={"town": role}), k=20, method="safe-la", seed=1, **LOOSE
    )
    assert release.to_spark().toArrow().to_pylist() == release.to_arrow().to_pylist()
    assert release.to_arrow().num_rows > 100
