"""Line ends between records may be mixed; those inside quoted cells are part of the cell."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.files import text_files
from shoal.files.formats import Format
from shoal.files.reading import read_arrow
from shoal.files.text_files import with_even_ends
from shoal.files.writing import write_table

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
CELLS = st.text(st.sampled_from("ab, ;\"'\r\n"), max_size=6)


def even(text, delimiter=",", quote='"', size=None):
    raw = text.encode()
    size = size or len(raw) or 1
    pieces = [raw[start : start + size] for start in range(0, len(raw), size)]
    return b"".join(with_even_ends(pieces, delimiter, quote)).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ('a,"x\r\ny"\r\n', 'a,"x\r\ny"\n'),
        ('"x\ry",b\r', '"x\ry",b\n'),
        ('a,  "x\ry"\r', 'a,  "x\ry"\n'),  # spaces before a quote
        ('a,"x""\r\n""y"\r', 'a,"x""\r\n""y"\n'),  # doubled quotes
        ('5" pipe\r\n6" pipe\r\n', '5" pipe\n6" pipe\n'),  # no quotes: not at the beginning
        ('a\r\n"open\r\n', 'a\n"open\r\n'),  # refused when read
        ("\r", "\n"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("size", [None, 1, 2, 5])
def test_only_ends_of_records_are_made_even(text, expected, size):
    assert even(text, size=size) == expected


def test_without_quotes_every_line_end_is_made_even():
    assert even('"a\r\n"b\r', quote="") == '"a\n"b\n'


@given(st.lists(st.tuples(CELLS, CELLS, ENDS), max_size=5), st.integers(1, 9))
def test_no_cell_changes_however_the_text_is_cut(rows, size):
    """Against the csv module, which reads both."""
    quoted = [['"' + cell.replace('"', '""') + '"' for cell in row[:2]] for row in rows]
    text = "".join(",".join(cells) + row[2] for cells, row in zip(quoted, rows, strict=True))
    found = even(text, size=size)
    assert list(csv.reader(io.StringIO(found, newline=""))) == [list(row[:2]) for row in rows]
    assert found == "".join(",".join(cells) + "\n" for cells in quoted)


def test_a_quote_that_is_never_closed_is_passed_on(monkeypatch):
    monkeypatch.setattr(text_files, "_MAX_RECORD_BYTES", 4)
    assert even('a\r\n"bcdefgh\r\nij\r\n', size=3) == 'a\n"bcdefgh\r\nij\r\n'


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_in_cells_like_those_of_records_are_read(tmp_path, end):
    text = f'"no{end}te",age{end}"x{end}y",1{end}z,2{end}'
    (tmp_path / "in.csv").write_bytes(text.encode())
    table = read_arrow(tmp_path / "in.csv", Format())
    assert table.to_pydict() == {f"no{end}te": [f"x{end}y", "z"], "age": [1, 2]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "mixed"])
def test_line_ends_in_cells_are_published_as_they_are(tmp_path, encoding, end):
    cells = ["x\r\ny", "x\ry", "x\ny", "é\r\n\n\r"]
    ends = ["\n", "\r\n", "\r", "\r\n"] if end == "mixed" else [end] * 4
    text = f'"no\r\nte",age{ends[0]}'
    text += "".join(f'"{c}",{i}{e}' for i, (c, e) in enumerate(zip(cells, ends, strict=True)))
    (tmp_path / "in.csv").write_bytes(text.encode(encoding))
    table = read_arrow(tmp_path / "in.csv", Format(encoding=encoding))
    assert table.to_pydict() == {"no\r\nte": cells, "age": [0, 1, 2, 3]}
    write_table(table, tmp_path / "out.csv")
    lines = [f'"{cell}",{i}\n' for i, cell in enumerate(cells)]
    assert (tmp_path / "out.csv").read_bytes().decode() == '"no\r\nte",age\n' + "".join(lines)
    assert read_arrow(tmp_path / "out.csv", Format()).to_pydict() == table.to_pydict()
