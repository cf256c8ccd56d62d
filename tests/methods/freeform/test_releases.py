"""What the freeform methods publish, and what they refuse."""

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import FreeformAnonymity, KAnonymity, KConcealment, LDiversity, Table
from shoal.methods import freeform
from shoal.metrics.cell_width import gcp, ncp_by_attribute
from shoal.support.progress import listening

METHODS = ("doka-greedy", "doka-sort-greedy", "doka-hungarian")
every_method = pytest.mark.parametrize("method", METHODS)


def people(rows=80, seed=0):
    draw = np.random.default_rng(seed)
    data = pa.table(
        {
            "age": draw.integers(18, 80, rows),
            "town": draw.choice(["a", "b", "c", "d"], rows),
            "ill": draw.choice(["flu", "gout"], rows),
        }
    )
    roles = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [10, 30]}},
        "town": "quasi",
        "ill": "sensitive",
    }
    return Table.from_arrow(data, roles)


@every_method
def test_cells_are_ranges_and_sets_whatever_the_hierarchies(method):
    table = Table.from_arrow(
        pa.table({"age": [20, 21, 50, 51], "town": ["a", "b", "c", None]}),
        {"age": {"role": "quasi", "hierarchy": {"intervals": [10, 30]}}, "town": "quasi"},
    )
    release = shoal.anonymize(table, FreeformAnonymity(2), method, seed=1)
    assert release.to_arrow().to_pylist() == [
        {"age": "[20, 21]", "town": "{a, b}"},
        {"age": "[20, 21]", "town": "{a, b}"},
        {"age": "[50, 51]", "town": "{c, missing}"},
        {"age": "[50, 51]", "town": "{c, missing}"},
    ]


@every_method
def test_nothing_is_suppressed_and_sensitive_cells_stay(method):
    table = people()
    release = shoal.anonymize(table, FreeformAnonymity(3), method)
    assert release.suppressed is None
    assert release.to_arrow().column("ill").to_pylist() == table["ill"].to_arrow().to_pylist()
    assert release.verify().smallest < 3  # not k-anonymous, and does not pretend to be
    assert any("classes" in note for note in release.run.notes)


@every_method
def test_the_seed_decides_who_gets_which_box_and_nothing_else(method):
    table = people()
    one, other, again = (
        shoal.anonymize(table, FreeformAnonymity(3), method, seed=seed).to_arrow()
        for seed in (1, 2, 1)
    )
    assert one.equals(again)
    assert not one.equals(other)
    order = [("age", "ascending"), ("town", "ascending")]
    assert one.select(table.quasi).sort_by(order).equals(other.select(table.quasi).sort_by(order))


def test_the_cheapest_assignment_loses_least():
    table = people(300, seed=2)
    lost = {m: gcp(shoal.anonymize(table, FreeformAnonymity(4), m)) for m in (*METHODS, "mondrian")}
    assert lost["doka-hungarian"] < lost["doka-sort-greedy"] < lost["doka-greedy"]
    assert lost["doka-hungarian"] < lost["mondrian"]


@every_method
def test_a_weight_spares_its_column(method):
    table, model = people(200), FreeformAnonymity(3)
    plain = ncp_by_attribute(shoal.anonymize(table, model, method))
    heavy = ncp_by_attribute(shoal.anonymize(table, model, method, weights={"age": 20}))
    listed = ncp_by_attribute(shoal.anonymize(table, model, method, weights=[20, 1]))
    assert heavy["age"] < plain["age"]
    assert heavy == listed


@every_method
@pytest.mark.parametrize("rows", [4, 5, 7, 8])
def test_few_records_are_enough(method, rows):
    release = shoal.anonymize(people(rows), FreeformAnonymity(4), method)
    assert release.verify().levels["freeform-anonymity(k=4)"] >= 4


@every_method
@pytest.mark.parametrize("model", [KAnonymity(5), FreeformAnonymity(5) & LDiversity(2, "ill")])
def test_models_of_classes_are_refused(method, model):
    told = rf"{method} publishes freeform boxes.*use only freeform-anonymity\(k=5\)"
    with pytest.raises(shoal.InputError, match=told):
        shoal.anonymize(people(), model, method)


@every_method
def test_models_of_coverage_are_kept_together(method):
    model = FreeformAnonymity(3) & KConcealment(4)
    found = shoal.anonymize(people(), model, method).verify()
    assert found.levels["freeform-anonymity(k=3)"] >= 4  # boxes are made for the greater k


@every_method
def test_a_weighted_table_is_refused(method):
    with pytest.raises(shoal.InputError, match="weighted"):
        shoal.anonymize(people().distinct("ill").table, FreeformAnonymity(2), method)


@every_method
@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_a_seed_is_a_whole_number(method, seed):
    with pytest.raises(shoal.InputError, match="seed must be a whole number"):
        shoal.anonymize(people(), FreeformAnonymity(2), method, seed=seed)


def test_too_many_records_for_a_full_assignment_are_refused(monkeypatch):
    monkeypatch.setattr(freeform, "_MAX_RECORDS", 50)
    with pytest.raises(
        shoal.InputError, match=r"takes at most 50 records, .*, not 80; use doka-sort-greed"
    ):
        shoal.anonymize(people(), FreeformAnonymity(2), "doka-hungarian")


@every_method
def test_every_round_is_reported_and_may_be_interrupted(method):
    heard = []
    with listening(heard.append):
        shoal.anonymize(people(), FreeformAnonymity(4), method)
    assert {(p.done, p.total) for p in heard if p.stage == "assign"} >= {(0, 3), (1, 3), (2, 3)}

    def stop(progress):
        if progress.stage == "assign" and progress.done == 1:
            raise KeyboardInterrupt

    with listening(stop), pytest.raises(KeyboardInterrupt):
        shoal.anonymize(people(), FreeformAnonymity(4), method)
