"""The work of a run, done here instead of in a process of its own."""

import numpy as np
import pyarrow as pa
import pytest
from tests.comparison import tasks
from tests.comparison.tasks import Whole

import shoal
from shoal import FreeformAnonymity, KAnonymity, LDiversity, Release, Table
from shoal.comparison.bench import Bench, fresh, risks
from shoal.comparison.grid import Trial


def people(ages, counts=None):
    names = [f"n{i}" for i in range(len(ages))]
    data = pa.table({"age": ages, "disease": ["flu"] * len(ages), "name": names})
    roles = {"age": "quasi", "disease": "sensitive", "name": "identifier"}
    return Table.from_arrow(data, roles, counts=counts)


def grouped(table, ids, model=None):
    groups = max(ids) + 1
    return Release.of_groups(table, np.array(ids, np.int32), groups, model or KAnonymity(2))


@pytest.mark.parametrize(
    ("model", "status", "told"),
    [
        (KAnonymity(2), "done", ""),
        (KAnonymity(2) & LDiversity(2, "disease"), "failed", "whole broke"),
        (LDiversity(2, "age"), "unfit", "the model needs a sensitive column"),
    ],
)
def test_a_run_says_how_it_ended(model, status, told):
    bench = Bench(people([1, 2, 3]), ("ncp",), {})
    try:
        result = bench(Trial(Whole(), model, 0))
    except shoal.NotAnonymous as error:  # the runner makes a failed row of it
        result = {"status": "failed", "reason": str(error)}
    assert result["status"] == status
    assert told in result["reason"]


def test_a_model_that_cannot_be_met_is_infeasible():
    bench = Bench(people([1, 2, 3]), None, {})
    model = KAnonymity(2) & LDiversity(2, "disease")
    assert bench(Trial(shoal.Mondrian(), model, 0))["status"] == "infeasible"


def test_figures_that_are_not_defined_are_left_blank():
    measures = {"smallest": tasks.smallest, "undefined": tasks.undefined}
    result = Bench(people([1, 2]), ("ncp", "precision"), measures)(Trial(Whole(), KAnonymity(2), 0))
    assert result["metrics"] == {"ncp": 1.0, "precision": None}
    assert result["measures"] == {"smallest": 2.0, "undefined": None}


def test_all_metrics_that_are_defined_are_counted_unless_some_are_named():
    table = people([1, 2])
    result = Bench(table, None, {})(Trial(Whole(), KAnonymity(2), 0))
    release = shoal.anonymize(table, KAnonymity(2), Whole())
    assert result["metrics"] == shoal.metrics.evaluate(release)


def test_identifiers_do_not_go_to_other_processes():
    assert [column.name for column in fresh(people([1, 2]))] == ["age", "disease"]


def test_a_run_knows_which_rows_are_one_persons():
    """Four rows of two people, two of each: no release hides anybody among three."""
    data = pa.table({"id": [1, 1, 2, 2], "age": [1, 1, 2, 2]})
    table = Table.from_arrow(data, {"age": "quasi"}, person="id")
    assert (fresh(table).people, [column.name for column in fresh(table)]) == (2, ["age"])
    bench = Bench(fresh(table), ("ncp",), {})
    assert bench(Trial(shoal.Mondrian(), KAnonymity(3), 0))["status"] == "unfit"
    found = bench(Trial(shoal.Mondrian(), KAnonymity(2), 0))
    assert (found["records"], found["people"], found["released people"]) == (4, 2, 2)
    assert (found["smallest class"], found["smallest class rows"]) == (2, 4)


def test_risk_is_one_in_the_size_of_the_class():
    found = risks(grouped(people([1, 1, 2, 2, 2]), [0, 0, 1, 1, 1]))
    assert found == {"highest risk": 1 / 2, "average risk": pytest.approx(2 / 5)}


def test_a_weighted_table_is_as_its_records():
    found = risks(grouped(people([1, 2], counts=[2, 3]), [0, 1]))
    assert found == {"highest risk": 1 / 2, "average risk": pytest.approx(2 / 5)}


def test_what_is_suppressed_is_at_no_risk():
    assert risks(grouped(people([1, 2, 2]), [-1, 0, 0]))["highest risk"] == 1 / 2
    nobody = Release.of_groups(people([1, 2]), np.full(2, -1, np.int32), 0, KAnonymity(2))
    assert risks(nobody) == {"highest risk": 0.0, "average risk": 0.0}


def test_freeform_releases_are_judged_by_who_may_be_whom():
    table = shoal.datasets.load("fars-sample")
    release = shoal.anonymize(table, FreeformAnonymity(3), "doka-greedy", seed=1)
    assert release.classes.sizes.min() < 3  # classes alone would say more than is so
    found = risks(release)
    assert found["highest risk"] == 1 / release.verify().levels["freeform-anonymity(k=3)"]
    assert 0 < found["average risk"] <= found["highest risk"] <= 1 / 3


def test_a_freeform_model_kept_by_classes_counts_by_classes():
    release = grouped(people([1, 1, 2, 2]), [0, 0, 1, 1], FreeformAnonymity(2))
    assert risks(release) == {"highest risk": 1 / 2, "average risk": 1 / 2}
