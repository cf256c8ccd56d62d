"""Lists and structs without dictionaries inside, which would name values of other rows."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pyarrow as pa


def plain_nested(array: Any) -> Any:
    """Return lists and structs of plain arrays: dictionaries inside name values of other rows."""
    plain = _plain_type(array.type)
    if plain.equals(array.type, check_metadata=True):
        return array
    if "list_view<" not in str(array.type):  # Arrow casts these wrongly
        with suppress(pa.ArrowNotImplementedError):
            return array.cast(plain)
    return pa.array(array.to_pylist(), plain)


def _plain_type(kind: Any) -> Any:
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_struct(kind):
        parts = [pa.field(part.name, _plain_type(part.type), part.nullable) for part in kind]
        return pa.struct(parts)
    if pa.types.is_map(kind):
        return pa.map_(_plain_type(kind.key_type), _plain_type(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain_type(kind.value_type), kind.list_size)
    if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind):
        return pa.large_list(_plain_type(kind.value_type))
    if pa.types.is_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(_plain_type(kind.value_type))
    return kind
