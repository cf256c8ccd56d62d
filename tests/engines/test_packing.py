"""Packed tuples are mixed in the same way by every engine."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import shoal
from shoal.engines.by_partition import sample_tuples
from shoal.engines.packing import Packing, mix


def test_duckdb_draws_the_tuples_whose_mixed_words_are_divisible(tmp_path):
    draw = np.random.default_rng(5)
    data = pa.table({f"c{n}": draw.integers(0, 1000, 900) for n in range(8)})  # two words
    pq.write_table(data, tmp_path / "rows.parquet")
    with shoal.open(
        tmp_path / "rows.parquet", roles=dict.fromkeys(data.column_names, "quasi")
    ) as table:
        packing = Packing.of({n: table.encoded[n].column.domain for n in data.column_names})
        assert (packing.words, table.records) == (2, 900)
        every, counts = sample_tuples(table.engine, packing, 1000)
        drawn, _ = sample_tuples(table.engine, packing, 200)
    assert counts.sum() == 900
    kept = mix(every) % 4 == 0
    assert 100 < kept.sum() < 400
    assert set(zip(*drawn, strict=True)) == set(zip(*(w[kept] for w in every), strict=True))
