import pyarrow.parquet as pq
import pytest

import shoal
from shoal.datasets.hospital import write_patients
from shoal.errors import InputError


def test_writes_the_table_and_a_schema_that_reads_it(tmp_path):
    schema = write_patients(tmp_path / "p.csv", 30, seed=2)
    assert schema == tmp_path / "p.yaml"
    table = shoal.read(tmp_path / "p.csv", schema)
    assert (len(table), table.unassigned) == (30, ())
    write_patients(tmp_path / "q.parquet", 30, seed=2)
    assert pq.read_table(tmp_path / "q.parquet").equals(next(shoal.datasets.patient_chunks(30, 2)))


@pytest.mark.parametrize(
    ("name", "rows", "seed", "told"),
    [
        ("p.csv", 0, 0, "rows must be 1 or more, not 0"),
        ("p.csv", -1, 0, "rows must be 1 or more, not -1"),
        ("p.csv", 10**9, 0, "rows must be from 0 to 100000000"),
        ("p.csv", 1, -1, "seed must be 0 or more"),
        ("p.xlsx", 1, 0, "cannot write this kind of file"),
        ("p", 1, 0, "cannot write this kind of file"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_appears(
    tmp_path, monkeypatch, name, rows, seed, told
):
    monkeypatch.setattr("shoal.datasets.hospital.replace_file", None)  # not to be reached
    with pytest.raises(InputError, match=told):
        write_patients(tmp_path / name, rows, seed)
    assert list(tmp_path.iterdir()) == []
