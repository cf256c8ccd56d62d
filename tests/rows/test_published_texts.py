"""The published texts of partitions are numbered, sorted and used on disk."""

from __future__ import annotations

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows.conftest import rows
from tests.rows.test_faults import files_of_at_most
from tests.rows.test_partitions import opened

import shoal
from shoal import OutputError
from shoal.files import writing
from shoal.rows import partitions
from shoal.rows.memory import Budget
from shoal.rows.partitions import Outcome, PublishedTexts

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
LABELS = st.lists(st.one_of(st.none(), st.text(max_size=4)), max_size=12)


def outcome(**labels):
    made = {name: pa.array(texts, pa.string()) for name, texts in labels.items()}
    return Outcome(0, {}, made, None, {}, {}, ())


def collected(parts, folder):
    """Return the text of each number, and the distinct texts, of one column."""
    texts = PublishedTexts(["age"], folder, Budget.parse("300MB"))
    numbers = [texts.number(outcome(age=part))["age"].tolist() for part in parts]
    [(name, found)] = texts.in_order()
    assert name == "age"
    return numbers, found


@pytest.mark.parametrize(("batch", "widest"), [(2, 2**31), (3, 0), (100, 2**31)])
@given(parts=st.lists(LABELS, max_size=4))
def test_texts_keep_their_numbers_and_are_sorted_once(batch, widest, parts):
    """Also if equal texts are in several batches, and if offsets need 64 bits."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(partitions, "_BATCH", batch)
        patch.setattr(partitions, "_MAX_OFFSET", widest)
        numbers, found = collected(parts, Path(folder))
        made = list(itertools.chain(*parts))
        assert list(itertools.chain(*numbers)) == list(range(len(made)))
        assert found.to_pylist() == made
        known = sorted({text for text in made if text is not None}, key=str.encode)
        assert found.dictionary.to_pylist() == known + [None] * (None in made)


def test_texts_outlive_their_files(tmp_path):
    """A release may be used after its table was closed."""
    with TemporaryDirectory() as folder:
        _, found = collected([["b", "a"], ["a", None]], Path(folder))
    assert found.to_pylist() == ["b", "a", "a", None]


def test_a_disk_without_room_for_texts_is_an_error_without_cells(tmp_path):
    folder = tmp_path / "private"
    folder.mkdir()
    texts = PublishedTexts(["age"], folder, Budget.parse("300MB"))
    with files_of_at_most(1000), pytest.raises(OutputError) as error:
        texts.number(outcome(age=[f"secret-{number}" for number in range(1000)]))
    assert str(error.value).startswith(f"{tmp_path}: has no space left for temporary files")


@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_many_texts_are_written_in_canonical_order(name, people, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MAX_NATURAL", 5)
    release = shoal.anonymize(opened(people, partition_rows=100), k=3, method="greedy")
    distinct = {n: len(labels.dictionary) for n, labels in release.labels.items()}
    assert max(distinct.values()) > 5
    checked = release.write(tmp_path / name)
    assert (checked.holds, checked.records) == (True, len(rows()))
    if name.endswith("parquet"):
        data = pq.read_table(tmp_path / name)
        assert writing.canonical(data).tolist() == list(range(len(data)))
