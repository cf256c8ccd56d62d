"""Lists and structs without nested dictionaries, which would expose values of other rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pyarrow as pa


def plain_nested(array: Any) -> Any:
    """Return lists and structs with plain arrays: dictionaries expose values of other rows."""
    plain = _mapped(array.type, _plain_leaf)
    if plain.equals(array.type, check_metadata=True):
        return array
    if "list_view<" not in str(array.type):  # Arrow casts these wrongly
        with suppress(pa.ArrowNotImplementedError):
            return array.cast(plain)
    return pa.array(array.to_pylist(), plain)


def nested_texts(array: Any) -> list[str | None]:
    """Return each list or struct as text, with nanoseconds, which Python lacks, as counts."""
    if "[ns" in str(array.type):
        array = array.cast(_mapped(array.type, _counted_leaf))
    return [None if cell is None else repr(cell) for cell in array.to_pylist()]


def _plain_leaf(kind: Any) -> Any:
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind


def _counted_leaf(kind: Any) -> Any:
    return pa.int64() if getattr(kind, "unit", None) == "ns" else kind


def _mapped(kind: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return a type with its leaf types replaced and dictionaries decoded."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _mapped(kind.value_type, leaf)
    if pa.types.is_struct(kind):
        parts = [pa.field(part.name, _mapped(part.type, leaf), part.nullable) for part in kind]
        return pa.struct(parts)
    if pa.types.is_map(kind):
        return pa.map_(_mapped(kind.key_type, leaf), _mapped(kind.item_type, leaf))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_mapped(kind.value_type, leaf), kind.list_size)
    if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind):
        return pa.large_list(_mapped(kind.value_type, leaf))
    if pa.types.is_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(_mapped(kind.value_type, leaf))
    return leaf(kind)
