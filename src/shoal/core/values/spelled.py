"""Numbers that keep their original text.

`12.50` and `9.125` are numbers of one column, and each is published as it is written in the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.support.arrays import Codes


class Spelled(pa.ExtensionType):  # type: ignore[misc]
    """Texts that all read as numbers.

    number: the Arrow type that holds these numbers.
    """

    def __init__(self, number: Any) -> None:
        self.number = number
        super().__init__(pa.string(), "shoal.spelled")

    def __arrow_ext_serialize__(self) -> bytes:
        if pa.types.is_floating(self.number):
            return b""
        return f"{self.number.precision} {self.number.scale}".encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Spelled:
        if not serialized:
            return cls(pa.float64())
        precision, scale = map(int, serialized.split())
        return cls((pa.decimal128 if precision <= 38 else pa.decimal256)(precision, scale))


def spelled(texts: Any, number: Any) -> Any:
    """Return texts as numbers of an Arrow type that keep their text."""
    return pa.ExtensionArray.from_storage(Spelled(number), texts.cast(pa.string()))


def is_spelled(kind: Any) -> bool:
    """Whether values of this Arrow type are numbers that keep their text."""
    return isinstance(kind, Spelled)


def as_numbers(array: Any) -> Any:
    """Return spelled numbers as plain ones."""
    return as_number(array.storage, array.type.number)


def as_number(texts: Any, number: Any) -> Any:
    """Return texts as numbers of an Arrow type; minus zero is zero."""
    numbers = texts.cast(number)
    return pc.add(numbers, 0.0) if pa.types.is_floating(number) else numbers


def fitted(cells: Any, texts: Any) -> Any:
    """Return decimals with only the places that they need, so that the type reveals nothing else.

    Parameters:
        cells: Decimals, or a dictionary of them; anything else is returned unchanged.
        texts: The same cells as text.
    """
    coded = isinstance(cells, pa.DictionaryArray)
    values = cells.dictionary if coded else cells
    if not pa.types.is_decimal(values.type):
        return cells
    plain = texts.dictionary if isinstance(texts, pa.DictionaryArray) else texts
    parts = [text.lstrip("-").partition(".") for text in plain.unique().drop_null().to_pylist()]
    places = max((len(part[2]) for part in parts), default=0)
    digits = places + max((len(part[0]) for part in parts), default=1)
    kind = pa.decimal128(38, places) if digits <= 38 else pa.decimal256(76, places)
    narrow = values.cast(kind)
    return pa.DictionaryArray.from_arrays(cells.indices, narrow) if coded else narrow


def spelling(texts: Any, codes: Codes) -> tuple[str, ...]:
    """Return one text for each number: the shortest that occurs, with zero without a minus.

    Parameters:
        texts: Distinct texts. codes: (texts,) the number of each, from 0 and without gaps.
    """
    ranked = pa.table(
        {
            "code": codes,
            "minus": pc.starts_with(texts, "-"),
            "length": pc.utf8_length(texts),
            "text": texts,
        }
    )
    order = pc.sort_indices(ranked, [(name, "ascending") for name in ranked.column_names])
    first = np.unique(codes[order.to_numpy()], return_index=True)[1]
    return tuple(texts.take(order.take(pa.array(first))).to_pylist())
