"""The option bound: what a release then states, and where it is refused."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from tests.methods.partition.plain import crowd

import shoal
from shoal import KAnonymity, LDiversity, Mondrian, Table
from shoal.cli.shared.summary import show_summary, summarize
from shoal.errors import InputError
from shoal.release.provenance import Proof

GROUPING = ("anneal", "greedy", "k-member", "sorted", "split-carry")


def bounded(table, k, method, **options):
    return shoal.anonymize(table, k=k, method=method, bound=True, list_values=True, **options)


def pairs_of_ages():
    """Ages whose best pairs can be seen: 10 and 20 of 100 years are lost, by two people each."""
    return Table.from_arrow(pa.table({"age": [0, 10, 80, 100]}), {"age": "quasi"})


@pytest.mark.parametrize("method", [*GROUPING, "mondrian"])
def test_the_best_pairs_are_recognized(method):
    release = bounded(pairs_of_ages(), 2, method)
    assert release.proof.loss == pytest.approx(2 * 0.1 + 2 * 0.2)
    assert release.proof.proven
    assert release.proof.describe() == "the best possible, proven"


def test_every_method_that_publishes_ranges_and_sets_has_the_same_bound():
    table = crowd(1, rows=60)
    releases = [bounded(table, 3, method) for method in GROUPING]
    releases.append(bounded(table, 3, "mondrian", hierarchies=False))
    assert len({release.proof.bound for release in releases}) == 1
    for release in releases:
        loss = len(table) * shoal.metrics.gcp(release)
        assert release.proof.loss == pytest.approx(loss)
        assert 0 < release.proof.bound < loss


@pytest.mark.parametrize("seed", range(3))
def test_no_proven_optimum_is_below_the_bound(seed):
    table = crowd(seed, rows=36)
    best = shoal.anonymize(table, k=3, method="optimal", time_limit=None, list_values=True)
    assert best.proof.proven
    bound = bounded(table, 3, "greedy").proof.bound
    assert 0.9 * best.proof.loss < bound <= best.proof.loss


def test_mondrian_with_hierarchies_is_compared_with_labels():
    table = shoal.datasets.patients(60, seed=2)
    labels, ranges = (bounded(table, 4, "mondrian", hierarchies=use) for use in (True, False))
    assert labels.proof.loss == pytest.approx(60 * shoal.metrics.gcp(labels))
    assert ranges.proof.bound < labels.proof.bound <= labels.proof.loss


def test_a_bound_on_labels_says_so():
    table = shoal.datasets.patients(60, seed=2)
    labels, ranges = (bounded(table, 4, "mondrian", hierarchies=use) for use in (True, False))
    assert labels.proof.describe().endswith("the best possible with labels of the hierarchies")
    assert ranges.proof.describe().endswith("the best possible")
    plain = bounded(pairs_of_ages(), 2, "mondrian")
    assert plain.proof.describe() == "the best possible, proven"


@pytest.mark.parametrize("text", ["average-risk(0.4)", "k-concealment(3)"])
def test_models_that_are_no_class_size_are_refused(text):
    table = crowd(9, rows=20)
    with pytest.raises(InputError, match="bound is known for k-anonymity only, not for"):
        shoal.anonymize(table, text, "greedy", bound=True)


def test_the_bound_uses_the_weights_of_the_method():
    table = crowd(2, rows=40)
    weights = {"number": 3, "other": 0, "word": 1, "code": 0.5}
    release = bounded(table, 3, "greedy", weights=weights)
    assert release.proof.loss == pytest.approx(40 * shoal.metrics.gcp(release))
    assert release.proof.bound <= release.proof.loss
    assert release.proof.bound != bounded(table, 3, "greedy").proof.bound


def test_a_weighted_table_has_a_bound():
    table = crowd(3, rows=50)
    weighted = table.distinct().table
    release = bounded(weighted, 4, "mondrian", hierarchies=False)
    assert release.proof.loss == pytest.approx(50 * shoal.metrics.gcp(release))
    assert release.proof.bound == bounded(table, 4, "greedy").proof.bound


def test_a_table_with_a_single_possible_class_is_proven():
    release = bounded(crowd(4, rows=5), 3, "greedy")
    assert release.proof.proven
    assert release.proof.loss > 0


def test_equal_records_lose_nothing_and_are_proven():
    table = Table.from_arrow(pa.table({"age": [30] * 9}), {"age": "quasi"})
    assert bounded(table, 2, "greedy").proof == Proof(0.0, 0.0)


def test_a_release_without_the_option_states_no_bound():
    assert shoal.anonymize(crowd(5, rows=30), k=3, method="greedy").proof is None


def test_a_search_that_runs_out_of_time_says_so():
    release = bounded(crowd(6, rows=60), 3, "greedy", bound_seconds=0)
    assert release.run.notes == ("the search for the bound stopped after 0 s",)
    assert 0 < release.proof.bound < release.proof.loss


@pytest.mark.parametrize("method", [*GROUPING, "mondrian"])
def test_other_models_are_refused_before_the_search(method):
    table = Table.from_arrow(
        pa.table({"age": [1, 2, 3, 4], "illness": ["flu", "gout"] * 2}),
        {"age": "quasi", "illness": "sensitive"},
    )
    with pytest.raises(InputError, match="bound is known for k-anonymity only, not for k-anony"):
        shoal.anonymize(table, KAnonymity(2) & LDiversity(2, "illness"), method, bound=True)


def test_people_with_several_rows_are_refused():
    data = pa.table({"who": [1, 1, 2, 3, 4], "age": [20, 21, 22, 23, 24]})
    with pytest.raises(InputError, match="bound needs one row per person"):
        shoal.anonymize(data, k=2, method="greedy", quasi="age", person="who", bound=True)


def test_representatives_are_refused():
    with pytest.raises(InputError, match="bound applies to ranges, sets and labels"):
        Mondrian(bound=True, summary="representative")


@pytest.mark.parametrize("options", [{"bound": 1}, {"bound_seconds": -1}])
def test_other_values_of_the_options_are_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        shoal.Greedy(**options)


@pytest.mark.parametrize(
    ("loss", "bound", "words"),
    [
        (1.0, 1.0, "the best possible, proven"),
        (1.0, 0.0, "at an unknown distance from the best possible"),
        (1.0841, 1.0, "at most 8.5 % above the best possible"),  # rounded up
        (1.03, 1.0, "at most 3 % above the best possible"),
        (1.1161, 1.0, "at most 12 % above the best possible"),
        (1.00001, 1.0, "at most 0.01 % above the best possible"),
    ],
)
def test_the_distance_in_words_is_never_too_small(loss, bound, words):
    assert Proof(loss, bound).describe() == words


def test_the_command_line_and_the_report_state_the_distance(tmp_path):
    release = bounded(crowd(7, rows=60), 3, "greedy")
    data = summarize(release, release.verify(), None)
    assert data["proof"]["bound"] == release.proof.bound
    assert data["proof"]["excess"] == pytest.approx(release.proof.loss / release.proof.bound - 1)
    shown = StringIO()
    show_summary(data, Console(file=shown, width=120))
    words = release.proof.describe()
    assert words.startswith("at most ")
    assert words in shown.getvalue()
    release.report(tmp_path / "report.html")
    assert words in (tmp_path / "report.html").read_text()


def test_the_bound_is_the_same_in_every_run():
    table = crowd(8, rows=80)
    bounds = {bounded(table, 3, "greedy").proof.bound for _ in range(2)}
    shuffled = table.take(np.random.default_rng(1).permutation(80))
    assert bounds == {bounded(shuffled, 3, "greedy").proof.bound}
