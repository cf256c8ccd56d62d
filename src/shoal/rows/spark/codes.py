"""Codes of rows in Spark: looked up, packed and mapped, and tuples of them approximately counted.

Executors look values up in Arrow batches (`with_words`), for a fraction of one join by row for each
column. Large dictionaries, which every task would receive, are joined instead. Batches of Spark are
small, and every call of pyarrow costs as much: tasks gather them to larger ones.

`count_about` counts the tuples after several maps in one scan: executors map and hash the packed
codes and keep the smallest hashes. The k-th smallest of n evenly spread ones is near k / n,
whatever the order of the rows.
Bar-Yossef et al., "Counting distinct elements in a data stream", RANDOM 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.rows.packing import Packing
from shoal.rows.spark.sessions import arrow_type, spark_type
from shoal.rows.store import Dictionary
from shoal.support.arrays import Codes

_BROADCAST = 500_000  # rows of a table that every executor gets


def functions() -> Any:
    """Return the functions of Spark, for both kinds of session."""
    from pyspark.sql import functions as found

    return found


def small_frame(session: Any, table: Any, *, always: bool = False) -> Any:
    """Return an Arrow table as a frame, broadcast to the executors if it is small, or always."""
    schema = ", ".join(f"{name} {spark_type(table.schema.field(name).type)}" for name in
                       table.column_names)  # fmt: skip
    from pyspark.sql.types import StructType

    plain = pa.table(
        [plain_cells(table.column(name)) for name in table.column_names], names=table.column_names
    )
    frame = session.createDataFrame(plain, StructType.fromDDL(schema))
    return functions().broadcast(frame) if always or table.num_rows <= _BROADCAST else frame


def plain_cells(cells: Any) -> Any:
    """Return cells in a type that Spark has."""
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return plain_cells(cells.cast(kind.value_type))
    if pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return cells.cast(pa.string())
    if pa.types.is_timestamp(kind) and kind.unit != "us":
        return cells.cast(pa.timestamp("us"))
    if pa.types.is_unsigned_integer(kind):
        wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64(), 64: pa.decimal128(20, 0)}
        return cells.cast(wider[kind.bit_width])
    return cells


def coded(packing: Packing, columns: Mapping[str, str], others: Sequence[str]) -> list[Any]:
    """Return the columns of codes of packed words w0, w1, …, then the columns that are no words.

    columns: the column of each name.
    """
    f, words = functions(), packing.word_columns("w")
    codes = [
        f.expr(packing.unpack_in_sql(name, "w")).cast(_signed(place.bits)).alias(columns[name])
        for name, place in packing.places.items()
    ]
    return [*codes, *(f.col(each) for each in others if each not in words)]


def _signed(bits: int) -> str:
    """Return the smallest integer type for codes of this many bits."""
    return "tinyint" if bits <= 7 else "smallint" if bits <= 15 else "int"


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


_MAX_SENT = 20_000  # values of a dictionary that every task receives


def with_words(
    rows: Any, cells: Mapping[str, Any], dictionaries: Mapping[str, Dictionary], others: list[Any]
) -> tuple[Any, Packing]:
    """Return rows with words w0, w1, … of their codes, null for unknown values, and the packing.

    Parameters:
        rows: The rows of the source.
        cells: The expression of each column with a dictionary.
        dictionaries: The codes of its values.
        others: Expressions of further columns, with their names.
    """
    packing = Packing.of({name: each.domain for name, each in dictionaries.items()})
    columns, tables = [], {}
    for number, (name, found) in enumerate(dictionaries.items()):
        place, cell = packing.places[name], cells[name]
        if len(found.codes) > _MAX_SENT:
            rows, cell = _joined(rows, cell, found, number)
        columns.append(cell.alias(f"v{number}"))
        tables[f"v{number}"] = place.word, found, place.shift
    frame = rows.select(*columns, *others)
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    sent = {
        column: (word, *_shifted(found, shift, kinds[column]))
        for column, (word, found, shift) in tables.items()
    }
    kept = [name for name in frame.columns if name not in sent]
    words = [f"w{j} bigint" for j in range(packing.words)]
    schema = ", ".join([*words, *(f"{name} {kinds[name].simpleString()}" for name in kept)])
    return frame.mapInArrow(_lookup(sent, kept, packing.words), schema), packing


def _joined(rows: Any, cell: Any, found: Dictionary, number: int) -> tuple[Any, Any]:
    """Return rows joined with a dictionary, and the expression of the code."""
    f = functions()
    codes = pa.table({f"key{number}": found.values, f"code{number}": pa.array(found.codes)})
    missing = codes.filter(codes.column(0).is_null()).column(1).to_pylist()
    known = small_frame(rows.sparkSession, codes.filter(codes.column(0).is_valid()))
    rows = rows.join(known, cell == f.col(f"key{number}"), "left").drop(f"key{number}")
    code = f.col(f"code{number}")
    if missing:
        code = f.when(cell.isNull(), f.lit(missing[0])).otherwise(code)
    return rows, code.cast("bigint")


def _shifted(found: Dictionary, shift: int, kind: Any) -> tuple[Any, Any, int]:
    """Return the values of a dictionary and their shifted codes, None if it is large."""
    if len(found.codes) > _MAX_SENT:
        return None, None, shift
    codes = pa.array(found.codes.astype("int64") << shift)
    return plain_cells(found.values).cast(arrow_type(kind)), codes, shift


def _lookup(sent: Mapping[str, Any], kept: list[str], words: int) -> Any:
    """Return the function that packs the codes of batches; executors need no Shoal for it.

    Each lookup prepares the dictionary again, so that large batches are better.
    """
    gathered = gathering()

    def packed(batch: Any) -> Any:
        import pyarrow as arrow
        import pyarrow.compute as pc

        found: list[Any] = [None] * words
        for column, (word, values, codes, shift) in sent.items():
            cells = batch.column(column)
            if values is None:
                bits = pc.shift_left(cells, shift)
            else:
                same = values if values.type == cells.type else values.cast(cells.type)
                bits = codes.take(pc.index_in(cells, value_set=same))
            found[word] = bits if found[word] is None else pc.bit_wise_or(found[word], bits)
        names = [*(f"w{j}" for j in range(words)), *kept]
        return arrow.record_batch([*found, *map(batch.column, kept)], names=names)

    def look_up(batches: Iterator[Any]) -> Iterator[Any]:
        yield from map(packed, gathered(batches))

    return look_up


_KEPT = 4096  # smallest hashes: a standard error of 1.6 %


def count_about(
    rows: Any,
    stored: Packing,
    packing: Packing,
    nodes: Sequence[Mapping[str, Codes]],
    units: Sequence[str],
) -> list[int]:
    """Return the approximate numbers of distinct tuples, exact if there are few.

    Parameters:
        rows: The rows, with words w0, w1, … of their codes.
        stored: Where these words have each column.
        packing: Where the words of the tuples have each column.
        nodes: The maps of the codes of columns.
        units: Further columns of the tuples.
    """
    f, words = functions(), stored.word_columns("w")
    others = [f.xxhash64(*units).alias("units")] if units else []
    schema = "node int, hash bigint"
    task = _smallest(_columns(stored, packing, nodes), len(nodes), bool(units), _KEPT)
    hashes = rows.select(*words, *others).mapInArrow(task, schema)
    together = hashes.repartitionById(len(nodes), f.col("node"))
    found = together.mapInArrow(_merging(_KEPT), "node int, tuples bigint").toArrow()
    counts = dict(
        zip(*(found.column(name).to_pylist() for name in ("node", "tuples")), strict=True)
    )
    return [counts.get(node, 0) for node in range(len(nodes))]


def _columns(
    stored: Packing, packing: Packing, nodes: Sequence[Mapping[str, Codes]]
) -> list[tuple[Any, ...]]:
    """Return for each column its stored place, its word and shift in tuples, and its maps."""
    found = []
    for name, place in packing.places.items():
        code = stored.places[name]
        shifted: list[Any] = [None if name not in maps else
                              pa.array(maps[name].astype(np.int64) << place.shift)
                              for maps in nodes]  # fmt: skip
        mask = (1 << code.bits) - 1
        found.append((f"w{code.word}", code.shift, mask, place.word, place.shift, shifted))
    return found


def _smallest(columns: Sequence[tuple[Any, ...]], nodes: int, units: bool, kept: int) -> Any:
    """Return the function that yields the smallest hashes of a task; it needs no Shoal."""
    gathered, hashed = gathering(), _hashing(columns, units)

    def smallest(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as arrow
        import pyarrow.compute as pc

        least = [arrow.array([], arrow.uint64())] * nodes
        limits: list[Any] = [None] * nodes
        for batch in gathered(batches):
            for node, hashes in enumerate(hashed(batch, nodes)):
                below = limits[node] is not None
                few = hashes.filter(pc.less(hashes, limits[node])) if below else hashes
                least[node] = pc.unique(arrow.concat_arrays([least[node], few]))
                if len(least[node]) > 2 * kept:
                    least[node] = least[node].take(pc.sort_indices(least[node])[:kept])
                    limits[node] = least[node][-1]
        for node, hashes in enumerate(least):
            order = pc.sort_indices(hashes)[:kept]
            found = hashes.take(order).view(arrow.int64())
            place = arrow.repeat(arrow.scalar(node, arrow.int32()), len(found))
            yield arrow.record_batch([place, found], names=["node", "hash"])

    return smallest


def _hashing(columns: Sequence[tuple[Any, ...]], units: bool) -> Callable[[Any, int], Any]:
    """Return the function that yields the hashes of the tuples of a batch at each node."""

    def mix(word: Any, pc: Any, scalar: Any) -> Any:
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            word = pc.bit_wise_xor(word, pc.shift_right(word, scalar(shift)))
            word = pc.multiply(word, scalar(factor))
        return pc.bit_wise_xor(word, pc.shift_right(word, scalar(31)))

    def hashed(batch: Any, nodes: int) -> Iterator[Any]:
        import pyarrow as arrow
        import pyarrow.compute as pc

        def scalar(number: int) -> Any:
            return arrow.scalar(number, arrow.uint64())

        codes = [pc.bit_wise_and(pc.shift_right(batch.column(word), shift), mask)
                 for word, shift, mask, *_ in columns]  # fmt: skip
        for node in range(nodes):
            words: dict[int, Any] = {}
            for code, (*_, word, shift, maps) in zip(codes, columns, strict=True):
                bits = pc.shift_left(code, shift) if maps[node] is None else maps[node].take(code)
                words[word] = pc.bit_wise_or(words[word], bits) if word in words else bits
            parts = [*words.values(), *([batch.column("units")] if units else [])]
            found = None
            for part in parts:
                bits = part.view(arrow.uint64())
                found = mix(bits if found is None else pc.bit_wise_xor(found, bits), pc, scalar)
            yield found

    return hashed


def _merging(kept: int) -> Any:
    """Return the function that counts tuples from the smallest hashes of all tasks."""

    def merge(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as arrow
        import pyarrow.compute as pc

        least: dict[int, Any] = {}
        for batch in batches:
            for node in pc.unique(batch.column("node")).to_pylist():
                hashes = batch.column("hash").filter(pc.equal(batch.column("node"), node))
                both = [hashes.view(arrow.uint64()), *([least[node]] if node in least else [])]
                unique = pc.unique(arrow.concat_arrays(both))
                least[node] = unique.take(pc.sort_indices(unique)[:kept])
        for node, hashes in least.items():
            about = len(hashes)
            if about == kept:
                about = round((kept - 1) / ((hashes[-1].as_py() + 1) / 2**64))
            cells = [arrow.array([node], arrow.int32()), arrow.array([about], arrow.int64())]
            yield arrow.record_batch(cells, names=["node", "tuples"])

    return merge
