"""How a text file is written, as far as it is stated."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.files import check_sign
from shoal.core.specs import missing_texts
from shoal.errors import InputError
from shoal.reading.notations import Notation, date_pattern

_GUESSED = b"shoal.guessed"
_UNDATED = b"shoal.undated"


@dataclass(frozen=True)
class Format:
    r"""How to read a text file; what is None is found out.

    delimiter: one character; a tab may be written \t.
    missing: texts that mean a missing value, besides nothing at all.
    decimal: the decimal sign of its numbers, a comma or a point; a point where not stated.
    dates: how its dates are written, such as DD.MM.YYYY; as 2024-03-09 where not stated.
    names: column names of a file without a header line.
    header: whether the first line of a CSV file holds the column names; found out if None.
    sheet: the sheet of a spreadsheet; needed where it has several.
    query: what to ask a database.
    missing_in: for some columns further texts that mean a missing value.
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    decimal: str | None = None
    dates: str | None = None
    header: bool | None = None
    sheet: str | None = None
    query: str | None = None
    missing_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.delimiter == r"\t":
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None:
            check_sign("delimiter", self.delimiter)
        if self.quote is not None:
            check_sign("quote", self.quote, least=0)
        if self.delimiter is not None and self.delimiter == self.quote:
            raise InputError("delimiter and quote must not be the same character")
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.header not in (None, True, False):
            raise InputError("header must be true or false: whether the first line holds names")
        object.__setattr__(self, "missing", missing_texts(self.missing))
        Notation(self.decimal, self.dates)  # refuses what is none

    def missing_of(self, column: str) -> tuple[str, ...]:
        """Return the texts that mean a missing value in a column, besides nothing at all."""
        return (*self.missing, *self.missing_in.get(column, ()))

    @property
    def notation(self) -> Notation:
        """How numbers and dates are written."""
        return Notation(self.decimal, self.dates)


def with_guesses(data: Any, settings: Mapping[str, str]) -> Any:
    """Return an Arrow table that knows which file settings were guessed, and as what."""
    return data.replace_schema_metadata({_GUESSED: json.dumps(dict(settings))})


def guesses_of(data: Any) -> dict[str, str]:
    """Return the file settings that were guessed when an Arrow table was read."""
    found: dict[str, str] = json.loads((data.schema.metadata or {}).get(_GUESSED, b"{}"))
    return found


def with_dates_checked(data: Any, dates: str | None, texts: Mapping[str, Any]) -> Any:
    """Return an Arrow table that knows if a stated notation of dates fits none of its columns.

    texts: the columns that were looked at, as text.
    """
    if dates is None or any(_is_dated(cells, dates) for cells in texts.values()):
        return data
    metadata = {**(data.schema.metadata or {}), _UNDATED: json.dumps(list(texts))}
    return data.replace_schema_metadata(metadata)


def undated_columns(data: Any) -> list[str] | None:
    """Return the columns without dates as stated, None where one has them or none are stated."""
    found = (data.schema.metadata or {}).get(_UNDATED)
    return None if found is None else list(json.loads(found))


def _is_dated(cells: Any, dates: str) -> bool:
    """Whether every text is a date in this notation, and there is one."""
    known = cells.unique().drop_null()
    fits = pc.match_substring_regex(known.cast(pa.large_string()), date_pattern(dates))
    return bool(len(known) and pc.all(fits).as_py())


def _check_encoding(encoding: Any) -> None:
    try:
        "".encode(encoding)  # refuses codecs that are not for text
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError, TypeError):
        told = f" {encoding!r}" if len(str(encoding)) <= 20 else ""
        raise InputError(f"encoding{told} is not known; try utf-8, latin-1, cp1252") from None
