import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import HierarchyError, InputError, OutputError
from shoal.table.column import Column
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import Recoding

PLACES = [
    ("Nice", "France", "Europe", "*"),
    ("Lyon", "France", "Europe", "*"),
    ("Gozo", "Malta", "Europe", "*"),
    ("Kobe", "Japan", "Asia", "*"),
]


def test_levels_group_the_values():
    places = Hierarchy.from_rows(PLACES)
    assert places.values == ("Nice", "Lyon", "Gozo", "Kobe")
    assert places.height == 3
    assert [level.labels for level in places.levels[1:]] == [
        ("France", "Malta", "Japan"),
        ("Europe", "Asia"),
        ("*",),
    ]
    assert places.levels[1].groups.tolist() == [0, 0, 1, 2]
    assert places.levels[2].leaves.tolist() == [3, 1]
    assert [parents.tolist() for parents in places.parents] == [[0, 0, 1, 2], [0, 0, 1], [0, 0]]
    assert places.rows() == PLACES
    assert repr(places) == "Hierarchy(values=4, groups=[4, 3, 2, 1])"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no values"),
        ([("a", "*"), ("b", "x", "*")], "1 of 2 lines without 2 fields as in the first line"),
        ([("a", "*"), ("a", "*"), ("b", "*")], "1 value is listed more than once"),
        ([("a", "top"), ("b", "bottom")], "last level has 2 labels"),
        ([("a", "x", "1", "*"), ("b", "x", "2", "*")], "1 group is not nested"),
    ],
    ids=["empty", "ragged", "twice", "two roots", "not_nested"],
)
def test_what_is_no_hierarchy_is_refused(rows, message):
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_rows(rows)


def test_torn_groups_are_named_to_the_owner_but_not_in_the_message():
    rows = [("a", "secret", "1", "*"), ("b", "secret", "2", "*")]
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_rows(rows)
    assert caught.value.not_nested == ((2, "secret"),)  # its members part at level 2
    assert "secret" not in str(caught.value)


def test_bare_values_get_a_root():
    assert Hierarchy.from_rows([("a",), ("b",)]).rows() == [("a", "*"), ("b", "*")]


def test_a_value_that_the_hierarchy_misses_is_counted_but_not_quoted():
    with pytest.raises(HierarchyError, match="column 'c': its hierarchy lacks 1 of 2") as caught:
        Column.encode("c", ["Nice", "secret"], hierarchy=Hierarchy.from_rows(PLACES))
    assert caught.value.missing == ("secret",)
    assert "secret" not in str(caught.value)


def test_aligned_to_fewer_values_in_another_order_groups_keep_their_leaves():
    column = Column.encode("c", ["Nice", "Gozo", "Nice"], hierarchy=Hierarchy.from_rows(PLACES))
    aligned = column.hierarchy
    assert aligned.rows() == [("Gozo", "Malta", "Europe", "*"), ("Nice", "France", "Europe", "*")]
    assert [level.leaves.tolist() for level in aligned.levels] == [[1, 1], [2, 1], [3], [4]]
    by_label = dict(zip(aligned.levels[1].labels, aligned.levels[1].leaves.tolist(), strict=True))
    assert by_label == {"France": 2, "Malta": 1}


def test_aligned_groups_keep_the_bounds_of_all_their_values():
    rows = [("1", "low", "*"), ("4", "low", "*"), ("8", "high", "*"), ("9", "high", "*")]
    column = Column.encode("c", [9, 4], hierarchy=Hierarchy.from_rows(rows))
    level = column.hierarchy.levels[1]
    assert level.labels == ("low", "high")
    assert level.bounds.tolist() == [[1, 4], [8, 9]]


def test_stated_bounds_follow_their_groups():
    rows = [("4", "low", "*"), ("8", "high", "*")]
    bounds = {1: {"low": (0.0, 5.0), "high": (5.0, 10.0)}}
    column = Column.encode("c", [8], hierarchy=Hierarchy.from_rows(rows, bounds))
    assert column.hierarchy.levels[1].bounds.tolist() == [[5, 10]]


def test_a_missing_value_that_is_not_listed_keeps_to_itself_below_the_root():
    column = Column.encode("c", ["Nice", None], hierarchy=Hierarchy.from_rows(PLACES))
    assert [level.labels for level in column.hierarchy.levels] == [
        ("Nice", None),
        (None, "France"),
        (None, "Europe"),
        ("*",),
    ]
    assert column.hierarchy.rows()[1] == ("", "", "", "*")


def test_a_missing_value_listed_as_an_empty_text_goes_where_it_is_told():
    rows = [("1", "odd", "*"), ("2", "even", "*"), ("", "odd", "*")]
    column = Column.encode("c", [1, None], hierarchy=Hierarchy.from_rows(rows))
    assert [level.labels for level in column.hierarchy.levels] == [("1", None), ("odd",), ("*",)]


def test_a_missing_value_stays_missing_where_its_label_is_empty():
    rows = [("1", "odd", "*"), ("", "", "*")]
    column = Column.encode("c", [1, None], hierarchy=Hierarchy.from_rows(rows))
    assert Recoding.at_level(column, 0).to_arrow().to_pylist() == [1, None]
    assert Recoding.at_level(column, 1).to_arrow().to_pylist() == ["odd", None]


def test_an_empty_text_is_the_missing_value():
    rows = [("a", "x", "*"), ("", "x", "*")]
    column = Column.encode("c", ["a", "", None], hierarchy=Hierarchy.from_rows(rows))
    assert Recoding.at_level(column, 0).to_arrow().to_pylist() == ["a", None, None]
    assert column.hierarchy.rows() == rows
    with pytest.raises(HierarchyError, match="1 value is listed more than once"):
        Hierarchy.from_rows([*rows, (None, "x", "*")])


@pytest.mark.parametrize("empty", ["", None])
def test_a_label_that_would_look_like_a_missing_value_is_refused(empty):
    rows = [("a", empty, "*"), ("b", empty, "*"), ("c", "x", "*"), ("", "", "*")]
    with pytest.raises(HierarchyError, match="2 values have an empty label, which a release would"):
        Hierarchy.from_rows(rows)


def test_one_value_and_missing_meet_only_at_the_root():
    column = Column.encode("c", ["a", None], hierarchy=Hierarchy.from_rows([("a",)]))
    assert [level.labels for level in column.hierarchy.levels] == [("a", None), ("*",)]


@pytest.mark.parametrize("cells", [[], [None, None]])
def test_a_column_without_known_values_fits_any_hierarchy(cells):
    column = Column.encode("c", cells, hierarchy=Hierarchy.from_rows(PLACES))
    assert column.hierarchy.height == 3
    assert len(column.hierarchy) == len(set(cells))


def test_aligning_twice_changes_nothing():
    column = Column.encode("c", ["Nice", None, "Kobe"], hierarchy=Hierarchy.from_rows(PLACES))
    again = column.with_hierarchy(column.hierarchy).hierarchy
    assert again.rows() == column.hierarchy.rows()
    for old, new in zip(column.hierarchy.levels, again.levels, strict=True):
        assert new.labels == old.labels
        assert new.leaves.tolist() == old.leaves.tolist()


@pytest.mark.parametrize("text", ["a;x;*\nb;y;*\n", "a,x,*\nb,y,*\n", "\ufeffa\tx\t*\r\nb\ty\t*"])
def test_reads_what_other_tools_write(tmp_path, text):
    path = tmp_path / "h.csv"
    path.write_bytes(text.encode())
    assert Hierarchy.read(path).rows() == [("a", "x", "*"), ("b", "y", "*")]


def test_labels_may_hold_more_commas_than_there_are_fields(tmp_path):
    rows = [("a", "{a, b, c, d}", "*"), ("b", "{a, b, c, d}", "*")]
    Hierarchy.from_rows(rows).write(tmp_path / "h.csv")
    assert (tmp_path / "h.csv").read_text() == "a;{a, b, c, d};*\nb;{a, b, c, d};*\n"
    assert Hierarchy.read(tmp_path / "h.csv").rows() == rows


field = st.text(st.sampled_from('ab;,\t" \né'), max_size=4)


@given(st.data(), st.sampled_from(";,\t"))
def test_what_is_written_reads_back(tmp_path_factory, data, delimiter):
    values = data.draw(st.lists(field.map(lambda t: t + "v"), min_size=1, max_size=5, unique=True))
    rows = [(value, data.draw(field) + "x", "*") for value in values]
    path = tmp_path_factory.mktemp("h") / "h.csv"
    Hierarchy.from_rows(rows).write(path, delimiter)
    assert Hierarchy.read(path, delimiter).rows() == rows


def test_a_line_break_inside_a_value_is_kept(tmp_path):
    rows = [("a\r\nb", "x", "*"), ("c", "x", "*")]
    Hierarchy.from_rows(rows).write(tmp_path / "h.csv")
    assert Hierarchy.read(tmp_path / "h.csv").rows() == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (b"a;*\nb;x;*\n", "h.csv: hierarchy: 1 of 2 lines"),
        (b"a;*\n\xff;*\n", "line 2 is not UTF-8"),
        (b'a;"' + b"x" * 200_000, "not readable as CSV"),
    ],
)
def test_a_file_that_is_no_hierarchy_is_refused_by_name(tmp_path, content, message):
    path = tmp_path / "h.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        Hierarchy.read(path)
    assert str(caught.value).startswith(str(path))


def test_does_not_overwrite_unasked(tmp_path):
    tree = Hierarchy.from_rows(PLACES)
    path = tmp_path / "h.csv"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        tree.write(path)
    assert path.read_text() == "mine"
    tree.write(path, force=True)
    assert Hierarchy.read(path).rows() == PLACES


trees = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 3), st.integers(0, 1)),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[0],
).map(
    lambda rows: [
        (str(v), f"m{v % (m + 1)}", f"t{v % (m + 1) % (t + 1)}", "*")
        for v, m, t in ((v, rows[0][1], rows[0][2]) for v, _, _ in rows)
    ]
)


@given(trees, st.data())
def test_aligned_rows_are_the_rows_of_the_values_that_occur(rows, data):
    cells = data.draw(st.lists(st.sampled_from([row[0] for row in rows]), min_size=1))
    column = Column.encode("c", cells, hierarchy=Hierarchy.from_rows(rows))
    by_value = {row[0]: row for row in rows}
    assert column.hierarchy.rows() == [by_value[value] for value in sorted(set(cells))]
    for height, level in enumerate(column.hierarchy.levels):
        expected = [sum(row[height] == label for row in rows) for label in level.labels]
        assert level.leaves.tolist() == expected
        assert np.unique(level.groups).tolist() == list(range(len(level)))


@pytest.mark.parametrize("delimiter", [";;", "", "\n", '"', 5])
def test_a_delimiter_is_one_plain_character(tmp_path, delimiter):
    tree = Hierarchy.from_rows([("a", "*"), ("b", "*")])
    tree.write(tmp_path / "tree.csv")
    with pytest.raises(InputError, match="delimiter must"):
        Hierarchy.read(tmp_path / "tree.csv", delimiter)
    with pytest.raises(InputError, match="delimiter must"):
        tree.write(tmp_path / "other.csv", delimiter)
    assert not (tmp_path / "other.csv").exists()


def test_a_hierarchy_read_from_a_file_says_so(tmp_path):
    path = tmp_path / "h.csv"
    path.write_text("a;*\nb;*\n")
    tree = Hierarchy.read(path)
    assert tree.origin == "file"
    assert tree.aligned(Column.encode("c", ["a"])).origin == "file"
    assert Hierarchy.from_rows([("a", "*")]).origin == "declared"
