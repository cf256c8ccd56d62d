"""Arrow batches in tasks: those of Spark are small, and every call of pyarrow costs as much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

ROWS = 1 << 17  # of a batch


def gathering(most: int = ROWS) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that joins batches to larger ones; executors need no Shoal for it."""

    def gathered(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as arrow

        def joined(some: list[Any]) -> Any:
            return arrow.Table.from_batches(some).combine_chunks().to_batches() if some else []

        waiting: list[Any] = []
        rows = 0
        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            if rows >= most:
                yield from joined(waiting)
                waiting, rows = [], 0
        yield from joined(waiting)

    return gathered
