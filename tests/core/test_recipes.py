import itertools
from datetime import date, datetime, time
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core import recipes
from shoal.core.column import Column
from shoal.core.hierarchy import Hierarchy
from shoal.core.recoding import Recoding
from shoal.errors import InputError


def groups_of(tree, height):
    """The values under each label of a level."""
    found = {}
    for row in tree.rows():
        found.setdefault(row[height], set()).add(row[0])
    return found


def test_intervals_of_growing_width():
    assert recipes.intervals([-3, 0, 4, 5, 12], [5, 10]).rows() == [
        ("-3", "[-5, 0[", "[-10, 0[", "*"),
        ("0", "[0, 5[", "[0, 10[", "*"),
        ("4", "[0, 5[", "[0, 10[", "*"),
        ("5", "[5, 10[", "[0, 10[", "*"),
        ("12", "[10, 15[", "[10, 20[", "*"),
    ]


def test_intervals_may_begin_elsewhere():
    assert recipes.intervals([18, 27], [10], origin=18).rows()[1][1] == "[18, 28["


def test_intervals_of_fractions_hold_the_values_that_they_say():
    tree = recipes.intervals([0.1, 0.3, 0.6, 0.7], [0.1, 0.2])
    assert [row[1:3] for row in tree.rows()] == [
        ("[0.1, 0.2[", "[0, 0.2["),
        ("[0.3, 0.4[", "[0.2, 0.4["),
        ("[0.6, 0.7[", "[0.6, 0.8["),
        ("[0.7, 0.8[", "[0.6, 0.8["),
    ]


def test_intervals_of_huge_numbers_are_exact():
    big = 10**17
    tree = recipes.intervals([big + 1, big + 2], [2])
    assert tree.rows()[0][1] == f"[{big}, {big + 2}["
    assert tree.rows()[1][1] == f"[{big + 2}, {big + 4}["


def test_intervals_publish_bounds_wider_than_their_members():
    column = Column.encode("age", [0, 21, 24, 99], hierarchy={"intervals": [5]})
    level = column.hierarchy.levels[1]
    assert dict(zip(level.labels, level.bounds.tolist(), strict=True)) == {
        "[0, 5[": [0, 4],  # whole numbers: 5 itself is out
        "[20, 25[": [20, 24],
        "[95, 100[": [95, 99],
    }


@pytest.mark.parametrize(
    "widths", [[], [0], [-5], [5, 5], [5, 12], [10, 5], [float("inf")], [float("nan")]]
)
def test_widths_that_do_not_nest_are_refused(widths):
    with pytest.raises(InputError, match="width"):
        recipes.intervals([1, 2], widths)


def test_intervals_need_numbers():
    with pytest.raises(InputError, match="need numbers"):
        recipes.intervals(["a"], [5])
    with pytest.raises(InputError, match="dates have `dates`"):
        recipes.intervals([date(2024, 1, 1)], [5])


numbers = st.lists(st.integers(-40, 40).map(lambda n: n / 10), min_size=1, max_size=20)


@given(numbers, st.sampled_from([[0.1, 0.3], [0.1, 0.2, 1.0], [0.7], [0.5, 1.5, 3]]))
def test_every_interval_holds_its_values_exactly(cells, widths):
    for row in recipes.intervals(cells, widths).rows():
        for label, width in zip(row[1:-1], widths, strict=True):
            low, high = (Fraction(end) for end in label.strip("[").split(", "))
            assert low <= Fraction(row[0]) < high
            assert high - low == Fraction(str(width))


def test_quantiles_hold_about_equally_many_rows():
    tree = recipes.quantiles([1, 1, 1, 1, 2, 3, 4, 5], [4, 2])
    assert tree.rows() == [
        ("1", "1", "1", "*"),  # half of all rows: nothing to cut
        ("2", "[2, 3]", "[2, 5]", "*"),
        ("3", "[2, 3]", "[2, 5]", "*"),
        ("4", "[4, 5]", "[2, 5]", "*"),
        ("5", "[4, 5]", "[2, 5]", "*"),
    ]


@pytest.mark.parametrize("groups", [[], [0], [-2], [4, 3], [4, 4], [2, 4]])
def test_quantiles_that_do_not_merge_are_refused(groups):
    with pytest.raises(InputError, match="groups"):
        recipes.quantiles([1, 2, 3], groups)


def test_quantiles_need_an_order():
    with pytest.raises(InputError, match="ordered"):
        recipes.quantiles(["a"], [2])


def test_ordering_pairs_neighbours_and_then_pairs():
    tree = recipes.ordering([1, 2, 3, 4, 5])
    assert [row[1:] for row in tree.rows()] == [
        ("[1, 2]", "[1, 4]", "*"),
        ("[1, 2]", "[1, 4]", "*"),
        ("[3, 4]", "[1, 4]", "*"),
        ("[3, 4]", "[1, 4]", "*"),
        ("5", "5", "*"),
    ]
    with pytest.raises(InputError, match="fanout"):
        recipes.ordering([1, 2], 1)


@pytest.mark.parametrize(
    ("side", "rows"),
    [
        ("right", [("123", "12*", "1**", "*"), ("4", "*", "*", "*"), ("56", "5*", "**", "*")]),
        ("left", [("123", "*23", "**3", "*"), ("4", "*", "*", "*"), ("56", "*6", "**", "*")]),
    ],
)
def test_mask_hides_one_character_more_each_level(side, rows):
    assert recipes.mask(["123", "4", "56"], side).rows() == rows


def test_mask_takes_another_sign_but_no_other_side():
    assert recipes.mask(["12", "13"], sign="#").rows()[0] == ("12", "1#", "*")
    with pytest.raises(InputError, match="right or left"):
        recipes.mask(["12"], "middle")


def test_dates_by_day_month_quarter_year_and_decade():
    levels = ("day", "month", "quarter", "year", "decade")
    tree = recipes.dates([datetime(2024, 2, 29, 7), datetime(1969, 12, 31, 23)], levels)
    assert [row[1:] for row in tree.rows()] == [
        ("1969-12-31", "1969-12", "1969-Q4", "1969", "1960s", "*"),
        ("2024-02-29", "2024-02", "2024-Q1", "2024", "2020s", "*"),
    ]


def test_dates_publish_the_bounds_of_the_calendar():
    cells = [date(1970, 2, 10), date(1970, 2, 20), date(1960, 1, 1), date(1990, 1, 1)]
    column = Column.encode("c", cells, hierarchy={"dates": ["month", "quarter"]})
    for height, last in ((1, date(1970, 2, 28)), (2, date(1970, 3, 31))):
        first = date(1970, 2, 1) if height == 1 else date(1970, 1, 1)
        level = column.hierarchy.levels[height]
        own = level.groups[column.codes[0]]
        epoch = date(1970, 1, 1)
        assert level.bounds[own].tolist() == [(first - epoch).days, (last - epoch).days]


def test_a_day_of_times_ends_at_midnight():
    column = Column.encode("c", [datetime(1970, 1, 2, 7)], hierarchy={"dates": ["day"]})
    assert column.hierarchy.levels[1].bounds.tolist() == [[86400, 172800]]


@pytest.mark.parametrize("levels", [("year", "month"), ("week",), "month"])
def test_date_levels_come_in_order(levels):
    with pytest.raises(InputError, match="in this order"):
        recipes.dates([date(2024, 1, 1)], levels)


def test_dates_need_dates():
    with pytest.raises(InputError, match="needs dates"):
        recipes.dates(["2024-01-01"])


@given(st.lists(st.dates(), min_size=1, max_size=8))
def test_dates_nest_for_any_date(cells):
    assert recipes.dates(cells, ("month", "quarter", "year", "decade")).height == 5


def test_a_tree_repeats_what_is_shallow():
    tree = recipes.tree({"far": {"Asia": ["Kobe", "Pune"]}, "near": ["Ghent"]})
    assert tree.rows() == [
        ("Kobe", "Asia", "far", "*"),
        ("Pune", "Asia", "far", "*"),
        ("Ghent", "Ghent", "near", "*"),
    ]


def test_a_tree_may_name_the_missing_value():
    column = Column.encode("c", ["a", None], hierarchy={"tree": {"seen": ["a"], "rest": [None]}})
    assert [level.labels for level in column.hierarchy.levels][:2] == [
        ("a", None),
        ("seen", "rest"),
    ]


@given(st.integers(1, 30), st.integers(0, 50), st.booleans())
def test_random_trees_nest_with_all_leaves_at_one_depth(count, seed, ordered):
    cells = [f"{i:02}" for i in range(count)]
    tree = recipes.random(cells, seed, ordered=ordered)
    assert tree.rows() == recipes.random(cells, seed, ordered=ordered).rows()
    assert tree.values == tuple(cells)
    for fine, coarse in itertools.pairwise(tree.levels[1:]):
        assert len(fine) > len(coarse)  # a level that changes nothing would be no level
    if ordered:
        for height in range(1, tree.height):
            for members in groups_of(tree, height).values():
                places = sorted(map(int, members))
                assert places == list(range(places[0], places[-1] + 1))


def test_random_trees_differ_by_seed_and_by_shuffling():
    cells = [f"{i:02}" for i in range(30)]
    trees = [recipes.random(cells, seed) for seed in range(5)]
    assert len({str(tree.rows()) for tree in trees}) > 1
    assert max(tree.height for tree in trees) > 1
    shuffled = [recipes.random(cells, seed, ordered=False) for seed in range(5)]
    deep = next(tree for tree in shuffled if tree.height > 1)
    spans = [sorted(map(int, g)) for g in groups_of(deep, 1).values()]
    assert any(span != list(range(span[0], span[-1] + 1)) for span in spans)


def test_suppression_keeps_or_hides():
    assert recipes.suppression(["a", None, "b"]).rows() == [("a", "*"), ("b", "*")]


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        ([17, 30, 90], ("17", "[15, 20[", "[10, 20[", "[0, 20[", "[0, 40[", "*")),
        ([0, 1], ("0", "*")),
        (
            [0.25, 0.5],
            ("0.25", "[0.25, 0.255[", "[0.25, 0.26[", "[0.24, 0.26[", "[0.24, 0.28[", "*"),
        ),
        ([10**17, 10**17 + 1], (str(10**17), "*")),
        ([7], ("7", "*")),
        ([date(2024, 3, 9)], ("2024-03-09", "2024-03", "2024", "2020s", "*")),
        (
            [datetime(2024, 3, 9, 7)],
            ("2024-03-09 07:00:00", "2024-03-09", "2024-03", "2024", "2020s", "*"),
        ),
        ([time(7), time(8)], ("07:00:00", "*")),
        (["b", "a"], ("a", "*")),
        ([f"{i:05}" for i in range(30)], ("00000", "0000*", "000**", "00***", "0****", "*")),
        ([None], ("", "*")),
        ([], ("", "*")),
    ],
)
def test_suggests_something_for_every_kind_of_column(cells, first):
    column = Column.encode("c", cells)
    tree = recipes.suggest(column)
    assert tree.rows()[0] == first
    assert len(column.with_hierarchy(tree).hierarchy) == column.domain


def test_suggests_neighbours_for_an_ordinal_column():
    column = Column.encode("c", list("abcde"), order=list("edcba"))
    assert recipes.suggest(column).rows()[0] == ("e", "[e, b]", "*")


@given(st.lists(st.floats(-1e12, 1e12, allow_nan=False), min_size=1, max_size=8))
def test_suggestions_fit_any_numbers(cells):
    column = Column.encode("c", cells)
    assert len(column.with_hierarchy(recipes.suggest(column)).hierarchy) == column.domain


@pytest.mark.parametrize(
    ("recipe", "first"),
    [
        ({"intervals": [5]}, ("11", "[10, 15[", "*")),
        ({"intervals": {"widths": [5], "origin": 1}}, ("11", "[11, 16[", "*")),
        ({"quantiles": [2]}, ("11", "[11, 12]", "*")),
        ({"mask": "left"}, ("11", "*1", "*")),
        ({"mask": "right", "sign": "#"}, ("11", "1#", "*")),
        ({"mask": None}, ("11", "1*", "*")),
        ({"ordering": 3}, ("11", "[11, 13]", "*")),
        ({"tree": {"g": ["11", "12"], "h": ["13", "24"]}}, ("11", "g", "*")),
        ({"suppression": True}, ("11", "*")),
    ],
)
def test_a_schema_names_a_recipe_and_its_argument(recipe, first):
    column = Column.encode("c", [11, 12, 13, 24])
    assert recipes.build(column, recipe).rows()[0] == first


def test_the_argument_one_is_not_taken_for_yes():
    cells = [f"{i:02}" for i in range(30)]
    column = Column.encode("c", cells)
    for seed in range(4):
        expected = recipes.random(cells, seed).rows()
        assert recipes.build(column, {"random": seed}).rows() == expected
    with pytest.raises(InputError, match="fanout must be 2 or more"):
        recipes.build(column, {"ordering": 1})


@pytest.mark.parametrize(
    "recipe",
    [
        {},
        "h.csv",
        {"guess": 1},
        {"mask": "right", "ordering": 2},
        {"mask": "right", "colour": "red"},
        {"quantiles": 4},
        {"quantiles": []},
        {"intervals": ["wide"]},
        {"intervals": [5], "origin": "there"},
        {"dates": [[]]},
        {"random": "seed"},
    ],
    ids=str,
)
def test_a_recipe_that_is_not_understood_is_refused_by_column(recipe):
    kind = [date(2024, 1, 1)] if isinstance(recipe, dict) and "dates" in recipe else [11, 12]
    with pytest.raises(InputError, match="column 'c'"):
        recipes.build(Column.encode("c", kind), recipe)


@pytest.mark.parametrize("name", sorted(recipes.RECIPES))
def test_every_recipe_bears_a_column_of_missing_values_only(name):
    arguments = {"intervals": [5], "quantiles": [2], "tree": {"g": ["a"]}}
    column = Column.encode("c", pa.array([None, None], pa.int64()))
    tree = column.with_hierarchy({name: arguments.get(name)}).hierarchy
    assert isinstance(tree, Hierarchy)
    assert Recoding.at_level(column.with_hierarchy(tree), 0).to_arrow().to_pylist() == [None, None]
