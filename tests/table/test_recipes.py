from datetime import date, datetime, time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import HierarchyError, InputError
from shoal.table import recipes
from shoal.table.column import Column
from shoal.table.recoding import Recoding


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


def test_the_levels_of_a_mask_go_by_a_stated_length():
    """Which nobody has to look into the table for."""
    assert recipes.mask(["12"], length=4).rows() == [("12", "1*", "**", "**", "*")]
    column = Column.encode("c", ["12", "345"])
    stated = recipes.build(column, {"mask": {"side": "left", "length": 3}})
    looked = recipes.build(column, {"mask": "left"})
    assert stated.rows() == looked.rows()
    assert (stated.from_data, looked.from_data) == (False, True)
    with pytest.raises(InputError, match="column 'c': mask: some values are longer than length"):
        recipes.build(column, {"mask": {"length": 2}})
    for length in (0, 2.5, True):
        with pytest.raises(InputError, match="length must be a whole number, 1 or more"):
            recipes.mask(["1"], length=length)


def test_a_mask_that_keeps_some_characters_drops_what_a_few_values_have_beyond():
    rows = recipes.mask(["123", "123-9", "45"], keep=3).rows()
    assert rows == [
        ("123", "123*", "12**", "1***", "*"),
        ("123-9", "123*", "12**", "1***", "*"),
        ("45", "45*", "45**", "4***", "*"),
    ]
    assert recipes.mask(["123-9"], "left", keep=2).rows() == [("123-9", "*-9", "**9", "*")]
    tree = recipes.build(Column.encode("c", ["123", "1"]), {"mask": "right", "keep": 3})
    assert not tree.from_data  # the group of a value follows from the value alone
    with pytest.raises(InputError, match="keep must be a whole number, 1 or more"):
        recipes.mask(["1"], keep=0)
    with pytest.raises(InputError, match="length and keep cannot be combined"):
        recipes.mask(["1"], length=2, keep=2)


def test_mask_takes_another_sign_but_no_other_side():
    assert recipes.mask(["12", "13"], sign="#").rows()[0] == ("12", "1#", "*")
    with pytest.raises(InputError, match="right or left"):
        recipes.mask(["12"], "middle")


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
    with pytest.raises(InputError, match="fanout must be a whole number, 2 or more"):
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


SHAPES = {  # for each recipe an argument, cells that it suits, and whether its levels are fixed
    "intervals": ([5, 10], [1, 22], True),
    "quantiles": ([4, 2], [1, 22], True),
    "frequency": ([0.2], [1, 22], False),
    "mask": ({"length": 3}, ["1", "22"], True),
    "dates": (["month", "year"], [date(2024, 3, 9), date(2025, 1, 1)], True),
    "tree": ({"h": {"g": ["1", "22"]}}, ["1", "22"], True),
    "ordering": (None, [1, 22], False),
    "random": (None, [1, 22], False),
    "suppression": (None, [1, 22], True),
}


@pytest.mark.parametrize("name", sorted(recipes.RECIPES))
@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), None], ids=str)
def test_every_recipe_bears_a_column_of_missing_values_only(name, kind):
    argument, cells, fixed = SHAPES[name]
    column = Column.encode("c", pa.array([None, None], kind)).with_hierarchy({name: argument})
    assert Recoding.at_level(column, 0).to_arrow().to_pylist() == [None, None]
    full = Column.encode("c", cells).with_hierarchy({name: argument})
    assert column.hierarchy.height == full.hierarchy.height or not fixed


@pytest.mark.parametrize("name", sorted(recipes.RECIPES))
def test_every_recipe_bears_a_column_without_rows(name):
    argument, cells, fixed = SHAPES[name]
    full = Column.encode("c", cells).with_hierarchy({name: argument})
    empty = Column.encode("c", full.values[:0]).with_hierarchy({name: argument})
    assert (len(empty), empty.domain) == (0, 0)
    assert empty.hierarchy.height == full.hierarchy.height or not fixed


@pytest.mark.parametrize(
    ("name", "plain", "over_domain"),
    [
        ("intervals", "values", "declared"),
        ("quantiles", "data", "data"),
        ("frequency", "data", "data"),
        ("mask", "values", "declared"),
        ("tree", "declared", "declared"),
        ("ordering", "data", "declared"),
        ("random", "data", "declared"),
        ("suppression", "values", "declared"),
    ],
)
def test_a_recipe_called_directly_or_from_a_schema_knows_its_origin(name, plain, over_domain):
    argument = SHAPES[name][0]
    recipe = {name: argument}
    options = argument if name == "mask" else {}
    arguments = [] if argument is None or options else [argument]
    for declared, origin in (({}, plain), ({"type": "integer", "bounds": [0, 30]}, over_domain)):
        column = Column.encode("c", [1, 22], **declared)
        assert recipes.RECIPES[name](column, *arguments, **options).origin == origin
        assert recipes.build(column, recipe).origin == origin
        assert column.with_hierarchy(recipe).hierarchy.origin == origin


def test_dates_know_their_origin():
    cells = [date(2024, 3, 9)]
    assert recipes.dates(cells).origin == "values"
    bounded = Column.encode("c", cells, type="date", bounds=["2020-01-01", "2024-12-31"])
    assert recipes.dates(bounded).origin == "declared"
    assert len(recipes.dates(bounded)) == 1827  # every day inside the bounds


def test_a_mask_without_a_length_goes_by_the_longest_value_there_is():
    assert recipes.mask(["12"]).origin == "data"
    assert recipes.mask(Column.encode("c", ["12"], values=["12", "345"])).origin == "declared"


def test_a_suggested_hierarchy_comes_from_the_data():
    bounded = Column.encode("c", [1, 22], type="integer", bounds=[0, 30])
    assert recipes.suggest(bounded).origin == "data"


def test_a_domain_too_large_to_list_keeps_levels_and_labels():
    column = Column.encode("c", [7, 10**6], type="integer", bounds=[0, 10**9])
    assert recipes.intervals(column, [10]).rows()[0] == ("7", "[0, 10[", "*")
    assert recipes.intervals(column, [10]).origin == "declared"
    assert recipes.ordering(column).origin == "data"


@pytest.mark.parametrize("fanout", [2.5, float("nan"), True, "3", 1])
def test_a_fanout_is_a_whole_number(fanout):
    with pytest.raises(
        InputError, match="column 'values': ordering: fanout must be a whole number, 2 or more"
    ):
        recipes.ordering([1, 2, 3], fanout)


@pytest.mark.parametrize("groups", [4, "42", [True], ["4", "2"], [4.0, 2.0], None])
def test_numbers_of_groups_are_whole_numbers(groups):
    with pytest.raises(InputError, match="column 'values': quantiles: groups must be a list"):
        recipes.quantiles([1, 2, 3], groups)


@pytest.mark.parametrize("sign", ["", "**", 0, None])
def test_a_mask_hides_behind_a_single_character(sign):
    with pytest.raises(InputError, match="column 'values': mask: sign must be a single"):
        recipes.mask(["12", "13"], sign=sign)


@pytest.mark.parametrize("nested", [{}, [], {"g": []}, {"g": ["a"], "h": ["a"]}], ids=str)
def test_a_tree_that_is_none_is_refused_by_column_and_recipe(nested):
    with pytest.raises(HierarchyError, match="column 'c': tree: "):
        recipes.build(Column.encode("c", ["a"]), {"tree": nested})


@pytest.mark.parametrize("cells", [[5e-324, 1e-323], [1e12, 1e12 + 0.001], [-1.7e308, 1.7e308]])
def test_suggests_neighbours_where_intervals_could_not_be_written(cells):
    assert recipes.suggest(Column.encode("c", cells)).height == 1


def test_every_recipe_is_there_by_name():
    assert all(callable(getattr(recipes, name)) for name in recipes.RECIPES)
    assert set(recipes.RECIPES) < set(recipes.__all__)
