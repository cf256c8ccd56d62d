"""A damaged bit of a Parquet file is noticed, or nothing that is read depends on it."""

from __future__ import annotations

import random
from datetime import date, datetime
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.examples import times

import shoal
from shoal.files.parquet_checks import DamagedParquet, check_pages, open_parquet
from shoal.files.writing import write_table
from shoal.rows.file_sources import check_parquet

ROWS = 400
DATA = pa.table(
    {
        "age": pa.array([f"[{n % 7}, {n % 7 + 9}]" for n in range(ROWS)]),
        "number": pa.array([None if n % 9 == 0 else n - 5 for n in range(ROWS)], pa.int64()),
        "small": pa.array([n % 5 for n in range(ROWS)], pa.uint32()),
        "share": [n * 1.5 for n in range(ROWS)],
        "day": [date(2020, 1, 1 + n % 20) for n in range(ROWS)],
        "time": pa.array(
            [datetime(2020, 1, 1 + n % 20, 3) for n in range(ROWS)], pa.timestamp("s")
        ),
        "cost": pa.array([Decimal(n) / 4 for n in range(ROWS)], pa.decimal128(9, 2)),
        "well": [n % 3 == 0 for n in range(ROWS)],
    }
)
ROLES = {**dict.fromkeys(DATA.column_names, "insensitive"), "age": "quasi", "cost": "sensitive"}


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "release.parquet"
    write_table(DATA, path)
    return path


def flips(path, count, seed):
    """Write copies of a file with one bit flipped; half of the bits are in the footer."""
    content, draw = path.read_bytes(), random.Random(seed)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    copy = path.with_name("flipped.parquet")
    for number in range(count):
        place = draw.randrange(*(footer, len(content)) if number % 2 else (0, footer))
        damaged = bytearray(content)
        damaged[place] ^= 1 << draw.randrange(8)
        copy.write_bytes(damaged)
        yield copy


def outcome(read):
    """Return what is read, None if damage is noticed."""
    try:
        return read()
    except (shoal.InputError, pa.ArrowException, OSError, ValueError):
        return None


def by_arrow(path):
    with open_parquet(path) as file:
        return file.read()


def by_duckdb(path):
    check_parquet([path], [path])
    try:
        return duckdb.sql(f"SELECT * FROM read_parquet('{path}')").fetchall()
    except duckdb.Error:
        return None


@pytest.mark.parametrize("read", [by_arrow, by_duckdb])
def test_a_flipped_bit_is_noticed_or_changes_nothing(written, read):
    expected, noticed = read(written), 0
    for seed, path in enumerate(flips(written, times(600), seed=7)):
        found = outcome(lambda path=path: read(path))
        noticed += found is None
        assert found is None or found == expected, seed
    assert noticed > times(400)


def test_a_flipped_bit_of_a_table_is_noticed_or_changes_nothing(written):
    def read(path):
        table = shoal.read(path, roles=ROLES, rows_are_people=True)
        return table.to_arrow()

    expected = read(written)
    for path in flips(written, times(100), seed=11):
        found = outcome(lambda path=path: read(path))
        assert found is None or found.equals(expected)


def test_every_page_that_shoal_writes_is_checked_on_disk(written):
    content = written.read_bytes()
    with open_parquet(written) as file:
        chunks = [file.metadata.row_group(0).column(n) for n in range(DATA.num_columns)]
    check_pages(written)
    for chunk in chunks:
        end = (chunk.dictionary_page_offset or chunk.data_page_offset) + chunk.total_compressed_size
        damaged = bytearray(content)
        damaged[end - 1] ^= 1
        written.write_bytes(damaged)
        with pytest.raises(DamagedParquet, match="a page was changed"):
            check_pages(written)
        with pytest.raises(shoal.InputError, match=r"release\.parquet: is damaged or not Parquet"):
            shoal.read(written, roles=ROLES, rows_are_people=True)
        table = shoal.open(written, roles=ROLES, rows_are_people=True)
        with table, pytest.raises(shoal.InputError, match="is damaged or not Parquet"):
            shoal.anonymize(table, k=2)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("checksums", [False, True])
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_files_of_others_are_read_with_or_without_checksums(
    tmp_path, version, checksums, compression
):
    path = tmp_path / "theirs.parquet"
    nested = pa.array([[{"a": n, "b": [str(n)]}] for n in range(ROWS)])
    pq.write_table(
        DATA.append_column("nested", nested),
        path,
        data_page_version=version,
        write_page_checksum=checksums,
        compression=compression,
        row_group_size=150,
        data_page_size=100,
    )
    check_pages(path)
    roles = {**ROLES, "nested": "insensitive"}
    assert shoal.read(path, roles=roles, rows_are_people=True).records == ROWS
    theirs = tmp_path / "duckdb.parquet"
    duckdb.sql(f"COPY (SELECT * FROM read_parquet('{path}')) TO '{theirs}'")
    check_pages(theirs)


def test_a_release_that_another_program_changed_is_no_damage(written, tmp_path):
    changed = pq.read_table(written).append_column("more", pa.array(range(ROWS)))
    path = tmp_path / "changed.parquet"
    pq.write_table(changed, path)
    check_pages(path)
    roles = {**ROLES, "more": "insensitive"}
    assert shoal.read(path, roles=roles, rows_are_people=True).records == ROWS


def test_a_file_without_rows_or_columns_is_checked(tmp_path):
    path = tmp_path / "empty.parquet"
    write_table(DATA.slice(0, 0), path)
    check_pages(path)
    assert pq.read_table(path).num_rows == 0
    pq.write_table(pa.table({}), path)
    check_pages(path)
    assert pq.read_table(path).num_columns == 0
