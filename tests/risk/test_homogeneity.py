from dataclasses import replace

import pytest
from hypothesis import given
from tests.metrics.strategies import freeform
from tests.metrics.strategies import grouped as grouped_releases
from tests.risk import naive

from shoal.privacy import OneKAnonymity
from shoal.risk import homogeneity


def test_people_of_classes_with_one_value_are_certain(grouped):
    found = homogeneity(grouped("aaa", "aab", "cc"), "disease")
    assert (found.people, found.groups) == (8, 3)
    assert (found.certain, found.certain_groups) == (5, 2)
    assert found.certain_share == 5 / 8
    assert (found.largest, found.usual) == (1.0, 5 / 8)


@pytest.mark.parametrize(
    ("group", "nearly"),
    [("a" * 9 + "b", 10), ("a" * 18 + "bb", 20), ("a" * 17 + "bbb", 0), ("aaa", 3)],
)
def test_nine_tenths_of_one_value_are_nearly_certain(grouped, group, nearly):
    found = homogeneity(grouped(group, "abcd"), "disease")
    assert found.nearly == nearly
    assert found.nearly_share == nearly / (len(group) + 4)


def test_suppressed_people_are_not_counted_but_known_to_the_table(grouped):
    found = homogeneity(grouped("aa", suppressed="bbb"), "disease")
    assert (found.people, found.certain, found.usual) == (2, 2, 3 / 5)


def test_rows_count_as_often_as_they_stand_for(grouped):
    found = homogeneity(grouped("a", "ab", counts=[4, 1, 2]), "disease")
    assert (found.people, found.certain, found.largest) == (7, 4, 1.0)


def test_a_missing_value_does_not_hide_the_only_other_one(grouped):
    found = homogeneity(grouped([None, None], ["a", None, None], ["a", "b", None]), "disease")
    assert (found.certain, found.certain_groups, found.nearly) == (5, 2, 5)


def test_nobody_released_is_nobody_certain(grouped):
    found = homogeneity(grouped(suppressed="ab"), "disease")
    assert (found.people, found.certain, found.certain_share, found.largest) == (0, 0, 0.0, 0.0)


def counted(release, candidates):
    seen = [naive.values(release, rows, "ill") for rows in candidates]
    certain = sum(len(counter) == 1 for counter in seen)
    nearly = sum(max(c.values()) * 10 >= 9 * sum(c.values()) for c in seen)
    return certain, nearly


@given(release=grouped_releases())
def test_classes_are_counted_as_by_hand(release):
    found = homogeneity(release, "ill")
    assert (found.certain, found.nearly) == counted(release, naive.by_class(release))


@given(release=freeform())
def test_where_everybody_has_an_own_box_the_records_that_fit_count(release):
    release = replace(release, model=OneKAnonymity(1000))  # no class keeps that
    found = homogeneity(release, "ill")
    assert (found.certain, found.nearly) == counted(release, naive.by_coverage(release))
    assert found.people == len(naive.people(release))
