import pytest

from shoal.errors import InputError
from shoal.risk import similarity

TREE = {"tree": {"stomach": ["ulcer", "gastritis", "cancer"], "lungs": ["flu", "asthma"]}}


def test_values_under_one_label_are_close(grouped):
    classes = grouped(
        ["ulcer", "gastritis", "cancer"], ["flu", "flu"], ["ulcer", "asthma"], hierarchy=TREE
    )
    found = similarity(classes, "disease")
    assert (found.by, found.people) == ("hierarchy", 7)
    assert (found.alike, found.different) == (5, 3)
    assert (found.alike_share, found.different_share) == (5 / 7, 3 / 7)
    assert (found.width, found.between) == (None, None)


def test_a_label_that_covers_everything_is_no_closeness(grouped):
    tree = {"tree": {"any": {"stomach": ["ulcer", "gastritis"], "lungs": ["flu", "asthma"]}}}
    classes = grouped(["ulcer", "flu"], ["ulcer", "gastritis"], ["flu", "asthma"], hierarchy=tree)
    assert similarity(classes, "disease").alike == 4


def test_values_are_all_apart_below_a_root_alone(grouped):
    classes = grouped("ab", "aa", hierarchy={"suppression": None})
    found = similarity(classes, "disease")
    assert (found.alike, found.different) == (2, 0)


def test_numbers_are_close_where_few_people_lie_between_them(grouped):
    # 20 people; 1 to 2 holds two of them, 3 to 99 most of the range and seventeen
    salaries = [[1, 2], [3, 4, 5, 6, 7, 8, 9, 10, 99], [11, 12, 13, 14, 15, 16, 17, 18, 100]]
    found = similarity(grouped(*salaries), "disease")
    assert (found.by, found.people, found.alike, found.different) == ("order", 20, 2, 2)
    assert found.width == pytest.approx(1 / 99)
    assert found.between == pytest.approx(2 / 20)


def test_an_outlier_does_not_make_all_others_close(grouped):
    classes = grouped([1, 2, 3], [1, 2, 3], [1, 3, 1_000_000])
    found = similarity(classes, "disease")
    assert found.width < 0.001
    assert found.alike == 0


def test_equal_numbers_are_close_however_common(grouped):
    found = similarity(grouped([0, 0, 0], [0, 7]), "disease")
    assert (found.alike, found.different) == (3, 0)


def test_a_missing_value_is_close_to_no_other(grouped):
    many = list(range(10, 60))
    found = similarity(grouped([1, 2, None], [59, None], [1, 2], many), "disease")
    assert (found.alike, found.different) == (4, 2)  # beside a missing one 59 is the only value
    assert similarity(grouped([None, None], many), "disease").alike == 2


def test_ordinal_values_are_close_by_their_order(grouped):
    order = [chr(ord("a") + i) for i in range(20)]
    classes = grouped(["t", "s"], ["a", "t"], order, kind="ordinal", order=order)
    found = similarity(classes, "disease")
    # s and t hold 5 of 24 people
    assert found.between == pytest.approx(5 / 24)
    assert found.alike == 0


def test_a_nominal_column_without_a_hierarchy_is_refused(grouped):
    with pytest.raises(InputError, match="give it a hierarchy or an order"):
        similarity(grouped("ab"), "disease")


@pytest.mark.parametrize("values", [[1, 2], ["ulcer", "flu"]])
def test_nobody_released_is_nobody_alike(grouped, values):
    options = {} if isinstance(values[0], int) else {"hierarchy": TREE}
    found = similarity(grouped(suppressed=values, **options), "disease")
    assert (found.people, found.alike, found.width, found.between) == (0, 0, None, None)
