"""Identifiers are replaced on disk as in memory, byte for byte."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import RepeatedIdentifier
from shoal.files.writing import write_table


@pytest.fixture(params=["csv", "parquet"])
def source(request, tmp_path):
    draw = random.Random(5)
    data = pa.table(
        {
            "phone": [f"0{draw.randrange(10)}-{n:04}" for n in range(200)],
            "account": [draw.randrange(1000, 9000) + n * 10_000 for n in range(200)],
            "sex": [draw.choice("fm") for _ in range(200)],
            "ill": [draw.choice(["flu", "gout", "cold"]) for _ in range(200)],
        }
    )
    path = tmp_path / f"rows.{request.param}"
    if request.param == "csv":
        write_table(data, path)
    else:
        pq.write_table(data, path)
    return path


def roles(phone="drop", account="drop"):
    return {
        "phone": {"role": "identifier", "replace": phone},
        "account": {"role": "identifier", "replace": account},
        "sex": "quasi",
        "ill": "sensitive",
    }


@pytest.mark.parametrize(
    "asked",
    [
        roles(),
        roles(phone={"mask": {"first": 2}}),
        roles(account={"round": {"to": 100_000}}),
        roles(account={"clip": {"low": 500_000, "high": 510_000}}),
    ],
)
@pytest.mark.parametrize("method", ["mondrian", "flash"])
def test_the_release_is_that_of_the_table_in_memory(asked, method, source, tmp_path):
    made = []
    for place, read in enumerate((shoal.read, shoal.open)):
        release = shoal.anonymize(read(source, roles=asked), k=5, method=method)
        release.write(tmp_path / f"{place}.csv")
        made.append((tmp_path / f"{place}.csv").read_bytes())
    assert made[0] == made[1]


def test_identifiers_that_repeat_are_noticed_although_they_are_coarser(source, tmp_path):
    data = pq.read_table(source) if source.suffix == ".parquet" else None
    if data is None:
        pytest.skip("one format is enough")
    pq.write_table(pa.concat_tables([data, data]), source)
    table = shoal.open(source, roles=roles(phone={"mask": {"first": 2}}))
    with pytest.raises(RepeatedIdentifier):
        shoal.anonymize(table, k=5, method="flash")
