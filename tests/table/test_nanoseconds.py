"""Times to the nanosecond, for which Python has no type of its own."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import Column

START = 1_700_000_000_000_000_001
WITHOUT_PANDAS = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ImportError("not installed")

sys.meta_path.insert(0, Absent())
import pyarrow as pa
import shoal

kind = pa.timestamp("ns")
data = {
    "a": pa.array(range(1_700_000_000_000_000_001, 1_700_000_000_000_000_007), kind),
    "b": pa.array([[1_700_000_000_000_000_001]] * 6, pa.list_(kind)),
}
table = shoal.Table.from_arrow(pa.table(data), {"a": "quasi", "b": "insensitive"})
shoal.anonymize(table, shoal.KAnonymity(3)).write(sys.argv[1])
"""


@pytest.mark.parametrize(
    ("kind", "ticks", "text"),
    [
        (pa.timestamp("ns"), START, "2023-11-14 22:13:20.000000001"),
        (pa.timestamp("ns", "Europe/Berlin"), START, "2023-11-14 23:13:20.000000001+01:00"),
        (pa.timestamp("ns"), START - 1, "2023-11-14 22:13:20"),
        (pa.timestamp("ns"), -1, "1969-12-31 23:59:59.999999999"),
        (pa.time64("ns"), 1_000_002_003, "00:00:01.000002003"),
        (pa.duration("ns"), 3_600_000_000_001, "1:00:00.000000001"),
        (pa.duration("ns"), 1_001, "0:00:00.000001001"),
    ],
)
def test_times_are_published_in_full(kind, ticks, text):
    assert Column.encode("a", pa.array([ticks, None], kind)).labels == (text, None)


def test_pandas_is_not_needed(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_PANDAS, str(tmp_path / "out.parquet")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (run.returncode, run.stderr) == (0, "")
    start = "2023-11-14 22:13:20.00000000"
    published = pq.read_table(tmp_path / "out.parquet").column("a").unique().to_pylist()
    assert published == [f"[{start}1, {start}3]", f"[{start}4, {start}6]"]
