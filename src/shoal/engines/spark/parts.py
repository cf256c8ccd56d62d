"""A folder of Parquet parts that executors write, with the bytes that one process would write.

Two jobs: every task that sorts rows stores them beside the parts, as Arrow batches; then one task
for each part reads the rows of that part and writes it as `Staging` does. Executors need Python
with pyarrow, and no Shoal. A task that runs twice writes two files with different names, and the
driver keeps the one that the job returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.core.publishing import staging as local
from shoal.core.publishing.staging import Staging
from shoal.core.publishing.writing import BATCH
from shoal.engines.ordering import Layout
from shoal.engines.spark.failures import explained
from shoal.engines.spark.part_tasks import Slice, storing, writing
from shoal.errors import NotAnonymous, OutputError
from shoal.support.progress import report


def write_in_parts(layout: Layout, staging: Staging, session: Any) -> None:
    """Let the executors write the released rows in order, and record the parts."""
    folder, total = str(staging.place), int(layout.rows.total.rows[0])
    report("write", 0, total)
    with explained("sort the released rows"):
        rows = layout.rows.in_order(layout.order)
        schema = "place int, file string, rows bigint, failed string"
        stored = rows.mapInArrow(storing(folder), schema).toArrow().to_pylist()
    _check_shared(staging, stored)
    stored.sort(key=lambda each: each["place"])
    parts = divided([(each["file"], each["rows"]) for each in stored], local.PART_ROWS)
    with explained("write the released rows"):
        asked = session.createDataFrame([(n,) for n in range(len(parts))], "part int")
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
