"""Levels from other columns: one parent for each value, and labels that mean one group."""

import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError
from shoal.table.column import Column
from shoal.table.table import Table
from shoal.table.trees import from_columns

SECRET = "QXZW"
PLACES = {
    "city": ["Salem", "Bend", "Salem", "Boise", None],
    "county": ["Marion", "Deschutes", "Marion", "Ada", "Ada"],
    "state": ["Oregon", "Oregon", "Oregon", "Idaho", "Idaho"],
}


def city(cells, **levels):
    return from_columns(Column.encode("city", cells), levels)


def test_each_value_goes_under_what_other_columns_say_in_its_rows():
    roles = {"city": {"role": "quasi", "hierarchy": {"from": ["county", "state"]}}}
    tree = Table.from_arrow(pa.table(PLACES), roles)["city"].hierarchy
    assert tree.rows() == [
        ("Bend", "Deschutes", "Oregon", "*"),
        ("Boise", "Ada", "Idaho", "*"),
        ("Salem", "Marion", "Oregon", "*"),
        ("", "", "", "*"),
    ]
    assert tree.origin == "data"


def test_a_label_under_two_parents_is_qualified_by_its_parent():
    rows = city(["a", "b"], county=["Washington", "Washington"], state=["Oregon", "Utah"]).rows()
    assert [row[1] for row in rows] == ["Washington (Oregon)", "Washington (Utah)"]


def test_a_label_that_means_another_group_below_is_qualified_by_its_column():
    rows = city(["New York", "Buffalo"], state=["New York", "New York"]).rows()
    assert rows == [("Buffalo", "New York (state)", "*"), ("New York", "New York (state)", "*")]
    assert city(["*", "x"], state=["*", "*"]).rows()[0] == ("*", "* (state)", "*")


def test_a_label_of_the_same_values_is_kept():
    assert city(["Paris", "Paris"], state=["Paris", "Paris"]).rows() == [("Paris", "Paris", "*")]


def test_missing_parents_are_passed_over_where_another_row_has_one():
    assert city(["a", "a", None], state=[None, "Utah", "Idaho"]).rows() == [("a", "Utah", "*")]


@pytest.mark.parametrize(
    ("cells", "states", "told"),
    [
        ([SECRET, SECRET, "b"], [SECRET, "Utah", "Utah"], "1 of 2 values occur with more than one"),
        (
            [SECRET, "b", "c"],
            [None, None, "Utah"],
            "2 of 3 values have no value of",
        ),
    ],
)
def test_a_value_with_no_parent_or_several_is_counted_not_shown(cells, states, told):
    with pytest.raises(InputError) as caught:
        city(cells, state=states)
    assert told in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ({"from": []}, "from must be a list of other columns"),
        ({"from": ["city"]}, "from must be a list of other columns"),
        ({"from": ["state", "state"]}, "from must be a list of other columns"),
        ({"from": ["state"], "mask": "right"}, "from must be a list of other columns"),
        ({"from": 5}, "from must be a list of other columns"),
        ({"from": "town"}, "column 'town' is named as a level of 'city' but not in the data"),
        ({"from": ["county"]}, "would publish column 'county', which is sensitive"),
    ],
)
def test_levels_are_other_columns_that_may_be_published(stated, told):
    roles = {"city": {"role": "quasi", "hierarchy": stated}, "county": "sensitive"}
    with pytest.raises(InputError, match=told):
        Table.from_arrow(pa.table(PLACES), roles)


def test_a_release_with_such_levels_reads_back(tmp_path):
    places = {name: cells[:4] * 2 for name, cells in PLACES.items()}
    path = tmp_path / "places.csv"
    lines = [",".join(row) for row in zip(*places.values(), strict=True)]
    path.write_text("\n".join([",".join(places), *lines]) + "\n")
    schema = {"columns": {"city": {"role": "quasi", "hierarchy": {"from": ["county", "state"]}}}}
    with pytest.warns(shoal.UnassignedColumns):
        table = shoal.read(path, schema)
    release = shoal.anonymize(table, shoal.KAnonymity(4), "datafly", max_suppression=0.3)
    assert set(release.to_arrow().column("city").to_pylist()) == {"Oregon"}
    release.write(tmp_path / "out.csv")
    back = shoal.read_released(tmp_path / "out.csv", table, model=shoal.KAnonymity(4))
    assert back.verify()
