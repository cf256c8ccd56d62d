"""The order of published rows, which depends on the published values only.

Rows in the order of the source would reveal their original positions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values import encoding
from shoal.core.values.nested import nested_texts
from shoal.errors import InputError
from shoal.support.arrays import Codes, Counts, narrowest

Order = Literal["canonical", "original"]
_NUMBER = re.compile(r"(?:(?<![\w.])-)?\d+(?:\.\d+)?")
IS_NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
MAX_NATURAL = 100_000  # distinct texts that are compared by their numbers, not by characters


def check_order(order: str) -> None:
    """Reject an unknown order."""
    if order not in get_args(Order):
        raise InputError(f"order must be one of {', '.join(get_args(Order))}, not {order!r}")


def canonical(published: Any) -> Counts:
    """Return the positions of an Arrow table's rows in the order of their published text.

    Rows are sorted by the first column, then the next; missing values come last. Texts that are all
    numbers are sorted by value, others by the numbers in them: "[5, 9]" comes before "[10, 14]".
    Rows that are equal in all columns are interchangeable.
    """
    if not published.num_rows:
        return np.zeros(0, dtype=np.int64)
    ranks = [_ranks(published.column(name), name) for name in published.column_names]
    return np.lexsort(ranks[::-1]).astype(np.int64)


def _ranks(cells: Any, name: str) -> Codes:
    """(rows,) the rank of each cell's text among those of its column."""
    if pa.types.is_nested(cells.type):
        encoded = pa.array(nested_texts(cells), pa.string()).dictionary_encode(
            null_encoding="encode"
        )
    else:
        one = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        kept = isinstance(one, pa.DictionaryArray) and not one.indices.null_count
        encoded = one if kept else encoding.combined(one, name).dictionary_encode("encode")
    ranks = rank_values(encoded.dictionary)
    found: Codes = ranks.astype(narrowest(len(ranks)))[
        encoded.indices.to_numpy(zero_copy_only=False)
    ]
    return found


def rank_values(values: Any) -> Codes:
    """(values,) the rank of each value's text; values with the same text have the same rank."""
    many = _many_texts(values)
    if many is not None:
        return _rank_many(many)
    labels = _labels(values)
    ranks = np.empty(len(labels), dtype=np.int32)
    ranks[_sorted(labels)] = np.arange(len(labels), dtype=np.int32)
    # two values with the same text look the same in the file
    first: dict[str | None, int] = {}
    same = [first.setdefault(text, place) for place, text in enumerate(labels)]
    found: Codes = ranks[same]
    return found


def _many_texts(values: Any) -> Any:
    """Return texts that are too many to be compared by their numbers, None if these are not."""
    if len(values) <= MAX_NATURAL or not encoding.is_text(values.type):
        return None
    texts = encoding.combined(values, "")
    numbers = pc.all(pc.match_substring_regex(texts, IS_NUMBER))  # missing ones do not count
    return None if numbers.as_py() in (True, None) else texts


def _rank_many(texts: Any) -> Codes:
    """(texts,) ranks by character, without an object for each text."""
    if _are_ascending(texts):
        return np.arange(len(texts), dtype=np.int32)
    encoded = texts.dictionary_encode("encode")
    ranks = _by_code_point(encoded.dictionary)
    found: Codes = ranks[encoded.indices.to_numpy(zero_copy_only=False)]
    return found


def _are_ascending(texts: Any) -> bool:
    """Return whether all texts differ and are sorted by character, at most one missing one last."""
    known = texts[:-1] if not texts[-1].is_valid else texts
    return not known.null_count and pc.all(pc.less(known[:-1], known[1:])).as_py() is not False


def _labels(values: Any) -> Sequence[str | None]:
    plain = encoding.combined(values, "")
    return encoding.texts(plain.cast(pa.string()) if pa.types.is_null(plain.type) else plain)


def _sorted(labels: Sequence[str | None]) -> Counts:
    """Return the positions of texts in order."""
    texts = pa.array(labels, pa.string())
    missing = np.array([text is None for text in labels], dtype=np.bool_)
    if pc.all(pc.match_substring_regex(texts.drop_null(), IS_NUMBER)).as_py():
        numbers = np.array([float(text or 0) for text in labels])
        plain = _by_code_point(texts)
        return np.lexsort((plain, numbers, missing)).astype(np.int64)
    if len(labels) > MAX_NATURAL:
        return np.lexsort((_by_code_point(texts), missing)).astype(np.int64)
    keys = [(text is None, _natural(text or ""), text or "") for text in labels]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _by_code_point(texts: Any) -> Codes:
    order = pc.sort_indices(texts).to_numpy(zero_copy_only=False)
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def _natural(text: str) -> list[tuple[int, float, str]]:
    """Split a text so that its numbers compare by value.

    >>> sorted(["[10, 14]", "[5, 9]"], key=_natural)
    ['[5, 9]', '[10, 14]']
    """
    parts, end = [], 0
    for found in _NUMBER.finditer(text):
        parts += [(0, 0.0, text[end : found.start()]), (1, float(found[0]), "")]
        end = found.end()
    return [*parts, (0, 0.0, text[end:])]
