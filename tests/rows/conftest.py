"""Tables whose cells are hard to keep as they are, small enough for many runs."""

from __future__ import annotations

import csv
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.rows import spark_sessions

ROLES = {
    "postcode": "quasi",
    "age": "quasi",
    "income": "quasi",
    "sex": "quasi",
    "note": "insensitive",
    "illness": "sensitive",
    "cost": "sensitive",
}
TREES = {
    "postcode": {"mask": "right"},
    "age": {"intervals": [10, 20, 40]},
    "income": {"intervals": [10, 50]},
}
NOTES = ["plain", 'quo"ted', "a, b", "two\nlines", "", "=1+1", "Zoë", "10", "9"]


def rows(count=300, seed=1):
    """Return records with leading zeros, missing spellings, long decimals and odd texts."""
    draw = random.Random(seed)
    return [
        {
            "patient": f"p{draw.randrange(count // 2)}",
            "postcode": f"0{draw.randrange(10, 16)}{draw.randrange(3)}",
            "age": draw.choice(["NA", *map(str, range(20, 60, 3))]),
            "income": draw.choice(["12.50", "12.5", "9.125", "40", "77.0"]),
            "note": draw.choice(NOTES),
            "sex": draw.choice(["f", "m", ""]),
            "illness": draw.choice(["flu", "gout", "cold", "", "NA"]),
            "cost": draw.choice(["100.10", "7.5", "3000"]),
        }
        for _ in range(count)
    ]


@pytest.fixture
def people(tmp_path):
    """A CSV file of 300 rows."""
    path = tmp_path / "people.csv"
    write_csv(path, rows())
    return path


def write_csv(path, records):
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, records[0])
        writer.writeheader()
        writer.writerows(records)


@pytest.fixture
def typed(tmp_path):
    """A Parquet file with the types that Parquet has."""
    from datetime import date, datetime
    from decimal import Decimal

    draw = random.Random(2)
    count = 300
    data = pa.table(
        {
            "age": pa.array(
                [draw.choice([None, *range(20, 40)]) for _ in range(count)], pa.int16()
            ),
            "height": [draw.choice([1.5, 1.75, float("nan"), -0.0, 0.0]) for _ in range(count)],
            "born": [draw.choice([None, date(1980, 1, 1), date(1990, 5, 2)]) for _ in range(count)],
            "town": pa.array([draw.choice("abc") for _ in range(count)]).dictionary_encode(),
            "seen": pa.array(
                [draw.choice([datetime(2020, 1, d) for d in range(1, 9)]) for _ in range(count)],
                pa.timestamp("ms"),
            ),
            "fee": pa.array(
                [draw.choice([Decimal("1.10"), Decimal("20.05")]) for _ in range(count)],
                pa.decimal128(9, 2),
            ),
            "ill": [draw.choice([True, False, None]) for _ in range(count)],
        }
    )
    path = tmp_path / "typed.parquet"
    pq.write_table(data, path, row_group_size=100)
    return path


@pytest.fixture(scope="session")
def log(tmp_path_factory):
    """The file with everything that Spark logs, at the level INFO."""
    return tmp_path_factory.mktemp("spark") / "spark.log"


@pytest.fixture(scope="session")
def spark(log):
    session = spark_sessions.started(log.parent)
    yield session
    session.stop()
