import itertools
from statistics import median_low

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.table.column import Column
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import NO_LEVEL, Recoding
from shoal.table.subsets import Subsets

AGES = [21, 24, 30, 38, None]
TREE = [
    ("a", "ab", "left", "*"),
    ("b", "ab", "left", "*"),
    ("c", "cd", "left", "*"),
    ("d", "cd", "left", "*"),
    ("e", "e", "right", "*"),
    ("f", "f", "right", "*"),
]


def grouped(column, ids, summary="range", **options):
    ids = np.array(ids, dtype=np.int32)
    return Recoding.of_groups(column, ids, int(ids.max(initial=-1)) + 1, summary, **options)


def published(recoding):
    return [recoding.labels[code] for code in recoding.codes]


def members(recoding, row):
    return set(recoding.subsets.members(int(recoding.codes[row])).tolist())


@pytest.mark.parametrize(
    ("ids", "cells"),
    [
        ((0, 0, 1, 1, 2), ("[21, 24]", "[21, 24]", "[30, 38]", "[30, 38]", None)),
        ((0, 1, 1, 0, 2), ("[21, 38]", "[24, 30]", "[24, 30]", "[21, 38]", None)),
        ((0, 1, 2, 2, 0), ("21 or missing", "24", "[30, 38]", "[30, 38]", "21 or missing")),
        ((0, 0, 1, 1, 1), ("[21, 24]", "[21, 24]", *["[30, 38] or missing"] * 3)),
        ((0, 0, 0, 0, 0), ("*",) * 5),
        ((0, 0, -1, -1, 0), ("[21, 24] or missing",) * 2 + ("*", "*", "[21, 24] or missing")),
    ],
)
def test_a_range_runs_from_the_least_to_the_greatest(ids, cells):
    recoding = grouped(Column.encode("age", AGES), ids)
    assert published(recoding) == list(cells)
    assert recoding.covers()


def test_a_range_with_missing_beside_it_does_not_hold_what_lies_between():
    recoding = grouped(Column.encode("age", AGES), (0, 0, 1, 1, 0))
    assert members(recoding, 0) == {0, 1, 4}
    assert (recoding.low[recoding.codes[0]], recoding.high[recoding.codes[0]]) == (21, 24)


def test_only_missing_has_no_bounds():
    recoding = grouped(Column.encode("age", AGES), (0, 0, 0, 0, 1))
    entry = recoding.codes[4]
    assert recoding.labels[entry] is None
    assert np.isnan([recoding.low[entry], recoding.high[entry]]).all()


@pytest.mark.parametrize(
    ("ids", "cells"),
    [
        ((0, 0, 1), ("{x, y}", "{x, y}", None)),
        ((0, 1, 0), ("{x, missing}", "y", "{x, missing}")),
        ((0, 0, 0), ("*", "*", "*")),
        ((-1, 0, -1), ("*", "y", "*")),
        ((-1, -1, -1), ("*", "*", "*")),
    ],
)
def test_a_set_lists_the_values(ids, cells):
    recoding = grouped(Column.encode("sex", ["x", "y", None]), ids)
    assert published(recoding) == list(cells)
    assert recoding.covers()


@pytest.mark.parametrize("cells", [[7, 7], ["x", "x"]])
def test_a_domain_of_one_is_published_as_it_is(cells):
    column = Column.encode("c", cells)
    assert grouped(column, (0, 0)).to_arrow().to_pylist() == cells
    assert published(grouped(column, (0, -1))) == [str(cells[0]), "*"]


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_a_column_of_missing_values_is_published_as_missing(kind):
    recoding = grouped(Column.encode("c", pa.array([None, None], kind)), (0, 1))
    assert recoding.to_arrow().to_pylist() == [None, None]
    assert recoding.to_arrow().type == kind


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_no_rows_are_published_as_no_rows(kind):
    column = Column.encode("c", pa.array([], kind))
    for recoding in (grouped(column, ()), Recoding.identity(column), Recoding.suppressed(column)):
        assert recoding.to_arrow().to_pylist() == []
        assert recoding.covers()


def test_an_ordinal_range_goes_by_rank():
    column = Column.encode("stage", ["low", "mid", "high"], order=["low", "mid", "high"])
    recoding = grouped(column, (0, 0, 1))
    assert published(recoding) == ["[low, mid]", "[low, mid]", "high"]
    assert recoding.high[recoding.codes[0]] == 1


def test_the_lowest_common_ancestor_is_published():
    column = Column.encode("c", list("abcdef"), hierarchy=Hierarchy.from_rows(TREE))
    recoding = grouped(column, (0, 0, 1, 2, 2, 3))
    assert published(recoding) == ["ab", "ab", "c", "*", "*", "f"]
    assert [int(recoding.levels[code]) for code in recoding.codes] == [1, 1, 0, 3, 3, 0]
    assert members(recoding, 0) == {0, 1}


def test_a_hierarchy_may_be_left_unused():
    column = Column.encode("c", list("abcdef"), hierarchy=Hierarchy.from_rows(TREE))
    recoding = grouped(column, (0, 1, 1, 2, 2, 0), use_hierarchy=False)
    assert published(recoding)[0] == "{a, f}"
    assert recoding.levels is None


def test_a_level_is_published_with_bounds_wider_than_its_members():
    column = Column.encode("age", [3, 21, 28, 40], hierarchy={"intervals": [10]})
    recoding = Recoding.at_level(column, 1)
    assert published(recoding) == ["[0, 10[", "[20, 30[", "[20, 30[", "[40, 50["]
    spans = [(recoding.low[c], recoding.high[c]) for c in recoding.codes]
    assert spans == [(3, 9), (20, 29), (20, 29), (40, 40)]  # cut at the extent, 3 to 40


def test_published_bounds_stay_inside_the_stated_ones():
    column = Column.encode("age", [3, 21, 40], bounds=(0, 100), hierarchy={"intervals": [50]})
    recoding = Recoding.at_level(column, 1)
    assert recoding.low.tolist() == [0]
    assert recoding.high.tolist() == [100]  # the only group: nothing is ruled out


def test_level_zero_and_identity_publish_the_originals():
    column = Column.encode("age", AGES, hierarchy={"intervals": [10]})
    for recoding in (Recoding.identity(column), Recoding.at_level(column, 0)):
        assert recoding.to_arrow().to_pylist() == AGES
        assert recoding.levels.tolist() == [0] * 5
        assert recoding.covers()


def test_a_column_without_hierarchy_has_no_levels():
    with pytest.raises(ValueError, match="no hierarchy"):
        Recoding.at_level(Column.encode("c", ["a"]), 0)


@pytest.mark.parametrize(
    ("hierarchy", "top"), [(None, NO_LEVEL), (Hierarchy.from_rows([("x", "*"), ("y", "*")]), 1)]
)
def test_suppressed_rows_stand_for_the_whole_domain(hierarchy, top):
    column = Column.encode("c", ["x", "y", "x"], hierarchy=hierarchy)
    recoding = Recoding.identity(column).suppress(np.array([True, False, False]))
    assert published(recoding) == ["*", "y", "x"]
    assert members(recoding, 0) == {0, 1}
    if hierarchy is None:
        assert recoding.levels is None
    else:
        assert [int(recoding.levels[code]) for code in recoding.codes] == [top, 0, 0]
    again = recoding.suppress(np.array([False, True, False]))
    assert again.labels == recoding.labels  # the entry is there already
    assert published(again) == ["*", "*", "x"]


def test_suppressing_nothing_changes_nothing():
    recoding = Recoding.identity(Column.encode("c", ["x"]))
    assert recoding.suppress(np.array([False])) is recoding


def test_a_star_among_the_values_is_not_taken_for_suppression():
    column = Column.encode("c", ["*", "b"])
    recoding = Recoding.identity(column).suppress(np.array([False, True]))
    assert members(recoding, 0) == {0}
    assert members(recoding, 1) == {0, 1}


def test_a_suppressed_numeric_cell_has_the_bounds_of_the_column():
    column = Column.encode("age", [20, 30], bounds=(0, 100))
    recoding = grouped(column, (0, -1))
    assert (recoding.low[recoding.codes[1]], recoding.high[recoding.codes[1]]) == (0, 100)


def test_representatives_are_medians_and_modes():
    ages = Column.encode("age", [20, 21, 60, 40, 50])
    recoding = grouped(ages, (0, 0, 0, 1, 1), "representative")
    assert recoding.to_arrow().to_pylist() == [21, 21, 21, 40, 40]
    assert members(recoding, 0) == {0, 1, 2, 3, 4}  # what it stands for is the range
    sexes = Column.encode("sex", ["x", "y", "y", "y", "x"])
    assert published(grouped(sexes, (0, 0, 0, 1, 1), "representative")) == list("yyyxx")


def test_representatives_go_by_records_not_rows():
    ages = Column.encode("age", [20, 21, 60])
    weighted = grouped(ages, (0, 0, 0), "representative", counts=np.array([1, 1, 9]))
    assert weighted.to_arrow().to_pylist() == [60, 60, 60]


def test_cells_keep_their_type_while_all_are_original_values():
    column = Column.encode("age", [20, 20, 30, 40])
    recoding = grouped(column, (0, 0, 1, 1))
    assert recoding.to_arrow().type == pa.string()
    assert recoding.to_arrow(np.array([0, 1])).to_pylist() == [20, 20]
    assert recoding.to_arrow(np.array([0, 1])).type == pa.int64()


@pytest.mark.parametrize("huge", [2**63 + 11, 10**30 + 1])
def test_huge_numbers_are_published_digit_by_digit(huge):
    recoding = grouped(Column.encode("c", [huge, huge + 1, huge + 2]), (0, 0, 1))
    assert published(recoding) == [f"[{huge}, {huge + 1}]"] * 2 + [str(huge + 2)]


def test_a_value_outside_its_cell_is_noticed():
    column = Column.encode("c", ["x", "y"])
    lying = Recoding(column, np.array([0, 0]), Subsets.singletons(2), ("x", "y"))
    assert not lying.covers()


def labelled(column, members, label, level=NO_LEVEL):
    """One entry with these members and this label, all rows in it."""
    subsets = Subsets.of_members(column.domain, np.array([0, len(members)]), np.array(members))
    levels = np.array([level], dtype=np.int32)
    codes = np.zeros(len(column), dtype=np.int32)
    return Recoding(column, codes, subsets, (label,), levels=levels).labelled()


@pytest.mark.parametrize(
    ("members", "label", "right"),
    [
        ((0, 1), "[21, 24]", True),
        ((0, 1), "{21, 24}", True),
        ((0, 1), "21", True),  # a representative
        ((0, 1), "30", False),
        ((0, 1), "[21, 30]", False),
        ((0, 1), "[21, 24] or missing", False),
        ((0, 1), "*", False),
        ((0, 1), None, False),
        ((0, 2), "[21, 30]", False),  # 24 lies between
        ((0, 2), "{21, 30}", True),
        ((0, 1, 4), "[21, 24] or missing", True),
        ((0, 1, 4), "[21, 24]", False),
        ((0, 1, 4), None, True),  # the missing value as representative
        ((4,), None, True),
        ((4,), "", False),
        ((0, 1, 2, 3, 4), "*", True),
        ((0, 1, 2, 3), "*", False),
    ],
)
def test_a_label_says_what_its_subset_holds(members, label, right):
    assert labelled(Column.encode("age", AGES), members, label) is right


@pytest.mark.parametrize(
    ("members", "label", "level", "right"),
    [
        ((0, 1), "ab", 1, True),
        ((0, 1), "cd", 1, False),
        ((0, 1), "ab", 2, False),
        ((0, 1), "ab", NO_LEVEL, False),
        ((0,), "ab", 1, False),  # the group has another member
        ((0, 1, 2), "ab", 1, False),
        ((0, 1, 2, 3), "left", 2, True),
        ((4,), "e", 0, True),
        ((4,), "e", 1, True),
        ((0, 1, 2, 3, 4, 5), "*", 3, True),
        ((0, 1, 2, 3, 4, 5), "*", NO_LEVEL, True),
        ((0, 1), "{a, b}", NO_LEVEL, True),
        ((0, 1), "[a, b]", NO_LEVEL, False),  # no range without an order
        ((0, 1), "ab", 7, False),
    ],
)
def test_a_label_is_that_of_its_group(members, label, level, right):
    column = Column.encode("c", list("abcdef"), hierarchy=Hierarchy.from_rows(TREE))
    assert labelled(column, members, label, level) is right


def test_a_level_without_a_hierarchy_is_noticed():
    assert not labelled(Column.encode("c", list("ab")), (0,), "a", level=0)


def test_a_suppressed_column_of_one_value_or_none_is_rightly_labelled():
    for cells in ([], ["x"], [None]):
        assert Recoding.suppressed(Column.encode("c", cells)).labelled()


def test_usage_counts_records():
    recoding = grouped(Column.encode("c", ["x", "y", "y"]), (0, 1, 1))
    assert recoding.usage().tolist() == [1, 2]
    assert recoding.usage(np.array([5, 1, 3])).tolist() == [5, 4]


def test_repr_tells_no_value():
    assert repr(Recoding.identity(Column.encode("c", ["secret"]))) == "Recoding('c', entries=1)"


# against plain Python


@st.composite
def groupings(draw, values):
    cells = draw(st.lists(st.none() | values, min_size=1, max_size=14))
    ids = [draw(st.integers(-1, 3)) for _ in cells]
    names = sorted(set(ids) - {-1})
    counts = [draw(st.integers(1, 4)) for _ in cells]
    return cells, [i if i < 0 else names.index(i) for i in ids], counts


def of(cells, ids, g):
    return [cell for cell, i in zip(cells, ids, strict=True) if i == g]


def check(recoding, cells, ids, text):
    """Compare labels with a naive text of each group, and members with what they must be."""
    assert recoding.covers()
    assert recoding.labelled()
    subsets = recoding.subsets
    for begin, end in itertools.pairwise(subsets.indptr):
        assert (subsets.starts[begin + 1 : end] > subsets.stops[begin : end - 1]).all()  # apart
    domain = set(cells)
    for row, (cell, g) in enumerate(zip(cells, ids, strict=True)):
        values = recoding.column.values.take(pa.array(sorted(members(recoding, row)))).to_pylist()
        if g < 0:
            assert recoding.labels[recoding.codes[row]] == "*"
            assert set(values) == domain
        else:
            expected, meant = text(set(of(cells, ids, g)), domain)
            assert recoding.labels[recoding.codes[row]] == expected
            assert set(values) == meant
            assert cell in values


def range_text(found, domain):
    known = sorted(v for v in found if v is not None)
    if not known:
        return None, {None}
    meant = {v for v in domain if v is not None and known[0] <= v <= known[-1]}
    meant |= {None} & found
    text = str(known[0]) if len(known) == 1 else f"[{known[0]}, {known[-1]}]"
    text = f"{text} or missing" if None in found else text
    return "*" if meant == domain and len(domain) > 1 else text, meant


def set_text(found, domain):
    known = sorted(v for v in found if v is not None)
    shown = [*known, "missing"] if None in found else known
    text = (known or [None])[0] if len(found) == 1 else "{" + ", ".join(shown) + "}"
    return "*" if found == domain and len(domain) > 1 else text, found


@given(groupings(st.integers(0, 8)))
def test_ranges_are_what_python_makes_of_them(drawn):
    cells, ids, _ = drawn
    check(grouped(Column.encode("c", pa.array(cells, pa.int64())), ids), cells, ids, range_text)


@given(groupings(st.sampled_from("uvwxyz")), st.booleans())
def test_sets_are_what_python_makes_of_them(drawn, many):
    cells, ids, _ = drawn
    if many:  # more values than fit the bits of one integer
        cells = cells + [f"{i}" for i in range(70)]
        ids = ids + [-1] * 70
    column = Column.encode("c", pa.array(cells, pa.string()))
    check(grouped(column, ids), cells, ids, set_text)


@given(groupings(st.sampled_from("abcdef")))
def test_ancestors_are_what_python_climbs_to(drawn):
    cells, ids, _ = drawn
    rows = {row[0]: row for row in TREE} | {None: (None, None, None, "*")}

    def climb(found, domain):
        for height in range(4):
            labels = {rows[v][height] for v in found}
            if len(labels) == 1:
                label = labels.pop()
                return label, {v for v in domain if rows[v][height] == label}
        raise AssertionError("the root holds all")

    tree = Hierarchy.from_rows(TREE)
    column = Column.encode("c", pa.array(cells, pa.string()), hierarchy=tree)
    check(grouped(column, ids), cells, ids, climb)


@given(groupings(st.integers(0, 8)))
def test_representatives_are_the_medians_and_modes_of_all_records(drawn):
    cells, ids, counts = drawn
    weights = np.array(counts)
    expanded = [(c, i) for c, i, n in zip(cells, ids, counts, strict=True) for _ in range(n)]
    ages = Column.encode("c", pa.array(cells, pa.int64()))
    texts = [None if c is None else str(c) for c in cells]
    names = Column.encode("c", pa.array(texts, pa.string()))
    summaries = [grouped(c, ids, "representative", counts=weights) for c in (ages, names)]
    assert all(recoding.labelled() and recoding.covers() for recoding in summaries)
    medians, modes = map(published, summaries)
    for row, g in enumerate(ids):
        if g < 0:
            assert medians[row] == modes[row] == "*"
            continue
        group = [9 if c is None else c for c, i in expanded if i == g]  # missing comes last
        middle = median_low(group)
        assert medians[row] == (None if middle == 9 else str(middle))
        most = max(sorted(set(group)), key=group.count)
        assert modes[row] == (None if most == 9 else str(most))
