import pytest

from shoal.table import recipes
from shoal.table.column import Column
from shoal.table.declared import undeclared
from shoal.table.table import Table


def gaps(*columns, **options):
    return undeclared(Table(columns, **options))


def test_a_table_of_guesses_rests_on_nothing():
    assert gaps(Column.encode("age", [31, 47]), guessed=("encoding",)) == (
        "file: declare its encoding",
        "column 'age': declare its type and its values or bounds",
    )


@pytest.mark.parametrize(
    "options",
    [
        {"type": "integer", "bounds": [0, 110]},
        {"type": "integer", "values": [31, 47, 50]},
        {"values": [31, 47]},  # listed whole numbers are integers
    ],
)
def test_a_declared_type_and_a_closed_domain_are_enough(options):
    assert gaps(Column.encode("age", [31, 47], **options)) == ()
    assert gaps(Column.encode("age", [31, 47], "sensitive", **options)) == ()
    assert gaps(Column.encode("age", ["31", "47"], "insensitive", **options)) == ()


def test_an_identifier_is_not_published_and_needs_nothing():
    age = Column.encode("age", [31], type="integer", bounds=[0, 110])
    assert gaps(Column.encode("name", ["x"], "identifier"), age) == ()


def test_decimals_that_keep_their_own_text_need_a_number_of_places():
    cost = Column.encode("cost", ["12.50"], type="decimal", bounds=[0, 99])
    assert gaps(cost) == ("column 'cost': declare its number of places, such as decimal(2)",)
    assert gaps(Column.encode("cost", ["12.50"], type="decimal(2)", bounds=[0, 99])) == ()


def test_a_hierarchy_from_the_data_is_a_gap():
    age = Column.encode("age", [31, 47, 50], type="integer", bounds=[0, 110])
    made = age.with_hierarchy({"quantiles": [2]})
    assert gaps(made) == ("column 'age': declare a hierarchy that is not made from the data",)
    assert gaps(age.with_hierarchy({"intervals": [5, 10]})) == ()


def test_rows_taken_from_a_table_keep_what_was_guessed():
    table = Table((Column.encode("age", [31, 47]),), guessed=("encoding",))
    assert undeclared(table.take([0])) == undeclared(table)


def test_carried_columns_are_closed_by_values_bounds_or_nature():
    assert gaps(Column.encode("c", ["yes"], "insensitive", type="boolean")) == ()
    loose = Column.encode("c", ["x"], "insensitive", type="text", bounds=[0, 9])
    assert gaps(loose) == ("column 'c': declare its values or bounds",)


def test_a_hierarchy_over_plain_values_is_a_gap():
    age = Column.encode("age", [31, 47], type="integer", bounds=[0, 110])
    assert gaps(age.with_hierarchy(recipes.intervals([31, 47], [5]))) == (
        "column 'age': declare its hierarchy as a recipe over its declared values or bounds",
    )
    assert gaps(age.with_hierarchy(recipes.intervals(age, [5]))) == ()
