"""Releases whose rows stay in Spark: as a frame, or as a folder of parts that executors write.

The parts have the bytes that one process would write, in two jobs: every task that sorts rows
stores them beside the parts, as Arrow batches; then one task for each part reads the rows of that
part and writes it as `Staging` does. Executors need Python with pyarrow, and no Shoal. A task that
runs twice writes two files with different names, and the driver keeps the one that the job
returned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError, NotAnonymous, OutputError
from shoal.files import writing as local
from shoal.files.writing import BATCH, Staging
from shoal.rows.layout import Layout
from shoal.rows.spark.codes import functions, small_frame
from shoal.rows.spark.engine import SparkEngine
from shoal.rows.spark.part_tasks import Slice, storing, writing
from shoal.rows.spark.rows import SparkRows
from shoal.rows.spark.sessions import explained, spark_type
from shoal.support.addresses import address_of
from shoal.support.arrays import Counts
from shoal.support.files import replace_folder
from shoal.support.object_stores import Store
from shoal.support.outputs import as_output
from shoal.support.progress import report

Check = Callable[[Staging], Any]  # raises an error if the written parts are not the released rows


def write_in_parts(layout: Layout, staging: Staging) -> None:
    """Let the executors write the released rows in order, and record the parts."""
    folder, total = str(staging.place), layout.rows.total.rows
    report("write", 0, total)
    with explained("sort the released rows"):
        rows = _sorted(layout)
        schema = "place int, file string, rows bigint, failed string"
        stored = rows.mapInArrow(storing(folder), schema).toArrow().to_pylist()
    _check_shared(staging, stored)
    stored.sort(key=lambda each: each["place"])
    parts = divided([(each["file"], each["rows"]) for each in stored], local.PART_ROWS)
    with explained("write the released rows"):
        asked = rows.sparkSession.createDataFrame([(n,) for n in range(len(parts))], "part int")
        asked = asked.repartitionById(len(parts), asked["part"])
        schema = "part int, file string, rows bigint, first array<bigint>, last array<bigint>, "
        schema += "failed string"
        task = writing(layout, folder, parts, BATCH)
        written = asked.mapInArrow(task, schema).toArrow().to_pylist()
    _check_shared(staging, written)
    _collect(staging, sorted(written, key=lambda each: each["part"]), layout, total)
    report("write", total, total)


def divided(stored: Sequence[tuple[str, int]], most: int) -> list[list[Slice]]:
    """Return the slices of stored files that make up each part; without rows, one empty part.

    >>> divided([("a", 5), ("b", 1)], 4)
    [[Slice(file='a', start=0, rows=4)], [Slice(file='a', start=4, rows=1), Slice(file='b', \
start=0, rows=1)]]
    """
    parts: list[list[Slice]] = [[]]
    room = most
    for file, rows in stored:
        start = 0
        while start < rows:
            if not room:
                parts.append([])
                room = most
            taken = min(room, rows - start)
            parts[-1].append(Slice(file, start, taken))
            start, room = start + taken, room - taken
    return parts


def _check_shared(staging: Staging, found: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error if executors could not use the folder, or the driver lacks their files."""
    failed = next((each["failed"] for each in found if each["failed"]), None)
    if failed == "order":
        raise NotAnonymous("the rows are not in canonical order; nothing was written")
    if failed is None and not all((staging.place / each["file"]).exists() for each in found):
        failed = "the driver does not see their files"
    if failed is not None:
        raise OutputError(
            f"{staging.path}: the executors cannot write there ({failed}); write to a folder that "
            "all of them share with the driver, or to an address"
        )


def _collect(
    staging: Staging, written: Sequence[Mapping[str, Any]], layout: Layout, total: int
) -> None:
    """Give the parts their names, and remove the stored rows and what failed tasks left."""
    ends = [each[end] for each in written for end in ("first", "last") if each[end] is not None]
    if not layout.order.plain and ends != sorted(ends):
        raise NotAnonymous("the parts are not in canonical order; nothing was written")
    for each in written:
        staging.files.append(staging.place / f"part-{each['part']:05}.parquet")
        staging.rows.append(each["rows"])
        (staging.place / each["file"]).rename(staging.files[-1])
    if sum(staging.rows) != total:
        raise OutputError(
            f"{staging.path}: the executors wrote {sum(staging.rows):,} of {total:,} rows; nothing "
            "was written"
        )
    for file in set(staging.place.iterdir()) - set(staging.files):
        file.unlink()


_REPEATS = 1 << 16  # rows that one row becomes at once


def published_frame(layout: Layout) -> Any:
    """Return the published rows in order, as a frame."""
    f, order = functions(), layout.order
    rows = _sorted(layout)
    # a number that depends on the order keeps Spark from removing the sort before the joins;
    # tables that are broadcast do not change the order
    frame = rows.withColumn("row", f.monotonically_increasing_id())
    published = {}
    for number, (name, values) in enumerate(layout.cells.items()):
        ranks = pa.array(np.arange(len(values), dtype=np.int32))
        known = pa.table({f"r{number}": ranks, f"l{number}": values})
        table = small_frame(rows.sparkSession, known, always=True)
        rank = f.expr(order.packing.unpack_in_sql(name, "w"))
        frame = frame.join(table, rank == f.col(f"r{number}"), "inner")
        published[name] = f.col(f"l{number}")
    for name, kind in layout.plain.items():
        published[name] = f.col(layout.rows.columns[name]).cast(spark_type(kind))
    cells = [published[n].alias(f"o{j}") for j, n in enumerate(order.sequence)]
    return frame.filter("row >= 0").select(*cells).toDF(*order.sequence)


def repeated_frame(engine: Any, cells: Any, counts: Counts) -> Any:
    """Return rows as a frame of Spark, each as often as it is counted.

    Parameters:
        engine: The engine of the table.
        cells: Arrow table of distinct rows.
        counts: (rows,) their numbers.
    """
    if not isinstance(engine, SparkEngine):
        raise InputError("the rows are not in Spark; anonymize a frame of Spark for that")
    f = functions()
    pieces = -(-counts // _REPEATS)  # so that no row becomes a long array
    place = np.repeat(np.arange(len(pieces)), pieces)
    number = np.arange(len(place)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    times = np.minimum(counts[place] - number * _REPEATS, _REPEATS)
    names = cells.column_names
    columns = cells.take(pa.array(place)).columns
    counted = {f"o{j}": each for j, each in enumerate(columns)} | {"place": place, "times": times}
    frame = small_frame(engine.session, pa.table(counted))
    repeated = f.explode(f.sequence(f.lit(1), f.col("times").cast("int")))
    each_row = frame.select("*", repeated.alias("time")).orderBy("place")
    return each_row.select(*(f"o{j}" for j in range(len(names)))).toDF(*names)


def _sorted(layout: Layout) -> Any:
    """Return the released rows in order, as a frame: their words, then the plain columns."""
    rows = layout.rows.in_order(layout.order)
    assert isinstance(rows, SparkRows)
    return rows.frame


def write_parts(path: str | Path, layout: Layout, check: Check, *, force: bool) -> Any:
    """Let the executors write a folder of parts; return the result of the check of the parts."""
    address = address_of(path)
    if address is not None:
        return _write_address(address, layout, check)
    with as_output(replace_folder(Path(path), force=force), Path(path)) as folder:
        staging = Staging(Path(path), folder, in_parts=True)
        write_in_parts(layout, staging)
        staging.write_manifest(layout.schema)
        return check(staging)


def _write(layout: Layout, address: str) -> int:
    """Let the executors write the rows, and return their number."""
    rows = layout.rows.total.rows
    report("write", 0, rows)
    with explained("write the released rows"):
        published_frame(layout).write.option("compression", "zstd").parquet(address)
    report("write", rows, rows)
    return rows


def _write_address(address: str, layout: Layout, check: Check) -> Any:
    """Write to an object store: a staging address first, which Spark reads again."""
    store = Store(address)
    with store.staged():
        rows = _write(layout, store.staging)
        staging: Any = Staging(Path(address), Path(store.staging), in_parts=True)
        staging.files.extend(store.parts())
        checked = check(staging)
        names = [f"part-{n:05}.parquet" for n in range(len(staging.files))]
        parts = [{"name": name} for name in names]
        store.publish({"format": 1, "columns": layout.schema.names, "rows": rows, "parts": parts})
        return checked
