"""Names that become files: stated ones are plain or refused, made ones are always plain."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError, OutputError
from shoal.support.file_names import (
    below,
    check_file_name,
    check_file_names,
    file_name,
    file_names,
    inside,
    new_inside,
)

PARTS = st.sampled_from(
    ["..", ".", "/", "\\", "a", "B", "ß", "con", "nul", "com1", " ", ":", "\x00", "\u202e", "é",
     "e\u0301", ".csv", "𝒜" * 40, "", "-", "_", "'", '"', "*", "[", "\ud800"]
)  # fmt: skip
NAMES = st.one_of(st.text(max_size=20), st.lists(PARTS, max_size=6).map("".join))


@given(NAMES)
def test_an_accepted_name_is_one_part_of_a_path_on_every_system(name):
    try:
        check_file_name("table", name)
    except InputError:
        return
    assert PurePosixPath("folder", name).parts == ("folder", name)
    assert PureWindowsPath("folder", name).parts == ("folder", name)
    assert name not in (".", "..")
    assert len(os.fsencode(f"{name}.parquet.unsorted")) <= 255
    assert inside(Path("folder"), name).parent == Path("folder")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../a", "/a", "a/b", "a\\b", "..\\a", "C:a", "a\x00", "a\n", "a\u202eb", " a",
     "a ", "a.", ".a", "NUL", "nul.csv", "Com1", "lpt9.x", "a" * 300, "a*", "a?", 5, None, ["a"]],
)  # fmt: skip
def test_other_names_are_refused(name):
    with pytest.raises(InputError, match="its name becomes a file name"):
        check_file_name("table", name)


@pytest.mark.parametrize(
    "names", [("a", "A"), ("é", "e\u0301"), ("straße", "STRASSE"), ("ﬁle", "file"), ("a", "a")]
)
def test_names_that_some_system_takes_for_the_same_are_refused(names):
    with pytest.raises(InputError, match="become the same file"):
        check_file_names("table", names)


@given(NAMES, st.sampled_from("_-"))
def test_a_made_name_is_always_accepted(text, gap):
    made = file_name(text, "column", gap)
    assert check_file_name("file", made) == made
    assert "." not in made


@given(st.lists(NAMES, max_size=8))
def test_made_names_are_different_files(texts):
    made = file_names(texts, "column")
    assert set(made) == set(texts)
    check_file_names("file", made.values())


def test_a_link_does_not_lead_a_write_out_of_its_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "patients.csv").symlink_to(tmp_path / "original.csv")
    with pytest.raises(OutputError, match="leads out of its folder"):
        new_inside(tmp_path / "folder", "patients.csv")
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    assert new_inside(tmp_path / "link", "visits.csv") == tmp_path / "link" / "visits.csv"


@given(NAMES)
def test_a_path_below_a_folder_does_not_lead_out_of_it(path):
    try:
        found = below(Path("folder"), path, "from")
    except InputError:
        return
    assert Path(os.path.normpath(found)).parts[0] == "folder"
