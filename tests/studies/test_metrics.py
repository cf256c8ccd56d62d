from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal import Table
from shoal.anonymize import anonymize
from shoal.comparison import Outcome, runner
from shoal.datasets import permuted
from shoal.errors import InputError, ShoalError
from shoal.metrics import squared_distance_error
from shoal.privacy.k_anonymity import KAnonymity
from studies import STUDIES
from studies.metrics import (
    answers,
    meta,
    published,
    rate_answers,
    releases,
    singles,
    study,
    transfer,
)
from studies.metrics.analysis import Analysis
from studies.metrics.claims import CLAIMS
from studies.metrics.pairs import Pairs, mean_rate
from studies.metrics.releases import ALGORITHMS, METRICS, UTILITIES
from studies.metrics.sections import write_study
from studies.runs import measure_in_parallel

few = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=9)


@given(few)
@examples(60)
def test_a_rate_is_the_share_of_pairs_that_are_named_right(drawn):
    right, counted = Fraction(0), 0
    for (score, utility), (other_score, other_utility) in itertools.combinations(drawn, 2):
        if utility == other_utility:
            continue
        counted += 1
        if score == other_score:
            right += Fraction(1, 2)
        else:
            right += (score > other_score) == (utility > other_utility)
    rate = Pairs.of(*zip(*drawn, strict=True)).rate
    assert (rate is None) == (counted == 0)
    if rate is not None:
        assert rate == pytest.approx(float(right / counted))


def test_utility_itself_is_always_right_and_chance_half_of_the_time():
    utility = np.random.default_rng(1).integers(0, 40, 200) / 40
    assert Pairs.of(utility, utility).rate == 1
    assert Pairs.of(-utility, utility).rate == 0
    assert Pairs.of(np.zeros(200), utility).rate == 0.5
    chance = [Pairs.of(np.random.default_rng(s).random(200), utility).rate for s in range(20)]
    assert np.mean(chance) == pytest.approx(0.5, abs=0.03)


def test_equal_utilities_have_no_better_one_unless_ties_agree():
    assert Pairs.of([1, 2, 3], [5, 5, 5]).rate is None
    assert Pairs.of([1, 2, 3], [5, 5, 5], ties_agree=True).rate == 1
    assert Pairs.of([1, 1, 2], [2, 1, 0], ties_agree=True).rate == pytest.approx(1 / 3)
    none = {"rate": None, "low": None, "high": None, "releases": 0}
    assert mean_rate([Pairs.of([1, 2], [5, 5])]) == none


def test_releases_of_different_parts_are_not_compared():
    up, down = Pairs.of([1, 2, 3], [1, 2, 3]), Pairs.of([9, 8], [1, 2])
    assert Pairs.apart([up, down]).rate == pytest.approx(6 / 8)


def test_an_interval_holds_its_rate_and_narrows_with_more_releases():
    draw, widths = np.random.default_rng(3), []
    for count in (15, 240):
        utility = draw.random(count)
        found = mean_rate([Pairs.of(utility + draw.random(count), utility)])
        assert found["low"] <= found["rate"] <= found["high"]
        widths.append(found["high"] - found["low"])
    assert widths[1] < widths[0] / 2


def people(rows=60):
    draw = np.random.default_rng(5)
    columns = {
        "age": draw.integers(20, 60, rows),
        "town": draw.choice(["Ulm", "Bonn", "Kiel", "Jena"], rows),
        "job": draw.integers(0, 5, rows),
    }
    cells = {**columns, "method": np.where(columns["age"] + draw.normal(0, 5, rows) > 40, "a", "b")}
    roles = dict.fromkeys(columns, "quasi") | {"method": "sensitive"}
    return Table.from_arrow(pa.table(cells), roles)


def test_a_release_by_a_permuted_order_says_the_same_of_the_table_in_its_own_order():
    table = people()
    changed = permuted(table, 4)
    release = anonymize(changed, KAnonymity(3), "mondrian", hierarchies=False)
    own = releases.in_own_order(release, table)
    for name, before in release.recodings.items():
        after = own.recodings[name]
        assert after.column is table[name]
        assert after.covers()
        for entry in range(len(before.subsets)):
            said = {before.column.labels[i] for i in before.subsets.members(entry)}
            assert {after.column.labels[i] for i in after.subsets.members(entry)} == said


def test_what_moved_further_than_full_suppression_would_is_told_apart():
    table = people()
    release = anonymize(table, KAnonymity(3), "mondrian", hierarchies=False)
    assert releases.moved(release) == pytest.approx(squared_distance_error(release))
    whole = anonymize(table, KAnonymity(60), "mondrian", hierarchies=False)
    assert releases.moved(whole) <= 1 + 1e-12


def test_more_releases_begin_with_the_same_ones():
    few, more = (list(study.tasks_for(["cmc"], count, full=False)) for count in (3, 5))
    assert [task for task in more if task["release"] < 3] == few
    assert len({task["seed"] for task in more}) == len(more) == 15
    assert min(task["k"] for task in more) >= 2


@pytest.fixture
def _small(monkeypatch):
    """Let the study run on made-up people, in this process."""
    monkeypatch.setattr(releases, "base", lambda _name, _rows=None: people())
    monkeypatch.setattr(runner, "run_tasks", in_this_process)


@pytest.fixture
def _ridge(monkeypatch):
    """Let Meta-Metrics be ridge regressions, each of one split."""
    from sklearn.linear_model import Ridge

    monkeypatch.setattr(meta, "_by_hand", lambda given, true, _: Ridge(1e-3).fit(given, true))
    monkeypatch.setattr(meta, "SPLITS", 1)
    monkeypatch.setattr(meta, "engine", lambda: meta.STAND_IN)


def in_this_process(tasks, work, *, stage):
    found = {}
    for name, task in tasks.items():
        try:
            found[name] = Outcome(json.loads(json.dumps(work(task))))
        except InputError as error:
            found[name] = Outcome(None, str(error))
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_rows(tmp_path):
    tasks = list(study.tasks_for(["cmc"], 2, full=False))
    whole = measure_in_parallel(tasks, releases.measure, tmp_path / "whole", batch=2)
    made = []

    def dying(task):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(task)
        return releases.measure(task)

    with pytest.raises(KeyboardInterrupt):
        measure_in_parallel(tasks, dying, tmp_path / "parts", batch=2)
    assert len(list((tmp_path / "parts").glob("*.json"))) == 3
    assert measure_in_parallel(tasks, releases.measure, tmp_path / "parts", batch=2) == whole
    assert measure_in_parallel(tasks, dying, tmp_path / "parts", batch=2) == whole
    assert [row["release"] for row in whole] == [0, 1] * 3
    assert all(0 <= row[name] <= 1 for row in whole for name in (*METRICS, *UTILITIES))


@pytest.mark.usefixtures("_small")
def test_a_release_that_fails_ends_the_study_with_its_reason(tmp_path):
    def refusing(_):
        raise InputError("no luck")

    tasks = list(study.tasks_for(["cmc"], 4, full=False))
    with pytest.raises(ShoalError, match=r"releases: no luck; run it again"):
        measure_in_parallel(tasks, refusing, tmp_path, batch=5, stage="releases")


def made_up(tables=("cmc", "heart"), count=10):
    """Rows in which utility is one less granularity; diameter never changes."""
    rows = []
    for place, (table, algorithm) in enumerate(itertools.product(tables, ALGORITHMS)):
        draw = np.random.default_rng(place)
        for number in range(count):
            row = {"table": table, "algorithm": algorithm, "release": number, "k": 2, "rows": None}
            row |= {metric: float(draw.random()) for metric in METRICS}
            row |= {"diameter": 0.5}
            row |= dict.fromkeys(UTILITIES, 1 - row["granularity"])
            rows.append(row)
    return rows


def test_the_metric_that_decides_is_right_on_all_pairs_and_has_the_largest_effect():
    rows = made_up(count=40)
    rate = {(r["table"], r["metric"]): r["rate"] for r in singles.single_rates(rows)}
    assert rate["cmc", "granularity"] == rate["heart", singles.ITSELF] == 1
    assert rate["cmc", "diameter"] == 0.5
    assert abs(rate["cmc", singles.RANDOM] - 0.5) < 0.1
    effects = {row["metric"]: row for row in singles.effect_sizes(rows)}
    assert next(iter(effects)) == "granularity"
    assert effects["granularity"]["alone"] == pytest.approx(1)
    assert effects["diameter"]["effect"] == pytest.approx(0, abs=1e-12)
    slopes = {r["metric"]: r["slope"] for r in singles.lines(rows, "table")}
    assert slopes["granularity"] == pytest.approx(-1)
    assert slopes["diameter"] == 0
    assert all(row["tied"] == 0 for row in singles.tied_shares(rows))


def task(**settings):
    chosen = {"table": "cmc", "algorithm": "mondrian", "utility": UTILITIES[0], "split": 0}
    return {**chosen, "engine": meta.STAND_IN, "seconds": None, **settings}


def test_splits_hold_out_tenths_that_do_not_meet():
    held = [meta.held_out(100, split).tolist() for split in range(meta.SPLITS)]
    assert [len(each) for each in held] == [10] * meta.SPLITS
    assert len(set(itertools.chain(*held))) == 10 * meta.SPLITS
    assert len(meta.held_out(5, 4)) == 2


def test_a_meta_metric_never_sees_the_utility_of_what_is_held_out():
    cells = dict(meta._by_cell(made_up(count=30)))
    found = meta.train(task(), cells)
    for number in found["held"]:
        cells["cmc", "mondrian"][number][UTILITIES[0]] = 99.0
    assert meta.train(task(), cells) == found
    seen = next(n for n in range(30) if n not in found["held"])
    cells["cmc", "mondrian"][seen][UTILITIES[0]] = 99.0
    assert meta.train(task(), cells)["said"] != found["said"]


def test_a_meta_metric_is_asked_of_the_same_table_or_the_same_algorithm():
    found = meta.train(task(), dict(meta._by_cell(made_up())))
    assert set(found["elsewhere"]) == {"cmc/datafly", "cmc/datafly-shuffled", "heart/mondrian"}
    assert not meta.train(task(split=1), dict(meta._by_cell(made_up())))["elsewhere"]


@pytest.mark.slow
@pytest.mark.usefixtures("_small", "_ridge")
def test_what_carries_over_is_right_everywhere(tmp_path):
    rows = made_up(count=30)
    fits = meta.meta_metrics(rows, tmp_path, full=False)
    assert len(fits) == 2 * 3 * 6
    for rates in (
        transfer.at_home(rows, fits),
        transfer.to_algorithms(rows, fits),
        transfer.to_tables(rows, fits),
        transfer.to_utilities(rows, fits),
    ):
        assert all(row["rate"] > 0.95 for row in rates)
    said = transfer.predictions(rows, fits)
    assert max(abs(row["predicted"] - row["found"]) for row in said) < 0.1
    meta_again = meta.meta_metrics(rows, tmp_path, full=False)
    assert meta_again == fits


@pytest.mark.slow
@pytest.mark.usefixtures("_small", "_ridge")
def test_the_page_has_every_figure_and_table_and_a_verdict_on_each(tmp_path):
    page = write_study(tmp_path, made_up(), full=False).read_text()
    for heading in ("Figure 4.1", "Figure 4.8", "Figure 4.9", "Table 4.1", "Table 4.5"):
        assert f"<h2>{heading}:" in page
    assert "FLAML is not installed" in page
    assert "https://" not in page
    assert (tmp_path / "releases.csv").read_text().count("\n") == 61
    assert (tmp_path / "table-4-1.csv").read_text().startswith("table,metric,rate,low,high")
    assert sum(page.count(f'class="{word}"') for word in ("agrees", "disagrees")) > 5
    assert page.count("<td class=") == len(CLAIMS)


def analysed(rows):
    """An analysis without Meta-Metrics."""
    parts = (singles.single_rates(rows), singles.tied_shares(rows), singles.effect_sizes(rows))
    both = singles.lines(rows, "table"), singles.lines(rows, "table", "algorithm")
    return Analysis(rows, *parts, *both, [], [], [], [], [])


def test_a_metric_that_decides_has_the_largest_weight_beyond_doubt():
    found = analysed(made_up(count=40))
    assert answers._lead(("granularity",), 1, 1)(found)[0] == "agrees"
    assert answers._lead(("diameter",), 1, 1)(found)[0] == "disagrees"
    assert answers._lead(("granularity",), 3, -1)(found)[0] == "disagrees"


def test_lines_that_all_fall_agree_and_do_not_cross():
    found = analysed(made_up(count=40))
    agreeing = answers.between_algorithms("granularity", agree=True)
    assert agreeing(found)[0] == "agrees"
    assert answers.between_algorithms("granularity", agree=False)(found)[0] == "disagrees"


def test_equal_utilities_are_neither_a_lead_nor_a_cost():
    rows = [{**row, **dict.fromkeys(UTILITIES, 0.5)} for row in made_up()]
    found = analysed(rows)
    assert answers.mondrian_leads(found)[0] == "disagrees"
    assert answers.shuffling_costs_nothing(found)[0] == "agrees"


def test_a_random_score_is_half_right_and_a_rate_of_few_releases_undecided():
    assert rate_answers.references(analysed(made_up(count=60)))[0] == "agrees"
    assert rate_answers.references(analysed(made_up(count=4)))[0] == "undecided"


def rates(*, cmc, heart, metric="entropy"):
    """An analysis of two rates, with their intervals."""
    rows = [
        {"table": table, "metric": metric, "rate": middle, "low": low, "high": high,
         "releases": 9, "published": 0.6, "ties right": 0.7}
        for table, (low, middle, high) in {"cmc": cmc, "heart": heart}.items()
    ]  # fmt: skip
    tied = [{"table": "heart", "tied": 0.1}]
    there = [{"table": "cmc"}, {"table": "heart"}]
    return Analysis(there, rows, tied, [], [], [], [], [], [], [], [])


def test_heart_stands_out_only_if_the_difference_of_rates_is_clear_of_0():
    apart = rates(cmc=(0.58, 0.60, 0.62), heart=(0.68, 0.70, 0.72))
    assert rate_answers.heart_stands_out(apart)[0] == "agrees"
    close = rates(cmc=(0.55, 0.60, 0.65), heart=(0.57, 0.62, 0.67))
    assert rate_answers.heart_stands_out(close)[0] == "undecided"
    turned = rates(cmc=(0.68, 0.70, 0.72), heart=(0.58, 0.60, 0.62))
    assert rate_answers.heart_stands_out(turned)[0] == "disagrees"


def test_published_figures_stand_where_the_study_has_them():
    assert published.SINGLE["heart"]["hellinger"] == 0.872
    assert published.SINGLE["adult"]["squared-distance-error"] == 0.552
    assert published.TRANSFER["algorithm"]["mondrian", "datafly-shuffled"] == 0.607
    assert published.TRANSFER["table"]["ring", "heart"] == 0.781
    assert published.TRANSFER["utility"]["rf auroc", "lr auroc"] == 0.727
    assert len(published.TRANSFER["utility"]) == 30


def test_releases_are_an_option_of_this_study_alone(tmp_path):
    with pytest.raises(InputError, match="the study risk has no option 'releases'"):
        STUDIES["risk"].run(tmp_path, releases=5)
    with pytest.raises(InputError, match="releases must be 4 or more, not 2"):
        STUDIES["metrics"].run(tmp_path, releases=2)
