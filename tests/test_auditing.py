"""The audit passes the shipped mechanisms and convicts each of them once a fault is planted."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests import auditing_faults as faults
from tests.examples import times

from shoal import Hierarchy, KAnonymity, SafeLA, anonymize, auditing
from shoal.auditing import AuditCase, audit_cases

CODES = [f"c{i:02}" for i in range(faults.LAST + 1)]


def sampled(pair):
    return lambda: replace(auditing.sampled_case(), pairs=(auditing.sampled_case().pairs[pair],))


def one_row():
    return replace(auditing.regression_case(), pairs=(auditing.regression_case().pairs[1],))


def betrayed():
    """All records differ, so that a release shows all of them alike or nothing."""
    tree = Hierarchy.from_rows([(code, "*") for code in CODES])
    roles = {"code": {"role": "quasi", "type": "text", "values": CODES, "hierarchy": tree}}
    method = SafeLA(epsilon=3 + math.log(2), choice=3, beta=0.5, n0=2, allow_large_delta=True)
    pair = [
        method.prepare(auditing.small_table([(c,) for c in codes], roles), KAnonymity(5))
        for codes in (CODES, CODES[:-1])
    ]
    run, distribution = auditing.run_sampled, auditing.distribution
    return AuditCase("", method.claim(5), run, (tuple(pair),), distribution)


def two_visits():
    """Two people with two rows each, who are shown together or not at all."""
    method = replace(auditing.people_method(), epsilon=2.0)
    pair = [
        method.prepare(auditing.visits((("p1", "uu"), ("p2", "uu"))[:count]), KAnonymity(2))
        for count in (2, 1)
    ]
    return AuditCase("", method.claim(2, "person"), auditing.run_sampled, (tuple(pair),))


FAULTS = [
    (faults.wrong_sensitivity, sampled(1), 600),
    (faults.fixed_size_sample, sampled(0), 1500),
    (faults.classes_without_sensitive, sampled(0), 1500),
    (faults.dropped_count_published, sampled(0), 600),
    (faults.same_seed_every_time, sampled(2), 300),
    (faults.too_little_noise, one_row, 1500),
    (faults.one_slot_in_the_claim, two_visits, 1200),
    (faults.rows_beyond_the_bound, auditing.people_case, 1000),
]


@pytest.mark.parametrize(
    ("fault", "case", "runs"), FAULTS, ids=[fault.__name__ for fault, _, _ in FAULTS]
)
def test_runs_convict_a_planted_fault(fault, case, runs, monkeypatch):
    fault(monkeypatch)
    assert case().by_runs(runs).violated


@pytest.mark.parametrize("case", [sampled(0), sampled(1), sampled(2), two_visits, betrayed])
def test_and_acquit_the_shipped_code_on_the_same_tables(case):
    assert not case().by_runs(times(300)).violated


@pytest.mark.parametrize(
    "fault", [faults.wrong_sensitivity, faults.classes_without_sensitive], ids=lambda f: f.__name__
)
def test_scores_and_classes_are_convicted_exactly_too(fault, monkeypatch):
    assert not auditing.sampled_case().exactly().violated
    fault(monkeypatch)
    assert auditing.sampled_case().exactly().violated


def test_a_node_drawn_from_the_sample_is_convicted_exactly(monkeypatch):
    faults.node_drawn_from_the_sample(monkeypatch)
    found = betrayed().exactly()
    assert found.violated
    assert found.delta_found == pytest.approx(0.0632, abs=1e-4)


def test_the_same_scores_on_all_records_are_private(monkeypatch):
    faults.spiteful_scores(monkeypatch)
    assert not betrayed().exactly().violated


@pytest.mark.parametrize("name", audit_cases())
def test_every_shipped_mechanism_passes(name):
    case = audit_cases()[name]()
    found = case.by_runs(times(300))
    assert not found.violated
    exact = case.exactly()
    assert exact is None or not exact.violated


def test_an_audited_draw_is_what_anonymize_releases():
    draw = auditing.sampled_case().pairs[0][0]
    method = SafeLA(
        epsilon=1 + math.log(2), choice=1, beta=0.5, n0=4, allow_large_delta=True, seed=8
    )
    release = anonymize(draw.records, KAnonymity(auditing.K), method)
    again = method.prepare(draw.records, KAnonymity(auditing.K)).draw(8)
    assert auditing.outcome(release) == auditing.outcome(again)


def test_outcomes_come_as_often_as_computed():
    case = auditing.sampled_case()
    draw, generator, runs = case.pairs[0][0], np.random.default_rng(5), times(600)
    nodes = np.zeros(draw.lattice.shape)
    sizes = np.zeros(len(draw.records) + 1)
    for _ in range(runs):
        node, rows, _ = case.run(draw, generator)
        nodes[node] += 1
        sizes[sum(count for _, count in rows)] += 1
    for (node, rows), chance in case.distribution(draw).items():
        nodes[node] -= runs * chance
        sizes[sum(count for _, count in rows)] -= runs * chance
    assert np.abs(nodes).max() < 5 * math.sqrt(runs) / 2
    assert np.abs(sizes).max() < 5 * math.sqrt(runs) / 2
