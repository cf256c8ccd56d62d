"""Positions keep the distances between numbers, however large, small or close they are."""

import sys
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.nasty import tiny

import shoal
from shoal import Column, KAnonymity, metrics
from shoal.table.recoding import Recoding
from shoal.table.ruler import Ruler, exact_numbers
from shoal.table.trees import intervals

LARGEST = sys.float_info.max


def on_ruler(*values, kind=None):
    array = pa.array(values, kind)
    return Ruler.of(array), Ruler.of(array).positions(array)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ((1, 2, 5), pa.int64()),
        ((0.5, -3.25, 1e100), pa.float64()),
        ((date(2024, 3, 9), date(1960, 1, 1)), pa.date32()),
        ((Decimal("12.50"), Decimal("9.125")), pa.decimal128(38, 20)),
        ((2**53, 2**63 - 1), pa.int64()),  # far enough apart
        ((float("inf"), 1.0), pa.float64()),  # refused elsewhere
        ((None, None), pa.int64()),
        (("a", "b"), pa.string()),
    ],
)
def test_a_position_is_the_number_itself_where_floats_suffice(values, kind):
    assert Ruler.of(pa.array(values, kind)).plain


@pytest.mark.parametrize(
    ("top", "kind"),
    [
        (2**63 - 1, pa.int64()),
        (-(2**63) + 7, pa.int64()),
        (2**64 - 1, pa.uint64()),
        (10**40, pa.decimal256(60, 10)),
        (1_700_000_000_000_000_000, pa.timestamp("ns")),
    ],
)
def test_whole_numbers_keep_their_distances_of_one(top, kind):
    ruler, positions = on_ruler(top - 7, None, top - 4, top, kind=kind)
    unit = 1e-9 if pa.types.is_timestamp(kind) else 1
    assert positions.tolist()[2:] == pytest.approx([3 * unit, 7 * unit])
    assert positions[0] == 0
    assert np.isnan(positions[1])
    assert not ruler.plain


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ((-1e308, 0.0, 1e308), (0, 0.5, 1)),
        ((-LARGEST, -LARGEST / 2, LARGEST), (0, 0.25, 1)),
        ((0.0, 5e-324, 2e-323), (0, 0.25, 1)),
        ((1e-300, 2e-300, 5e-300), (0, 0.25, 1)),
    ],
)
def test_extreme_floats_lie_where_they_belong(values, shares):
    _, positions = on_ruler(*values)
    squares = (positions - positions.mean()) ** 2  # neither overflow nor vanish
    assert np.isfinite(squares).all()
    assert squares.sum() > 0
    span = positions.max() - positions.min()
    assert ((positions - positions.min()) / span).tolist() == pytest.approx(shares)


def test_a_ruler_is_long_enough_for_the_bounds():
    column = Column.encode("a", [5e-324, 1e-323], bounds=[0, 1e300])
    assert np.isfinite(column.extent).all()
    assert column.positions.max() <= column.extent[1]


def test_bounds_of_large_whole_numbers_are_exact():
    top = 2**63 - 1
    column = Column.encode("a", [top - 1, top - 2], bounds=[top - 4, top])
    assert (column.extent, column.positions.tolist()) == ((-2.0, 2.0), [0.0, 1.0])
    with pytest.raises(shoal.InputError, match="1 of 2 cells are outside the bounds"):
        Column.encode("a", [top - 1, top - 2], bounds=[top - 4, top - 2])


def test_positions_are_converted_between_rulers():
    first, second = Ruler(Decimal(2**63), 0), Ruler(Decimal(2**63 - 9), -3)
    assert second.converted(np.array([7.0, np.nan]), first).tolist()[0] == 2.0
    assert second.number(2.0) == Fraction(2**63 + 7)
    assert second.position(2**63 + 7) == 2.0
    assert second.position(float("inf")) == float("inf")


def test_times_are_exact_to_the_nanosecond():
    ticks = pa.array([1, None, 10**18 + 1], pa.timestamp("ns"))
    assert exact_numbers(ticks) == [Decimal("1e-9"), None, Decimal("1000000000.000000001")]


@pytest.mark.parametrize("method", ["mondrian", "greedy", "k-member"])
@pytest.mark.parametrize(
    ("move", "kind"),
    [
        (lambda n: 2**63 - 100 + n, pa.int64()),
        (lambda n: -(2**63) + n, pa.int64()),
        (lambda n: 2**64 - 100 + n, pa.uint64()),
        (lambda n: Decimal(10**40 + n), pa.decimal256(60, 2)),
        (lambda n: (n - 30) * 2.0**1018, pa.float64()),
        (lambda n: n * 5e-324, pa.float64()),
    ],
)
def test_where_numbers_lie_changes_neither_groups_nor_figures(method, move, kind):
    draw = np.random.default_rng(5).integers(0, 60, 40).tolist()

    def released(numbers):
        table = tiny(number=numbers)
        release = shoal.anonymize(table, KAnonymity(4), method)
        figures = metrics.evaluate(release)
        return release.classes.ids.tolist(), {name: float(v) for name, v in figures.items()}

    ids, figures = released(draw)
    moved, moved_figures = released(pa.array([move(n) for n in draw], kind))
    assert moved == ids
    assert moved_figures == pytest.approx(figures)


def test_intervals_of_large_whole_numbers_have_exact_ends():
    low = 2**63 - 16
    recipe = {"intervals": [4, 8]}
    column = Column.encode("a", pa.array(range(low, low + 16), pa.int64()), hierarchy=recipe)
    assert column.hierarchy.rows()[5][1:3] == (f"[{low + 4}, {low + 8}[", f"[{low}, {low + 8}[")
    assert column.hierarchy.levels[1].bounds.tolist()[:2] == [[0.0, 3.0], [4.0, 7.0]]
    made = Recoding.at_level(column, 1)
    assert made.widths().tolist() == pytest.approx([3 / 15] * 4)


def test_a_hierarchy_made_beside_one_column_fits_another():
    low = 2**63 - 16
    tree = intervals(pa.array(range(low, low + 16), pa.int64()), [4])
    column = Column.encode("a", pa.array(range(low + 2, low + 16), pa.int64()), hierarchy=tree)
    assert column.hierarchy.levels[1].bounds.tolist()[:2] == [[-2.0, 1.0], [2.0, 5.0]]
