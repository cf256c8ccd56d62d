from __future__ import annotations

import _thread
import signal
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import Anneal, BetaLikeness, KAnonymity, LDiversity, Table, TCloseness
from shoal.methods.partition import annealing
from shoal.methods.partition.annealing import Plan, anneal, near_records
from shoal.methods.partition.annealing_rules import rules_of
from shoal.methods.partition.greedy import group_greedily
from shoal.methods.partition.records import lay_out


def crowd(rows, seed=0, missing=0.0):
    """Numbers, names and holes, with copies among them."""
    draw = np.random.default_rng(seed)

    def holes(values):
        return [None if draw.random() < missing else v for v in values]

    data = pa.table(
        {
            "age": pa.array(holes(draw.integers(0, 40, rows).tolist()), pa.int64()),
            "pay": pa.array(holes(draw.integers(0, 15, rows).tolist()), pa.int64()),
            "town": pa.array(holes([f"t{v}" for v in draw.integers(0, 70, rows)])),
            "sex": draw.choice(["f", "m"], rows).tolist(),
            "illness": draw.choice(["flu", "cold", "gout", "none"], rows, p=[0.5, 0.3, 0.1, 0.1]),
        }
    )
    roles = dict.fromkeys(["age", "pay", "town", "sex"], "quasi")
    return Table.from_arrow(data, {**roles, "illness": "sensitive"})


def improve(table, k, model=None, *, threads=1, steps=20, seed=0, most=None):
    """Anneal the greedy groups of a table; returns records, groups before and groups after."""
    records = lay_out(table)
    start = group_greedily(records, k)
    rules, _ = rules_of(model or KAnonymity(k), table, records.rows)
    plan = Plan(steps, None, seed, threads)
    near = near_records(records, 6, 1)
    return records, start, anneal(records, start, k, near, rules, most or 2 * k - 1, plan)


def test_the_published_example_is_solved_to_the_optimum():
    table = shoal.datasets.load("fars-sample")
    release = shoal.anonymize(table, KAnonymity(3), "anneal", steps=3000)
    assert shoal.metrics.gcp(release) * len(table) == pytest.approx(19.26613, abs=1e-5)


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("missing", [0, 0.2])
def test_groups_get_better_and_keep_their_size(k, missing):
    records, before, after = improve(crowd(300, missing=missing), k)
    assert records.loss(after) < records.loss(before)
    sizes = np.bincount(after)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(10, 90))
def test_every_kind_of_step_costs_what_it_says(seed, k, rows):
    table = crowd(rows, seed, missing=0.15)
    records = lay_out(table)
    start = group_greedily(records, k)
    rules, _ = rules_of(KAnonymity(k), table, records.rows)
    plan = Plan(40, None, seed, 1)
    work = annealing._Work(records, start, k, near_records(records, 6, 1), rules, 2 * k - 1, plan)
    loss = records.units(start)
    hot = loss / rows
    for stage in range(4):
        work.cut(stage)
        loss += work.run(partial(work.cool, temperature=hot * 10.0**-stage))
        assert loss == records.units(work.ids())
        assert (work.groups.size[work.groups.size > 0] >= k).all()
    work.cut(9)
    loss -= work.run(work.descend)
    assert loss == records.units(work.ids())


@pytest.mark.parametrize("tried", [1000, 100])
def test_the_number_of_threads_changes_nothing(monkeypatch, tried):
    monkeypatch.setattr(annealing, "_BLOCK", 40)
    monkeypatch.setattr(annealing, "_EFFORT", 2)
    monkeypatch.setattr(annealing, "_TRIED", tried)
    monkeypatch.setattr(annealing, "_TRIAL", 90)
    table = crowd(400, seed=4)
    results = [improve(table, 4, threads=threads)[2] for threads in (1, 2, 5)]
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()
    assert (results[0] != improve(table, 4, seed=1)[2]).any()


def test_blocks_share_out_all_records_and_all_places(monkeypatch):
    monkeypatch.setattr(annealing, "_BLOCK", 30)
    monkeypatch.setattr(annealing, "_LARGEST_BLOCK", 30)
    table = crowd(500, seed=2)
    records = lay_out(table)
    start = group_greedily(records, 3)
    rules, _ = rules_of(KAnonymity(3), table, records.rows)
    plan = Plan(1, None, 0, 1)
    work = annealing._Work(records, start, 3, near_records(records, 6, 1), rules, 5, plan)
    work.cut(0)
    assert len(work.blocks) > 5
    assert sorted(np.concatenate([b.records for b in work.blocks])) == list(range(500))
    places = sum(len(b.free) for b in work.blocks)
    assert places == len(work.groups.size)


@pytest.mark.parametrize("better", [0, 1])
def test_the_first_temperature_is_the_one_with_the_least_loss(monkeypatch, better):
    used = []

    def cool(work, _plan, hot, _first):
        used.append((hot, len(work.near.point)))
        work.groups.width[:] = 1 if hot == annealing._HOT[better] else 2

    monkeypatch.setattr(annealing, "_cool_and_descend", cool)
    monkeypatch.setattr(annealing, "_TRIED", 100)
    monkeypatch.setattr(annealing, "_TRIAL", 60)
    improve(crowd(300), 3)
    tried = [count for _, count in used]
    assert tried[0] == tried[1] < tried[2] == 300
    assert [hot for hot, _ in used] == [*annealing._HOT, annealing._HOT[better]]


def test_a_short_schedule_has_as_many_steps_as_asked_for(monkeypatch):
    taken = []

    def take_steps(*arguments):
        taken.append(arguments[8])
        return 0

    monkeypatch.setattr(annealing, "anneal_block", take_steps)
    monkeypatch.setattr(annealing, "_EFFORT", 2)
    for steps in (0, 5, 25, 300):
        taken.clear()
        improve(crowd(300), 3, steps=steps)
        assert sum(taken) == 2 * 300 * steps


def test_large_groups_are_left_as_they_are():
    table = crowd(60)
    records = lay_out(table)
    start = np.array([0] * 40 + [1] * 5 + [2] * 5 + [3] * 5 + [4] * 5, dtype=np.int32)
    rules, _ = rules_of(KAnonymity(3), table, records.rows)
    near = near_records(records, 6, 1)
    after = anneal(records, start, 3, near, rules, 9, Plan(50, None, 0, 1))
    assert len(set(after[:40].tolist())) == 1
    assert not set(after[:40].tolist()) & set(after[40:].tolist())


@pytest.mark.parametrize(
    "model",
    [
        KAnonymity(3) & LDiversity(3, "illness"),
        KAnonymity(4) & TCloseness(0.3, "illness"),
        BetaLikeness(1.2, "illness"),
    ],
    ids=str,
)
def test_a_model_is_kept_on_the_way_and_costs_less_than_mending(model):
    table = crowd(200, seed=3)
    annealed = shoal.anonymize(table, model, "anneal", steps=60)
    mended = shoal.anonymize(table, model, "greedy")
    assert shoal.metrics.gcp(annealed) < 0.9 * shoal.metrics.gcp(mended)


def test_a_table_of_copies_loses_nothing():
    table = Table.from_arrow(pa.table({"age": [1, 2] * 6}), {"age": "quasi"})
    release = shoal.anonymize(table, KAnonymity(3), "anneal")
    assert shoal.metrics.gcp(release) == 0


def test_more_steps_lose_less():
    table = crowd(800, seed=6)
    losses = [
        shoal.metrics.gcp(shoal.anonymize(table, KAnonymity(5), "anneal", steps=steps))
        for steps in (20, 400)
    ]
    assert losses[0] > losses[1]


def test_a_time_limit_ends_the_search():
    release = shoal.anonymize(crowd(300), KAnonymity(3), "anneal", time_limit=0.2, list_values=True)
    assert release.run.seconds["search"] < 30
    assert release.verify()


@pytest.mark.parametrize(
    "options", [{"steps": -1}, {"seed": -1}, {"threads": 0}, {"time_limit": -1.0}], ids=str
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(shoal.InputError, match=next(iter(options))):
        Anneal(**options)


def test_slices_change_nothing(monkeypatch):
    table = crowd(120, seed=2)
    whole = shoal.anonymize(table, KAnonymity(3), "anneal", steps=400, seed=5, list_values=True)
    monkeypatch.setattr(annealing, "_SLICE", 7)
    sliced = shoal.anonymize(table, KAnonymity(3), "anneal", steps=400, seed=5, list_values=True)
    assert sliced.to_arrow().equals(whole.to_arrow())


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_is_answered_between_slices(monkeypatch, threads):
    taken = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background

    def take_steps(*arguments):
        assert len(taken) < 10**6, "the interrupt was not answered"
        taken.append(arguments[8])
        if taken.count(annealing._SLICE) == 1:
            _thread.interrupt_main()
        return 0

    monkeypatch.setattr(annealing, "_BLOCK", 8)  # many blocks, so that all threads are at work
    monkeypatch.setattr(annealing, "anneal_block", take_steps)
    try:
        with pytest.raises(KeyboardInterrupt):
            shoal.anonymize(
                crowd(120), KAnonymity(3), "anneal", steps=10**15, threads=threads, list_values=True
            )
    finally:
        signal.signal(signal.SIGINT, before)
    assert max(taken) == annealing._SLICE
