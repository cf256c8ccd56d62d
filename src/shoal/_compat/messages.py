"""What messages and metadata of other libraries say, without the cells that they quote."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

# how warnings of scikit-learn begin
FEATURE_NAMES = "X does not have valid feature names"
MANY_CLASSES = "The number of unique classes is greater than 50%"


class CsvFault(Enum):
    """Why DuckDB cannot read a CSV file."""

    FIELDS = auto()
    QUOTE = auto()
    LENGTH = auto()
    ENCODING = auto()
    OTHER = auto()


@dataclass(frozen=True)
class CsvError:
    """An error of DuckDB in a CSV file.

    line: its number, None if the message has none; fields: the numbers of fields that were expected
    and found, if they differ.
    """

    fault: CsvFault
    line: int | None = None
    fields: tuple[int, int] | None = None


def read_csv_error(message: str) -> CsvError:
    """Return what a message of DuckDB says about a CSV file."""
    place = re.search(r"(?:on|at) [Ll]ine:? (\d+)|in line (\d+)", message)
    line = int(place[1] or place[2]) if place else None
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if fields:
        return CsvError(CsvFault.FIELDS, line, (int(fields[1]), int(fields[2])))
    if "unterminated quote" in message:
        return CsvError(CsvFault.QUOTE, line)
    if "Maximum line size" in message:
        return CsvError(CsvFault.LENGTH, line)
    if "unicode" in message.lower():
        return CsvError(CsvFault.ENCODING, line)
    return CsvError(CsvFault.OTHER, line)


def unconverted_column(message: str, names: Collection[str]) -> str | None:
    """Return the column that pandas could not convert to Arrow, if the message names one."""
    found = re.search(r"Conversion failed for column (.+) with type", message, re.DOTALL)
    return found[1] if found and found[1] in names else None


def is_unnamed_index(name: str) -> bool:
    """Return whether a column is what Arrow makes of a pandas index without a name."""
    return re.fullmatch(r"__index_level_\d+__", name) is not None


def is_polars_enum(field: Any) -> bool:
    """Return whether an Arrow field is an enum of polars; before 2.0 it is not called ordered."""
    return any(key.startswith(b"_PL_ENUM_VALUES") for key in field.metadata or {})
