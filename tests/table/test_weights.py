"""Sampling weights: read once, kept with their rows, and never published unasked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Classes, KAnonymity, Table
from shoal.risk.caveats import caveats
from shoal.table.weights import Weights

ROWS = {"age": [31, 31, 47, 47, 48], "ill": list("abbab"), "w": [1.5, 20, 30, 8, 120]}
ROLES = {"age": "quasi", "ill": "sensitive", "w": "weight"}


def table(roles=ROLES, **options):
    return Table.from_arrow(pa.table(ROWS), roles, **options)


def test_weights_are_not_a_column_and_not_published():
    weighted = table()
    assert weighted.weights.values.tolist() == ROWS["w"]
    assert "w" not in weighted
    assert weighted.unassigned == ()
    assert repr(weighted) == "Table(rows=5, quasi=['age'], sensitive=['ill'], weight='w')"
    release = shoal.anonymize(weighted, KAnonymity(2))
    assert release.to_arrow().column_names == ["age", "ill"]
    plain = shoal.anonymize(table({"age": "quasi", "ill": "sensitive"}), KAnonymity(2))
    assert release.to_arrow().equals(plain.to_arrow())  # k counts people of the table


def test_weights_are_published_when_asked_and_then_warned_about():
    weighted = table({**ROLES, "w": {"role": "weight", "publish": True}})
    release = shoal.anonymize(weighted, KAnonymity(2))
    assert release.to_arrow().column("w").to_pylist() == ROWS["w"]
    assert weighted.weights is not None
    assert any("w" in each for each in caveats(release).sentences())


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([1, 2, None, 4, 5], "1 row has no value"),
        ([1, 2, 0, -4, 5], "in 2 rows it is not above 0"),
        ([1, 2, float("inf"), 4, 5], "finite|not above 0"),
        (list("abcde"), "not a number"),
    ],
)
def test_weights_that_are_no_weights_are_refused(cells, message):
    with pytest.raises(shoal.InputError, match=message):
        Table.from_arrow(pa.table({**ROWS, "w": cells}), ROLES)


def test_a_table_has_one_weight():
    with pytest.raises(shoal.InputError, match="a table has one such column"):
        table({"age": "quasi", "ill": "weight", "w": "weight"})
    with pytest.raises(shoal.InputError, match="publish applies to the role weight"):
        table({"age": {"role": "quasi", "publish": True}})
    with pytest.raises(shoal.InputError, match="declare it with the roles"):
        shoal.Column.encode("w", [1.0], "weight")


def test_a_weight_belongs_to_a_person():
    visits = pa.table({"who": [1, 1, 2], "age": [30, 30, 40], "w": [5.0, 5.0, 7.0]})
    roles = {"age": "quasi", "w": "weight"}
    by_person = Table.from_arrow(visits, roles, person="who")
    assert Classes.by_quasi(by_person).represented.tolist() == [5, 7]  # each person once
    other = visits.set_column(2, "w", pa.array([5.0, 6.0, 7.0]))
    with pytest.raises(shoal.InputError, match="1 person has rows with different weights"):
        Table.from_arrow(other, roles, person="who")


def test_weights_follow_their_rows():
    weighted = table()
    assert weighted.take([4, 0]).weights.values.tolist() == [120, 1.5]
    tuples = weighted.distinct().table
    assert (tuples.weights.values * tuples.counts).tolist() == [21.5, 38, 120]
    assert Classes.by_quasi(weighted).represented.tolist() == [21.5, 38, 120]
    assert Classes.by_quasi(tuples).represented.tolist() == [21.5, 38, 120]
    counted = Table.from_arrow(pa.table(ROWS), ROLES, counts=[2, 1, 1, 1, 1])
    assert Classes.by_quasi(counted).represented.tolist() == [23, 38, 120]


def test_classes_without_weights_say_what_to_do():
    with pytest.raises(shoal.InputError, match="give a column the role weight"):
        _ = Classes.by_quasi(table({"age": "quasi"})).represented


@dataclass(frozen=True)
class Inflater:
    """Claims that every record stands for many more people."""

    name: ClassVar[str] = "inflater"

    def search(self, table, model):
        release = shoal.anonymize(replace(table, weights=None), model, "mondrian")
        return replace(release, original=replace(table, weights=Weights("w", np.full(5, 1e6))))


def test_no_method_may_change_the_weights():
    with pytest.raises(shoal.NotAnonymous, match="another table"):
        shoal.anonymize(table(), KAnonymity(2), Inflater())


def test_a_schema_declares_the_weight(tmp_path):
    (tmp_path / "rows.csv").write_text("age,w\n31,1.5\n31,2\n")
    schema = {"columns": {"age": "quasi", "w": {"role": "weight", "publish": False}}}
    read = shoal.read(tmp_path / "rows.csv", schema=schema)
    assert read.weights.values.tolist() == [1.5, 2]
    with pytest.raises(shoal.InputError, match="publish must be true or false"):
        shoal.Schema.of({"columns": {"w": {"role": "weight", "publish": 1}}})


def test_a_frame_names_its_weight():
    release = shoal.anonymize(pa.table(ROWS), k=2, quasi="age", sensitive="ill", weight="w")
    assert release.original.weights.column == "w"


def test_a_project_has_no_weights():
    table_of = {"key": "id", "columns": {"id": "identifier", "w": "weight"}}
    with pytest.raises(shoal.InputError, match="no sampling weights"):
        shoal.projects.Project.of({"person": "t", "tables": {"t": table_of}})
