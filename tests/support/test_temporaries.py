"""What a killed process leaves is removed by the next one; what belongs to a living one is not."""

import os
import sys

import pytest

from shoal.errors import OutputError
from shoal.support import files
from shoal.support.files import replace_file, sweep, temporary_file, temporary_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is swept there")


def leave(folder, host=None, suffix=".csv"):
    """Make a file as a process that was killed leaves it."""
    path = folder / f".shoal.{host or files._host()}.0123456789abcdef{suffix}"
    path.write_text("left")
    return path


def test_what_a_dead_process_left_is_removed_by_the_next_write(tmp_path):
    leave(tmp_path)
    (tmp_path / f".shoal.{files._host()}.00000000000000ff").mkdir()
    (tmp_path / f".shoal.{files._host()}.00000000000000ff" / "rows.csv").write_text("left")
    with replace_file(tmp_path / "out.csv") as temporary:
        temporary.write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    with (
        temporary_file(tmp_path, ".csv") as first,
        temporary_folder(tmp_path) as second,
        temporary_file(tmp_path, ".csv") as third,
    ):
        sweep(tmp_path)
        assert first.is_file()
        assert second.is_dir()
        assert third.is_file()
        assert len({first, second, third}) == 3
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_is_writing_keeps_its_file_while_another_sweeps(tmp_path):
    """Seen from a process of its own."""
    with replace_file(tmp_path / "out.csv") as temporary:
        temporary.write_text("mine")
        child = os.fork()
        if child == 0:
            sweep(tmp_path)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert temporary.read_text() == "mine"
    assert (tmp_path / "out.csv").read_text() == "mine"


@pytest.mark.parametrize(
    "name", [".shoal.notes", ".shoal.01234567.csv", "shoal.csv", ".shoal.0123456x.0123456789abcdef"]
)
def test_files_of_other_names_are_left_alone(tmp_path, name):
    (tmp_path / name).write_text("theirs")
    sweep(tmp_path)
    assert (tmp_path / name).read_text() == "theirs"


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "theirs").write_text("theirs")
    leave(tmp_path).unlink()
    link = tmp_path / f".shoal.{files._host()}.0123456789abcdef.csv"
    link.symlink_to(tmp_path / "theirs")
    sweep(tmp_path)
    assert link.is_symlink()
    assert (tmp_path / "theirs").exists()


def test_files_of_another_user_are_left_alone(tmp_path, monkeypatch):
    path = leave(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    sweep(tmp_path)
    assert path.exists()


def test_files_of_another_computer_are_removed_after_a_day(tmp_path):
    path = leave(tmp_path, host="0" * 8)
    sweep(tmp_path)
    assert path.exists()
    os.utime(path, (1, 1))
    sweep(tmp_path)
    assert not path.exists()


@pytest.mark.parametrize("make", [lambda folder: temporary_file(folder, ".csv"), temporary_folder])
def test_a_file_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch, make):
    lock = files._lock_temporary
    swept = []

    def late(handle):
        if not swept:
            swept.extend(tmp_path.iterdir())
            sweep(tmp_path)
        lock(handle)

    monkeypatch.setattr(files, "_lock_temporary", late)
    with make(tmp_path) as path:
        assert path.exists()
        assert path not in swept
    assert len(swept) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_swept_before_it_is_opened_is_made_again(tmp_path, monkeypatch):
    opened, swept = os.open, []

    def late(path, *arguments, **options):
        if not swept:
            swept.append(path)
            path.rmdir()
        return opened(path, *arguments, **options)

    monkeypatch.setattr(files.os, "open", late)
    with temporary_folder(tmp_path) as path:
        assert path.is_dir()
        assert path not in swept


def test_a_folder_that_is_removed_meanwhile_is_named(tmp_path):
    (tmp_path / "out").mkdir()

    def write():
        with replace_file(tmp_path / "out" / "out.csv") as temporary:
            temporary.unlink()
            (tmp_path / "out").rmdir()
            temporary.write_text("new")

    with pytest.raises(OutputError, match=r"out.csv: cannot be written \(No such file or direct"):
        write()
