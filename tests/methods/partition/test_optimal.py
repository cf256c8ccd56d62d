"""Optimal releases of the published examples, and what a release says about its proof."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import KAnonymity, LDiversity, Optimal, Table
from shoal.identifiers import Key
from shoal.support.progress import listening


def classes(release):
    ids = release.classes.ids
    return sorted(np.flatnonzero(ids == group).tolist() for group in range(ids.max() + 1))


def people(rows, seed=0):
    draw = np.random.default_rng(seed)
    data = pa.table(
        {
            "age": draw.integers(18, 80, rows),
            "pay": draw.integers(0, 9, rows),
            "sex": draw.choice(["f", "m"], rows),
            "illness": draw.choice(["flu", "gout"], rows, p=[0.8, 0.2]),
        }
    )
    roles = dict.fromkeys(("age", "pay", "sex"), "quasi")
    return Table.from_arrow(data, {**roles, "illness": "sensitive"})


def test_the_health_record_of_table_3_1():
    table = shoal.datasets.load("health-record")
    release = shoal.anonymize(table, KAnonymity(3), "optimal", time_limit=None)
    assert classes(release) == [[0, 1, 2], [3, 4, 5, 6]]
    rows = release.to_arrow().to_pylist()
    assert [r["age"] for r in rows] == ["[35, 37]"] * 3 + ["[61, 66]"] * 4
    assert [r["zipcode"] for r in rows] == ["[22071, 23061]"] * 3 + ["[55099, 55324]"] * 4
    assert release.proof.proven
    # ages span 31 years and codes 33253
    assert release.proof.loss == pytest.approx((3 * 2 + 4 * 5) / 31 + (3 * 990 + 4 * 225) / 33253)


def test_the_accidents_of_table_3_2():
    release = shoal.anonymize(
        shoal.datasets.load("fars-sample"), KAnonymity(3), "optimal", time_limit=None
    )
    assert classes(release) == [
        [0, 2, 15, 17], [1, 11, 12], [3, 4, 18], [5, 6, 8, 9], [7, 10, 16], [13, 14, 19],
    ]  # fmt: skip
    assert release.proof.loss == pytest.approx(19.26613, abs=1e-5)
    assert release.proof.bound == release.proof.loss
    assert release.run.notes == ("proven optimal",)


def test_the_accidents_with_unequal_weights_of_table_a_1():
    release = shoal.anonymize(
        shoal.datasets.load("fars-sample"),
        KAnonymity(3),
        "optimal",
        time_limit=None,
        weights=(0.8, 0.05, 0.1, 0.05),
    )
    assert classes(release) == [
        [0, 8, 10, 16], [1, 14, 15], [2, 3, 13, 18], [4, 6, 9], [5, 7, 11], [12, 17, 19],
    ]  # fmt: skip
    ages = {tuple(c): release.to_arrow()["AGE"][c[0]].as_py() for c in classes(release)}
    assert list(ages.values()) == [
        "[64, 80]", "[29, 33]", "[40, 42]", "[49, 53]", "[55, 59]", "[18, 25]",
    ]  # fmt: skip
    widths = {"AGE": (0.8, 62), "SEX": (0.05, 1), "INJ_SEV": (0.1, 4), "DRINKING": (0.05, 1)}
    lost = 0.0
    for name, (weight, extent) in widths.items():
        values = shoal.datasets.load("fars-sample")[name].to_arrow().to_pylist()
        for members in classes(release):
            inside = [values[i] for i in members]
            lost += weight * len(members) * (max(inside) - min(inside)) / extent
    assert release.proof.loss == pytest.approx(lost)
    assert release.proof.proven


def test_too_few_rows_for_two_groups_are_one():
    release = shoal.anonymize(people(5), KAnonymity(3), "optimal", time_limit=0)
    assert classes(release) == [[0, 1, 2, 3, 4]]
    assert release.proof.proven
    assert release.run.notes == ("proven optimal: only one group is possible",)


def test_without_time_the_start_is_released_with_a_bound():
    table = people(60)
    quick = shoal.anonymize(table, KAnonymity(4), "optimal", time_limit=0)
    best = shoal.anonymize(table, KAnonymity(4), "optimal", time_limit=None)
    assert best.proof.proven
    assert 0 < quick.proof.bound <= best.proof.loss <= quick.proof.loss
    assert not quick.proof.proven
    assert quick.run.notes == (f"stopped after 0 s: {quick.proof.describe()}",)


def test_records_that_are_all_alike_lose_nothing():
    data = {"age": [30] * 9, "sex": ["f"] * 9}
    table = Table.from_arrow(pa.table(data), dict.fromkeys(data, "quasi"))
    release = shoal.anonymize(table, KAnonymity(2), "optimal", time_limit=0)
    assert (release.proof.loss, release.proof.bound) == (0, 0)
    assert release.run.notes == ("proven optimal",)


def test_a_further_model_costs_more_and_the_bound_stays():
    table = people(24, seed=3)
    alone = shoal.anonymize(table, KAnonymity(3), "optimal", time_limit=None)
    both = shoal.anonymize(
        table, KAnonymity(3) & LDiversity(2, "illness"), "optimal", time_limit=None
    )
    assert both.proof.bound == alone.proof.loss
    assert both.proof.loss > both.proof.bound
    assert not both.proof.proven
    (note,) = both.run.notes
    assert note.startswith("proven optimal for group sizes only; groups were then merged")
    assert shoal.metrics.ncp(both) > shoal.metrics.ncp(alone)


def test_a_further_model_that_holds_anyway_leaves_the_proof():
    table = Table.from_arrow(
        pa.table({"age": [1, 1, 2, 2, 9, 9], "illness": ["flu", "gout"] * 3}),
        {"age": "quasi", "illness": "sensitive"},
    )
    release = shoal.anonymize(
        table, KAnonymity(2) & LDiversity(2, "illness"), "optimal", time_limit=None
    )
    assert release.run.notes == ("proven optimal",)
    assert release.proof.loss == 0


@pytest.mark.parametrize("name", ["k-concealment", "one-k-anonymity", "freeform-anonymity"])
def test_a_model_that_smaller_groups_can_meet_has_no_proof(name):
    table = shoal.datasets.load("fars-sample")
    release = shoal.anonymize(table, f"{name}(3)", "optimal", time_limit=None)
    other = shoal.anonymize(table, f"{name}(3)", "doka-hungarian")
    assert shoal.metrics.gcp(other) < shoal.metrics.gcp(release)
    assert release.proof is None
    (note,) = release.run.notes
    assert note.startswith(
        f"groups have at least 3 people, and {name}(k=3) can also be met without"
    )


def test_a_model_that_a_class_of_one_person_can_meet_has_no_proof():
    release = shoal.anonymize(people(8), "t-closeness(0.9, illness)", "optimal", time_limit=None)
    assert release.proof is None
    assert release.classes.sizes.min() >= 2


def test_a_model_of_the_whole_release_has_no_proof_and_a_note_says_what_was_searched():
    release = shoal.anonymize(people(24), "average-risk(0.4)", "optimal", time_limit=None)
    assert release.proof is None
    (note,) = release.run.notes
    assert note.startswith("average-risk(maximum=0.4) depends on the release as a whole: it was")
    assert "a search for k-anonymity(k=" in note


@pytest.mark.parametrize("text", ["risk(0.34)", "km-anonymity(3, 2)"])
def test_other_names_of_k_anonymity_keep_the_proof(text):
    release, alone = (
        shoal.anonymize(people(24), model, "optimal", time_limit=None)
        for model in (text, "k-anonymity(3)")
    )
    assert release.proof == alone.proof
    assert release.run.notes == ("proven optimal",)


def test_the_proof_of_one_row_per_person_is_not_stated_for_linked_rows():
    visits = pa.table({"who": list("aabbccdd"), "age": [20, 20, 21, 21, 40, 40, 41, 41]})
    release = shoal.anonymize(
        visits,
        k=2,
        quasi="age",
        person="who",
        replace={"who": "pseudonym"},
        key=Key(bytes(range(32))),
        domain="ward",
        method="optimal",
        time_limit=None,
    )
    assert release.proof is None
    assert not any("optimal" in note for note in release.run.notes)


def test_progress_is_told_and_an_interrupt_goes_through():
    stages = []
    table = people(40)
    with listening(stages.append):
        shoal.anonymize(table, KAnonymity(3), "optimal", time_limit=None)
    told = [p for p in stages if p.stage == "solve"]
    assert told
    assert all(0 <= p.done <= p.total == 1 for p in told)

    def interrupt(progress):
        if progress.stage == "solve":
            raise KeyboardInterrupt

    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        shoal.anonymize(table, KAnonymity(3), "optimal", time_limit=None)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"solver": "gurobi"}, "solver must be one of set-partitioning, big-m"),
        ({"time_limit": -1}, "time_limit"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_options_are_refused(options, told):
    with pytest.raises(shoal.InputError, match=told):
        Optimal(**options)
