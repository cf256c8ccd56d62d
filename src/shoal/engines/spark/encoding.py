"""Cells to packed codes: executors look values up in Arrow batches.

A lookup by batch costs a fraction of one join by row for each column. Large dictionaries, which
every task would receive, are joined instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from shoal.engines.engine import Dictionary
from shoal.engines.packing import Packing
from shoal.engines.spark.batches import gathering
from shoal.engines.spark.columns import functions, plain_cells, small
from shoal.engines.spark.types import arrow_type

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
    known = small(rows.sparkSession, codes.filter(codes.column(0).is_valid()))
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
