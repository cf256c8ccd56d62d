"""Outcomes, choices, risk in words and the lattice agree with the library."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal.report.document import contents
from shoal.risk import assess
from shoal.web.project.choices import BALANCED, DETAIL, PROTECTED, choices_of
from shoal.web.project.lattice import LatticeView, explore, recode_sample
from shoal.web.project.outcomes import Outcome, answers, one_in, percent, side_by_side


@cache
def release(k=3, method="mondrian"):
    table = shoal.read(shoal.datasets.patients(400, seed=1), schema=shoal.datasets.patient_schema())
    return shoal.anonymize(table, k=k, method=method)


@cache
def outcome(k=3, method="mondrian"):
    return Outcome(f"k = {k}", contents(release(k, method)))


def test_a_figure_that_is_not_counted_says_why():
    report = {**outcome().report, "risk": {"expected": {"reason": "it is too large; use `shoal`"}}}
    (figure,) = [f for f in Outcome("large", report).figures if f.text == "not counted"]
    assert figure.meaning.endswith("; it is not counted, because it is too large")


def test_the_verdict_repeats_neither_the_promise_nor_the_warnings():
    report = {**outcome().report, "verdict": "400 records are released, under k, but: a warning."}
    said = Outcome("one", report).verdict
    assert said.endswith(
        " released. We regrouped the released rows and checked the guarantee: it holds."
    )
    withheld = {**report, "records": {}, "verdict": "At least 390 records are released."}
    assert Outcome("drawn", withheld).verdict == withheld["verdict"]


def test_an_outcome_states_the_figures_of_the_report():
    figures = {figure.label: figure.text for figure in outcome().figures}
    report = outcome().report
    assert figures["Smallest group"] == str(report["guarantee"]["smallest_class"])
    assert figures["Highest risk"] == f"1 in {int(report['risk']['one_in'])}"
    assert figures["Cells kept"] == percent(report["losses"]["cells"]["kept_exactly"])
    assert outcome().warnings == tuple(report["warnings"])


def test_columns_show_what_happened_to_them():
    columns = {column.name: column for column in outcome().columns}
    assert columns["patient_id"].treatment.startswith("left out")
    birth = columns["birth_date"]
    assert birth.kept is not None
    assert abs(birth.kept + birth.generalized + birth.hidden - 1) < 0.01
    assert abs(sum(bar.after for bar in birth.bars) - 1) < 0.02
    assert columns["diagnosis"].bars[0].before is None  # released unchanged
    assert next(iter(columns.values())).role == "quasi"


def test_no_bar_names_a_value_of_few_people():
    least = outcome().report["least_count"]
    table = release().original
    shown = {bar.label for column in outcome().columns for bar in column.bars}
    for column in table:
        if column.role in ("quasi", "sensitive"):
            people = table.people_with(column.name)
            rare = {text for text, n in zip(column.labels, people, strict=True) if n < least}
            assert not rare & shown


def test_a_file_that_is_no_report_is_refused(tmp_path):
    (tmp_path / "report.json").write_text("[1]")
    with pytest.raises(shoal.InputError, match="is not a report"):
        Outcome.read("first", tmp_path / "report.json")


def test_releases_side_by_side_mark_the_better_one():
    both = side_by_side([outcome(3), outcome(10)])
    assert both.names == ("k = 3", "k = 10")
    lines = {label: (texts, best) for label, texts, best in both.lines}
    assert lines["Highest risk"] == (("1 in 3", "1 in 10"), 1)
    assert lines["Cells kept"][1] == 0
    assert "birth_date" in lines
    assert "diagnosis" not in lines


def row(method, k, risk, loss, status="done"):
    return {
        "method": method, "options": {}, "model": f"k-anonymity(k={k})", "k": k, "status": status,
        "reason": "too few people", "highest risk": risk, "ncp": loss, "suppressed": 1,
        "records": 10,
    }  # fmt: skip


def test_three_choices_are_named_on_the_front():
    rows = [
        row("a", 5, 0.2, 0.1),
        row("b", 10, 0.1, 0.15),
        row("c", 20, 0.05, 0.6),
        row("d", 10, 0.1, 0.5),
        row("e", 5, None, None, "infeasible"),
    ]
    choices = choices_of(rows, "ncp")
    named = {name: one.method for name, one in choices.named.items()}
    assert named == {DETAIL: "a", BALANCED: "b", PROTECTED: "c"}
    assert choices.recommended.method == "a"
    assert [c.method for c in choices.candidates if not c.front] == ["d"]
    assert choices.failed == (("e, k = 5", "too few people"),)
    assert choices.candidates[0].suppressed == 0.1


def test_one_release_that_is_best_in_all_is_one_choice():
    choices = choices_of([row("a", 5, 0.1, 0.1), row("b", 5, 0.2, 0.2)], "ncp")
    assert list(choices.named) == [DETAIL]
    assert choices.candidates[0].names == (DETAIL, BALANCED, PROTECTED)


def test_no_release_is_no_choice():
    choices = choices_of([row("a", 5, None, None, "failed")], "ncp")
    assert not choices.named
    assert choices.recommended is None


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_named_choices_are_never_beaten(points):
    choices = choices_of([row(str(n), 5, *point) for n, point in enumerate(points)], "ncp")
    for one in choices.named.values():
        assert one.front
        assert not any(risk < one.risk and loss < one.loss for risk, loss in points)
    assert choices.recommended.loss == min(loss for _, loss in points)


def figures_in(text):
    return [float(n.replace(",", "")) for n in re.findall(r"([\d,.]+) %", text)]


@pytest.mark.parametrize("method", ["mondrian", "datafly"])
@pytest.mark.parametrize("known", [None, ["sex"], ["birth_date", "postcode"]])
def test_risk_sentences_agree_with_the_library(known, method):
    made = release(3, method)
    found = assess(made, known, seed=0)
    outside = assess(made, known, present=False, seed=0) if made.classes.suppressed else None
    said = answers(found.to_dict(), outside and outside.to_dict())
    assert said[0].share == found.highest_risk
    assert said[0].figure == one_in(found.highest_risk)
    assert said[1].share == (outside or found).highest_risk
    assert said[2].share == found.share
    assert percent(found.share) == said[2].figure
    for answer in said:
        assert all(
            0 <= number <= 100 for number in figures_in(f"{answer.figure} {answer.sentence}")
        )
        assert answer.share is None or 0 <= answer.share <= 1
    assert ("no one" in said[3].figure) == (found.above == 0)
    assert ("no one" in said[4].figure) == (found.forced == 0)


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 1000),
    st.integers(0, 1000),
    st.integers(1, 1000),
)
@examples(200)
def test_no_sentence_exceeds_a_hundred_percent(highest, share, above, forced, people):
    assessment = {
        "known": ["age"], "people": people, "highest_risk": highest, "share": share, "k": 5,
        "above": min(above, people), "forced": min(forced, people), "value": share * people,
        "low": None, "high": None,
    }  # fmt: skip
    for answer in answers(assessment, assessment):
        for text in (answer.figure, answer.sentence):
            assert all(0 <= number <= 100 for number in figures_in(text))


def test_an_empty_release_finds_no_one():
    assert answers({"known": ["age"], "people": 0})[0].figure == "no one"


@given(st.floats(0.0001, 0.5))
def test_one_in_never_understates_a_chance(share):
    stated = int(one_in(share).removeprefix("1 in ").replace(",", ""))
    assert 1 / stated >= share * (1 - 1e-5)
    assert 1 / (stated + 1) <= share * (1 + 1e-5)


def test_the_lattice_has_the_node_of_the_release():
    made = release(3, "datafly")
    view = explore(made.original, made.model, chosen=made.node, max_suppression=0.05)
    assert isinstance(view, LatticeView)
    chosen = view.chosen
    assert dict(zip(view.columns, chosen.levels, strict=True)) == dict(made.node)
    assert chosen.state != "not anonymous"
    top = view[len(view) - 1]
    assert (top.levels, top.state) == (view.heights, "anonymous")
    assert {view[number].levels for number in range(len(view))} == set(
        product(*(range(height + 1) for height in view.heights))
    )
    cheapest = [view[number] for number in view.numbers(["minimal"])]
    assert {node.state for node in cheapest} == {"minimal"}
    assert cheapest == sorted(cheapest, key=lambda node: (node.cost, node.levels))
    assert f"{len(view):,} combinations" in view.summary


def test_a_sample_shows_what_levels_do_to_values():
    table = release().original
    trees = {c.name: c.hierarchy for c in table.quasi_columns if c.hierarchy is not None}
    rows = [["1964-08-10", "40216"], ["not a date", "40216"]]
    names = ["birth_date", "postcode"]
    sample = recode_sample(
        {"postcode": trees["postcode"]},
        {"postcode": 2, "other": 1},
        names,
        rows,
    )
    assert [each.column for each in sample] == ["postcode"]
    pairs = sample[0].pairs
    assert pairs in ((("40216", "402**"),), ())
