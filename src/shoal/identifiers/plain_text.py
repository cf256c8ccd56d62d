"""Identifiers as text, so that one number joins across files and types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values import encoding
from shoal.errors import InputError

_SAMPLE = 100_000  # cells
_MIN_DISTINCT = 0.5  # share of the sample for which finding equal texts does not pay


def distinct_texts(cells: Any, column: str) -> tuple[Any, Any]:
    """Return the index of each cell's text, missing if the cell is, and the distinct texts.

    A whole number counts as its digits, also if a frame holds it as a float: 7.0 is 7. An empty
    text counts as missing, as in a file.
    """
    plain = _plain(cells, column)
    encoded = plain.dictionary_encode(null_encoding="mask")
    distinct = encoded.dictionary
    if not encoding.is_text(distinct.type):
        distinct = pa.array(encoding.texts(distinct), pa.string())
    return encoded.indices, distinct


def few_texts(cells: Any, column: str) -> tuple[Any, Any]:
    """Return the same, or None and all texts if hardly any text repeats."""
    plain = _plain(cells, column)
    step = max(len(plain) // _SAMPLE, 1)
    if encoding.is_text(plain.type) and not plain.null_count and len(plain) > _SAMPLE:
        sample = plain.take(pa.array(range(0, len(plain), step)))
        if len(sample.unique()) >= _MIN_DISTINCT * len(sample):
            return None, plain
    return distinct_texts(plain, column)


def _plain(cells: Any, column: str) -> Any:
    """Return cells as one array, whole floats as integers and empty texts as missing."""
    plain = encoding.with_missing(cells, column)
    if pa.types.is_floating(plain.type):
        known = plain.drop_null()
        if pc.all(pc.equal(known, pc.floor(known))).as_py() is False:
            raise InputError(
                f"column {column!r}: identifiers are numbers with fractions; turn them into text"
            )
        try:
            plain = plain.cast(pa.int64())
        except pa.ArrowInvalid:
            raise InputError(
                f"column {column!r}: identifiers are numbers too large for exact floats; turn "
                "them into text"
            ) from None
    return plain
