import numpy as np
import pytest
from tests.risk.matchings.enumeration import UNEVEN, Enumerated

from studies.risk import claims
from studies.risk import study as disclosure_risk
from studies.risk.large import crowd, measure_large
from studies.risk.small import (
    FAMILIES,
    TRUE,
    Q,
    all_graphs,
    all_mappings,
    enumerate_matchings,
    mean_errors,
    random_matrices,
    true_pairs,
)


def test_all_graphs_of_two_and_three_are_counted():
    two = all_graphs(2)  # the other matching needs both other pairs: one graph of four has it
    assert (two["permanent"], two["cracks"], two["number"]) == ([1, 2], [2, 1], [3, 1])
    three = all_graphs(3)
    assert three["graphs"] == sum(three["number"]) == 64
    assert (max(three["permanent"]), min(three["cracks"])) == (6, 1)


def test_the_published_matrix_is_that_of_the_worked_example():
    assert Q.tolist() == UNEVEN
    psi, heuristic = true_pairs(Q, TRUE)
    assert psi == pytest.approx(204860909 / 152023904)
    assert heuristic == pytest.approx(1.32)
    found = all_mappings(Q)
    assert found["permanent"] == pytest.approx(4750747 / 78125000)
    assert sum(found["psi"]) == pytest.approx(120)
    assert found["psi"] == sorted(found["psi"])


@pytest.mark.parametrize("family", FAMILIES)
def test_random_matrices_are_doubly_stochastic_and_their_errors_exact(family):
    matrices = random_matrices(family, 3, 20, seed=4)
    assert matrices.sum(axis=1) == pytest.approx(1)
    assert matrices.sum(axis=2) == pytest.approx(1)
    errors, permanents = mean_errors(matrices)
    marginals, _ = enumerate_matchings(matrices)
    for matrix, error, permanent, found in zip(
        matrices, errors, permanents, marginals, strict=True
    ):
        known = Enumerated(matrix)
        assert permanent == pytest.approx(float(known.permanent))
        assert found == pytest.approx(np.array(known.marginals(), dtype=float))
        assert error == pytest.approx(all_mappings(matrix)["nmape"])


def test_the_closed_form_of_a_crowd_is_that_of_all_matchings():
    weight = 4.5
    matrix = np.ones((5, 5)) + np.diag([weight - 1] * 5)
    psi, deranged = crowd(5, weight)
    assert psi == pytest.approx(float(sum(Enumerated(matrix).cracks(range(5)))))
    assert deranged == pytest.approx(44 / 120)


def test_the_mean_error_of_a_crowd_is_that_over_all_mappings():
    row = measure_large("one in a crowd", 5, 0)
    matrix = np.ones((5, 5)) + np.diag([4.5] * 5)
    every = all_mappings(matrix / matrix.sum(axis=0))
    assert row["nmape"] == pytest.approx(every["nmape"])


def attack(heuristic=10.1, seed=0, **changed):
    plain = {"kind": "a", "size": 10, "heuristic": heuristic, "low": 10.0, "high": 10.0}
    plain |= {"error": heuristic / 10 - 1, "nmape": 0.001, "samples": None, "seed": seed}
    return {**plain, **changed}


def words(verdicts):
    return [verdict.word for verdict in verdicts]


def test_a_large_attack_is_judged_by_its_error_at_the_truth():
    assert words(claims.judge_large([attack()])) == ["agrees", "undecided"]
    far = claims.judge_large([attack(6.0)])
    assert words(far) == ["disagrees", "disagrees"]
    assert "-40%" in far[1].found


def test_an_error_that_five_draws_do_not_settle_is_undecided():
    spread = [attack(heuristic, seed) for seed, heuristic in enumerate((9.0, 9.5, 10, 10.5, 11.0))]
    assert words(claims.judge_large(spread)) == ["undecided", "undecided"]
    alike = [attack(heuristic, seed) for seed, heuristic in enumerate((6.0, 6.1, 6.0, 6.1, 6.0))]
    assert words(claims.judge_large(alike)) == ["disagrees", "disagrees"]
    assert words(claims.judge_large(alike[:4]))[0] == "undecided"


def test_the_interval_of_psi_is_that_of_the_error():
    error = claims.error_of([attack(10.0, low=8.0, high=12.5, samples=99)])
    assert (error.low, error.high, error.draws) == pytest.approx((-0.2, 0.25, 99))


def drawn(most_of_four, most_of_five, seeds=5):
    common = {"matrices": 1, "draws": 3, "most_high": 0.01, "family": "a"}
    return [
        {**common, "seed": seed, "size": size, "most": most, "most_compared": most + seed / 1e6}
        for seed in range(seeds)
        for size, most in ((4, most_of_four), (5, most_of_five))
    ]


def test_one_matrix_beyond_the_bound_refutes_it_and_none_proves_it():
    within = claims.judge_random(drawn(0.055, 0.05))
    assert words(within) == ["undecided", "agrees", "agrees"]
    beyond = claims.judge_random(drawn(0.05, 0.07))
    assert words(beyond) == ["disagrees", "agrees", "disagrees"]
    assert "10 more could not be scaled" in beyond[0].found


def test_figures_of_the_thesis_are_judged():
    graphs = all_graphs(5)
    assert words(claims.judge_graphs(graphs)) == ["agrees", "agrees", "disagrees", "agrees"]
    found = words(claims.judge_mappings(all_mappings(Q)))
    assert found == ["agrees", "disagrees", "agrees", "disagrees"]
    points = zip(graphs["permanent"], graphs["cracks"], strict=True)
    assert max(cracks for permanent, cracks in points if permanent == 5) == 3.4


def test_the_page_has_every_figure_and_is_not_computed_again(tmp_path, monkeypatch):
    few = [
        task
        for task in disclosure_risk.tasks(full=False)
        if task["figure"] in ("2.4", "4.1") or task.get("size", 99) <= 5
    ]
    few = [{**task, "draws": 10, "compared": 10} if "draws" in task else task for task in few]
    large = [{"figure": "A", "kind": kind, "size": 6, "seed": 0} for kind in disclosure_risk.KINDS]
    monkeypatch.setattr(disclosure_risk, "tasks", lambda full: [*few, *large])
    page = disclosure_risk.run(tmp_path, full=False, data="generated")
    text = page.read_text(encoding="utf-8")
    for figure in disclosure_risk.TITLES:
        assert f"Figure {figure}:" in text
        assert (tmp_path / f"figure-{figure.replace('.', '-')}.csv").is_file()
    assert "disagrees" in text
    monkeypatch.setattr(disclosure_risk, "measure", None)
    assert disclosure_risk.run(tmp_path, full=False, data="generated") == page
