import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from tests.metrics import naive
from tests.metrics.strategies import releases

from shoal.metrics.registry import CellShares, cell_shares, cell_shares_by_attribute
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.recoding import Recoding
from shoal.table.table import Table

TREE = {"north": ["Kiel", "Bremen"], "south": ["Ulm"]}


def table():
    data = {"age": [1, 1, 2, 4], "town": ["Kiel", "Bremen", "Ulm", "Ulm"]}
    roles = {"age": "quasi", "town": {"role": "quasi", "hierarchy": {"tree": TREE}}}
    return Table.from_arrow(pa.table(data), roles)


def test_cells_are_kept_generalized_or_hidden(released):
    release = released(table(), [0, 0, 1, 1])
    found = cell_shares_by_attribute(release)
    assert found["age"] == CellShares(kept=0.5, generalized=0.5, hidden=0)
    assert found["town"] == CellShares(kept=0.5, generalized=0.5, hidden=0)
    assert cell_shares(release) == CellShares(0.5, 0.5, 0)


def test_a_label_over_a_single_value_is_not_the_value():
    data = table()
    recodings = {
        "age": Recoding.identity(data["age"]), "town": Recoding.at_level(data["town"], 1)
    }  # fmt: skip
    release = Release(data, recodings, KAnonymity(2))
    assert cell_shares_by_attribute(release)["town"] == CellShares(0, 1, 0)  # south is Ulm alone


def test_a_hidden_column_and_left_out_records_are_hidden():
    data = table()
    recodings = {"age": Recoding.identity(data["age"]), "town": Recoding.suppressed(data["town"])}
    out = np.array([True, False, False, False])
    found = cell_shares_by_attribute(Release(data, recodings, KAnonymity(2), out))
    assert found == {"age": CellShares(0.75, 0, 0.25), "town": CellShares(0, 0, 1)}


@given(releases)
def test_shares_equal_a_count_by_hand(release):
    case = naive.read(release)
    labels = [c.labels for c in (r.column for r in release.recodings.values())]
    seen = {"kept": 0, "generalized": 0, "hidden": 0}
    for record in case.records:
        for texts, (attribute, code, cell) in zip(labels, case.cells_of(record), strict=True):
            if record.cells is not None and cell.members == {code} and cell.text == texts[code]:
                seen["kept"] += 1
            elif len(cell.members) == attribute.domain:
                seen["hidden"] += 1
            else:
                seen["generalized"] += 1
    cells = sum(seen.values())
    assert cell_shares(release).to_dict() == pytest.approx({k: n / cells for k, n in seen.items()})
