"""`shoal dp audit` shows which faults are noticed, and says what it cannot tell."""

import json

import pytest

from shoal.dp import audit_examples


def test_planted_faults_are_told_from_the_sound_mechanism(shoal):
    shown = shoal("dp", "audit", "--runs", 20_000)
    assert (shown.status, shown.err) == (0, "")
    lines = {line.split()[0]: line for line in shown.out.splitlines()[:8] if line}
    assert lines["sound"].rstrip().endswith("not refuted")
    for name in ("sensitivity", "fixed-sample", "quasi-only", "dropped-count"):
        assert lines[name].split()[-1] == "refuted"
        assert "not" not in lines[name]
    assert lines["same-sample"].rstrip().endswith("refuted exactly")
    assert "not thereby private" in shown.out


def test_machines_get_the_figures(shoal):
    shown = shoal("dp", "audit", "--runs", 500, "--seed", 3, "--json")
    found = json.loads(shown.out)
    assert list(found) == list(audit_examples.EXAMPLES)
    assert found["same-sample"]["exact"]["delta_found"] == pytest.approx(3.8468e-4, rel=1e-4)
    assert found["fixed-sample"]["exact"]["epsilon_found"] is None  # infinite
    assert found["sound"]["runs"]["runs"] == 500
    again = shoal("dp", "audit", "--runs", 500, "--seed", 3, "--json")
    assert again.out == shown.out


def test_a_mechanism_that_comes_out_otherwise_than_known_is_a_failure(shoal, monkeypatch):
    example = audit_examples.EXAMPLES["quasi-only"]
    lying = audit_examples.Example("said to be sound", example.mechanism, example.pairs, sound=True)
    monkeypatch.setattr(audit_examples, "EXAMPLES", {"lying": lying})
    assert shoal("dp", "audit", "--runs", 2_000).status == 1


@pytest.mark.parametrize("wrong", [("--runs", 1), ("--runs", 10**9), ("--confidence", 1)])
def test_numbers_that_make_no_audit_are_refused(shoal, wrong):
    shown = shoal("dp", "audit", *wrong)
    assert shown.status == 2
    assert shown.err.startswith(f"shoal: {wrong[0][2:]} must")
