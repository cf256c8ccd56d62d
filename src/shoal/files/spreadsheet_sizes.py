"""The memory that a spreadsheet will take, estimated before it is read.

Calamine holds a sheet as the whole rectangle around its filled cells, and unpacks texts completely:
a file of 1 kB may need more memory than any machine has, which ends the process. So the unpacked
sizes are read from the directory of the archive, and the sheet is streamed for its filled cells:

    .xlsx, .xlsm  XML in a zip archive: references such as XFD1048576
    .xlsb         records in a zip archive: a row, then its cells
    .ods          XML in a zip archive: cells and rows in order, with how often they are repeated
    .xls          records in a file of sectors, which is not packed
"""

from __future__ import annotations

import re
import string
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

from shoal.errors import InputError

_MAX_CELLS = 100_000_000  # of the rectangle around the filled cells of a sheet
_MAX_BYTES = 2 << 30  # of one unpacked part of the archive
_CHUNK = 1 << 22  # bytes

_UNPACKED = (".xml", ".bin", ".rels")  # parts that are read; others are pictures
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError, struct.error),
    *(EOFError, KeyError, IndexError, NotImplementedError, RuntimeError, OSError),
)

# `XF7` of a cell with content, `<c r="XF7" t="s"><v>`; what has only a format is not read
_CELL = re.compile(
    rb"<(?:c|\w+:c)(?: r=\"|\s(?:[^<>]*\s)?r\s*=\s*[\"'])([A-Za-z]+[0-9]+)[\"']"
    rb"[^<>]*(?<!/)>(?!\s*</)"
)
# cells and rows that do not state where they are follow those before
_UNPLACED = re.compile(rb"<(?:c|row|\w+:c|\w+:row)(?=[\s/>])(?! r=\")(?![^<>]*\sr\s*=)")
_PLACE = re.compile(rb"<(?:\w+:)?(row|c)(?=[\s/>])([^<>]*)>(?!\s*</)")
_REFERENCE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]*)([0-9]+)")
_LETTERS, _DIGITS = string.ascii_letters.encode(), string.digits.encode()
_ODS_TOKEN = re.compile(
    rb"<(/?)table:(table-row|table-cell|covered-table-cell|table)(?=[\s/>])([^<>]*)>"
)
_REPEATED = re.compile(rb"table:number-(?:rows|columns)-repeated\s*=\s*[\"']\s*([0-9]+)")
_BUNDLED_SHEET, _BINARY_ROW, _BINARY_CELLS = 0x9C, 0, range(2, 12)  # records of .xlsb
_OLD_CELLS = (0x06, 0xD6, 0xFD, 0x203, 0x204, 0x205, 0x27E)  # records of .xls: one cell each,
_OLD_RUN, _OLD_SIZE, _OLD_END = 0xBD, 0x200, 0x0A  # cells of a row, the stated size, the end


@dataclass
class _Extent:
    """The rectangle around some cells; rows and columns count from 0."""

    top: int = 0
    bottom: int = -1
    left: int = 0
    right: int = -1

    def add(self, rows: tuple[int, int], columns: tuple[int, int]) -> None:
        """Extend the rectangle to first and last rows and columns."""
        if self.bottom < 0:
            self.top, self.left = rows[0], columns[0]
        self.top, self.bottom = min(self.top, rows[0]), max(self.bottom, rows[1])
        self.left, self.right = min(self.left, columns[0]), max(self.right, columns[1])

    def check(self, path: Path) -> None:
        """Reject a rectangle that does not fit in memory."""
        rows, columns = self.bottom - self.top + 1, self.right - self.left + 1
        if rows * columns > _MAX_CELLS:
            raise InputError(
                f"{path}: the filled cells of a sheet are spread over {rows:,} rows and "
                f"{columns:,} columns, too many to be read; delete cells that are far from the "
                "table, or save the sheet as CSV"
            )


def check_book(path: Path) -> None:
    """Reject a spreadsheet that needs too much memory to be opened.

    Only `check_sheet` looks at the cells of .xlsx and .xlsb files, which are read sheet by sheet.

    Raises:
        InputError: It is too large, or damaged.
    """
    with _opened(path) as archive:
        if archive is None:
            for extent in _old_extents(path.read_bytes()):
                extent.check(path)
            return
        for part in archive.infolist():
            if part.filename.endswith(_UNPACKED) and part.file_size > _MAX_BYTES:
                raise InputError(
                    f"{path}: unpacks to {part.file_size / 1e9:,.1f} GB, too much to be read; save "
                    "the sheet as CSV"
                )
        if "content.xml" in archive.namelist():
            with archive.open("content.xml") as stream:
                for extent in _ods_extents(stream):
                    extent.check(path)


def check_sheet(path: Path, sheet: str) -> None:
    """Reject a sheet of an .xlsx or .xlsb file that needs too much memory; `check_book` first.

    Raises:
        InputError: It is too large, or damaged.
    """
    with _opened(path) as archive:
        if archive is None or "content.xml" in archive.namelist():
            return
        for part in _parts_of(archive, sheet):
            read = _binary_extent if part.endswith(".bin") else _xml_extent
            read(archive, part).check(path)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile | None]:
    """Open the archive of a spreadsheet, None if it is not one; damage is an error of the file."""
    try:
        if not zipfile.is_zipfile(path):
            yield None
            return
        with zipfile.ZipFile(path) as archive:
            yield archive
    except _DAMAGED:
        raise InputError(f"{path}: is damaged or not a spreadsheet; save the file again") from None


def _parts_of(archive: zipfile.ZipFile, sheet: str) -> list[str]:
    """Return the part of a sheet; all sheets, if the workbook does not say which it is."""
    names = {name.lower(): name for name in archive.namelist()}
    starts = [t for kind, t in _links(archive, names, "").values() if kind == "officeDocument"]
    book = next((start for start in starts if start in names), "xl/workbook.xml")
    book = "xl/workbook.bin" if "xl/workbook.bin" in names else book
    targets = _links(archive, names, book)
    listed: list[tuple[str, str]] = []
    if book in names:
        with archive.open(names[book]) as stream:
            listed = _binary_sheets(stream) if book.endswith(".bin") else _xml_sheets(stream)
    found = [targets[link][1] for name, link in listed if name == sheet and link in targets]
    return [names[path] for path in found if path in names] or [
        name for key, name in names.items() if "sheet" in key and key.endswith((".xml", ".bin"))
    ]


def _links(
    archive: zipfile.ZipFile, names: dict[str, str], part: str
) -> dict[str, tuple[str, str]]:
    """Return the kind and the target, in lower case, of each link of a part."""
    folder, _, name = part.rpartition("/")
    file = names.get(f"{folder}/_rels/{name}.rels".lstrip("/"))
    if file is None:
        return {}
    found = {}
    for link in ElementTree.fromstring(archive.read(file)):
        target = link.get("Target", "").lower()
        path = target if target.startswith("/") else f"{folder}/{target}"
        found[link.get("Id", "")] = link.get("Type", "").rpartition("/")[2], path.lstrip("/")
    return found


def _xml_sheets(stream: IO[bytes]) -> list[tuple[str, str]]:
    """Return the name of each sheet and the link to its part."""
    found = []
    for element in ElementTree.parse(stream).iter():
        if element.tag.endswith("}sheet"):
            link = next((v for k, v in element.items() if k.endswith("}id")), "")
            found.append((element.get("name", ""), link))
    return found


def _binary_sheets(stream: IO[bytes]) -> list[tuple[str, str]]:
    """Return the name of each sheet of a binary workbook and the link to its part."""
    found = []
    for kind, content in _records(stream):
        if kind == _BUNDLED_SHEET:
            texts, place = [], 8
            for _ in range(2):
                (length,) = struct.unpack_from("<I", content, place)
                texts.append(content[place + 4 : place + 4 + 2 * length].decode("utf-16-le"))
                place += 4 + 2 * length
            found.append((texts[1], texts[0]))
    return found


def _xml_extent(archive: zipfile.ZipFile, part: str) -> _Extent:
    """Return the rectangle around the filled cells of a sheet in XML."""
    extent = _Extent()
    with archive.open(part) as stream:
        for text in _pieces(stream):
            if _UNPLACED.search(text):
                break
            cells = b" ".join(_CELL.findall(text))
            if cells:
                rows = [int(each) - 1 for each in set(cells.translate(None, _LETTERS).split())]
                columns = [_column(each) for each in set(cells.translate(None, _DIGITS).split())]
                extent.add((min(rows), max(rows)), (min(columns), max(columns)))
        else:
            return extent
    with archive.open(part) as stream:
        return _extent_in_order(stream)


def _extent_in_order(stream: IO[bytes]) -> _Extent:
    """Return the rectangle of a sheet whose cells or rows do not all state their position."""
    extent, row, column = _Extent(), -1, -1
    for text in _pieces(stream):
        for kind, attributes in _PLACE.findall(text):
            stated = _REFERENCE.search(attributes)
            if kind == b"row":
                row, column = int(stated[2]) - 1 if stated else row + 1, -1
                continue
            column += 1
            if stated:
                row, column = int(stated[2]) - 1, _column(stated[1])
            if not attributes.endswith(b"/"):
                extent.add((row, row), (column, column))
    return extent


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the text of a stream in pieces that divide no element."""
    rest = b""
    while chunk := stream.read(_CHUNK):
        text = rest + chunk
        begun = text.rfind(b"<")
        cut = len(text) if begun < 0 or text.find(b">", begun) >= 0 else begun
        yield text[:cut]
        rest = text[cut:]
        if len(rest) > _CHUNK:
            raise zipfile.BadZipFile("an element without an end")
    yield rest


def _column(letters: bytes) -> int:
    """Return the number of a column, `A` as 0."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number - 1


def _ods_extents(stream: IO[bytes]) -> Iterator[_Extent]:
    """Yield the rectangle around the filled cells of each sheet of an OpenDocument file.

    Rows and columns are repeated by number, and most of them are empty ones around the table.
    """
    extent, row, column, repeated, filled = _Extent(), 0, 0, 1, -1
    for text in _pieces(stream):
        for closing, kind, attributes in _ODS_TOKEN.findall(text):
            times = _REPEATED.search(attributes)
            number = int(times[1]) if times else 1
            if kind == b"table":
                if closing:
                    yield extent
                extent, row = _Extent(), 0
            elif kind == b"table-row" and not closing:
                repeated, column, filled = number, 0, -1
            elif kind == b"table-row":
                if filled >= 0:
                    extent.add((row, row + repeated - 1), (0, filled))
                row += repeated
            elif not closing:
                column += number
                if not attributes.endswith(b"/") or b"office:" in attributes:
                    filled = column - 1
            if kind == b"table-row" and attributes.endswith(b"/"):
                row += repeated


def _binary_extent(archive: zipfile.ZipFile, part: str) -> _Extent:
    """Return the rectangle around the filled cells of a sheet of records."""
    extent, row = _Extent(), 0
    with archive.open(part) as stream:
        for kind, content in _records(stream):
            if kind == _BINARY_ROW:
                (row,) = struct.unpack_from("<I", content)
            elif kind in _BINARY_CELLS:
                (column,) = struct.unpack_from("<I", content)
                extent.add((row, row), (column, column))
    return extent


def _records(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the type and the content of each record of a part of an .xlsb file."""

    def number(most: int) -> int:
        """Return a number of 7 bits per byte, the lowest first."""
        value = 0
        for place in range(most):
            byte = stream.read(1)[0]  # an IndexError at the end of the part
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                break
        return value

    while True:
        try:
            kind = number(2)
        except IndexError:
            return
        length = number(4)
        yield kind, stream.read(length)


def _old_extents(content: bytes) -> Iterator[_Extent]:
    """Yield the rectangle around the cells of each sheet of an .xls file.

    It contains the size that the sheet states, because memory for all of it is reserved.
    """
    book, place, extent = _old_book(content), 0, _Extent()
    while place + 4 <= len(book):
        kind, length = struct.unpack_from("<HH", book, place)
        record = book[place + 4 : place + 4 + length]
        place += 4 + length
        if kind in _OLD_CELLS or kind == _OLD_RUN:
            row, column = struct.unpack_from("<HH", record)
            last = struct.unpack("<H", record[-2:])[0] if kind == _OLD_RUN else column
            extent.add((row, row), (column, max(column, last)))
        elif kind == _OLD_SIZE:
            top, bottom, left, right = struct.unpack_from("<IIHH" if length > 10 else "<4H", record)
            extent.add((top, max(bottom - 1, top)), (left, max(right - 1, left)))
        elif kind == _OLD_END:
            yield extent
            extent = _Extent()


def _old_book(content: bytes) -> bytes:
    """Return the stream of the workbook in a file of sectors, empty if there is none.

    header (512 bytes) ─→ numbers of the sectors of the table ─→ table: the next sector of each
    directory (a chain of sectors) ─→ entries of 128 bytes: name, first sector, length
    A stream shorter than `limit` lies in small sectors inside the stream of the root entry.
    """
    if content[:8] != b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        return b""
    power, small_power = struct.unpack_from("<HH", content, 30)
    size, small = 1 << power, 1 << small_power
    directory, limit, small_table = (
        struct.unpack_from("<I", content, place)[0] for place in (48, 56, 60)
    )

    def sector(number: int) -> bytes:
        return content[(number + 1) * size : (number + 2) * size]

    def numbers(text: bytes) -> tuple[int, ...]:
        return struct.unpack(f"<{len(text) // 4}I", text[: len(text) // 4 * 4])

    def chain(start: int, table: tuple[int, ...]) -> Iterator[int]:
        for _ in table:  # a chain is not longer, unless it is a circle
            if start >= len(table):
                return
            yield start
            start = table[start]

    listed, (more,) = numbers(content[76:512]), struct.unpack_from("<I", content, 68)
    for _ in range(len(content) // size):
        if more > len(content) // size:
            break
        *further, more = numbers(sector(more))
        listed += tuple(further)
    table = numbers(b"".join(sector(number) for number in listed if number < len(content) // size))
    entries = b"".join(map(sector, chain(directory, table)))
    streams: dict[str, tuple[int, int]] = {}
    for place in range(0, len(entries) - 127, 128):
        (length,) = struct.unpack_from("<H", entries, place + 64)
        name = entries[place : place + max(length - 2, 0)].decode("utf-16-le", "replace").lower()
        kind = "root" if entries[place + 66] == 5 else name
        streams.setdefault(kind, struct.unpack_from("<II", entries, place + 116))
    start, length = streams.get("workbook") or streams.get("book") or (0, 0)
    if length >= limit:
        return b"".join(map(sector, chain(start, table)))[:length]
    packed = b"".join(map(sector, chain(streams["root"][0], table))) if length else b""
    small_numbers = numbers(b"".join(map(sector, chain(small_table, table))))
    places = (number * small for number in chain(start, small_numbers))
    return b"".join(packed[place : place + small] for place in places)[:length]
