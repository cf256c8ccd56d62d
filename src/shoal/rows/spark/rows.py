"""Rows in Spark: how queries name frames, and how sorted rows come to the driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from shoal.rows.spark.codes import small_frame
from shoal.rows.spark.sessions import explained


class SparkRows:
    """Rows of a frame; step: what their questions do, for messages.

    Queries name the frame and no view, so that the catalog of the session stays as it is.
    """

    def __init__(self, frame: Any, step: str = "count the released rows") -> None:
        self.frame, self._step = frame, step

    def arrow(self, query: str, **small: Any) -> Any:
        """Return the result of a query as an Arrow table."""
        with explained(self._step):
            return self._result(query, small).toArrow()

    def sorted(self, query: str, size: int, **small: Any) -> Iterator[Any]:
        """Yield the result of a query in its order, as Arrow batches of at most this many rows.

        One partition of sorted rows at a time comes to the driver.
        """
        with explained("sort the released rows"):
            rows = self._result(query, small)
            for row in rows.mapInArrow(_serializer(), "batch binary").toLocalIterator():
                for batch in pa.ipc.open_stream(row["batch"]).read_all().to_batches():
                    yield from (batch.slice(n, size) for n in range(0, batch.num_rows, size))

    def select(self, query: str, **small: Any) -> SparkRows:
        """Return the result of a query, computed when it is used."""
        return SparkRows(self._result(query, small))

    def matches(self, cell: str, pattern: str) -> str:
        """Return the expression of whether a text has a part that matches a pattern.

        For Java `$` is also before the last line break; we mean the end of the text alone.
        """
        ended = pattern.removesuffix("$") + r"\z" if pattern.endswith("$") else pattern
        quoted = ended.replace("'", r"\x27")  # in r'…' backslashes are no escapes, nor of quotes
        return f"({cell} RLIKE r'{quoted}')".replace("{", "{{").replace("}", "}}")

    def _result(self, query: str, small: Mapping[str, Any]) -> Any:
        session = self.frame.sparkSession
        frames = {key: small_frame(session, table) for key, table in small.items()}
        return session.sql(query, rows=self.frame, **frames)


def _serializer() -> Any:
    """Return the function that packs batches; executors need no Shoal for it."""

    def packed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as arrow

        for batch in batches:
            sink = arrow.BufferOutputStream()
            with arrow.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            content = arrow.array([sink.getvalue().to_pybytes()], arrow.binary())
            yield arrow.record_batch({"batch": content})

    return packed
