"""Plain data: what JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Return a value as plain data for JSON.

    Infinity and NaN become null, a function or class its qualified name, anything else its text.

    >>> plain({"k": (5, float("nan")), "method": dict, "role": complex(1)})
    {'k': [5, None], 'method': 'builtins.dict', 'role': '(1+0j)'}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
