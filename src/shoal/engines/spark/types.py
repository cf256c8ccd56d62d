"""Types of Spark and of Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from shoal.errors import InputError

_SIMPLE = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "string": pa.string(),
    "timestamp_ntz": pa.timestamp("us"),
    "timestamp": pa.timestamp("us", "UTC"),
    "binary": pa.binary(),
}


def arrow_type(kind: Any) -> Any:
    """Return the Arrow type of a type of Spark, by its name; None if there is no plain one.

    >>> class Kind:
    ...     def simpleString(self):
    ...         return "decimal(9,2)"
    >>> arrow_type(Kind())
    Decimal128Type(decimal128(9, 2))
    """
    name = kind.simpleString()
    if name.startswith("decimal("):
        precision, scale = name[len("decimal(") : -1].split(",")
        return pa.decimal128(int(precision), int(scale))
    if name.startswith(("string collate", "varchar", "char")):
        return pa.string()
    return _SIMPLE.get(name)


def spark_type(kind: Any) -> str:
    """Return the name of the Spark type that holds values of an Arrow type.

    >>> spark_type(pa.int16()), spark_type(pa.timestamp("ms"))
    ('smallint', 'timestamp_ntz')
    """
    if pa.types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return "string"
    if pa.types.is_timestamp(kind):
        return "timestamp_ntz"
    if pa.types.is_unsigned_integer(kind):
        wider = {8: "smallint", 16: "int", 32: "bigint", 64: "decimal(20,0)"}
        return wider[kind.bit_width]
    return next(name for name, found in _SIMPLE.items() if found == kind)


def types_of(frame: Any) -> Mapping[str, Any]:
    """Return the Arrow type of each column of a frame; nested ones are null."""
    return {field.name: arrow_type(field.dataType) or pa.null() for field in frame.schema.fields}


def check_zone(name: str, kind: Any) -> None:
    """Reject times with a time zone, which Spark's `timestamp` has."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        raise InputError(
            f"column {name!r}: its times depend on the time zone of the session; cast the column "
            "to timestamp_ntz, or to date"
        )
