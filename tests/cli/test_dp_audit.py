"""`shoal dp audit` runs the shipped mechanisms, and says what it would have noticed."""

import json

import pytest
from tests import auditing_faults as faults

from shoal import auditing
from shoal.auditing import audit_cases


def test_the_shipped_mechanisms_are_not_refuted(shoal):
    shown = shoal("dp", "audit", "--runs", 40)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.count("not refuted") == len(audit_cases())
    assert "An audit cannot prove privacy" in shown.out


def test_machines_get_the_same_figures_for_the_same_seed(shoal):
    shown, again = (shoal("dp", "audit", "--runs", 20, "--seed", 3, "--json") for _ in range(2))
    data = json.loads(shown.out)
    assert list(data) == list(audit_cases())
    assert data["safe-la"]["runs"]["runs"] == 20
    assert data["safe-la"]["exact"]["violated"] is False
    assert data["regression"]["exact"] is None
    assert again.out == shown.out


def test_a_faulty_mechanism_is_refuted_with_status_1(shoal, monkeypatch):
    faults.classes_without_sensitive(monkeypatch)
    monkeypatch.setattr("shoal.auditing.audit_cases", lambda: {"safe-la": auditing.sampled_case})
    shown = shoal("dp", "audit", "--runs", 20)
    assert shown.status == 1
    assert "not refuted" not in shown.out


@pytest.mark.parametrize("wrong", [("--runs", 1), ("--runs", 10**9), ("--confidence", 1)])
def test_numbers_that_make_no_audit_are_refused(shoal, wrong):
    shown = shoal("dp", "audit", *wrong)
    assert shown.status == 2
    assert shown.err.startswith(f"shoal: {wrong[0][2:]} must")
