"""Columns that are only in the names of folders are columns like all others."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import InputError

ROLES = {"year": "quasi", "sex": "quasi", "ill": "sensitive"}
ROWS = pa.table(
    {
        "sex": ["f", "m"] * 30,
        "ill": ["flu", "gout", "cold"] * 20,
        "year": [2019] * 20 + [2020] * 20 + [2024] * 20,
    }
)


def written(release, path):
    release.write(path, force=True)
    return path.read_bytes()


@pytest.mark.parametrize("source", ["visits", "visits/*/*.parquet"])
def test_a_folder_per_year_is_the_table_with_a_year(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = tmp_path / "whole.parquet"
    pq.write_table(ROWS, whole)
    pq.write_to_dataset(ROWS, tmp_path / "visits", partition_cols=["year"])
    trees = {"year": {"intervals": [2, 4]}}
    options = {"roles": ROLES, "hierarchies": trees, "rows_are_people": True}
    one, other = (
        shoal.anonymize(shoal.open(path, **options), k=15, method="flash")
        for path in (whole, source)
    )
    assert written(one, tmp_path / "a.csv") == written(other, tmp_path / "b.csv")
    assert one.node == other.node


def test_text_files_and_missing_and_encoded_values(tmp_path):
    for name in ("town=A%2FB", "town=__HIVE_DEFAULT_PARTITION__", "town=007"):
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "a.csv").write_text("sex\n" + "f\nm\n" * 5)
    table = shoal.open(tmp_path / "in", roles={"town": "quasi", "sex": "quasi"})
    release = shoal.anonymize(table, k=5, method="mondrian")
    assert release.write(tmp_path / "out.parquet").holds
    towns = set(pq.read_table(tmp_path / "out.parquet").column("town").to_pylist())
    assert towns == {"A/B", "007", None}


def test_folders_that_name_other_columns_are_refused_without_their_values(tmp_path):
    for name in ("year=2024", "town=secret"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("sex\nf\n")
    with pytest.raises(InputError, match="its folders name other columns") as error:
        shoal.open(tmp_path, roles={"sex": "quasi"})
    assert "secret" not in str(error.value)
