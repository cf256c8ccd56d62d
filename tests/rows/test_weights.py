"""Sampling weights of a table on disk are checked and carried as in memory."""

from __future__ import annotations

import pytest
from tests.rows.conftest import ROLES, TREES, rows, write_csv

import shoal
from shoal.metrics import population_losses
from shoal.report import contents

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
SETTINGS = {"roles": {**ROLES, "w": "weight"}, "hierarchies": TREES, "missing": ["NA"]}
ROWS = {"rows_are_people": True}


def weighted(path, weight):
    write_csv(path, [{**row, "w": weight(n, row)} for n, row in enumerate(rows())])
    return path


def test_figures_are_those_in_memory(tmp_path):
    source = weighted(tmp_path / "people.csv", lambda n, row: 1 + n % 7)
    one = shoal.anonymize(shoal.read(source, **SETTINGS, **ROWS), k=5, method="ola")
    other = shoal.anonymize(shoal.open(source, **SETTINGS, **ROWS), k=5, method="ola")
    assert contents(other)["columns"] == contents(one)["columns"]
    assert population_losses(other.digest) == pytest.approx(population_losses(one), rel=1e-12)
    assert "w" not in other.to_arrow().column_names


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (lambda n, row: "" if n < 3 else 2, "3 rows have no value"),
        (lambda n, row: 0 if n < 4 else 2, "in 4 rows it is not above 0"),
        (lambda n, row: "many", "is not a number"),
    ],
)
@pytest.mark.parametrize("read", [shoal.read, shoal.open])
def test_wrong_weights_are_refused(read, weight, message, tmp_path):
    source = weighted(tmp_path / "people.csv", weight)
    with pytest.raises(shoal.InputError, match=message):
        shoal.anonymize(read(source, **SETTINGS, **ROWS), k=5, method="ola")


@pytest.mark.parametrize("read", [shoal.read, shoal.open])
def test_a_weight_belongs_to_a_person(read, tmp_path):
    source = weighted(tmp_path / "same.csv", lambda n, row: len(row["patient"]))
    shoal.anonymize(read(source, **SETTINGS, person="patient"), k=3, method="ola")
    source = weighted(tmp_path / "other.csv", lambda n, row: 1 + n % 7)
    with pytest.raises(shoal.InputError, match="rows with different weights"):
        shoal.anonymize(read(source, **SETTINGS, person="patient"), k=3, method="ola")


def test_a_published_weight_needs_memory(tmp_path):
    source = weighted(tmp_path / "people.csv", lambda n, row: 2)
    roles = {**ROLES, "w": {"role": "weight", "publish": True}}
    table = shoal.open(source, **{**SETTINGS, "roles": roles}, **ROWS)
    with pytest.raises(shoal.InputError, match="published only in memory"):
        shoal.anonymize(table, k=5, method="ola")
