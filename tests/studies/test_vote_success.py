"""Equation 4.2.5 of Liang, 2020: the probability that a vote is right, as printed and exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import pytest

pytest.importorskip("torch")

import torch

from shoal.robust.ensemble import count_votes


def partitions(members):
    """Yield all ways to divide members into subsets."""
    if not members:
        yield []
        return
    first, *others = members
    for parts in partitions(others):
        yield [[first], *parts]
        for place, part in enumerate(parts):
            yield [*parts[:place], [first, *part], *parts[place + 1 :]]


def as_printed(chances):
    """Sum, over all partitions, the probability that all of the largest subset are right."""
    largest = (max(parts, key=len) for parts in partitions(list(range(len(chances)))))
    return sum(prod(chances[member] for member in subset) for subset in largest)


def exactly(chances, classes):
    """Sum the probabilities of all answers of independent networks whose vote names class 0.

    A network that is wrong names each other class equally often.
    """
    total = Fraction(0)
    for named in product(range(classes), repeat=len(chances)):
        logits = torch.nn.functional.one_hot(torch.tensor(named), classes).float().unsqueeze(1)
        if count_votes(logits, torch.ones(len(chances))).labels.item() == 0:
            total += prod(
                chance if answer == 0 else (1 - chance) / (classes - 1)
                for chance, answer in zip(chances, named, strict=True)
            )
    return total


def test_the_printed_sum_is_no_probability():
    right = Fraction(9, 10)
    assert as_printed([right] * 2) == right**2 + right == Fraction(171, 100)
    assert as_printed([right] * 3) == right**3 + 3 * right**2 + right > 4


@pytest.mark.parametrize("right", [Fraction(2, 5), Fraction(9, 10)])
def test_three_networks_and_two_classes_need_two_that_are_right(right):
    wrong = 1 - right
    assert exactly([right] * 3, 2) == right**3 + 3 * right**2 * wrong
    assert (exactly([right] * 3, 2) > right) == (right > Fraction(1, 2))


def test_a_vote_may_be_right_with_a_minority_if_errors_differ():
    # 2 of 5 right and three different errors, or more right ones: more than a majority of 3 needs
    right = Fraction(1, 2)
    chances = [right] * 5
    assert exactly(chances, 4) > exactly(chances, 2) == Fraction(1, 2)
    assert exactly(chances, 4) <= 1
