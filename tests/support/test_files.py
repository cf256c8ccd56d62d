import os
import stat
import sys

import pytest

from shoal.errors import InputError, OutputError
from shoal.files.formats import Format
from shoal.files.reading import read_arrow
from shoal.support import files
from shoal.support import files as temporaries
from shoal.support.files import (
    check_readable,
    check_writable,
    read_text,
    replace_file,
    utf8_path,
)
from shoal.table.hierarchy import Hierarchy


def test_the_target_appears_whole_when_the_block_ends(tmp_path):
    path = tmp_path / "out.txt"
    with replace_file(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".txt"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_may_be_read_as_others_are(tmp_path):
    old = os.umask(0o027)
    try:
        with replace_file(tmp_path / "out.txt") as temporary:
            temporary.write_text("new")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o640


def test_an_error_inside_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail(temporary):
        temporary.write_text("new")
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"), replace_file(path, force=True) as temporary:
        fail(temporary)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "out.txt"
    with pytest.raises(OutputError, match="was created while"), replace_file(path):
        path.write_text("theirs")
    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_force_overwrites(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with replace_file(path, force=True) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"


def test_a_file_system_without_links_will_do(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with replace_file(tmp_path / "out.txt") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "out.txt").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


def test_where_nothing_can_be_written_is_refused_early(tmp_path, monkeypatch):
    (tmp_path / "there.txt").write_text("mine")
    with pytest.raises(OutputError, match="is a directory; name a file"):
        check_writable(tmp_path)
    with pytest.raises(OutputError, match="exists already"):
        check_writable(tmp_path / "there.txt")
    check_writable(tmp_path / "there.txt", force=True)
    with pytest.raises(OutputError, match="its folder does not exist"):
        check_writable(tmp_path / "no" / "out.txt")
    with pytest.raises(OutputError, match="file names cannot have"):
        check_writable(tmp_path / "a\0b")
    with pytest.raises(OutputError, match=r"cannot be written \(File name too long\)"):
        check_writable(tmp_path / ("a" * 300))
    monkeypatch.setattr(files.os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(OutputError, match="its folder is not writable"):
        check_writable(tmp_path / "out.txt")


def test_a_long_name_that_the_disk_allows_is_written(tmp_path):
    path = tmp_path / ("a" * 250 + ".csv")
    with replace_file(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"


def test_a_failure_to_begin_names_the_file(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(temporaries, "_create", refuse)
    with (
        pytest.raises(OutputError, match=r"out.txt: cannot be written \(Read-only file system\)"),
        replace_file(tmp_path / "out.txt"),
    ):
        pass


def test_what_cannot_be_read_is_refused_by_name(tmp_path):
    (tmp_path / "empty").touch()
    for name, message in (
        ("", "is a directory"),
        ("gone", "no such file"),
        ("empty", "the file is empty"),
        ("a\0b", "file names cannot have"),
        ("a" * 300, "cannot be read"),
    ):
        with pytest.raises(InputError, match=message):
            check_readable(tmp_path / name)


def test_text_is_read_without_its_byte_order_mark(tmp_path):
    (tmp_path / "t").write_bytes("\ufeffé\r\n".encode())
    assert read_text(tmp_path / "t") == "é\r\n"


def test_text_that_is_not_utf8_is_refused_by_line(tmp_path):
    (tmp_path / "t").write_bytes(b"fine\nfine\nM\xfcller\n")
    with pytest.raises(InputError, match="line 3 is not UTF-8") as caught:
        read_text(tmp_path / "t")
    assert "ller" not in str(caught.value)


def test_a_pipe_is_refused_unopened(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # to open it would wait for a writer
    for read in (read_text, Hierarchy.read):
        with pytest.raises(InputError, match="pipe: not a regular file"):
            read(tmp_path / "pipe")


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
def test_a_path_that_is_not_utf8_is_refused_before_a_library_fails_on_it(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff.csv")
    path.write_text("a,b\n1,2\n1,2\n")
    with pytest.raises(InputError, match="its path is not UTF-8; rename the file or its folder"):
        read_arrow(path, Format())
    assert utf8_path(tmp_path / "ö.csv").endswith("/ö.csv")


def test_a_folder_that_may_not_be_searched_is_named(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "out.csv"
    monkeypatch.setattr(type(path), "stat", refuse)
    with pytest.raises(OutputError, match=r"out.csv: cannot be written \(Permission denied\)"):
        check_writable(path)
