from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.table import recipes
from shoal.table.column import Column


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
    with pytest.raises(InputError, match="needs numbers, but some values read as text"):
        recipes.intervals(["a"], [5])
    with pytest.raises(InputError, match="for dates use `dates`"):
        recipes.intervals([date(2024, 1, 1)], [5])


numbers = st.lists(st.integers(-40, 40).map(lambda n: n / 10), min_size=1, max_size=20)


@given(numbers, st.sampled_from([[0.1, 0.3], [0.1, 0.2, 1.0], [0.7], [0.5, 1.5, 3]]))
def test_every_interval_holds_its_values_exactly(cells, widths):
    for row in recipes.intervals(cells, widths).rows():
        for label, width in zip(row[1:-1], widths, strict=True):
            low, high = (Fraction(end) for end in label.strip("[").split(", "))
            assert low <= Fraction(row[0]) < high
            assert high - low == Fraction(str(width))


@pytest.mark.parametrize(
    ("cells", "width"),
    [
        ([0.5, 1.0], 1e-320),
        ([0.5, 1.0], 1e-17),  # both ends would read 0.5
        ([1e12, 1e12 + 0.001], 0.00005),
        ([1.0, 1.7e308], 1.6e308),  # ends beyond any float
        ([1, 2], 10**400),
    ],
    ids=["least", "equal", "close", "beyond", "huge"],
)
def test_ends_that_cannot_be_written_exactly_are_refused(cells, width):
    with pytest.raises(InputError, match=r"column 'values': intervals: .* as exact numbers"):
        recipes.intervals(cells, [width])


@pytest.mark.parametrize(
    "options",
    [
        {"widths": 5},
        {"widths": "5"},
        {"widths": ["5"]},
        {"widths": [True]},
        {"widths": [None]},
        {"widths": [5], "origin": "3"},
        {"widths": [5], "origin": True},
        {"widths": [5], "origin": float("nan")},
    ],
    ids=str,
)
def test_widths_and_origin_are_numbers(options):
    with pytest.raises(InputError, match=r"column 'values': intervals: .* number"):
        recipes.intervals([1, 2], **options)
