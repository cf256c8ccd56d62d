"""A table is anonymized in memory if it fits in the budget, else on disk."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import InputError
from shoal.files import text_files, typed_files
from shoal.methods.registry import METHODS
from shoal.rows import choice, memory
from shoal.rows.choice import choose, choose_all
from shoal.rows.memory import Budget


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GB", 4_000_000_000),
        ("1.5 gb", 1_500_000_000),
        ("1GiB", 1 << 30),
        ("900000k", 900_000_000),
    ],
)
def test_sizes_are_read_with_their_units(text, size):
    assert Budget.parse(text).size == size


@pytest.mark.parametrize("text", ["", "much", "-4GB", "4XB", "4ib", "10MB"])
def test_other_sizes_are_refused(text):
    with pytest.raises(InputError, match="memory must be"):
        Budget.parse(text)


def test_without_a_size_the_budget_is_a_share_of_the_machine():
    assert Budget.parse(None).size > 200_000_000


def test_a_small_file_is_read_into_memory_without_a_word(people):
    found = choose(people, None, None, METHODS["greedy"](), 7)
    assert (found.on_disk, found.reason) == (False, "")


def test_a_stated_budget_is_compared_and_reported(people, monkeypatch):
    small = choose(people, "1GB", None, METHODS["flash"](), 7)
    assert not small.on_disk
    assert small.reason.startswith("the table is read into memory: about")
    monkeypatch.setattr(choice, "memory_needed", lambda *_: Budget(5_000_000_000))
    large = choose(people, "1GB", None, METHODS["flash"](), 7)
    assert large.on_disk
    assert large.reason == "the rows stay on disk: in memory they need about 5 GB, more than 1 GB"


def test_without_a_stated_budget_a_method_that_needs_memory_gets_it(people, monkeypatch):
    monkeypatch.setattr(choice, "_SMALL", 0)
    monkeypatch.setattr(choice, "memory_needed", lambda *_: Budget(10**15))
    assert choose(people, None, None, METHODS["flash"](), 7).on_disk
    assert not choose(people, None, None, METHODS["greedy"](), 7).on_disk


def test_a_small_file_that_unpacks_to_more_than_a_stated_budget_stays_on_disk(people, monkeypatch):
    packed = people.parent / "packed.csv.gz"
    packed.write_bytes(gzip.compress(people.read_bytes() * 4_000))  # 44 MB
    assert packed.stat().st_size < 10**6
    monkeypatch.setattr(text_files, "_USUAL_RATIO", None)  # it is unpacked
    assert choose(packed, "350MB", None, METHODS["flash"](), 7).on_disk
    assert choose_all({packed: 7}, "350MB", None, METHODS["flash"]()).on_disk


def test_a_small_file_of_many_rows_stays_on_disk(tmp_path):
    """A row group of Parquet that repeats one value takes a few bytes, however many rows it has."""
    path = tmp_path / "many.parquet"
    indices = pa.array(np.zeros(2_000_000, np.int8))
    cells = pa.DictionaryArray.from_arrays(indices, ["a"])
    pq.write_table(pa.table({"town": cells, "ill": cells}), path)
    assert path.stat().st_size < 50_000
    assert not choose(path, None, None, METHODS["flash"](), 2).on_disk
    assert choose(path, "350MB", None, METHODS["flash"](), 2).on_disk
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "usable_memory", lambda: 350_000_000)
        assert choose(path, None, None, METHODS["flash"](), 2).on_disk
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typed_files, "usable_memory", lambda: 30_000_000)
        with pytest.raises(InputError, match=r"2,000,000 rows of 2 columns, .* the 0\.03 GB of"):
            shoal.read(path, roles={"town": "quasi"}, rows_are_people=True)


def test_an_engine_several_files_and_patterns_stay_on_disk(people):
    assert choose(people, None, "duckdb", METHODS["flash"](), 7).on_disk
    assert choose(people.parent, None, None, METHODS["flash"](), 7).on_disk
    assert choose(people.parent / "*.csv", None, None, METHODS["flash"](), 7).on_disk
    with pytest.raises(InputError, match=r"no engine 'duck'.*did you mean 'duckdb'"):
        choose(people, None, "duck", METHODS["flash"](), 7)


def test_several_tables_are_compared_with_the_budget_together(people, tmp_path, monkeypatch):
    method, other = METHODS["flash"](), tmp_path / "other.csv"
    other.write_bytes(people.read_bytes())
    assert not choose_all({people: 7, other: 7}, None, None, method).reason
    assert choose_all({people: 7, other: 7}, None, "duckdb", method).on_disk
    sizes = {0: 2 * 10**8, 7: 7 * 10**8}  # in any case, and for a table of seven columns
    monkeypatch.setattr(choice, "memory_needed", lambda _, columns, __: Budget(sizes[columns]))
    assert not choose_all({people: 7}, "1GB", None, method).on_disk
    both = choose_all({people: 7, other: 7}, "1GB", None, method)
    assert both.reason == "the rows stay on disk: in memory they need about 1.2 GB, more than 1 GB"
