"""Each metric on a release that one can work out on paper."""

import math

import numpy as np
import pyarrow as pa
import pytest

from shoal import datasets, metrics
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import Recoding
from shoal.table.table import Table

ZIPS = Hierarchy.from_rows(
    [
        ("19301", "1930*", "193**", "*"),
        ("19302", "1930*", "193**", "*"),
        ("19311", "1931*", "193**", "*"),
        ("19401", "1940*", "194**", "*"),
    ]
)
SCHOOL = Hierarchy.from_rows(
    [("phd", "further", "*"), ("masters", "further", "*"), ("primary", "school", "*")]
)


@pytest.fixture
def example():
    """Two levels of three up in one column, one of two in the other; the fifth record is gone."""
    data = pa.table(
        {
            "zip": ["19301", "19302", "19311", "19401", "19401"],
            "degree": ["phd", "masters", "phd", "primary", "masters"],
            "ill": ["flu", "flu", "cold", "cold", "flu"],
        }
    )
    roles = {
        "zip": {"role": "quasi", "hierarchy": ZIPS},
        "degree": {"role": "quasi", "hierarchy": SCHOOL},
        "ill": "sensitive",
    }
    table = Table.from_arrow(data, roles)
    recodings = {
        "zip": Recoding.at_level(table["zip"], 2),
        "degree": Recoding.at_level(table["degree"], 1),
    }
    # 193** further, three times; 194** school; the last one is left out
    return Release(table, recodings, KAnonymity(2), np.array([False] * 4 + [True]))


def bits(*shares):
    return -sum(p * math.log2(p) for p in shares)


def test_levels(example):
    levels = (4 * (2 + 1) + 1 * (3 + 2)) / 5
    assert metrics.absolute_distance(example, raw=True) == pytest.approx(levels)
    assert metrics.absolute_distance(example) == pytest.approx(levels / 5)
    shares = (4 * (2 / 3 + 1 / 2) + 1 * 2) / 5
    assert metrics.relative_distance(example, raw=True) == pytest.approx(shares)
    assert metrics.relative_distance(example) == pytest.approx(shares / 2)
    assert metrics.precision(example, raw=True) == pytest.approx(1 - shares / 2)
    assert metrics.precision(example) == pytest.approx(shares / 2)
    zips, degrees = (4 * 2 / 3 + 1) / 5, (4 / 2 + 1) / 5
    assert metrics.precision_by_attribute(example) == pytest.approx(
        {"zip": zips, "degree": degrees}
    )
    assert metrics.absolute_distance_by_attribute(example, raw=True) == pytest.approx(
        {"zip": (4 * 2 + 3) / 5, "degree": (4 * 1 + 2) / 5}
    )


def test_entropy(example):
    # zip: three values once each under 193**, one value twice under 194**
    # degree: phd and masters twice each under further, primary once under school
    zips = 3 * math.log2(3) + 0 + bits(1 / 5, 1 / 5, 1 / 5, 2 / 5)
    degrees = 3 * 1 + 0 + bits(2 / 5, 2 / 5, 1 / 5)
    assert metrics.entropy(example, raw=True) == pytest.approx(zips + degrees)
    most = 5 * (bits(1 / 5, 1 / 5, 1 / 5, 2 / 5) + bits(2 / 5, 2 / 5, 1 / 5))
    assert metrics.entropy(example) == pytest.approx((zips + degrees) / most)


def test_non_uniform_entropy(example):
    zips = 3 * math.log2(3) + 0 + math.log2(5 / 2)
    degrees = 3 * math.log2(2) + 0 + math.log2(5 / 2)
    assert metrics.non_uniform_entropy(example, raw=True) == pytest.approx(zips + degrees)


def test_a_narrower_cell_may_have_more_entropy_but_not_more_bits_lacking(released):
    cells = {"c": ["a", "b"] + ["c"] * 18}
    pair, all_of_it = (0, 0, *[1] * 18), (0, *[0] * 19)
    narrow, wide = (released(cells, ids) for ids in (pair, all_of_it))
    costs = [metrics.entropy_by_record(r)[0] for r in (narrow, wide)]
    assert costs[0] > 1
    assert costs[1] == pytest.approx(1)
    lacking = [metrics.non_uniform_entropy_by_record(r)[0] for r in (narrow, wide)]
    assert lacking[0] < lacking[1]


def test_classification(example):
    # flu, flu, cold: one is outvoted; cold alone; one suppressed
    assert metrics.classification(example, raw=True) == pytest.approx(2 / 5)
    assert metrics.classification(example) == pytest.approx(2 / 5)  # no two originals are alike


def test_what_the_original_could_not_tell_is_not_counted_as_lost(released):
    data = pa.table({"age": [1, 1, 2, 3], "ill": list("xyxy")})
    table = Table.from_arrow(data, {"age": "quasi", "ill": "sensitive"})
    release = released(table, (0, 0, 0, 0))
    assert metrics.classification(release, raw=True) == 0.5
    assert metrics.classification(release) == pytest.approx((0.5 - 0.25) / (1 - 0.25))


def test_sizes_of_classes(example):
    assert metrics.discernibility(example, raw=True) == 3**2 + 1**2 + 5
    assert metrics.discernibility(example) == pytest.approx((15 - 5) / (25 - 5))
    # two classes of two records on average, and one record as in a class of five
    assert metrics.average_class_size(example, raw=True) == pytest.approx((4 * 2 + 1 * 5) / 5 / 2)
    assert metrics.average_class_size(example) == pytest.approx((13 / 5 - 1) / (5 - 1))


def test_class_sizes_too_large_to_square_in_a_word(released):
    counts = [3_000_000_000, 4_000_000_000]
    release = released({"c": [1, 2]}, (0, 1), counts=counts)
    assert metrics.discernibility(release, raw=True) == 25e18
    assert metrics.discernibility(release) == 0


def test_diameter(example):
    assert metrics.diameter(example, raw=True) == 2
    assert metrics.diameter(example) == 0


def test_ambiguity(example):
    assert metrics.ambiguity(example, raw=True) == pytest.approx((3 * 3 * 2 + 1 + 4 * 3) / 5)
    assert metrics.ambiguity(example) == pytest.approx((31 / 5 - 1) / (12 - 1))
    assert metrics.ambiguity_by_attribute(example, raw=True) == pytest.approx(
        {"zip": (3 * 3 + 1 + 4) / 5, "degree": (3 * 2 + 1 + 3) / 5}
    )


def test_granularity(example):
    paid = 3 * (2 / 4 + 1 / 3) + 0 + (3 / 4 + 2 / 3)
    assert metrics.granularity(example, raw=True) == pytest.approx(paid)
    assert metrics.granularity(example) == pytest.approx(paid / (5 * (3 / 4 + 2 / 3)))


def test_information_loss(example):
    paid = 4 * (2 / 3 + 1 / 2) + 2
    assert metrics.information_loss(example, raw=True) == pytest.approx(paid)
    assert metrics.information_loss(example) == pytest.approx(paid / 10)


def test_information_loss_takes_a_set_for_its_lowest_ancestor(released):
    columns = {"zip": ["19301", "19302", "19311", "19401"]}
    table = released(columns, (0, 1, 2, 3), zip={"hierarchy": ZIPS}).original
    ids = np.array([0, 0, 1, 1], dtype=np.int32)
    sets = Release.of_groups(table, ids, 2, KAnonymity(2), use_hierarchies=False)
    assert metrics.information_loss(sets) == pytest.approx((2 * 1 / 3 + 2 * 3 / 3) / 4)
    flat = released(columns, (0, 0, 1, 2))
    assert metrics.information_loss(flat) == pytest.approx(2 / 4)


def test_squared_distance_error(released):
    # published as [0, 4] and [8, 10]: read as 2, twice of three, and as 9
    release = released({"c": [0, 2, 4, 8, 10]}, (0, 0, 0, 1, 1))
    moved = (2 + 0 + 2 + 1 + 1) / 10
    assert metrics.squared_distance_error(release, raw=True) == pytest.approx(moved)
    middle = 24 / 5
    most = sum(abs(v - middle) for v in (0, 2, 4, 8, 10)) / 10
    assert metrics.squared_distance_error(release) == pytest.approx(moved / most)


def test_squared_distance_error_adds_squares_over_attributes(released):
    release = released({"c": [0, 6, 8, 10], "d": list("xyyz")}, (0, 0, 1, 1))
    # c: 3 and 1 away of an extent of 10; d: half way between two points that are 1 apart
    distances = [math.hypot(0.3, 0.5)] * 2 + [math.hypot(0.1, 0.5)] * 2
    assert metrics.squared_distance_error(release, raw=True) == pytest.approx(sum(distances))


def test_hellinger(released):
    # original shares 1/2, 1/4, 1/4; a and b published together: 3/8, 3/8, 1/4
    release = released({"c": list("aabc")}, (0, 0, 0, 1))
    squares = (math.sqrt(1 / 2) - math.sqrt(3 / 8)) ** 2 + (
        math.sqrt(1 / 4) - math.sqrt(3 / 8)
    ) ** 2
    assert metrics.hellinger(release, raw=True) == pytest.approx(math.sqrt(squares / 2))
    even = (math.sqrt(1 / 2) - math.sqrt(1 / 3)) ** 2
    even += 2 * (math.sqrt(1 / 4) - math.sqrt(1 / 3)) ** 2
    assert metrics.hellinger(release) == pytest.approx(math.sqrt(squares / even))


def test_kl_divergence(released):
    # as above: 1/2 log 4/3 + 1/4 log 2/3
    release = released({"c": list("aabc")}, (0, 0, 0, 1))
    divergence = math.log2(4 / 3) / 2 + math.log2(2 / 3) / 4
    assert metrics.kl_divergence(release, raw=True) == pytest.approx(divergence)
    most = math.log2(3 / 2) / 2 + math.log2(3 / 4) / 2
    assert metrics.kl_divergence(release) == pytest.approx(divergence / most)


def test_figures_of_classes_are_those_that_pycanon_gives():
    sets = [[12, 1, 11], [14, 7, 10], [16, 19, 13], [6, 9, 5], [8, 2, 15], [17, 0, 4, 18, 3]]
    ids = np.empty(20, dtype=np.int32)
    for number, rows in enumerate(sets):
        ids[rows] = number
    quasi = dict.fromkeys(["AGE", "SEX", "INJ_SEV"], "quasi")
    data = datasets.load("fars-sample").to_arrow()
    table = Table.from_arrow(data, {**quasi, "DRINKING": "sensitive"})
    release = Release.of_groups(table, ids, len(sets), KAnonymity(3))
    found = metrics.evaluate(
        release,
        ["discernibility", "average-class-size", "classification"],
        raw=True,
        target="DRINKING",
    )
    # pycanon 1.3.5: discernability_metric, average_ecsize, classification_metric on the same files
    assert found == pytest.approx(
        {"discernibility": 70, "average-class-size": 20 / 6 / 3, "classification": 0.1}
    )


def test_average_class_size_counts_people():
    """a has three rows, b, c and d one each: classes {a, a, b} and {c, d}, a's last row is gone.

    Two people on average; the suppressed row, a sixth, is in a class of four. Untouched, each row
    is a class of one person.
    """
    data = pa.table({"id": list("aabcda"), "age": range(6)})
    table = Table.from_arrow(data, {"age": "quasi"}, person="id")
    ids = np.array([0, 0, 0, 1, 1, -1], dtype=np.int32)
    release = Release.of_groups(table, ids, 2, KAnonymity(2))
    size = 5 / 6 * 2 + 1 / 6 * 4
    assert metrics.average_class_size(release, raw=True) == pytest.approx(size / 2)
    assert metrics.average_class_size(release) == pytest.approx((size - 1) / (4 - 1))
