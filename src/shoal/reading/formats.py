"""How a text file is written, as far as it is stated."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.core.files import check_sign
from shoal.errors import InputError
from shoal.reading.notations import Notation

_GUESSED = b"shoal.guessed"


@dataclass(frozen=True)
class Format:
    r"""How to read a text file; what is None is found out.

    delimiter: one character; a tab may be written \t.
    missing: texts that mean a missing value, besides nothing at all.
    decimal: the decimal sign of its numbers, a comma or a point; a point where not stated.
    dates: how its dates are written, such as DD.MM.YYYY; as 2024-03-09 where not stated.
    names: column names of a file without a header line.
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    decimal: str | None = None
    dates: str | None = None

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
        object.__setattr__(self, "missing", _texts(self.missing))
        Notation(self.decimal, self.dates)  # refuses what is none

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


def _check_encoding(encoding: Any) -> None:
    try:
        "".encode(encoding)  # refuses codecs that are not for text
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError, TypeError):
        told = f" {encoding!r}" if len(str(encoding)) <= 20 else ""
        raise InputError(f"encoding{told} is not known; try utf-8, latin-1, cp1252") from None


def _texts(listed: Any) -> tuple[str, ...]:
    """Return the texts that mean missing; numbers are taken as they are printed."""
    if not isinstance(listed, (list, tuple, set, frozenset)) or not all(
        isinstance(text, (str, int, float, type(None))) and not isinstance(text, bool)
        for text in listed
    ):
        raise InputError("missing must be a list of texts such as ['?', 'NA']")
    return tuple(str(text) for text in listed if text not in (None, ""))
