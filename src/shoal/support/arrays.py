"""Array types by meaning, and read-only arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]  # positions in a dictionary
Counts = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_Array = TypeVar("_Array", bound="NDArray[Any]")


def frozen(array: _Array) -> _Array:
    """Return a read-only view of the array."""
    view = array.view()
    view.flags.writeable = False
    return view


def narrowest(codes: int) -> type[np.signedinteger[Any]]:
    """Return the smallest integer type for this many codes.

    >>> narrowest(128), narrowest(129)
    (<class 'numpy.int8'>, <class 'numpy.int16'>)
    """
    return np.int8 if codes <= 1 << 7 else np.int16 if codes <= 1 << 15 else np.int32


def weighted_sum(values: NDArray[Any], weights: NDArray[Any]) -> float:
    """Return the sum of products; unlike with BLAS, it does not depend on the number of cores."""
    return float((values * weights).sum())
