"""Frames of Spark that are checked or inspected, but not anonymized.

A check counts the classes in Spark; an inspection works on a sample of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from shoal.core.counted_classes import CountedClasses
from shoal.engines.large_verification import published_on_disk
from shoal.engines.memory import Budget
from shoal.engines.spark.columns import functions
from shoal.engines.spark.failures import explained
from shoal.engines.spark.source import SparkFrame

SAMPLE_ROWS = 100_000
_MARGIN = 1.1  # a random share of rows may have a few rows less than expected


@contextmanager
def counted_in_spark(
    frame: Any, columns: Mapping[str, Mapping[str, Any]], units: Mapping[str, Sequence[str]]
) -> Iterator[CountedClasses]:
    """Yield the classes of a published frame; only their counts leave Spark.

    Parameters:
        columns: The specification of each quasi-identifier and sensitive column.
        units: The columns that identify people and households.
    """
    asked = {**units, "rows_are_people": True}
    published = published_on_disk(SparkFrame(frame), columns, {}, asked, Budget.parse(None))
    with published.table:
        yield published.classes


def sample_rows(frame: Any, most: int = SAMPLE_ROWS) -> tuple[Any, int]:
    """Return at most some random rows as an Arrow table, and the number of all rows."""
    f = functions()
    with explained("sample the rows"):
        rows = int(frame.agg(f.count("*").alias("n")).toArrow().column("n")[0].as_py())
        if rows > most:
            frame = frame.sample(fraction=min(_MARGIN * most / rows, 1.0)).limit(most)
        return frame.toArrow(), rows
