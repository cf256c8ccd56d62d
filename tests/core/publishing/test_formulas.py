"""Cells that a spreadsheet would run: counted, escaped, and read back as they were."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.core.publishing.formulas import count_formulas, escape_formulas, unescape_formulas
from shoal.core.table import Table
from shoal.reading import read_released

TEXTS = st.text("=+-@'\t\r5ab,. e%:", max_size=6)


@pytest.mark.parametrize("text", ["=1+1", "+a", "-a", "@SUM(A1)", "\t=1", "\r=1", "+49 30", "-1-1"])
def test_a_text_that_a_spreadsheet_would_run_is_counted_and_escaped(text):
    data = pa.table({"a": [text, None, text]})
    assert count_formulas(data) == {"a": 2}
    assert escape_formulas(data).column("a").to_pylist() == [f"'{text}", None, f"'{text}"]


@pytest.mark.parametrize(
    "text",
    ["", "-5", "+5", "-1.5", "-1,234.50", "-1e-9", "+5%", "-0:10:00", "=", "-", "a=1", "[-5, 3]"],
)
def test_numbers_and_plain_texts_are_no_formulas(text):
    data = pa.table({"a": [text]})
    assert count_formulas(data) == {}
    assert escape_formulas(data).equals(data)


def test_columns_that_are_no_text_are_left_alone():
    data = pa.table({"a": [-1, 2], "b": pa.array(["=1", "x"]).dictionary_encode()})
    assert count_formulas(data) == {"b": 1}
    assert escape_formulas(data).column("a").to_pylist() == [-1, 2]


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_escaped_cells_differ_where_cells_differ_and_read_back(cells):
    escaped = escape_formulas(pa.table({"a": cells}))
    assert len(set(escaped.column("a").to_pylist())) == len(set(cells))
    assert count_formulas(escaped) == {}
    table = Table.from_arrow(pa.table({"a": cells}), {"a": "quasi"})
    assert unescape_formulas(escaped, table).column("a").to_pylist() == cells


def test_cells_that_are_not_escaped_keep_their_quotes():
    cells = ["'=1", "a", "'=1"]
    data = pa.table({"a": cells})
    table = Table.from_arrow(data, {"a": "quasi"})
    assert unescape_formulas(data, table).column("a").to_pylist() == cells
    some = Table.from_arrow(pa.table({"a": ["=1", "b"]}), {"a": "quasi"})
    run = pa.table({"a": ["=1", "'=1"]})
    assert unescape_formulas(run, some).column("a").to_pylist() == ["=1", "'=1"]


@pytest.mark.parametrize("method", ["mondrian", "datafly"])
def test_an_escaped_release_reads_back(tmp_path, method):
    towns = ["=cmd|x", "-a", "@b", "+c"]
    data = pa.table(
        {
            "town": towns * 6,
            "age": list(range(24)),
            "note": ["=1+1", "-5", None] * 8,
        }
    )
    tree = shoal.Hierarchy.from_rows([(town, f"={town[-1]}", "*") for town in towns])
    roles = {"town": {"role": "quasi", "hierarchy": tree}, "age": "quasi", "note": "sensitive"}
    table = shoal.read(data, roles=roles, hierarchies={"age": {"intervals": [10]}})
    release = shoal.anonymize(table, shoal.KAnonymity(2), method)
    path = tmp_path / "out.csv"
    release.write(path, escape_formulas=True)
    assert "\n=" not in path.read_text()
    assert ",=" not in path.read_text()
    back = read_released(path, table, model=shoal.KAnonymity(2))
    assert back.verify()
    assert shoal.metrics.discernibility(back) == shoal.metrics.discernibility(release)
