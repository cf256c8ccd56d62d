"""Checksums of Parquet files: written with every page, and checked before a page is read.

A damaged bit may otherwise be read as another value. Parquet has a checksum for each page, and none
for the footer with the names and types of columns, so the files that Shoal writes have one of their
schema as well. Arrow checks pages while it reads them; DuckDB does not, so `check_pages` does.

    "PAR1" │ row group: column: page header, page │ page header, page │ … │ footer │ length │ "PAR1"

Page headers and the footer are structures in the compact protocol of Thrift; `_Fields` reads them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from shoal.support.files import utf8_path

_MARK = b"shoal.schema"  # key of the checksum of the schema
# types of fields in the compact protocol of Thrift
_FLAGS, _BYTE, _NUMBERS, _TEXT, _LISTS, _STRUCTURE = (1, 2), 3, (4, 5, 6), 8, (9, 10), 12
_SIZES = {1: 0, 2: 0, _BYTE: 1, 7: 8}  # bytes of flags, which are in their type, and of others
# numbers of fields: of the footer; of a column in its schema, with the bytes of a value by type;
_SCHEMA, _ROW_GROUPS = 2, 4
_TYPE, _LENGTH, _CHILDREN, _WIDTHS = 1, 2, 5, {1: 4, 2: 8, 3: 12, 4: 4, 5: 8}
# of a group of rows and its columns: number of values, stored bytes, and offsets of pages;
_COLUMNS, _DESCRIPTION, _VALUES, _STORED, _DATA, _DICTIONARY = 1, 3, 5, 7, 9, 11
# of a page: the kind, which decides the field with its number of values
_KIND, _UNPACKED, _SIZE, _CHECKSUM = 1, 2, 3, 4
_PARTS, _IS_DICTIONARY, _COUNT = {0: 5, 1: 6, 2: 7, 3: 8}, 2, 1
_MISREAD = (LookupError, TypeError, AttributeError, ValueError, OSError)  # of a wrong layout
_WINDOW_BYTES, _LARGEST_BYTES = 1 << 10, 1 << 20  # read at once
_SLACK_BYTES = 1 << 16  # by which some programs understate the size of a column


class DamagedParquet(ValueError):  # noqa: N818
    """A Parquet file is not as it was written."""


def open_parquet(path: Path) -> Any:
    """Open a Parquet file for reading; its pages are checked when they are read.

    Raises:
        DamagedParquet: Its schema or number of rows is not what was written.
    """
    import pyarrow.parquet as pq

    file = pq.ParquetFile(utf8_path(path), page_checksum_verification=True)
    try:
        _check_footer(path, file)
    except BaseException:
        file.close()
        raise
    return file


def parquet_writer(path: Path, schema: Any) -> Any:
    """Return a writer of tables to a Parquet file whose pages and schema have checksums."""
    import pyarrow.parquet as pq

    return pq.ParquetWriter(utf8_path(path), with_checksum(schema), **writer_options())


def writer_options() -> dict[str, Any]:
    """Return how Parquet files are written, on this machine and by executors."""
    return {"compression": "zstd", "write_page_checksum": True}


def with_checksum(schema: Any) -> Any:
    """Return a schema with its checksum as its only metadata."""
    import pyarrow.parquet as pq

    plain, sink = schema.remove_metadata(), pa.BufferOutputStream()
    pq.write_table(plain.empty_table(), sink)
    read = pq.read_schema(pa.BufferReader(sink.getvalue()))  # some units of time change
    return plain.with_metadata({_MARK: _checksum(read)})


def _check_footer(path: Path, file: Any) -> None:
    found, schema = file.metadata, file.schema_arrow
    rows = sum(found.row_group(number).num_rows for number in range(found.num_row_groups))
    if rows != found.num_rows:
        raise DamagedParquet("the number of rows was changed")
    if _is_marked(schema) and schema.metadata[_MARK] != _checksum(schema):
        with path.open("rb") as handle:
            if _has_checksums(handle):
                raise DamagedParquet("the schema was changed")


def _is_marked(schema: Any) -> bool:
    return _MARK in (schema.metadata or {})


def _has_checksums(handle: IO[bytes]) -> bool:
    """Return whether the first page has a checksum.

    A program that changes a table of Shoal may keep the mark of the schema, but not the checksums.
    """
    try:
        first = next(_columns(handle), None)
        return first is not None and _CHECKSUM in _page_header(handle, first[0]).all
    except _MISREAD:
        return True


def _checksum(schema: Any) -> bytes:
    fields = [f"{field.name!r} {field.type} {field.nullable}" for field in schema]
    return f"{zlib.crc32(chr(10).join(fields).encode()):08x}".encode()


def check_pages(path: Path) -> None:
    """Check the checksum of every page that has one, and of the schema.

    It reads the file once and decodes nothing. Files that other programs wrote in another layout
    are passed over, unless they have checksums.

    Raises:
        DamagedParquet: The file is not as it was written.
    """
    with open_parquet(path) as file:
        marked = _is_marked(file.schema_arrow)
    unread = False
    with path.open("rb") as handle:
        checked = marked and _has_checksums(handle)
        try:
            # not by Arrow, which ends the process at some damaged descriptions of columns
            for column in _columns(handle):
                found = _check_column(handle, *column)
                unread |= found is False
                checked |= found is True
        except DamagedParquet:
            raise
        except _MISREAD:
            unread = True
    if checked and unread:
        raise DamagedParquet("a page has no valid header")


def _columns(handle: IO[bytes]) -> Iterator[tuple[int, int, int, int | None]]:
    """Yield where the pages of each column of each group of rows begin and end.

    Also their number of values, and the bytes of a value, None for texts.
    """
    size = handle.seek(-8, SEEK_END)
    length = int.from_bytes(handle.read(4), "little")
    handle.seek(size - length)
    footer = _Fields(handle.read(length)).all
    leaves = [each for each in footer[_SCHEMA] if not each.get(_CHILDREN)]
    widths = [_WIDTHS.get(each[_TYPE], each.get(_LENGTH)) for each in leaves]
    for group in footer[_ROW_GROUPS]:
        for column, width in zip(group[_COLUMNS], widths, strict=True):
            chunk = column[_DESCRIPTION]
            start, first = chunk[_DATA], chunk.get(_DICTIONARY, 0)
            start = min(start, first) if first > 0 else start
            yield start, start + chunk[_STORED], chunk[_VALUES], width


def _check_column(
    handle: IO[bytes], place: int, end: int, values: int, width: int | None
) -> bool | None:
    """Check the pages of a column; return whether all have checksums, None if it has no pages.

    Headers have none, so their kinds and numbers of values are compared with the footer.
    """
    checked: bool | None = None
    seen = 0
    while place < end:
        header = _page_header(handle, place)
        found, place = header.all, place + header.size
        size, stated = found[_SIZE], found.get(_CHECKSUM)
        if not 0 <= size <= end - place + _SLACK_BYTES:
            raise LookupError
        count = found[_PARTS[found[_KIND]]].get(_COUNT, 0)
        if found[_KIND] != _IS_DICTIONARY:
            seen += count
        elif width and count * width != found[_UNPACKED]:
            raise LookupError
        checked = stated is not None and checked is not False
        if stated is not None and _checksum_of(handle, place, size) != stated & 0xFFFFFFFF:
            raise DamagedParquet("a page was changed")
        place += size
    if seen != values:
        raise LookupError
    return checked


def _page_header(handle: IO[bytes], place: int) -> _Fields:
    """Return the header of a page, of which only statistics can be large."""
    handle.seek(place)
    text = handle.read(_WINDOW_BYTES)
    try:
        return _Fields(text)
    except LookupError:
        return _Fields(text + handle.read(_LARGEST_BYTES))


def _checksum_of(handle: IO[bytes], place: int, size: int) -> int:
    handle.seek(place)
    found = 0
    for start in range(0, size, _LARGEST_BYTES):
        found = zlib.crc32(handle.read(min(_LARGEST_BYTES, size - start)), found)
    return found


class _Fields:
    """The fields of a structure in the compact protocol of Thrift, by their numbers.

    all: numbers, lists and inner structures; texts and floats are left out.
    size: its bytes.
    """

    def __init__(self, text: bytes) -> None:
        self._text, self.size = text, 0
        self.all = self._structure()

    def _structure(self) -> dict[int, Any]:
        found: dict[int, Any] = {}
        name = 0
        while (first := self._byte()) != 0:
            name = name + (first >> 4) if first >> 4 else self._signed()
            found[name] = self._value(first & 15)
        return found

    def _value(self, kind: int) -> Any:
        if kind in _NUMBERS:
            return self._signed()
        if kind in _SIZES:
            self.size += _SIZES[kind]
        elif kind == _TEXT:
            length = self._number()
            self.size += length
        elif kind in _LISTS:
            first = self._byte()
            count = first >> 4 if first >> 4 < 15 else self._number()
            inner = _BYTE if first & 15 in _FLAGS else first & 15
            if count > len(self._text):
                raise LookupError
            return [self._value(inner) for _ in range(count)]
        elif kind == _STRUCTURE:
            return self._structure()
        else:
            raise LookupError
        return None

    def _byte(self) -> int:
        self.size += 1
        return self._text[self.size - 1]

    def _number(self) -> int:
        """Read a number of 7 bits per byte, the lowest first."""
        value = 0
        for shift in range(0, 64, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise LookupError

    def _signed(self) -> int:
        value = self._number()
        return value >> 1 ^ -(value & 1)
