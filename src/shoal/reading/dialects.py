"""Detect the delimiter and the quote of a CSV file from its beginning."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from shoal.errors import InputError
from shoal.reading.text_files import open_bytes

_SAMPLE = 1 << 21  # the longest line that is read
_LINE_END = re.compile(r"\r\n?|\n")
BLANKS = " \t"  # characters that may stand around cells
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Dialect:
    """The delimiter, the quote and the header of a CSV file.

    blank: the number of empty lines before the header.
    records: the first lines after the header.
    """

    delimiter: str
    quote: str
    header: tuple[str, ...]
    blank: int = 0
    records: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    def trimmed(self) -> Dialect:
        """Return the same without spaces around names and cells."""
        header, *records = (
            tuple(cell.strip(BLANKS) for cell in cells) for cells in (self.header, *self.records)
        )
        return replace(self, header=header, records=tuple(records))


def sniff(path: Path, name: Path, delimiter: str | None, quote: str | None) -> Dialect:
    """Return the delimiter, quote and header from the beginning of a UTF-8 file.

    name: the name of the file in messages.
    """
    with open_bytes(path) as handle:
        raw = handle.read(_SAMPLE)
    sample = codecs.getincrementaldecoder("utf-8-sig")().decode(raw)
    if len(raw) == _SAMPLE:
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r")) + 1] or sample
    begun = sample.lstrip("\r\n")
    if not begun:
        raise InputError(f"{name}: the file is empty")
    best, mark = max(
        ((d, q) for q in _quotes(begun, delimiter, quote) for d in _delimiters(delimiter, q)),
        key=lambda signs: _fit(begun, *signs),
    )
    records = _records(begun, best, mark)
    if not records:
        raise InputError(f"{name}: its header cannot be read; check delimiter and quotes")
    header = tuple(records[0])
    if len(header) > 1 and header[-1] == "" and all(r[-1:] == [""] for r in records[1:]):
        raise InputError(f"{name}: every line ends in {best!r}; remove the empty last column")
    blank = _LINE_END.findall(sample[: len(sample) - len(begun)])
    below = tuple(tuple(record) for record in records[1:])
    return Dialect(best, mark, header, len(blank), below)


def _delimiters(stated: str | None, quote: str) -> list[str]:
    return [stated] if stated else [sign for sign in _DELIMITERS if sign != quote]


def _quotes(lines: str, delimiter: str | None, stated: str | None) -> list[str]:
    """Return the likely quotes, most likely first; single quotes only if they occur."""
    if stated is not None:
        return [stated]
    if delimiter in ('"', "'"):
        return ["'" if delimiter == '"' else '"']
    first = _LINE_END.split(lines, maxsplit=1)[0]
    marks = [delimiter] if delimiter else _DELIMITERS
    wrapped = [f for d in marks for f in first.split(d) if len(f) > 1]
    if '"' not in first and any(f[0] == f[-1] == "'" for f in wrapped):
        return ["'"]
    return ['"', "'"] if "'" in lines else ['"']


def _records(lines: str, delimiter: str, quote: str, most: int = 500) -> list[list[str]]:
    reader = csv.reader(
        io.StringIO(lines, newline=""),  # line ends inside quoted cells stay unchanged
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    found: list[list[str]] = []
    try:
        for record in reader:
            if record:
                found.append(record)
            if len(found) >= most:
                break
    except csv.Error:
        pass
    return found


def _fit(lines: str, delimiter: str, quote: str) -> tuple[bool, float, int]:
    """Return the rank of a delimiter and quote: they split records into as many fields as names."""
    records = _records(lines, delimiter, quote)
    width = len(records[0]) if records else 0
    alike = sum(len(r) == width for r in records[1:]) / max(len(records) - 1, 1)
    return (width > 1, alike, width)
