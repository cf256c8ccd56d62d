"""Faults that are brought about for real: a full disk, a dead worker, a damaged part."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import InputError, OutputError
from shoal.rows.partitions import WorkerLost
from shoal.support.progress import listening

resource = pytest.importorskip("resource")
ROLES = {"age": "quasi", "zip": "quasi", "visit": "insensitive", "ill": "sensitive"}
ROWS = 60_000


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A folder of two parts, with working files in a folder of their own."""
    draw = random.Random(3)
    (tmp_path / "in").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "work"))
    for part in range(2):
        cells = {
            "age": [draw.randrange(20, 90) for _ in range(ROWS // 2)],
            "zip": [f"{draw.randrange(500):05}" for _ in range(ROWS // 2)],
            "visit": [f"secret-{draw.random()}" for _ in range(ROWS // 2)],
            "ill": [draw.choice(["flu", "gout", "cold"]) for _ in range(ROWS // 2)],
        }
        pq.write_table(pa.table(cells), tmp_path / "in" / f"{part}.parquet")
    return tmp_path / "in"


@pytest.fixture
def output(source, tmp_path):
    """A release that exists already."""
    (tmp_path / "out").mkdir()
    with opened(source) as table:
        shoal.anonymize(table, k=20, method="flash").write(tmp_path / "out" / "release")
    return tmp_path / "out" / "release"


def opened(source, **more):
    trees = {"zip": {"mask": "right"}, "age": {"intervals": [10, 20]}}
    return shoal.open(source, roles=ROLES, hierarchies=trees, memory="300MB", **more)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextmanager
def files_of_at_most(size):
    """Let every write beyond this size fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def assert_nothing_left(output, before):
    """The old output is as it was, there is nothing beside it, and working files are gone."""
    assert content(output) == before
    assert [path.name for path in output.parent.iterdir()] == [output.name]
    assert list((output.parents[1] / "work").iterdir()) == []


def test_a_disk_without_room_for_working_files(source, output):
    before = content(output)
    with files_of_at_most(300_000), pytest.raises(OutputError) as error, opened(source) as table:
        shoal.anonymize(table, k=20, method="flash").write(output, force=True)
    assert "no space left for temporary files" in str(error.value)
    assert "secret" not in str(error.value)
    assert_nothing_left(output, before)


def test_a_disk_without_room_for_the_output(source, output):
    before = content(output)
    with opened(source) as table:
        release = shoal.anonymize(table, k=20, method="flash")
        release.verify()
        with files_of_at_most(100_000), pytest.raises(OutputError):
            release.write(output, force=True)
    assert_nothing_left(output, before)
    with opened(source) as table:  # a second run starts again
        assert shoal.anonymize(table, k=20, method="flash").write(output, force=True).holds
    assert content(output) == before


def test_a_part_with_a_damaged_page(source, output):
    before, part = content(output), source / "1.parquet"
    damaged = bytearray(part.read_bytes())
    for place in range(1000, len(damaged) // 2, 97):
        damaged[place] ^= 0xFF
    part.write_bytes(damaged)
    with pytest.raises(InputError, match="in: cannot be read") as error, opened(source) as table:
        shoal.anonymize(table, k=20, method="flash").write(output, force=True)
    assert "secret" not in str(error.value)
    assert_nothing_left(output, before)


@pytest.mark.parametrize("change", ["type", "columns"])
def test_a_part_with_another_schema(change, source, output):
    before, part = content(output), source / "1.parquet"
    data = pq.read_table(part)
    ages = data.column("age").cast(pa.string())
    data = data.drop(["ill"]) if change == "columns" else data.set_column(0, "age", ages)
    pq.write_table(data, part)
    with pytest.raises(InputError, match=r"1.parquet: its .* differ from 0.parquet"):
        opened(source)
    assert_nothing_left(output, before)


@dataclass(frozen=True)
class Dying:
    """A method whose process is killed on its first partition."""

    name = "sorted"

    def search(self, table, model):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed(source, output):
    before = content(output)
    with pytest.raises(WorkerLost), opened(source, partition_rows=20_000, processes=2) as table:
        shoal.anonymize(table, k=20, method=Dying()).write(output, force=True)
    assert_nothing_left(output, before)


@pytest.mark.parametrize("stage", ["encode", "group", "write", "verify"])
def test_an_interrupt_at_any_stage(stage, source, output):
    before = content(output)

    def interrupt(progress):
        if progress.stage == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupt), opened(source) as table:
        shoal.anonymize(table, k=20, method="flash").write(output, force=True)
    assert_nothing_left(output, before)
