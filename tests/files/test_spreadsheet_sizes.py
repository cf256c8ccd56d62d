"""Spreadsheets that would need more memory than there is are refused before they are read.

The files are written byte by byte, as no program writes them: each kind small, and far too large.
"""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zipfile

import pytest

import shoal
from shoal.files import spreadsheet_sizes, typed_files
from shoal.files.formats import Format
from shoal.files.reading import read_arrow

pytest.importorskip("python_calamine")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGED = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
NONE, END = 0xFFFFFFFF, 0xFFFFFFFE  # in the table of sectors


def packed(path, **parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def related(*targets, kind="worksheet"):
    links = "".join(
        f'<Relationship Id="r{n}" Type="{RELATED}/{kind}" Target="{target}"/>'
        for n, target in enumerate(targets)
    )
    return f'<Relationships xmlns="{PACKAGED}">{links}</Relationships>'


def cell(place, value, prefix=""):
    at = f' r="{place}"' if place else ""
    return f"<{prefix}c{at}><{prefix}v>{value}</{prefix}v></{prefix}c>"


def xlsx(path, *sheets, prefix="", **more):
    """Write sheets, each the XML of its rows."""
    name = f"xmlns:{prefix[:-1]}" if prefix else "xmlns"
    listed = "".join(
        f'<sheet name="s{n}" sheetId="{n + 1}" r:id="r{n}"/>' for n in range(len(sheets))
    )
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": related("xl/workbook.xml", kind="officeDocument"),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATED}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": related(
            *(f"worksheets/t{n}.xml" for n in range(len(sheets)))
        ),
    }
    for n, rows in enumerate(sheets):
        parts[f"xl/worksheets/t{n}.xml"] = (
            f'<{prefix}worksheet {name}="{MAIN}"><{prefix}sheetData>{rows}'
            f"</{prefix}sheetData></{prefix}worksheet>"
        )
    return packed(path, **parts, **more)


def xlsb(path, cells):
    """Write a sheet of records from cells (row, column, number)."""

    def record(kind, content=b""):
        number = bytes([kind & 0x7F | 0x80, kind >> 7]) if kind > 0x7F else bytes([kind])
        return number + bytes([len(content)]) + content

    def text(word):
        return struct.pack("<I", len(word)) + word.encode("utf-16-le")

    book = record(0x8F) + record(0x9C, struct.pack("<II", 0, 1) + text("r0") + text("s0"))
    size = struct.pack("<IIII", 0, 3, 0, 1)
    sheet = record(0x81) + record(0x94, size) + record(0x91)
    for row, column, number in cells:
        sheet += record(0, struct.pack("<I", row) + bytes(13))
        sheet += record(5, struct.pack("<IId", column, 0, number))
    return packed(
        path,
        **{
            "[Content_Types].xml": TYPES,
            "xl/workbook.bin": book + record(0x90) + record(0x84),
            "xl/_rels/workbook.bin.rels": related("worksheets/t0.bin"),
            "xl/worksheets/t0.bin": sheet + record(0x92) + record(0x82),
        },
    )


def ods(path, rows):
    """Write a sheet from the XML of its rows."""
    content = (
        '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>'
        f'<office:spreadsheet><table:table table:name="s0">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    listed = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    )
    return packed(path, mimetype=kind, **{"content.xml": content, "META-INF/manifest.xml": listed})


def ods_row(*cells, times=1):
    return (
        f'<table:table-row table:number-rows-repeated="{times}">{"".join(cells)}</table:table-row>'
    )


def ods_cell(number=None, times=1):
    repeated = f'<table:table-cell table:number-columns-repeated="{times}"'
    if number is None:
        return f"{repeated}/>"
    return (
        f'{repeated} office:value-type="float" office:value="{number}">'
        f"<text:p>{number}</text:p></table:table-cell>"
    )


def xls(path, cells, size):
    """Write a file of sectors with one sheet, from cells (row, column, number)."""

    def records(*made):
        return b"".join(struct.pack("<HH", kind, len(each)) + each for kind, each in made)

    begin = records((0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)))
    sheet = records(
        (0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0)),
        (0x200, struct.pack("<IIHHH", *size, 0)),
        *((0x203, struct.pack("<HHHd", row, column, 0, number)) for row, column, number in cells),
        (0x0A, b""),
    )
    start = len(begin) + 18
    listed = records((0x85, struct.pack("<IBB", start, 0, 0) + b"\x02\x00s0"), (0x0A, b""))
    assert len(begin + listed) == start
    path.write_bytes(sectors(begin + listed + sheet))
    return path


def sectors(stream):
    """Return a file with the stream of a workbook; short streams are in small sectors."""
    small = len(stream) < 4096
    content, table = stream, b""
    if small:
        content += bytes(-len(content) % 64)
        count = len(content) // 64
        table = struct.pack(f"<{count}I", *range(1, count), END).ljust(512, b"\xff")
    stored = len(content)
    content += bytes(-len(content) % 512)
    count = len(content) // 512
    chains = [0xFFFFFFFD, END, *range(3, 2 + count), END, *([END] if table else [])]

    def entry(name, kind, start, length, child=NONE):
        text = f"{name}\0".encode("utf-16-le")
        head = struct.pack("<HBBIII", len(text), kind, 1, NONE, NONE, child)
        return text.ljust(64, b"\0") + head + bytes(36) + struct.pack("<IQ", start, length)

    root = entry("Root Entry", 5, 2 if small else END, stored if small else 0, 1)
    entries = root + entry("Workbook", 2, 0 if small else 2, len(stream))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    tables = (2 + count, 1) if small else (END, 0)
    head += struct.pack("<IIIIIIIIII", 0, 1, 1, 0, 4096, *tables, END, 0, 0)
    numbers = struct.pack(f"<{len(chains)}I", *chains)
    return b"".join(
        [
            head.ljust(512, b"\xff"),
            numbers.ljust(512, b"\xff"),
            entries.ljust(512, b"\0"),
            content,
            table,
        ]
    )


NEAR = [(0, 0, 1.0), (1, 0, 2.0), (2, 0, 3.0)]
NEAR_ROWS = "".join(f'<row r="{n}">{cell(f"A{n}", n)}</row>' for n in (1, 2, 3))
FAR_ROW = f'<row r="1048576">{cell("XFD1048576", 3)}</row>'
SPREAD = "the filled cells of a sheet are spread over"


def readings():
    """Yield a file of each kind with the numbers 1 to 3 below each other, and what writes it."""
    yield "sheet.xlsx", lambda path: xlsx(path, NEAR_ROWS)
    yield (
        "prefix.xlsx",
        lambda path: xlsx(path, NEAR_ROWS.replace("<", "<x:").replace("<x:/", "</x:"), prefix="x:"),
    )
    unplaced = "".join(f"<row>{cell('', n)}</row>" for n in (1, 2, 3))
    yield "unplaced.xlsx", lambda path: xlsx(path, unplaced)
    styled = '<row r="9" s="1"><c r="XFD9" s="1"/><c r="XFC1048576"></c></row>'
    yield "styled.xlsx", lambda path: xlsx(path, NEAR_ROWS + styled)
    yield "records.xlsb", lambda path: xlsb(path, NEAR)
    rows = "".join(ods_row(ods_cell(n), ods_cell(times=16_000)) for n in (1, 2, 3))
    below = ods_row(ods_cell(times=16_384), times=1_048_573)
    yield "open.ods", lambda path: ods(path, rows + below)
    yield "small.xls", lambda path: xls(path, NEAR, (0, 3, 0, 1))
    many = [(row, 0, float(row + 1)) for row in range(400)]
    yield "large.xls", lambda path: xls(path, many, (0, 400, 0, 1))


def far():
    """Yield a file of each kind whose cells are too far from each other."""
    first = f'<row r="1">{cell("A1", 1)}{cell("B1", 2)}</row>'
    yield "sheet.xlsx", lambda path: xlsx(path, first + FAR_ROW)
    yield (
        "prefix.xlsx",
        lambda path: xlsx(
            path, (first + FAR_ROW).replace("<", "<x:").replace("<x:/", "</x:"), prefix="x:"
        ),
    )
    odd = "<row r='1048576'><c  s='1'\nr = 'xfd1048576' >\n<v>3</v></c></row>"
    yield "odd.xlsx", lambda path: xlsx(path, first + odd)
    yield "wide.xlsx", lambda path: xlsx(path, first + f'<row r="2">{cell("ZZZZZZ2", 3)}</row>')
    yield (
        "unplaced.xlsx",
        lambda path: xlsx(path, f'{first}<row r="4000000000">{cell("", 3)}{cell("XFD9", 3)}</row>'),
    )
    yield "records.xlsb", lambda path: xlsb(path, [*NEAR, (1_048_575, 16_383, 4.0)])
    yield "repeated.ods", lambda path: ods(path, ods_row(ods_cell(1, times=2_000_000_000)))
    below = ods_row(ods_cell(times=16_000), ods_cell(1))
    yield "rows.ods", lambda path: ods(path, ods_row(ods_cell(1)) + ods_row(times=900_000) + below)
    yield "cells.xls", lambda path: xls(path, [*NEAR, (65_535, 65_535, 4.0)], (0, 3, 0, 1))
    yield "stated.xls", lambda path: xls(path, NEAR, (0, 2**31, 0, 65_535))


@pytest.mark.parametrize(
    ("name", "write"), [pytest.param(*each, id=each[0]) for each in readings()]
)
def test_a_small_sheet_is_read(tmp_path, name, write):
    path = write(tmp_path / name)
    found = typed_files._rows(path, None)
    assert [row[0] for row in found][:3] == [1, 2, 3]
    assert {len(row) for row in found} == {1}


@pytest.mark.parametrize(("name", "write"), [pytest.param(*each, id=each[0]) for each in far()])
def test_cells_far_from_each_other_are_refused_in_one_sentence(tmp_path, name, write):
    path = write(tmp_path / name)
    assert path.stat().st_size < 4_000
    with pytest.raises(shoal.InputError, match=SPREAD) as caught:
        read_arrow(path, Format())
    assert "\n" not in str(caught.value)


def test_a_process_that_reads_such_a_file_ends_with_a_message(tmp_path):
    path = xlsx(tmp_path / "far.xlsx", f'<row r="1">{cell("A1", 1)}{cell("B1", 2)}</row>{FAR_ROW}')
    assert path.stat().st_size < 2_000
    command = [sys.executable, "-m", "shoal", "inspect", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"shoal: {path}: {SPREAD} 1,048,576 rows and 16,384 columns")


def test_only_the_sheet_that_is_read_is_measured(tmp_path):
    titled = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>'
    path = xlsx(
        tmp_path / "two.xlsx", titled + f'<row r="2">{cell("A2", 7)}</row>', NEAR_ROWS + FAR_ROW
    )
    assert read_arrow(path, Format(sheet="s0")).to_pydict() == {"a": [7]}
    with pytest.raises(shoal.InputError, match=SPREAD):
        read_arrow(path, Format(sheet="s1"))


def test_the_measure_does_not_depend_on_how_the_file_is_cut(tmp_path, monkeypatch):
    rows = "".join(
        f'<row r="{n}">{cell(f"C{n}", n)}{cell(f"AB{n}", n)}</row>' for n in range(5, 60)
    )
    found = set()
    for chunk in (50, 64, 1000, 1 << 20):
        monkeypatch.setattr(spreadsheet_sizes, "_CHUNK", chunk)
        with zipfile.ZipFile(xlsx(tmp_path / "sheet.xlsx", rows)) as archive:
            found.add(repr(spreadsheet_sizes._xml_extent(archive, "xl/worksheets/t0.xml")))
        stream = io.BytesIO(rows.replace(' r="C', ' q="C').encode())
        assert "bottom=58" in repr(spreadsheet_sizes._extent_in_order(stream))
    assert found == {"_Extent(top=4, bottom=58, left=2, right=27)"}


def test_a_text_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(spreadsheet_sizes, "_MAX_BYTES", 1_000_000)
    texts = f'<sst xmlns="{MAIN}"><si><t>{"x" * 2_000_000}</t></si></sst>'
    path = xlsx(tmp_path / "text.xlsx", NEAR_ROWS, **{"xl/sharedStrings.xml": texts})
    assert path.stat().st_size < 10_000
    with pytest.raises(shoal.InputError, match=r"unpacks to 0\.0 GB, too much to be read"):
        read_arrow(path, Format())


def test_a_part_larger_than_it_states_is_damage(tmp_path):
    path = xlsx(tmp_path / "sheet.xlsx", NEAR_ROWS + " " * 100_000)
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("xl/worksheets/t0.xml").file_size
    stated = path.read_bytes().replace(struct.pack("<I", size), struct.pack("<I", 200))
    path.write_bytes(stated)
    with pytest.raises(shoal.InputError, match="is damaged or not a spreadsheet"):
        read_arrow(path, Format())
