import numpy as np
import pytest

from shoal import datasets
from shoal.metrics import gcp, ncp, ncp_by_attribute
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.recoding import Recoding


def test_the_published_health_record(released):
    release = released(datasets.load("health-record"), [0, 0, 0, 1, 1, 1, 1])
    rows = release.to_arrow()
    assert set(rows.column("age").to_pylist()) == {"[35, 37]", "[61, 66]"}
    assert set(rows.column("zipcode").to_pylist()) == {"[22071, 23061]", "[55099, 55324]"}
    by_attribute = ncp_by_attribute(release)
    # ages 35 to 66, zipcodes 22071 to 55324; three records in one class, four in the other
    age = (3 * 2 + 4 * 5) / 31 / 7
    zipcode = (3 * 990 + 4 * 225) / 33253 / 7
    assert by_attribute == pytest.approx({"age": age, "sex": 0, "zipcode": zipcode})
    assert gcp(release) == pytest.approx(age + zipcode)
    assert ncp(release) == pytest.approx((age + zipcode) / 3)


def test_the_published_accident_sample(released):
    groups = [
        [0, 2, 15, 17],
        [1, 11, 12],
        [3, 4, 18],
        [5, 6, 8, 9],
        [7, 10, 16],
        [13, 14, 19],
    ]
    ids = [next(g for g, rows in enumerate(groups) if row in rows) for row in range(20)]
    release = released(datasets.load("fars-sample"), ids)
    assert round(gcp(release) * 20, 5) == 19.26613


@pytest.mark.parametrize(
    ("cells", "ids", "penalty"),
    [
        (["a", "b", "c", "c"], (0, 1, 2, 2), 0),
        (["a", "b", "c", "c"], (0, 0, 1, 1), 2 * (1 / 3) / 4),  # (2 − 1) / 3 twice
        (["a", "b", "c", "c"], (0, 0, 0, 0), 2 / 3),  # everything open is still less than 1
        (["a", "a"], (0, 0), 0),  # a domain of one value
        (["a", None, None, None], (0, 0, 1, 1), 2 * (1 / 2) / 4),  # missing is a value
        ([None, None], (0, 0), 0),
        ([0, 2, 8, 10], (0, 0, 1, 1), 0.2),
        ([0, 2, 8, 10], (0, 1, 1, 0), (1 + 0.6) / 2),
        ([5, 5], (0, 0), 0),
        ([0, 2, None, 10], (0, 0, 1, 1), (2 * 0.2 + 2 * 1) / 4),  # a number or missing: all lost
        ([0, 10, None, None], (0, 1, 2, 2), 0),  # missing alone is known
    ],
)
def test_a_cell_pays_for_what_it_leaves_open(released, cells, ids, penalty):
    assert ncp(released({"c": cells}, ids)) == pytest.approx(penalty)


def test_only_missing_numbers_lose_nothing(released):
    release = released({"c": np.array([np.nan, np.nan])}, (0, 0))
    assert ncp(release) == 0


def test_a_suppressed_record_pays_one(released):
    # of three records one is gone and the others are as they were
    assert ncp(released({"c": ["a", "b", "a"]}, (0, -1, 0))) == pytest.approx(1 / 3)
    assert ncp(released({"c": [1, 2, 1]}, (0, -1, 0))) == pytest.approx(1 / 3)
    assert ncp(released({"c": [7, 7, 7]}, (0, -1, 0))) == pytest.approx(1 / 3)
    assert ncp(released({"c": ["a", "b"]}, (-1, -1))) == 1


def test_a_record_suppressed_after_the_fact_pays_one_as_well(released):
    release = released({"c": ["a", "b", "a"]}, (0, 1, 0))
    hidden = np.array([False, True, False])
    late = Release(release.original, release.recodings, release.model, hidden)
    assert ncp(late) == pytest.approx(1 / 3)


def test_bounds_widen_what_a_range_is_measured_against(released):
    release = released({"c": [0, 2, 8, 10]}, (0, 0, 1, 1), c={"bounds": (0, 20)})
    assert ncp(release) == pytest.approx(0.1)
    whole = released({"c": [0, 2, 8, 10]}, (0, 0, 0, 0), c={"bounds": (0, 20)})
    assert ncp(whole) == 1  # published as *, which rules nothing out


def test_ordinal_values_are_measured_by_rank(released):
    order = {"order": ["low", "mid", "high"]}
    release = released({"c": ["low", "mid", "high"]}, (0, 0, 1), c=order)
    assert ncp(release) == pytest.approx((2 * 0.5) / 3)


def test_weights_say_which_attribute_matters(released):
    columns = {"a": [0, 10], "b": ["x", "x"]}
    release = released(columns, (0, 0), a={"weight": 3}, b={"weight": 1})
    assert gcp(release) == 3
    assert ncp(release) == 0.75
    nothing = released(columns, (0, 0), a={"weight": 0}, b={"weight": 0})
    assert ncp(nothing) == 0


def test_published_intervals_pay_their_full_width(released):
    release = released({"c": [0, 21, 28, 100]}, (0, 1, 1, 2), c={"hierarchy": {"intervals": [10]}})
    # [20, 30[ of whole numbers: 20 to 29 against 0 to 100
    assert ncp(release) == pytest.approx(2 * 0.09 / 4)


def test_a_representative_pays_for_the_range_behind_it(released):
    release = released({"c": [0, 2, 8, 10]}, (0, 0, 1, 1), summary="representative")
    assert ncp(release) == pytest.approx(0.2)


def test_the_worst_and_the_best_release(released):
    table = released({"c": [1, 2, 3]}, (0, 0, 0)).original
    best = Release(table, {"c": Recoding.identity(table["c"])}, KAnonymity(2))
    worst = Release(table, {"c": Recoding.suppressed(table["c"])}, KAnonymity(2))
    assert (ncp(best), ncp(worst)) == (0, 1)


def test_no_records_lose_nothing(released):
    assert ncp(released({"c": np.array([], dtype=np.int64)}, ())) == 0
