"""Released files are lined up with their originals, and read back as what was published."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import Column, KAnonymity, Table
from shoal.release.reading_cells import Forms
from shoal.release.reading_columns import ReleasedColumn
from shoal.release.released_files import read_released

ROLES = {"id": "identifier", "age": "quasi", "town": "quasi", "illness": "sensitive"}
TOWNS = {"tree": {"north": ["aa", "ab"], "south": ["ba"]}}


@pytest.fixture
def table():
    return people(hierarchies={"town": TOWNS})


def people(ages=(21, 24, 30, 38), towns=("aa", "ab", "ba", "ba"), **options):
    data = {
        "id": [f"p{i}" for i in range(len(ages))],
        "age": list(ages),
        "town": list(towns),
        "illness": ["flu", "cold"] * (len(ages) // 2),
    }
    return Table.from_arrow(pa.table(data), ROLES, **options)


def published(age, town, **further):
    return pa.table({"age": pa.array(age), "town": pa.array(town), **further})


def members(release, name):
    """Return, row by row, the values that a published cell admits."""
    recoding = release.recodings[name]
    values = recoding.column.values
    return [values.take(recoding.subsets.members(code)).to_pylist() for code in recoding.codes]


def test_rows_in_order_are_lined_up_by_position(table):
    data = published(["20-29", "20-29", "[30, 40[", "38"], ["north", "north", "{ba, zz}", "*"])
    release = read_released(data, table)
    assert members(release, "age") == [[21, 24], [21, 24], [30, 38], [38]]
    assert members(release, "town") == [["aa", "ab"], ["aa", "ab"], ["ba"], ["aa", "ab", "ba"]]
    assert release.recodings["town"].levels[release.recodings["town"].codes].tolist() == [
        1,
        1,
        -1,
        2,
    ]
    assert release.suppressed is None
    assert len(release.classes) == 3
    assert release.recodings["age"].high.max() == 38  # no further than the column itself


def test_a_file_is_read_as_text(table, write):
    path = write("age;town;illness\n20-29;north;flu\n20-29;north;cold\n3*;ba;flu\n?;ba;cold\n")
    release = read_released(path, table, missing=["?"], delimiter=";")
    assert members(release, "age")[2:] == [[30, 38], [21, 24, 30, 38]]


def test_a_key_lines_up_rows_in_any_order_and_finds_those_left_out(table):
    data = published(["38", "[20, 24]"], ["ba", "north"], id=["p3", "p1"], illness=["cold"] * 2)
    release = read_released(data, table, key="id")
    assert release.suppressed.tolist() == [True, False, True, False]
    assert members(release, "age")[1::2] == [[21, 24], [38]]
    assert release.classes.suppressed == 2
    assert shoal.metrics.class_loss(release) == 0.5


def test_the_model_is_the_callers(table):
    data = published(["[21, 38]"] * 4, ["*"] * 4)
    assert str(read_released(data, table).model) == "no claim"
    claimed = read_released(data, table, model=KAnonymity(4)).verify()
    assert (claimed.holds, claimed.levels) == (True, {"k-anonymity(k=4)": 4})
    assert not read_released(data, table, model=KAnonymity(5)).verify()


def test_no_repr_shows_a_cell(table):
    column = table["town"]
    scale = Column.encode("q", ["low", "quokka"], order=["low", "quokka"])
    cells = ReleasedColumn(("quokka",), column.codes, column.codes)
    things = [Forms(scale), Forms(scale).scale, Forms(scale).scale.point("quokka"), cells]
    release = read_released(published(["*"] * 4, ["north", "north", "ba", "ba"]), table)
    things += [release, release.recodings["town"], release.model]
    shown = " ".join(f"{thing!r} {thing}" for thing in things)
    assert not [word for word in ("quokka", "north", "'ba'") if word in shown]


def test_a_text_that_may_mean_two_things_is_read_so_that_it_is_true():
    original = people((21, 24, 30, 30), ("x", "y", "*", "x"))
    release = read_released(published([21, 24, 30, 30], ["*", "y", "*", "x"]), original)
    assert members(release, "town")[0] == ["*", "x", "y"]
    release = read_released(published([21, 24, 30, 30], ["{x, y}", "y", "*", "x"]), original)
    assert members(release, "town") == [["x", "y"], ["y"], ["*"], ["x"]]


def test_a_text_that_means_two_things_admits_both():
    original = people((21, 24, 30, 30), ("{x, y}", "y", "x", "x"))
    release = read_released(published([21, 24, 30, 30], ["{x, y}", "{x, y}", "x", "x"]), original)
    assert members(release, "town")[:2] == [["x", "y", "{x, y}"]] * 2


def test_a_whole_column_at_one_level_is_read_so():
    tree = {"tree": {"aa": {"aa": ["aa", "ab"]}, "south": {"ba": ["ba"]}}}
    original = people(hierarchies={"town": tree})
    ages = [21, 24, 30, 38]
    for height in range(4):
        labels = original["town"].hierarchy.levels[height]
        cells = [labels.labels[g] for g in labels.groups[original["town"].codes]]
        recoding = read_released(published(ages, cells), original).recodings["town"]
        assert recoding.levels[recoding.codes].tolist() == [height] * 4


def test_a_blank_cell_is_a_missing_value_where_all_such_rows_have_none():
    original = people((21, None, 30, 38))
    towns = ["aa", "ab", "ba", "ba"]
    assert members(read_released(published([21, None, 30, 38], towns), original), "age")[1] == [
        None
    ]
    blanked = read_released(published([None, None, 30, 38], towns), original)
    assert members(blanked, "age")[:2] == [[21, 30, 38, None]] * 2


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["secret", "secret", "20-x", "38"], "'age': 3 cells, in 2 distinct forms, cannot be read"),
        (["[50, 60]", "24", "30", "38"], "'age': 1 cell, in 1 distinct form, "),
        (["24", "24", "30", "38"], "1 of 4 rows do not cover any remaining row of the original"),
    ],
)
def test_what_does_not_fit_is_refused_with_counts(table, cells, told):
    with pytest.raises(shoal.InputError, match=told) as caught:
        read_released(published(cells, ["aa", "ab", "ba", "ba"]), table)
    assert "secret" not in str(caught.value)


def test_a_sensitive_value_that_moved_is_noticed(table):
    data = published([21, 24, 30, 38], ["aa", "ab", "ba", "ba"], illness=["cold", "flu"] * 2)
    with pytest.raises(
        shoal.InputError, match="of 4 rows do not cover any remaining row of the original"
    ):
        read_released(data, table)


@pytest.mark.parametrize(
    ("keys", "key", "told"),
    [
        (["p0", "p0"], "id", "key 'id': 1 of 2 rows of the release have no key"),
        (["p0", None], "id", "key 'id': 1 of 2 rows of the release have no key"),
        (["p0", "p9"], "id", "key 'id': 1 of 2 rows have a key that is not in the original"),
        (["p1", "p0"], "id", "2 of 2 rows do not cover .* not true"),
        (["p0", "p1"], "town", "key 'town': 1 of 4 rows of the original"),
        (["p0", "p1"], "weight", "'weight'"),
    ],
)
def test_rows_that_cannot_be_lined_up_are_refused(table, keys, key, told):
    with pytest.raises(shoal.InputError, match=told):
        read_released(published([21, 24], ["aa", "ab"], id=keys), table, key=key)


def test_a_column_that_was_left_out_is_named(table):
    with pytest.raises(shoal.InputError, match="has no column 'town'"):
        read_released(pa.table({"age": [21, 24, 30, 38]}), table)


def test_options_of_files_and_weighted_tables_are_refused(table, write):
    data = published(["*"] * 4, ["*"] * 4)
    with pytest.raises(shoal.InputError, match="delimiter: for files only"):
        read_released(data, table, delimiter=";")
    with pytest.raises(shoal.InputError, match="weighted"):
        read_released(data, table.distinct("illness").table)
    with pytest.raises(shoal.InputError, match=r"people.csv: column 'age': 1 cell,"):
        read_released(write("age,town\n?,aa\n24,ab\n30,ba\n38,ba\n"), table)


def test_numbers_that_became_floats_are_the_same_numbers(table, tmp_path):
    pq.write_table(published([21.0, 24.0, None, 38.0], ["*"] * 4), tmp_path / "out.parquet")
    release = read_released(tmp_path / "out.parquet", table)
    assert members(release, "age") == [[21], [24], [21, 24, 30, 38], [38]]


def test_rows_in_another_order_are_matched_by_what_they_say(table):
    straight = published(["[20, 25]", "[20, 25]", "[30, 40]", "[30, 40]"], ["*"] * 4)
    mixed = straight.take([3, 0, 2, 1])
    ages = [
        [sorted(ages) for ages in members(read_released(data, table), "age")]
        for data in (straight, mixed)
    ]
    assert ages[0] == ages[1]


def test_rows_that_are_left_out_are_found_by_what_the_others_say(table):
    found = read_released(published(["[30, 40]", "21"], ["ba", "aa"]), table)
    assert found.suppressed.sum() == 2
    assert not found.suppressed[0]
    assert found.suppressed[1]
    assert "matched to the original by their values" in found.run.notes[0]


def test_whole_groups_that_are_left_out_leave_no_doubt(table):
    found = read_released(published(["[30, 40]", "[30, 40]"], ["ba", "ba"]), table)
    assert found.suppressed.tolist() == [True, True, False, False]
    assert found.run.notes == ()


def test_a_row_takes_an_original_that_leaves_one_for_the_others(table):
    data = published(["[20, 40]", "[20, 25]", "[20, 40]", "21"], ["*"] * 4)
    assert sorted(map(len, members(read_released(data, table), "age"))) == [1, 2, 4, 4]


def test_a_file_of_more_rows_than_its_original_is_refused(table):
    with pytest.raises(shoal.InputError, match="has 5 rows, more than the original's 4"):
        read_released(published(["*"] * 5, ["*"] * 5), table)
