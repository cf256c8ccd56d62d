"""The outputs of a command appear together or not at all."""

from __future__ import annotations

import errno

import pytest

from shoal import OutputError
from shoal.support import outputs
from shoal.support.files import replace_file, replace_folder
from shoal.support.outputs import as_output, outputs_together, written_at


def write(path, text, *, force=False):
    with as_output(replace_file(path, force=force), path) as place:
        place.write_text(text)


def write_folder(path, text, *, force=False):
    with as_output(replace_folder(path, ["page"], force=force), path) as place:
        (place / "page").write_text(text)


def test_alone_an_output_appears_when_it_is_written(tmp_path):
    write(tmp_path / "rows.csv", "rows")
    assert (tmp_path / "rows.csv").read_text() == "rows"
    assert written_at(tmp_path / "rows.csv") == tmp_path / "rows.csv"


def test_together_they_appear_at_the_end_and_can_be_read_before(tmp_path):
    file, folder = tmp_path / "rows.csv", tmp_path / "pack"
    with outputs_together():
        write(file, "rows")
        write_folder(folder, written_at(file).read_text())
        assert not file.exists()
        assert not folder.exists()
        assert written_at(file).suffix == ".csv"
    assert file.read_text() == (folder / "page").read_text() == "rows"
    assert sorted(tmp_path.iterdir()) == [folder, file]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OutputError])
def test_after_an_error_none_appears_and_old_ones_stay(tmp_path, error):
    old = tmp_path / "old.csv"
    old.write_text("old")

    def run():
        with outputs_together():
            write(old, "new", force=True)
            write(tmp_path / "rows.csv", "rows")
            write_folder(tmp_path / "pack", "page")
            raise error("stop")

    with pytest.raises(error):
        run()
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_text() == "old"
    assert written_at(old) == old


def write_both(tmp_path):
    with outputs_together():
        write(tmp_path / "rows.csv", "rows")
        write_folder(tmp_path / "pack", "page")
        yield


def test_a_disk_that_is_full_at_the_end_leaves_none(tmp_path, monkeypatch):
    def full(path):
        if path.name == "page":
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(outputs, "sync", full)
    with pytest.raises(OutputError, match=r"pack: cannot be written \(No space left on device\)"):
        list(write_both(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_meanwhile_leaves_none(tmp_path):
    written = write_both(tmp_path)
    next(written)
    (tmp_path / "pack").mkdir()
    with pytest.raises(OutputError, match="pack: exists already"):
        next(written)
    assert list(tmp_path.iterdir()) == [tmp_path / "pack"]
