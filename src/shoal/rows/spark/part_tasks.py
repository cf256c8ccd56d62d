"""What executors run to write the parts of a release; they need pyarrow, and no Shoal.

Functions inside functions are sent to the executors with all that they use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.files.parquet_checks import with_checksum, writer_options
from shoal.rows.layout import Layout

STORED = 1 << 16  # rows of a stored batch: all but the last of a file have as many


@dataclass(frozen=True)
class Slice:
    """Some rows of a stored file."""

    file: str
    start: int
    rows: int


def storing(folder: str) -> Any:
    """Return the function that stores the sorted rows of a task."""
    size = STORED

    def store(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import uuid

        import pyarrow as arrow
        from pyspark import TaskContext

        place = TaskContext.get().partitionId()  # type: ignore[union-attr]
        file, rows, failed = f"rows-{uuid.uuid4().hex}", 0, None
        waiting: list[Any] = []
        writer, held = None, 0
        try:
            for batch in batches:
                if writer is None:
                    options = arrow.ipc.IpcWriteOptions(compression="lz4")
                    path = os.path.join(folder, file)  # noqa: PTH118
                    writer = arrow.ipc.new_file(path, batch.schema, options=options)
                waiting.append(batch)
                held, rows = held + batch.num_rows, rows + batch.num_rows
                while held >= size:
                    table = arrow.Table.from_batches(waiting)
                    writer.write_table(table.slice(0, size).combine_chunks())
                    waiting, held = table.slice(size).to_batches(), held - size
            if writer is not None:
                if held:
                    writer.write_table(arrow.Table.from_batches(waiting).combine_chunks())
                writer.close()
        except OSError as error:
            failed = os.strerror(error.errno) if error.errno else type(error).__name__
        if rows or failed:
            found = {"place": [place], "file": [file], "rows": [rows], "failed": [failed]}
            kinds = {"place": "int32", "file": "string", "rows": "int64", "failed": "string"}
            schema = arrow.schema([(n, arrow.type_for_alias(k)) for n, k in kinds.items()])
            yield arrow.record_batch(found, schema)

    return store


def writing(layout: Layout, folder: str, parts: Sequence[Sequence[Slice]], size: int) -> Any:
    """Return the function that writes one part, in batches of `size` rows."""
    read = _reading(folder, parts, size)
    decode, schema, options = _decoding(layout), with_checksum(layout.schema), writer_options()
    first_fall = None if layout.order.plain else _ordering(layout.order.packing.word_columns("w"))

    def write_part(part: int, file: str) -> tuple[Any, ...]:
        import os

        import pyarrow.parquet as pq

        rows, first, last, failed = 0, None, None, None
        path = os.path.join(folder, file)  # noqa: PTH118
        with pq.ParquetWriter(path, schema, **options) as writer:
            for table in read(part):
                if first_fall is not None:
                    falls, start, end = first_fall(table, last)
                    failed = "order" if falls or failed else None
                    first, last = first or start, end
                rows += table.num_rows
                writer.write_table(decode(table))
        return rows, first, last, failed

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import uuid

        import pyarrow as arrow

        words = arrow.list_(arrow.int64())
        kinds = [("part", arrow.int32()), ("file", arrow.string()), ("rows", arrow.int64()),
                 ("first", words), ("last", words), ("failed", arrow.string())]  # fmt: skip
        for batch in batches:
            for part in batch.column(0).to_pylist():
                file = f"part-{part:05}.{uuid.uuid4().hex}"
                try:
                    found = write_part(part, file)
                except OSError as error:
                    reason = os.strerror(error.errno) if error.errno else type(error).__name__
                    found = 0, None, None, reason
                cells = [arrow.array([cell], kind) for cell, (_, kind) in
                         zip([part, file, *found], kinds, strict=True)]  # fmt: skip
                yield arrow.record_batch(cells, schema=arrow.schema(kinds))

    return write


def _reading(folder: str, parts: Sequence[Sequence[Slice]], size: int) -> Callable[[int], Any]:
    """Return the function that yields the stored rows of a part, in tables of `size` rows."""
    slices = [[(each.file, each.start, each.rows) for each in part] for part in parts]
    stored = STORED

    def batches_of(part: int) -> Iterator[Any]:
        import os

        import pyarrow as arrow

        for file, start, rows in slices[part]:
            with arrow.ipc.open_file(os.path.join(folder, file)) as reader:  # noqa: PTH118
                stop = start + rows
                for number in range(start // stored, -(-stop // stored)):
                    batch = reader.get_batch(number)
                    low = max(start - number * stored, 0)
                    yield batch.slice(low, min(stop - number * stored, batch.num_rows) - low)

    def read(part: int) -> Iterator[Any]:
        import pyarrow as arrow

        waiting: list[Any] = []
        held = 0
        for batch in batches_of(part):
            waiting.append(batch)
            held += batch.num_rows
            while held >= size:
                table = arrow.Table.from_batches(waiting)
                yield table.slice(0, size)
                waiting, held = table.slice(size).to_batches(), held - size
        if held:
            yield arrow.Table.from_batches(waiting)

    return read


def _decoding(layout: Layout) -> Callable[[Any], Any]:
    """Return the function that decodes rows like `Layout.decode`."""
    order, places = layout.order, layout.order.packing.places
    cells = {n: (f"w{places[n].word}", places[n].shift, (1 << places[n].bits) - 1, values)
             for n, values in layout.cells.items()}  # fmt: skip
    plain = {n: (order.packing.words + j, layout.plain[n]) for j, n in enumerate(order.plain)}
    sequence = list(order.sequence)

    def decode(table: Any) -> Any:
        import pyarrow as arrow
        import pyarrow.compute as pc

        columns = []
        for name in sequence:
            if name in cells:
                word, shift, mask, values = cells[name]
                packed = table.column(word).combine_chunks()
                columns.append(values.take(pc.bit_wise_and(pc.shift_right(packed, shift), mask)))
                continue
            place, kind = plain[name]
            column = table.column(place).cast(kind).combine_chunks()
            if arrow.types.is_floating(kind):
                column = pc.if_else(pc.is_nan(column), arrow.scalar(None, kind), column)
            columns.append(column)
        return arrow.table(columns, names=sequence)

    return decode


def _ordering(words: Sequence[str]) -> Callable[[Any, Any], Any]:
    """Return the function that compares rows with the rows above them.

    It returns whether a row comes too late, and the words of the first and the last row.
    """

    def first_fall(table: Any, before: list[int] | None) -> tuple[bool, list[int], list[int]]:
        import pyarrow.compute as pc

        columns = [table.column(word).combine_chunks() for word in words]
        first, last = ([column[row].as_py() for column in columns] for row in (0, -1))
        falls, level = before is not None and before > first, None
        for column in columns:
            above, below = column[:-1], column[1:]
            less, equal = pc.less(below, above), pc.equal(below, above)
            falls |= bool(pc.any(less if level is None else pc.and_(level, less)).as_py())
            level = equal if level is None else pc.and_(level, equal)
        return falls, first, last

    return first_fall
