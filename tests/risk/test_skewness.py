from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from tests.metrics.strategies import freeform
from tests.metrics.strategies import grouped as grouped_releases
from tests.risk import naive

from shoal.privacy import OneKAnonymity
from shoal.risk import skewness


def test_gains_and_rises_are_those_of_the_worst_class(grouped):
    # a is 3 of 8 in the table and 3 of 4 in the first class
    found = skewness(grouped("aaab", "bbcc"), "disease")
    assert found.gain == pytest.approx(2)  # also c: 2 of 8, 2 of 4
    assert found.rise == pytest.approx(3 / 4 - 3 / 8)
    assert (found.raised, found.raised_share) == (0, 0)
    # own values: a thrice 2, b once 2/3 and twice 4/3, c twice 2
    assert found.own_gain == pytest.approx((3 * 2 + 2 / 3 + 2 * 4 / 3 + 2 * 2) / 8)


def test_guesses_are_by_the_commonest_value_of_a_class(grouped):
    found = skewness(grouped("aaab", "bbcc"), "disease")
    assert found.guessed == pytest.approx((3 + 2) / 8)  # a, then b or c
    assert found.blind == pytest.approx(3 / 8)  # a or b
    assert found.advantage == pytest.approx(2 / 8)


def test_classes_like_the_table_say_nothing(grouped):
    found = skewness(grouped("ab", "ab", "aabb"), "disease")
    assert (found.gain, found.rise, found.own_gain, found.advantage) == (1, 0, 1, 0)


def test_a_rare_value_gains_much_and_rises_little(grouped):
    found = skewness(grouped("abcdr", "abcd" * 20), "disease")
    assert found.gain == pytest.approx((1 / 5) / (1 / 85))
    assert found.rise < 0.2


@pytest.mark.parametrize(("group", "raised"), [("aabb", 0), ("aaab", 4)])
def test_people_are_raised_where_a_belief_rises_by_half(grouped, group, raised):
    rest = "bcde" * 4
    assert skewness(grouped(group, rest), "disease").raised == raised


def test_the_input_counts_suppressed_people(grouped):
    assert skewness(grouped("ab", suppressed="bb"), "disease").gain == pytest.approx(2)


def test_nobody_released_learns_nothing(grouped):
    found = skewness(grouped(suppressed="ab"), "disease")
    assert (found.gain, found.rise, found.own_gain, found.guessed, found.blind) == (0,) * 5


def by_hand(release, candidates):
    table = release.original
    everybody = Counter()
    for row in range(len(table)):
        everybody[int(table["ill"].codes[row])] += (
            1 if table.counts is None else int(table.counts[row])
        )
    total = sum(everybody.values())
    gains, rises, own, guessed = [0.0], [0.0], 0.0, 0.0
    every = naive.people(release)
    for row, rows in zip(every, candidates, strict=True):
        seen, mine = naive.values(release, rows, "ill"), int(table["ill"].codes[row])
        for value, count in seen.items():
            q, p = count / len(rows), everybody[value] / total
            gains.append(q / p)
            rises.append(q - p)
        own += seen[mine] / len(rows) / (everybody[mine] / total)
        best = [value for value, count in seen.items() if count == max(seen.values())]
        guessed += (mine in best) / len(best)
    return max(gains), max(rises), own / max(len(every), 1), guessed / max(len(every), 1)


def figures(found):
    return found.gain, found.rise, found.own_gain, found.guessed


@given(release=grouped_releases())
def test_classes_are_measured_as_by_hand(release):
    expected = by_hand(release, naive.by_class(release))
    assert figures(skewness(release, "ill")) == pytest.approx(expected)


@given(release=freeform())
def test_where_everybody_has_an_own_box_the_records_that_fit_count(release):
    release = replace(release, model=OneKAnonymity(1000))  # no class keeps that
    expected = by_hand(release, naive.by_coverage(release))
    assert figures(skewness(release, "ill")) == pytest.approx(expected)
