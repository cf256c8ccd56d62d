"""Cells that a spreadsheet would run: counted, escaped, and read back as they were."""

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.files.writing import (
    count_formulas,
    escape_formulas,
    escape_names,
    unescape_formulas,
    unescape_names,
)
from shoal.release.released_files import read_released
from shoal.table.table import Table

TEXTS = st.text("=+-@＝＋'\"\t\r\n5ab,;. e%:])", max_size=8)


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+a",
        "-a",
        "@SUM(A1)",
        "\t1",
        "\r1",
        "\n1",
        "+49 30",
        "-1-1",
        "＝1+1",
        "＋1",
        "－a",
        "＠a",
    ],
)
def test_a_text_that_a_spreadsheet_would_run_is_counted_and_escaped(text):
    data = pa.table({"a": [text, None, text]})
    assert count_formulas(data) == {"a": 2}
    assert escape_formulas(data).column("a").to_pylist() == [f"'{text}", None, f"'{text}"]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a;=1+1", "a;'=1+1"),
        ("a; =1+1", "a; '=1+1"),
        ('a;"=1+1"', 'a;"\'=1+1"'),
        ("a;＝1+1", "a;'＝1+1"),
        ("a;-1+cmd|x", "a;'-1+cmd|x"),
        ("a;-1 +cmd|x", "a;'-1 +cmd|x"),
        ("a;-1%+cmd|x", "a;'-1%+cmd|x"),
        ("a;-5;=b;@c", "a;-5;'=b;'@c"),
        ("a\n=1", "a\n'=1"),
        ("a\t+b", "a\t'+b"),
        ("a;'=1", "a;''=1"),
        ("=a;=b", "'=a;'=b"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
    ],
)
def test_a_formula_where_another_spreadsheet_begins_a_cell_is_escaped(text, escaped):
    data = pa.table({"a": [text]})
    assert escape_formulas(data).column("a").to_pylist() == [escaped]
    table = Table.from_arrow(data, {"a": "quasi"})
    assert unescape_formulas(escape_formulas(data), table).column("a").to_pylist() == [text]


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_no_piece_that_a_spreadsheet_splits_off_is_a_formula(cells):
    for cell in escape_formulas(pa.table({"a": cells})).column("a").to_pylist():
        first, *others = re.split("[;\t\r\n]", cell)
        assert len(cell) < 2 or first[:1] not in FIRST or NUMBER.fullmatch(cell)
        for piece in others:
            plain = piece.lstrip(' "')
            assert (
                len(plain) < 2
                or plain[0] not in FIRST
                or re.fullmatch(r"[+\-＋－][0-9.,:]+([\])}].*)?", plain)
            )


FIRST = tuple("=@＝＠+-＋－")
NUMBER = re.compile(r"[+-][0-9.,:]+([eE][+-]?[0-9]+)?%?")


def test_names_of_columns_are_cells_that_are_escaped():
    data = pa.table({"=1+1": ["a"], "age": ["b"], "a;＝1": ["=c"]})
    assert count_formulas(data) == {"=1+1": 1, "a;＝1": 2}
    assert escape_formulas(data).column_names == ["'=1+1", "age", "a;'＝1"]


@given(st.lists(TEXTS, min_size=1, max_size=8, unique=True))
def test_escaped_names_differ_and_are_read_as_they_were(names):
    escaped = escape_names(names)
    assert len(set(escaped)) == len(names)
    assert list(unescape_names(escaped, names)) == names
    assert list(unescape_names(names, names)) == names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-5",
        "+5",
        "-1.5",
        "-1,234.50",
        "-1e-9",
        "+5%",
        "-0:10:00",
        "=",
        "-",
        "a=1",
        "[-5, 3]",
        "[-5;-3]",
        "a;-5",
        "a; b",
        "a;b=1",
        "a,=1",
        "a|=1",
    ],
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
    towns = ["=cmd|x", "-a", "x;=b", "＝c"]
    data = pa.table(
        {
            "town": towns * 6,
            "=age": list(range(24)),
            "note": ["=1+1", "-5", None] * 8,
        }
    )
    tree = shoal.Hierarchy.from_rows([(town, f"={town[-1]}", "*") for town in towns])
    roles = {"town": {"role": "quasi", "hierarchy": tree}, "=age": "quasi", "note": "sensitive"}
    table = shoal.read(data, roles=roles, hierarchies={"=age": {"intervals": [10]}})
    release = shoal.anonymize(table, shoal.KAnonymity(2), method)
    path = tmp_path / "out.csv"
    release.write(path, escape_formulas=True)
    assert "\n=" not in path.read_text()
    assert not re.search("[,;][=＝]", path.read_text())
    assert "'=age" in path.read_text().partition("\n")[0]
    back = read_released(path, table, model=shoal.KAnonymity(2))
    assert back.verify()
    assert shoal.metrics.discernibility(back) == shoal.metrics.discernibility(release)
