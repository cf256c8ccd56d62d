"""Methods that separate equal records run on partitions of neighbours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows.conftest import ROLES, rows, write_csv

import shoal
from shoal import InputError
from shoal.rows.partitions import WorkerLost, bins, cut, map_in_pool
from shoal.table.column import Column

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")


def opened(path, **more):
    settings = {"roles": ROLES, "missing": ["NA"], "rows_are_people": True, "processes": 0}
    return shoal.open(path, **{**settings, **more})


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("sorted", {}),
        ("greedy", {}),
        ("k-member", {}),
        ("anneal", {"time_limit": 0.2}),
        ("mondrian", {"strict": False}),
    ],
)
def test_every_grouping_method_gives_a_verified_release(method, options, people, tmp_path):
    table = opened(people, partition_rows=100)
    release = shoal.anonymize(table, k=3, method=method, **options)
    checked = release.write(tmp_path / "release.csv")
    assert checked.holds
    assert (checked.smallest >= 3, checked.records) == (True, 300)
    assert "partitions of at most 100 rows" in release.run.notes[0]
    assert "cost of a cut, measured on two neighbouring partitions" in release.run.notes[1]
    assert 0 < release.losses["ncp"] < 1


def test_the_optimum_of_a_partition_is_not_stated_for_the_whole_table(people):
    table = opened(people, partition_rows=100)
    release = shoal.anonymize(table, k=3, method="optimal", time_limit=0)
    assert release.proof is None
    assert not any("best possible" in note or "optimal" in note for note in release.run.notes)


def test_one_partition_is_the_release_in_memory(people, tmp_path):
    order = ["patient", "postcode", "age", "income", "note", "sex", "illness", "cost"]
    sorted_rows = sorted(rows(), key=lambda record: [record[name] for name in order[1:]])
    write_csv(people, sorted_rows)
    settings = {"roles": ROLES, "missing": ["NA"], "rows_are_people": True}
    one = shoal.anonymize(shoal.read(people, **settings), "l-diversity(2, illness)", "greedy")
    other = shoal.anonymize(opened(people), "l-diversity(2, illness)", "greedy")
    one.write(tmp_path / "one.parquet")
    other.write(tmp_path / "other.parquet")
    first, second = (pq.read_table(tmp_path / f"{n}.parquet") for n in ("one", "other"))
    assert first.schema.equals(second.schema)
    assert other.losses == pytest.approx(shoal.metrics.evaluate(one, ["ncp", "class", "pub"]))


def test_the_release_does_not_depend_on_the_order_of_the_rows(people, tmp_path):
    made = []
    for records in (rows(), rows()[::-1]):
        write_csv(people, records)
        release = shoal.anonymize(opened(people, partition_rows=100), k=3, method="greedy")
        release.write(tmp_path / "release.csv", force=True)
        made.append((tmp_path / "release.csv").read_bytes())
    assert made[0] == made[1]


def test_people_with_several_rows_count_once_in_every_partition(people, tmp_path):
    table = opened(people, partition_rows=120, person="patient", rows_are_people=False)
    release = shoal.anonymize(table, k=3, method="greedy")
    checked = release.write(tmp_path / "release")
    assert checked.holds
    assert checked.people < 300


def test_strict_mondrian_runs_on_partitions_if_tuples_are_too_many(people, tmp_path, monkeypatch):
    from shoal.rows.large_table import LargeTable

    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 60)
    release = shoal.anonymize(opened(people, partition_rows=100), k=3, method="mondrian")
    assert release.write(tmp_path / "release").holds
    assert "distinct tuples do not fit" in release.run.notes[-1]


def test_models_of_the_whole_table_are_refused(people):
    with pytest.raises(InputError, match=r"t-closeness.* depends on the whole table"):
        shoal.anonymize(opened(people), "t-closeness(0.3, illness)", "greedy")


def test_partitions_that_are_too_small_are_refused(people):
    with pytest.raises(InputError, match="partition_rows must be at least 100"):
        shoal.anonymize(opened(people, partition_rows=50), k=5, method="greedy")


def test_cuts_leave_at_most_the_stated_rows_on_each_side():
    ages = Column.encode("age", list(range(100)))
    counts = np.full(100, 10)
    sizes = sizes_of(cut([ages], {"age": ages.codes}, counts, 300), {"age": ages.codes}, counts)
    assert sum(sizes) == 1000
    assert max(sizes) <= 300


def sizes_of(partitions, codes, counts):
    """Return the rows of each partition."""
    return [int(counts[members_of(sides, codes)].sum()) for sides in partitions]


def members_of(sides, codes):
    """Return which tuples are in a partition."""
    kept = np.ones(len(next(iter(codes.values()))), dtype=bool)
    for side in sides:
        above = codes[side.column] > side.last
        kept &= above if side.above else ~above
    return kept


def test_rows_that_are_all_alike_stay_in_one_partition():
    ages = Column.encode("age", [30] * 50)
    assert cut([ages], {"age": ages.codes}, np.full(50, 20), 100) == [()]


@given(
    rows=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.integers(1, 30)), min_size=1),
    most=st.integers(40, 200),
    bin_level=st.integers(0, len(bins({})) - 1),
)
def test_cuts_on_bins_divide_the_rows_into_partitions_of_stated_sizes(rows, most, bin_level):
    """No partition is too large while some cut of it is allowed, and none is too small."""
    least = 20
    columns = [Column.encode("age", range(41)), Column.encode("ward", range(6))]
    codes = {
        column.name: np.array([row[place] for row in rows]) for place, column in enumerate(columns)
    }
    counts = np.array([row[2] for row in rows])
    totals = {n: np.bincount(codes[n], counts, c.domain).astype(int)
              for n, c in zip(codes, columns, strict=True)}  # fmt: skip
    maps = bins(totals)[bin_level]
    binned = {name: maps[name][each] if name in maps else each for name, each in codes.items()}
    partitions = cut(columns, binned, counts, most, least)
    sizes = sizes_of(partitions, codes, counts)  # of the rows, by codes that are not binned
    assert sum(sizes) == counts.sum()
    assert len(partitions) == 1 or min(sizes) >= least
    assert sizes == sizes_of(partitions, binned, counts)
    for sides, size in zip(partitions, sizes, strict=True):
        if size <= most:
            continue
        kept = members_of(sides, binned)
        for each in binned.values():
            below = np.cumsum(np.bincount(each[kept], counts[kept]))
            assert (np.minimum(below, size - below) < least).all()


def test_heavy_tuples_do_not_make_partitions_larger_than_stated(tmp_path):
    """A few values with most rows are cut by exact counts."""
    draw = np.random.default_rng(3)
    data = {f"c{n}": (50 * draw.random(20_000) ** 4).astype(int) for n in range(4)}
    pq.write_table(pa.table(data), tmp_path / "rows.parquet")
    roles = dict.fromkeys(data, "quasi")
    with shoal.open(tmp_path / "rows.parquet", roles=roles, partition_rows=1000) as table:
        release = shoal.anonymize(table, k=3, method="sorted")
        stored = table.engine._session.arrow("SELECT count(*) AS n FROM encoded GROUP BY part")
        alike = max(np.unique(np.stack(list(data.values())), axis=1, return_counts=True)[1])
        assert alike < 800
        assert max(stored.column("n").to_pylist()) <= 1000
        assert release.write(tmp_path / "release").holds


class Killed:
    """A partition whose worker is killed, as by a system without memory."""

    def __call__(self, *_):
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_worker_is_an_error(tmp_path):
    with pytest.raises(WorkerLost, match="a worker process ended unexpectedly"):
        list(map_in_pool([(Killed(), {}, None, None)], processes=2))


@pytest.mark.slow
def test_a_pool_of_processes_gives_the_release_of_one(people, tmp_path):
    for processes in (0, 2):
        table = opened(people, partition_rows=100, processes=processes)
        shoal.anonymize(table, k=3, method="greedy").write(tmp_path / f"{processes}.csv")
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


SCRIPT = """
import shoal
table = shoal.open({path!r}, roles={roles!r}, rows_are_people=True, partition_rows=150, processes=2)
print("started")
print(shoal.anonymize(table, k=3, method="sorted").verify().holds)
"""
OWN_METHOD = """
from dataclasses import dataclass
import shoal

@dataclass(frozen=True)
class Own(shoal.Sorted):
    pass

if __name__ == "__main__":
    table = shoal.open(
        {path!r}, roles={roles!r}, rows_are_people=True, partition_rows=150, processes=2
    )
    print("started")
    print(shoal.anonymize(table, k=3, method=Own()).verify().holds)
"""


@pytest.mark.slow
@pytest.mark.parametrize("content", [SCRIPT, OWN_METHOD], ids=["plain script", "own method"])
def test_workers_run_a_script_again_only_if_its_classes_are_needed(content, people, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(content.format(path=str(people), roles=ROLES), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["started", "True"], done.stderr


def test_mondrian_looks_less_far_ahead_on_partitions():
    """Otherwise many small partitions take several times as long as one large table."""
    assert shoal.Mondrian().on_parts().effort == "limited"
    assert shoal.Mondrian(effort="high").on_parts().effort == "high"
    assert shoal.Mondrian(cuts="median").on_parts().effort == "normal"


def test_rows_are_sorted_by_partition_before_they_are_read(people):
    table = opened(people, partition_rows=100)
    shoal.anonymize(table, k=3, method="greedy")
    stored = table.engine._session.arrow("SELECT part FROM encoded ORDER BY rowid")
    parts = stored.column("part").to_pylist()
    assert parts == sorted(parts)
    assert len(set(parts)) > 2
