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
from shoal.comparison import Outcome, runner
from shoal.datasets import permuted
from shoal.errors import InputError, ShoalError
from shoal.methods import anonymize
from shoal.metrics import squared_distance_error
from shoal.privacy.k_anonymity import KAnonymity
from studies import STUDIES
from studies.metrics import (
    accuracy_by_k,
    answers,
    meta,
    mondrians,
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
    assert len(more) == 25
    assert len({(task["algorithm"], task["seed"]) for task in more}) == 25
    assert min(task["k"] for task in more) >= 2


def test_other_mondrians_have_the_orders_and_the_k_of_the_published_one():
    tasks = list(study.tasks_for(["cmc"], 40, full=False))
    settings = {
        name: [(task["seed"], task["k"]) for task in tasks if task["algorithm"] == name]
        for name in releases.MONDRIANS
    }
    assert len(settings["mondrian"]) == 40
    assert len(settings["mondrian-best"]) == study.OTHER_RELEASES
    for each in settings.values():
        assert each == settings["mondrian"][: len(each)]


def test_the_published_mondrian_cuts_at_medians(monkeypatch):
    monkeypatch.setattr(releases, "base", lambda _name, _rows=None: people())
    task = {"table": "cmc", "rows": None, "k": 3, "seed": 4, "algorithm": "mondrian"}
    found = {
        name: releases.released({**task, "options": options})
        for name, options in releases.MONDRIANS.items()
    }
    changed = permuted(people(), 4)
    plain = anonymize(changed, KAnonymity(3), "mondrian", hierarchies=False, cuts="median")
    assert (found["mondrian"].classes.ids == plain.classes.ids).all()
    assert (found["mondrian-best"].classes.ids != plain.classes.ids).any()


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
    tasks = [t for t in study.tasks_for(["cmc"], 2, full=False) if t["algorithm"] in ALGORITHMS]
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
    page = write_study(tmp_path, made_up(), by_k({2: 0.6, 20: 0.5, 30: 0.4, 100: 0.4}), full=False)
    page = page.read_text()
    for heading in (
        "Figure 3.4",
        "Figure 4.1",
        "Figure 4.9",
        "Figure A.1",
        "Table 4.1",
        "Table 4.5",
    ):
        assert f"<h2>{heading}:" in page
    assert "FLAML is not installed" in page
    assert "https://" not in page
    assert (tmp_path / "releases.csv").read_text().count("\n") == 61
    assert (tmp_path / "table-4-1.csv").read_text().startswith("table,metric,rate,low,high")
    assert sum(page.count(f'class="{word}"') for word in ("agrees", "disagrees")) > 5
    assert page.count("<td class=") == len([c for c in CLAIMS if c.figure != "B"])
    assert "Information loss departs from its source" in page
    assert "Average class size does too" in page


def by_k(accuracies, draws=5):
    """Runs of figure 3.4 by k; draws differ by a thousandth."""
    return [
        {"k": k, "draw": draw, "accuracy": accuracy + draw / 1000, "baseline": 0.4}
        for k, accuracy in accuracies.items()
        for draw in range(draws)
    ]


def test_accuracy_that_falls_to_the_most_frequent_class_and_stays_there_agrees():
    found = analysed(made_up(), by_k=by_k({2: 0.6, 20: 0.42, 30: 0.41, 100: 0.41}))
    for test in (accuracy_by_k.falls, accuracy_by_k.flat, accuracy_by_k.little_left):
        assert test(found)[0] == "agrees"
    rising = analysed(made_up(), by_k=by_k({2: 0.6, 20: 0.7, 30: 0.7, 100: 0.8}))
    for test in (accuracy_by_k.falls, accuracy_by_k.flat, accuracy_by_k.little_left):
        assert test(rising)[0] == "disagrees"


@pytest.mark.usefixtures("_small")
def test_figure_3_4_has_the_accuracy_of_one_model_and_the_most_frequent_class():
    row = accuracy_by_k.measure(next(accuracy_by_k.tasks_for(full=False)))
    counts = np.bincount(people()["method"].codes)
    assert row["baseline"] == counts.max() / counts.sum()
    assert 0 < row["accuracy"] <= 1


def test_mondrians_are_compared_release_by_release():
    rows = [{**row, "seed": number} for number, row in enumerate(made_up())]
    mine = [row for row in rows if row["algorithm"] == "mondrian"]

    def others(gain):
        return [
            {**row, "algorithm": "mondrian-best", **{u: row[u] + gain for u in UTILITIES}}
            for row in mine
        ]

    for gain, word in ((0.01, "agrees"), (-0.01, "disagrees")):
        found = analysed(rows, others=others(gain))
        assert mondrians.best_gains(found)[0] == word
        section = mondrians.section_of(found)
        assert [row["gain"] for row in section.rows] == pytest.approx([gain] * 2)
        assert section.rows[0]["releases"] == 10


def test_a_line_rises_falls_or_is_flat():
    rows = made_up(tables=("cmc",))
    signs = singles.slope_signs(rows, ("granularity", "diameter"))
    assert signs.tolist() == [[-1.0] * 6, [0.0] * 6]


def test_lines_that_agree_for_one_metric_alone_are_inconsistent_over_all():
    word, text = answers.inconsistent(analysed(made_up(count=40)))
    assert word == "agrees"
    assert "granularity 0%" in text


def analysed(rows, **more):
    """An analysis without Meta-Metrics."""
    parts = (singles.single_rates(rows), singles.tied_shares(rows), singles.effect_sizes(rows))
    both = singles.lines(rows, "table"), singles.lines(rows, "table", "algorithm")
    return Analysis(rows, *parts, *both, [], [], [], [], [], **more)


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


def test_the_gain_of_a_meta_metric_is_on_the_mean_metric():
    singles_ = [
        {"table": "cmc", "metric": metric, "rate": rate, "low": rate - 0.01, "high": rate + 0.01,
         "releases": 9}
        for metric, rate in (("entropy", 0.5), ("diameter", 0.7))
    ]  # fmt: skip
    home = [{"table": "cmc", "rate": 0.68, "low": 0.67, "high": 0.69, "releases": 9}]
    found = Analysis([{"table": "cmc"}], singles_, [], [], [], [], [], home, [], [], [])
    word, text = rate_answers.no_leap(found)  # .68 − (.5 + .7) / 2
    assert word == "agrees"
    assert "cmc +0.080" in text
    assert text.endswith("of the published tables: cmc +0.170")
    assert rate_answers.better_than_best(found)[0] == "disagrees"  # .68 − .7


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
