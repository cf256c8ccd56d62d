"""The stated format of a text file."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.values.specs import missing_texts
from shoal.errors import InputError
from shoal.reading.notations import Notation, date_pattern
from shoal.support.files import check_sign

_GUESSED = b"shoal.guessed"
_UNDATED = b"shoal.undated"


@dataclass(frozen=True)
class Format:
    r"""The format of a text file; settings that are None are detected.

    Parameters:
        delimiter: The delimiter of a CSV file, one character; a tab may be written \t.
        quote: The quote character of a CSV file; an empty text if there is none.
        encoding: The encoding of a text file.
        missing: Texts that mean a missing value, in addition to empty fields.
        names: The column names of a file without a header line.
        decimal: The decimal mark of numbers, a comma or a point; by default a point.
        dates: The format of dates, such as DD.MM.YYYY; by default like 2024-03-09.
        header: Whether the first line of a CSV file contains the column names.
        trim: Whether spaces around the cells and the column names of a CSV file are removed; by
            default they stay.
        sheet: The sheet of a spreadsheet; needed if it has several.
        query: The query to run on a database.
        missing_in: Further texts that mean a missing value, by column.

    Raises:
        InputError: A setting is wrong.

    >>> Format(missing=("?",), missing_in={"age": ("999",)}).missing_of("age")
    ('?', '999')
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    decimal: str | None = None
    dates: str | None = None
    header: bool | None = None
    trim: bool | None = None
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
            raise InputError("header must be true or false: whether the first line contains names")
        if self.trim not in (None, True, False):
            raise InputError("trim must be true or false: whether spaces around cells are removed")
        for option in ("sheet", "query"):
            if not isinstance(getattr(self, option), (str, type(None))):
                raise InputError(f"{option} must be text")
        object.__setattr__(self, "missing", missing_texts(self.missing))
        Notation(self.decimal, self.dates)  # raises an error for a wrong notation

    def missing_of(self, column: str) -> tuple[str, ...]:
        """Return the texts that mean a missing value in a column, in addition to empty fields."""
        return (*self.missing, *self.missing_in.get(column, ()))

    @property
    def notation(self) -> Notation:
        """The notation of numbers and dates."""
        return Notation(self.decimal, self.dates)


def with_guesses(data: Any, settings: Mapping[str, str]) -> Any:
    """Return an Arrow table with the guessed file settings in its metadata."""
    return data.replace_schema_metadata({_GUESSED: json.dumps(dict(settings))})


def guesses_of(data: Any) -> dict[str, str]:
    """Return the file settings that were guessed when an Arrow table was read."""
    found: dict[str, str] = json.loads((data.schema.metadata or {}).get(_GUESSED, b"{}"))
    return found


def with_dates_checked(data: Any, dates: str | None, texts: Mapping[str, Any]) -> Any:
    """Return an Arrow table marked in its metadata if no column has the stated format of dates.

    texts: the checked columns as text.
    """
    if dates is None or any(_is_dated(cells, dates) for cells in texts.values()):
        return data
    metadata = {**(data.schema.metadata or {}), _UNDATED: json.dumps(list(texts))}
    return data.replace_schema_metadata(metadata)


def undated_columns(data: Any) -> list[str] | None:
    """Return the checked columns if none has the stated format of dates, or else None."""
    found = (data.schema.metadata or {}).get(_UNDATED)
    return None if found is None else list(json.loads(found))


def _is_dated(cells: Any, dates: str) -> bool:
    """Return whether every text is a date in this format, and there is at least one."""
    known = cells.unique().drop_null()
    fits = pc.match_substring_regex(known.cast(pa.large_string()), date_pattern(dates))
    return bool(len(known) and pc.all(fits).as_py())


def _check_encoding(encoding: Any) -> None:
    try:
        "".encode(encoding)  # refuses codecs that are not for text
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError, TypeError):
        name = f" {encoding!r}" if len(str(encoding)) <= 20 else ""
        raise InputError(f"encoding{name} is not known; try utf-8, latin-1, cp1252") from None
