import math

import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.privacy import EntropyLDiversity, LDiversity, RecursiveLDiversity, parse
from shoal.table.classes import Classes
from shoal.table.table import Table

# the paper's 3-diverse inpatient table: heart disease, viral infection, cancer
INPATIENTS = (
    ["heart", "viral", "cancer", "cancer"],
    ["cancer", "heart", "viral", "viral"],
    ["heart", "viral", "cancer", "cancer"],
)
# and its 4-anonymous one, whose last class is all cancer
HOMOGENEOUS = (
    ["heart", "heart", "viral", "viral"],
    ["cancer", "heart", "viral", "viral"],
    ["cancer", "cancer", "cancer", "cancer"],
)


def test_the_paper_s_tables_are_three_diverse_and_not(grouped):
    assert LDiversity(3, "disease").holds(grouped(*INPATIENTS)).all()
    classes = grouped(*HOMOGENEOUS)
    assert LDiversity(3, "disease").holds(classes).tolist() == [False, True, False]
    assert LDiversity(3, "disease").level(classes) == 1


def test_two_halves_and_a_quarter_twice_have_entropy_of_2_to_the_one_and_a_half(grouped):
    classes = grouped(*INPATIENTS)
    assert EntropyLDiversity(2, "disease").level(classes) == pytest.approx(2**1.5)
    assert EntropyLDiversity(2.8, "disease").holds(classes).all()
    assert not EntropyLDiversity(2.9, "disease").holds(classes).any()


@pytest.mark.parametrize("l", [2, 3, 5, 7, 11, 20])
def test_l_equally_frequent_values_reach_entropy_l_exactly(grouped, l):  # noqa: E741
    classes = grouped([str(value) for value in range(l)] * 3)
    assert EntropyLDiversity(l, "disease").holds(classes).all()
    assert not EntropyLDiversity(l + 1e-9, "disease").holds(classes).any()


def test_a_class_of_one_value_has_an_entropy_l_of_one(grouped):
    classes = grouped("aaa", "ab")
    assert EntropyLDiversity(1.001, "disease").holds(classes).tolist() == [False, True]
    assert EntropyLDiversity(2, "disease").level(classes) == 1


@pytest.mark.parametrize(
    ("c", "l", "held"),
    [
        (2.1, 2, True),  # 4 < 2.1 · (1 + 1)
        (2, 2, False),  # 4 < 2 · 2 is not so
        (4.1, 3, True),  # 4 < 4.1 · 1
        (4, 3, False),
        (1000, 4, False),  # three values only
    ],
)
def test_recursive_weighs_the_first_value_against_the_rest(grouped, c, l, held):  # noqa: E741
    classes = grouped("abaaca")
    assert RecursiveLDiversity(c, l, "disease").holds(classes).tolist() == [held]


def test_the_level_of_recursive_is_the_c_that_it_needs_more_than(grouped):
    classes = grouped("aaaabc", "aabbcc")
    assert RecursiveLDiversity(1, 2, "disease").level(classes) == 2
    assert RecursiveLDiversity(1, 3, "disease").level(classes) == 4
    assert RecursiveLDiversity(1, 4, "disease").level(classes) == math.inf


@pytest.mark.parametrize("c", [0.1, 0.1 + 0.2, 0.7, 1.1])
def test_recursive_does_not_hold_at_equality_by_rounding(grouped, c):
    first = ["first"] * round(c * 10)
    classes = grouped(first + [f"other {i}" for i in range(10)])
    assert RecursiveLDiversity(1, 2, "disease").level(classes) == pytest.approx(c)
    assert not RecursiveLDiversity(c, 2, "disease").holds(classes).any()
    assert RecursiveLDiversity(c + 1e-9, 2, "disease").holds(classes).all()


DIVERSE = [
    lambda **option: LDiversity(2, "disease", **option),
    lambda **option: EntropyLDiversity(2, "disease", **option),
    lambda **option: RecursiveLDiversity(1.5, 2, "disease", **option),
]


@pytest.mark.parametrize("model", DIVERSE)
def test_a_missing_value_adds_no_diversity_unless_it_is_counted(grouped, model):
    classes = grouped(["a", None], ["a", "a"], ["a", "b"], [None, None])
    assert model().holds(classes).tolist() == [False, False, True, False]
    assert model(count_missing=True).holds(classes).tolist() == [True, False, True, False]


def test_values_that_nearly_everyone_lacks_are_not_well_represented(grouped):
    classes = grouped(["a", "b"] + [None] * 8)  # diverse only among those who have a value
    assert LDiversity(2, "disease").holds(classes).all()
    assert not EntropyLDiversity(2, "disease").holds(classes).any()
    assert not RecursiveLDiversity(1.5, 2, "disease").holds(classes).any()


def test_levels_leave_missing_values_out(grouped):
    classes = grouped(["a", "b", "c", None, None])
    assert LDiversity(2, "disease").level(classes) == 3
    assert LDiversity(2, "disease", count_missing=True).level(classes) == 4
    assert EntropyLDiversity(2, "disease").level(classes) == pytest.approx(3)
    assert RecursiveLDiversity(1, 2, "disease").level(classes) == 2 / 3  # 2 < c · (1 + 1 + 1)
    classes = grouped(["a", "a", "b", None, None])
    assert RecursiveLDiversity(1, 2, "disease").level(classes) == 2  # 2 < c · 1 without missing


def test_the_people_of_l_diversity_are_those_with_a_value():
    data = {"disease": ["a", "b", None, "a", "b"], "zip": list("xxxyy"), "who": list("nnmpq")}
    roles = {"zip": "quasi", "disease": "sensitive"}
    classes = Classes.by_quasi(Table.from_arrow(pa.table(data), roles, person="who"))
    assert LDiversity(2, "disease").holds(classes).tolist() == [False, True]
    assert LDiversity(2, "disease", count_missing=True).holds(classes).tolist() == [True, True]


def test_counting_missing_values_is_part_of_the_text_only_where_it_is_asked():
    assert str(LDiversity(2, "disease")) == "l-diversity(l=2, column=disease)"
    asked = LDiversity(2, "disease", count_missing=True)
    assert str(asked) == "l-diversity(l=2, column=disease, count_missing=True)"
    assert parse(str(asked)) == asked
    assert asked.describe().endswith("A missing value counts as a value.")


@pytest.mark.parametrize("model", DIVERSE)
def test_counting_missing_values_is_true_or_false(model):
    with pytest.raises(InputError, match="count_missing must be true or false"):
        model(count_missing="perhaps")


@pytest.mark.parametrize("l", [1, 1.5, True, "2"])
def test_distinct_l_is_a_whole_number_of_two_or_more(l):  # noqa: E741
    with pytest.raises(InputError, match="l must be a whole number, 2 or more"):
        LDiversity(l, "disease")
    with pytest.raises(InputError, match="l must be a whole number, 2 or more"):
        RecursiveLDiversity(1, l, "disease")


@pytest.mark.parametrize("l", [1, 0.5, math.nan, "3"])
def test_entropy_l_is_more_than_one(l):  # noqa: E741
    with pytest.raises(InputError, match="l must be more than 1"):
        EntropyLDiversity(l, "disease")


def test_recursive_c_is_more_than_nothing():
    with pytest.raises(InputError, match="c must be more than 0"):
        RecursiveLDiversity(0, 2, "disease")


def test_a_column_that_is_not_sensitive_is_refused(grouped):
    with pytest.raises(InputError, match="'zip' is quasi; the model needs a sensitive column"):
        EntropyLDiversity(2, "zip").check(grouped("ab").table)
