"""Keys: columns whose values identify the rows of a file, compared as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values.encoding import texts, with_missing
from shoal.errors import InputError
from shoal.support.arrays import Counts
from shoal.support.wording import counted


def unique_keys(cells: Any, key: str, file: str) -> Any:
    """Return the keys of a file as an Arrow array of text.

    Parameters:
        cells: The key column, as Arrow.
        key: Its name.
        file: What to call the file in an error.

    Raises:
        InputError: A key is missing or repeated.
    """
    keys = pa.array(texts(with_missing(cells, key)), pa.string())
    repeated = len(keys) - len(pc.unique(keys.drop_null()))
    if repeated:
        raise InputError(
            f"key {key!r}: {repeated:,} of {counted(len(keys), 'row')} of {file} have no key or "
            "the key of another row; name a column with unique values"
        )
    return keys


def find_keys(wanted: Any, known: Any) -> Counts:
    """Return, for each wanted key, its position among the known keys, or −1."""
    positions = pc.index_in(wanted, value_set=known).fill_null(-1)
    return np.asarray(positions.to_numpy().astype(np.int64))
