"""A folder of parts appears completely or not at all."""

from __future__ import annotations

import pytest

from shoal import OutputError
from shoal.support.files import MANIFEST, check_folder, replace_folder


def fill(folder, text):
    (folder / "part-00000.parquet").write_text(text)
    (folder / MANIFEST).write_text("{}")


def fail_to_replace(path):
    with replace_folder(path, force=True) as staging:
        fill(staging, "new")
        raise RuntimeError


def test_a_new_folder_appears_at_the_end(tmp_path):
    with replace_folder(tmp_path / "release") as staging:
        fill(staging, "rows")
        assert not (tmp_path / "release").exists()
    assert (tmp_path / "release" / "part-00000.parquet").read_text() == "rows"
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_an_error_leaves_the_old_folder_and_no_other(tmp_path):
    with replace_folder(tmp_path / "release") as staging:
        fill(staging, "old")
    with pytest.raises(RuntimeError):
        fail_to_replace(tmp_path / "release")
    assert (tmp_path / "release" / "part-00000.parquet").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("swaps", [True, False])
def test_an_old_release_is_replaced_as_a_whole(swaps, tmp_path, monkeypatch):
    if not swaps:
        monkeypatch.setattr("shoal.support.files.sys.platform", "other")
    for text in ("old", "new"):
        with replace_folder(tmp_path / "release", force=True) as staging:
            fill(staging, text)
    assert (tmp_path / "release" / "part-00000.parquet").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_full_disk_is_an_error_without_a_folder(tmp_path):
    with pytest.raises(OutputError, match="No space left"), replace_folder(tmp_path / "release"):
        raise OSError(28, "a cell")
    assert list(tmp_path.iterdir()) == []


def test_folders_that_hold_something_else_are_not_replaced(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match="exists already"):
        check_folder(tmp_path / "own")
    with pytest.raises(OutputError, match="contains other files"):
        check_folder(tmp_path / "own", force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        check_folder(tmp_path / "file", force=True)
    with pytest.raises(OutputError, match="its folder does not exist"):
        check_folder(tmp_path / "nowhere" / "release")


def test_a_release_with_a_file_of_its_owner_is_not_replaced(tmp_path):
    with replace_folder(tmp_path / "release") as staging:
        fill(staging, "rows")
    check_folder(tmp_path / "release", force=True)
    (tmp_path / "release" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="contains other files"):
        check_folder(tmp_path / "release", force=True)


def test_only_the_named_files_are_replaced_and_no_link_is_followed(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "a").write_text("old")
    check_folder(tmp_path / "pack", ["a"], force=True)
    with pytest.raises(OutputError, match="contains other files"):
        check_folder(tmp_path / "pack", ["b"], force=True)
    (tmp_path / "link").symlink_to(tmp_path / "pack")
    with pytest.raises(OutputError, match="not a folder"):
        check_folder(tmp_path / "link", ["a"], force=True)


def test_a_folder_that_cannot_be_moved_leaves_the_old_one(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.support.files.sys.platform", "other")
    path = tmp_path / "release"
    with replace_folder(path) as staging:
        fill(staging, "old")
    rename = type(path).rename

    def fail_for_new(self, target):
        if self.name.startswith(".shoal."):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(type(path), "rename", fail_for_new)
    with pytest.raises(OutputError, match="No space left"), replace_folder(path, force=True) as new:
        fill(new, "new")
    assert (path / "part-00000.parquet").read_text() == "old"
