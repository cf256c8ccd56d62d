import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from tests.metrics import naive
from tests.metrics.strategies import releases

from shoal.metrics import evaluate, hierarchy_ncp_by_attribute, ncp
from shoal.metrics.cell_width import uses_hierarchies
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.table import Table

TREE = {"north": ["Kiel", "Bremen"], "south": {"east": ["Ulm", "Hof"], "west": ["Trier"]}}


def towns(*groups, tree=TREE, hierarchies=False):
    """Release groups of towns as sets, or by the labels of the tree."""
    every = [town for group in groups for town in group]
    ids = np.repeat(np.arange(len(groups), dtype=np.int32), [len(group) for group in groups])
    roles = {"town": {"role": "quasi", **({"hierarchy": {"tree": tree}} if tree else {})}}
    table = Table.from_arrow(pa.table({"town": every}), roles)
    return Release.of_groups(
        table, ids, len(groups), KAnonymity(2), "set", use_hierarchies=hierarchies
    )


def paid(*groups, **options):
    return hierarchy_ncp_by_attribute(towns(*groups, **options))["town"]


def test_a_set_costs_as_much_as_the_label_that_covers_it():
    groups = (["Kiel", "Bremen"], ["Ulm", "Trier"], ["Hof", "Hof"])
    # of 5 towns: north has 2, south 3, and Hof is exact
    assert paid(*groups) == pytest.approx((2 * 1 / 4 + 2 * 2 / 4) / 6)
    assert paid(*groups, hierarchies=True) == paid(*groups)
    assert ncp(towns(*groups)) < ncp(towns(*groups, hierarchies=True))


def test_a_set_that_only_the_root_covers_has_lost_everything():
    assert paid(["Kiel", "Ulm"], ["Bremen", "Hof", "Trier"]) == 1


def test_a_column_without_a_hierarchy_pays_for_the_values_of_the_set():
    assert paid(["Kiel", "Ulm"], ["Bremen", "Hof", "Trier"], tree=None) == pytest.approx(
        (2 * 1 / 4 + 3 * 2 / 4) / 5
    )


@given(releases)
def test_every_cell_is_priced_as_by_hand(release):
    case, weights = naive.read(release), []
    for attribute, _, cell in case.cells():
        if attribute.kind != "nominal":
            weights.append(cell.width)
            continue
        values = len(cell.members)
        for level in reversed(attribute.tree or []):
            groups = {level[code] for code in cell.members}
            if len(groups) == 1:
                values = sum(group in groups for group in level)
        weights.append((values - 1) / (attribute.domain - 1) if attribute.domain > 1 else 0)
    if all(attribute.domain > 1 for attribute in case.attributes) and release.suppressed is None:
        found = evaluate(release, ["hierarchy-ncp"])["hierarchy-ncp"]
        assert found == pytest.approx(sum(weights) / len(weights), abs=1e-9)


@pytest.mark.parametrize(
    ("options", "used"), [({"hierarchies": True}, True), ({}, False), ({"tree": None}, None)]
)
def test_it_is_known_whether_cells_are_labels_of_the_hierarchies(options, used):
    release = towns(["Kiel", "Bremen"], ["Ulm", "Trier"], **options)
    assert uses_hierarchies(release) is used
