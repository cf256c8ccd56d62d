"""The classes of Parquet files, counted by Spark from the values that they contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.engine import Counted
from shoal.engines.packing import Packing
from shoal.engines.spark.columns import functions, pack_words, small
from shoal.engines.spark.failures import explained
from shoal.engines.spark.sessions import CHECKED
from shoal.engines.spark.spark_released import counted_of


def count_parts(
    session: Any, addresses: Sequence[str], labels: Mapping[str, Any], value: str | None
) -> Counted:
    """Count the classes of files, by a further column if one is named.

    labels: for each column the published cells, in the order of their codes.
    """
    f = functions()
    quasi = [name for name in labels if name != value]
    names = [*quasi, *([] if value is None else [value])]
    with explained("read the written rows"):
        rows = session.read.options(**CHECKED).parquet(*addresses)
        places = {name: f"o{j}" for j, name in enumerate(rows.columns)}
        columns = [places[name] for name in names]
        groups = rows.toDF(*places.values()).groupBy(*columns).agg(f.count("*").alias("n"))
        cells = {}
        for number, name in enumerate(names):
            ranks = pa.array(np.arange(len(labels[name]), dtype=np.int32))
            known = small(session, pa.table({f"v{number}": labels[name], f"r{number}": ranks}))
            same = f.col(places[name]).eqNullSafe(f.col(f"v{number}"))
            groups = groups.join(known, same, "left")
            cells[name] = f.col(f"r{number}")
        packing = Packing.of({name: len(labels[name]) + 1 for name in quasi})
        words = [w.alias(f"k{j}") for j, w in enumerate(pack_words(packing, cells))]
        further = [] if value is None else [cells[value].alias("v")]
        found = groups.select(*words, *further, "n").toArrow()
    return counted_of(found, packing.words)
