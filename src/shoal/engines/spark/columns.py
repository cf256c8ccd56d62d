"""Expressions over columns of codes: maps by broadcast tables, and packed words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.packing import Packing
from shoal.engines.spark.types import spark_type
from shoal.support.arrays import Codes, Counts

_BROADCAST = 500_000  # rows of a table that every executor gets


def functions() -> Any:
    """Return the functions of Spark, for both kinds of session."""
    from pyspark.sql import functions as found

    return found


def small(session: Any, table: Any, *, always: bool = False) -> Any:
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


def mapped(frame: Any, cell: Any, codes: Codes, name: str) -> tuple[Any, Any]:
    """Return a frame and the expression of a mapped column in it.

    Parameters:
        frame: The rows.
        cell: The column of codes.
        codes: (domain,) the new code of each code.
        name: A name that the frame does not have yet.
    """
    f = functions()
    if len(codes) and (codes == codes[0]).all():
        return frame, f.lit(int(codes[0]))
    if np.array_equal(codes, np.arange(len(codes))):
        return frame, cell
    every = np.arange(len(codes), dtype=np.int32)
    table = pa.table({f"{name}_from": every, name: codes.astype(np.int32)})
    found = small(frame.sparkSession, table)
    joined = frame.join(found, cell == f.col(f"{name}_from"), "left").drop(f"{name}_from")
    return joined, f.col(name)


def pack_words(packing: Packing, cells: Mapping[str, Any]) -> list[Any]:
    """Return the expression of each word, from the expressions of its columns."""
    f = functions()
    words: list[Any] = [None] * packing.words
    for name, place in packing.places.items():
        part = f.shiftleft(cells[name].cast("bigint"), place.shift)
        before = words[place.word]
        words[place.word] = part if before is None else before.bitwiseOR(part)
    return words


def unpacked(packing: Packing, name: str, prefix: str = "k") -> Any:
    """Return the expression of a column of packed words."""
    f, place = functions(), packing.places[name]
    shifted = f.shiftright(f.col(f"{prefix}{place.word}"), place.shift)
    return shifted.bitwiseAND(f.lit((1 << place.bits) - 1).cast("bigint")).cast("int")


def numbers_of(table: Any, name: str) -> Counts:
    """Return a column of whole numbers, −1 for nulls."""
    column = table.column(name).cast(pa.int64()).fill_null(-1)
    numbers: Counts = column.to_numpy()
    return numbers


def coded(packing: Packing, columns: Mapping[str, str], others: Sequence[str]) -> list[Any]:
    """Return the columns of codes of packed words w0, w1, …, then the columns that are no words.

    columns: the column of each name.
    """
    words = words_of(packing)
    codes = [
        unpacked(packing, name, "w").cast(_signed(place.bits)).alias(columns[name])
        for name, place in packing.places.items()
    ]
    return [*codes, *(functions().col(each) for each in others if each not in words)]


def _signed(bits: int) -> str:
    """Return the smallest integer type for codes of this many bits."""
    return "tinyint" if bits <= 7 else "smallint" if bits <= 15 else "int"


def numbered(table: Any, columns: Sequence[str]) -> Counts:
    """Return a number for each distinct tuple of columns."""
    ids = np.zeros(table.num_rows, dtype=np.int64)
    for name in columns:
        codes = table.column(name).combine_chunks().dictionary_encode()
        indices = codes.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, ids = np.unique(ids * len(codes.dictionary) + indices, return_inverse=True)
    return ids


def words_of(packing: Packing, prefix: str = "w") -> list[str]:
    """Return the names of the columns of packed words."""
    return [f"{prefix}{j}" for j in range(packing.words)]
