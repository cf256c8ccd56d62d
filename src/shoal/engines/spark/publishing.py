"""Releases whose rows stay in Spark: as a frame, or as a folder of parts that executors write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.publishing.staging import Staging
from shoal.engines.ordering import Layout, lay_out
from shoal.engines.spark.columns import functions, small
from shoal.engines.spark.failures import explained
from shoal.engines.spark.parts import write_in_parts
from shoal.engines.spark.spark_engine import SparkEngine
from shoal.engines.spark.types import spark_type
from shoal.errors import InputError
from shoal.support.addresses import address_of
from shoal.support.folders import replace_folder
from shoal.support.object_stores import Store
from shoal.support.outputs import as_output
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.core.verification import Verification
    from shoal.engines.large_release import LargeRelease
    from shoal.engines.sampled_release import SampledRelease

_REPEATS = 1 << 16  # rows that one row becomes at once


def published_frame(release: LargeRelease) -> Any:
    """Return the published rows in canonical order, as a frame of Spark."""
    if release.source.engine.name != "spark":
        raise InputError("the rows are not in Spark; anonymize a frame of Spark for that")
    return _frame(lay_out(release, text=False))


def sampled_frame(release: SampledRelease) -> Any:
    """Return the published rows of a sample in canonical order, as a frame of Spark."""
    engine = release.source.engine
    if not isinstance(engine, SparkEngine):
        raise InputError("the rows are not in Spark; anonymize a frame of Spark for that")
    f, rows = functions(), release.published_tuples(text=False)
    pieces = -(-rows.counts // _REPEATS)  # so that no row becomes a long array
    place = np.repeat(np.arange(len(pieces)), pieces)
    number = np.arange(len(place)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    times = np.minimum(rows.counts[place] - number * _REPEATS, _REPEATS)
    names = rows.cells.column_names
    cells = rows.cells.take(pa.array(place)).columns
    counted = {f"o{j}": each for j, each in enumerate(cells)} | {"place": place, "times": times}
    frame = small(engine.session, pa.table(counted))
    repeated = f.explode(f.sequence(f.lit(1), f.col("times").cast("int")))
    each_row = frame.select("*", repeated.alias("time")).orderBy("place")
    return each_row.select(*(f"o{j}" for j in range(len(names)))).toDF(*names)


def _frame(layout: Layout) -> Any:
    kinds = {name: spark_type(kind) for name, kind in layout.plain.items()}
    return layout.rows.decoded(layout.order, layout.cells, kinds)


def write_parts(release: LargeRelease, path: str | Path, *, force: bool) -> Verification:
    """Let the executors write a folder of parts, and check what they wrote."""
    address = address_of(path)
    if address is not None:
        return _write_address(release, address)
    layout = lay_out(release, text=False)
    with as_output(replace_folder(Path(path), force=force), Path(path)) as folder:
        staging = Staging(Path(path), folder, in_parts=True)
        write_in_parts(layout, staging, layout.rows.session)
        staging.write_manifest(layout.schema)
        return release.check_written(staging, layout, text=False)


def _write(layout: Layout, address: str) -> int:
    """Let the executors write the rows, and return their number."""
    rows = int(layout.rows.total.rows[0])
    report("write", 0, rows)
    with explained("write the released rows"):
        _frame(layout).write.option("compression", "zstd").parquet(address)
    report("write", rows, rows)
    return rows


def _write_address(release: LargeRelease, address: str) -> Verification:
    """Write to an object store: a staging address first, which Spark reads again."""
    store = Store(address)
    with store.staged():
        layout = lay_out(release, text=False)
        rows = _write(layout, store.staging)
        staging: Any = Staging(Path(address), Path(store.staging), in_parts=True)
        staging.files.extend(store.parts())
        checked = release.check_written(staging, layout, text=False)
        names = [f"part-{n:05}.parquet" for n in range(len(staging.files))]
        parts = [{"name": name} for name in names]
        store.publish({"format": 1, "columns": layout.schema.names, "rows": rows, "parts": parts})
        return checked
