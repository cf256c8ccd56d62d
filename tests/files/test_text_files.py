import codecs
import gzip
import os
import tempfile
import warnings

import pytest

import shoal
from shoal.errors import InputError
from shoal.files import text_files
from shoal.files.text_files import as_even_lines, as_utf8, unpacked_size

TEXT = "name,age\nZoë,31\nÅsa,32\n"
READ = {"name": ["Zoë", "Åsa"], "age": [31, 32]}


def test_utf_8_is_read_with_and_without_its_mark(rows):
    assert rows(TEXT) == READ
    assert rows(codecs.BOM_UTF8 + TEXT.encode()) == READ
    assert rows(codecs.BOM_UTF8 + b'"name","age"\nx,1\n') == {"name": ["x"], "age": [1]}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_marked_text_is_read_with_a_note(rows, encoding):
    with pytest.warns(UserWarning, match=f"read as {encoding}"):
        assert rows(TEXT.encode(encoding)) == READ


@pytest.mark.parametrize(
    ("text", "encoding"), [("name\nZoë\n", "latin-1"), ("name\nZoë 5 €\n", "cp1252")]
)
def test_western_text_is_read_with_a_note_that_says_so(rows, text, encoding):
    with pytest.warns(UserWarning, match=f"people.csv: not UTF-8, read as {encoding}; state the"):
        assert rows(text.encode(encoding))["name"] == [text.split("\n")[1]]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-32-be", "cp850"])
def test_a_stated_encoding_wins_without_a_note(rows, encoding):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rows(TEXT.encode(encoding, "replace"), encoding=encoding)["age"] == [31, 32]


def test_a_wrong_stated_encoding_is_refused_with_the_line(rows):
    with pytest.raises(InputError, match="line 3 is not utf-8 text; state the right encoding"):
        rows("name\nAnn\nZoë\n".encode("latin-1"), encoding="utf-8")
    with pytest.raises(InputError, match="line 2 is not ascii text"):
        rows("name\r\nZoë\r\n", encoding="ascii")


@pytest.mark.parametrize("encoding", ["nope", "base64", "rot13", "a\0b", "undefined", "hex", 8])
def test_an_encoding_that_is_none_for_text_is_refused(rows, encoding):
    with pytest.raises(InputError, match="is not known; try utf-8"):
        rows(TEXT, encoding=encoding)


@pytest.mark.parametrize("raw", [b"a,b\n1,\0\n", b"\x7fELF\0\0\0", "a\n\0\n".encode("utf-16")])
def test_binary_data_is_refused(rows, raw, quietly):
    with pytest.raises(InputError, match="contains binary data"):
        rows(raw)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"PK\x03\x04\x14\0", "is a ZIP archive, or a spreadsheet under another name; unpack it"),
        (b"@relation people\n@attribute age real\n@data\n31\n", "is in the ARFF format"),
        (b"% people\n%\n@RELATION people\n@DATA\n31\n", "is in the ARFF format"),
    ],
)
def test_other_formats_are_named_with_what_to_do(rows, raw, reason):
    with pytest.raises(InputError, match=reason):
        rows(raw)


def test_a_column_may_be_called_like_the_first_line_of_another_format(rows):
    assert rows("@relations,age\nx,31\n") == {"@relations": ["x"], "age": [31]}


@pytest.mark.parametrize("name", ["people.csv.gz", "people.CSV.GZ"])
def test_gzip_is_unpacked(rows, name):
    assert rows(gzip.compress(TEXT.encode()), name) == READ
    assert rows(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"), name)["a"] == [1, 3]


def test_packed_text_may_have_another_encoding(rows):
    with pytest.warns(UserWarning, match="latin-1"):
        assert rows(gzip.compress(TEXT.encode("latin-1")), "people.csv.gz") == READ


@pytest.mark.parametrize("name", ["people.csv.gz", "people.jsonl.gz", "people.json.gz"])
def test_a_small_file_that_unpacks_to_too_much_is_refused_early(rows, name, monkeypatch):
    head, line = (b"age\n", b"31\n") if "csv" in name else (b"", b'{"age": 31}\n')
    packed = gzip.compress(head + line * 200_000)  # hundreds of times smaller
    assert len(rows(packed, name)["age"]) == 200_000
    monkeypatch.setattr(text_files, "usable_memory", lambda: 4_000_000)  # for text of .5 MB
    monkeypatch.setattr(text_files, "_CHUNK_BYTES", 10_000)
    with pytest.raises(InputError) as refused:
        rows(packed[:-9], name)  # its end, which is damaged, is not reached
    assert str(refused.value).count(". ") == 0
    assert "unpacks to more than 0.0005 GB" in str(refused.value)
    assert "the 0.004 GB of memory that may be used" in str(refused.value)
    assert "engine='duckdb'" in str(refused.value)


def test_a_file_that_surely_fits_is_not_unpacked_twice(tmp_path, monkeypatch):
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode() * 100))
    monkeypatch.setattr(text_files, "_pieces", None)
    assert unpacked_size(path, 10**9) == 5 * path.stat().st_size
    monkeypatch.undo()
    assert unpacked_size(path, 2 * path.stat().st_size) == 100 * len(TEXT.encode())
    assert 10 < unpacked_size(path, 10) <= 100 * len(TEXT.encode())
    plain = tmp_path / "people.csv"
    plain.write_bytes(b"x" * 70)
    assert unpacked_size(plain, 10) == 70


def test_a_torn_or_false_gzip_file_is_refused(rows):
    whole = gzip.compress(TEXT.encode() * 50)
    flipped = bytearray(whole)
    flipped[30] ^= 0xFF
    for raw in (whole[:-9], whole[:20], bytes(flipped), TEXT.encode(), whole + b"more"):
        with pytest.raises(InputError, match="cannot be decompressed or read"):
            rows(raw, "people.csv.gz")


@pytest.fixture
def private(tmp_path, monkeypatch):
    """The temporary folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "private"))
    (tmp_path / "private").mkdir()
    return tmp_path / "private"


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="in memory on Linux only")
def test_a_copy_is_in_no_folder(write, private):
    path = write("name,age\r\nZoë,31\n".encode("latin-1"))
    with as_utf8(path, "latin-1") as utf8, as_even_lines(utf8, ",", '"') as even:
        assert utf8.path.read_bytes() == "name,age\r\nZoë,31\n".encode()
        assert even.path.read_text(encoding="utf-8") == "name,age\nZoë,31\n"
        assert list(private.iterdir()) == []


def test_a_copy_in_the_temporary_folder_is_private_and_gone_afterwards(write, private, monkeypatch):
    """Where the system has no files in memory."""
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("shoal.files.text_files.path_of", lambda _: None)
    path = write("a,b\r\n1,2\n")
    with as_utf8(path, None) as utf8, as_even_lines(utf8, ",", '"') as even:
        assert even.path.read_text() == "a,b\n1,2\n"
        assert even.path.stat().st_mode & 0o077 == 0
        assert even.path.parent == private
    assert list(private.iterdir()) == []


def test_a_temporary_folder_that_cannot_be_written_to_is_said(write, private, monkeypatch):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    private.rmdir()
    with pytest.raises(InputError, match="the temporary folder cannot be written to"):
        shoal.read(write(b"a,b\r\n1,2\n"), roles={"a": "quasi", "b": "quasi"})


def test_even_utf_8_is_not_copied(write):
    path = write(TEXT)
    with as_utf8(path, None) as utf8, as_even_lines(utf8, ",", '"') as even:
        assert utf8.path == even.path == path


def test_the_line_of_a_wrong_byte_is_counted_over_pieces(write, monkeypatch):
    monkeypatch.setattr(text_files, "_CHUNK_BYTES", 3)
    path = write(b"ab\r\ncd\re\nf\r\n\xff\n")
    with pytest.raises(InputError, match="line 5 is not ascii text"), as_utf8(path, "ascii"):
        pass


def test_the_encoding_of_the_schema_counts(write):
    path = write(TEXT.encode("latin-1"))
    schema = {"columns": {"name": "quasi", "age": "quasi"}, "file": {"encoding": "latin-1"}}
    assert shoal.read(path, schema)["name"].labels == ("Zoë", "Åsa")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("inside", ["\n", "\r\n", "\r"])
def test_a_line_end_inside_quotes_stays_as_it_is(tmp_path, end, inside):
    path = tmp_path / "notes.csv"
    lines = ["age,note", f'1,"x{inside}y"', '2,"z"', ""]
    path.write_bytes(end.join(lines).encode())
    table = shoal.read(path, roles={"age": "quasi", "note": "insensitive"})
    assert table["note"].to_arrow().to_pylist() == [f"x{inside}y", "z"]
