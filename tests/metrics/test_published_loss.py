import numpy as np
import pytest

from shoal.metrics import class_loss, published_loss, published_loss_by_attribute
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import Recoding


@pytest.mark.parametrize(
    ("cells", "ids", "loss"),
    [
        (["a", "b", "c", "c"], (0, 1, 2, 2), 0),
        (["a", "b", "c", "c"], (0, 0, 1, 1), 2 * (1 / 2) / 4),
        (["a", "b", "c", "c"], (0, 0, 0, 0), 1),
        (["a", "a"], (0, 0), 0),
        ([0, 2, 8, 10], (0, 0, 1, 1), 0.2),
        ([0, 2, None, 10], (0, 0, 1, 1), (2 * 0.2 + 2 * 1) / 4),
        ([0, 2, 8, 10], (0, 0, -1, -1), (2 * 0.2 + 2 * 1) / 4),
        (["a", "a"], (-1, -1), 1),
    ],
)
def test_a_cell_loses_what_its_label_leaves_open(released, cells, ids, loss):
    assert published_loss(released({"c": cells}, ids)) == pytest.approx(loss)


def test_an_ancestor_leaves_all_its_values_open(released):
    rows = [(v, "abc" if v in "abc" else "de", "*") for v in "abcde"]
    options = {"hierarchy": Hierarchy.from_rows(rows)}
    release = released({"c": list("abcde")}, (0, 0, 1, 2, 3), c=options)
    # a and b are published as abc: (3 − 1) / (5 − 1) twice; the class mixes two values only
    assert published_loss(release) == pytest.approx(2 * 0.5 / 5)
    assert class_loss(release) == pytest.approx(2 * 0.25 / 5)


def test_an_interval_leaves_its_width_open(released):
    release = released({"c": [0, 21, 28, 100]}, (0, 1, 1, 2), c={"hierarchy": {"intervals": [10]}})
    assert published_loss(release) == pytest.approx(2 * 0.09 / 4)


def test_suppressed_cells_of_a_released_record_leave_everything_open(released):
    table = released({"a": [1, 2], "b": ["x", "y"]}, (0, 1)).original
    recodings = {
        "a": Recoding.identity(table["a"]),
        "b": Recoding.identity(table["b"]).suppress(np.array([True, False])),
    }
    release = Release(table, recodings, KAnonymity(2))
    assert published_loss_by_attribute(release) == {"a": 0, "b": 0.5}
    assert published_loss(release) == 0.25


def test_no_records_lose_nothing(released):
    assert published_loss(released({"c": np.array([], dtype=np.int64)}, ())) == 0
