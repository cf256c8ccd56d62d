import numpy as np
import pytest

from shoal.metrics import class_loss, class_loss_by_attribute
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.recoding import Recoding


@pytest.mark.parametrize(
    ("cells", "ids", "loss"),
    [
        (["a", "b", "c", "c"], (0, 1, 2, 2), 0),
        (["a", "b", "c", "c"], (0, 0, 1, 1), 2 * (1 / 2) / 4),  # (2 − 1) / (3 − 1) twice
        (["a", "b", "c", "c"], (0, 0, 0, 0), 1),
        (["a", "a"], (0, 0), 0),
        (["a", None, None, None], (0, 0, 1, 1), 2 * 1 / 4),
        ([0, 2, 8, 10], (0, 0, 1, 1), 0.2),
        ([5, 5], (0, 0), 0),
        ([0, 2, None, 10], (0, 0, 1, 1), (2 * 0.2 + 2 * 1) / 4),
        ([0, 10, None, None], (0, 1, 2, 2), 0),
        ([0, 2, 8, 10], (0, 0, -1, -1), (2 * 0.2 + 2 * 1) / 4),
        (["a", "a"], (-1, -1), 1),  # a suppressed record is lost, however little it told
    ],
)
def test_a_class_loses_what_its_values_are_apart(released, cells, ids, loss):
    assert class_loss(released({"c": cells}, ids)) == pytest.approx(loss)


def test_labels_do_not_matter_only_what_a_class_mixes(released):
    columns = {"c": [0, 21, 28, 100]}
    plain = released(columns, (0, 1, 1, 2))
    wide = released(columns, (0, 1, 1, 2), c={"hierarchy": {"intervals": [50]}})
    assert class_loss(plain) == class_loss(wide) == pytest.approx(2 * 0.07 / 4)


def test_groups_published_alike_are_measured_together(released):
    table = released({"c": [0, 10, 4, 6]}, (0, 0, 1, 1)).original
    top = Release(table, {"c": Recoding.suppressed(table["c"])}, KAnonymity(2))
    assert class_loss(top) == 1


def test_attributes_count_alike(released):
    columns = {"a": [0, 10], "b": ["x", "x"]}
    release = released(columns, (0, 0), a={"weight": 9})
    assert class_loss_by_attribute(release) == {"a": 1, "b": 0}
    assert class_loss(release) == 0.5


def test_bounds_widen_what_a_spread_is_measured_against(released):
    release = released({"c": [0, 2, 8, 10]}, (0, 0, 0, 0), c={"bounds": (0, 20)})
    assert class_loss(release) == 0.5  # the values are half the bounds apart


def test_no_records_lose_nothing(released):
    assert class_loss(released({"c": np.array([], dtype=np.int64)}, ())) == 0
