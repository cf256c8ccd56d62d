"""Assessments against all matchings of a few records, written out."""

import json
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.risk.enumeration import cracks, published, releases

import shoal
from shoal.errors import InputError
from shoal.risk import assess
from shoal.risk import cracks as solving

SETS = st.sampled_from([(), (0,), (1,), (0, 1)])


def names(known):
    return ["ab"[j] for j in known]


def agrees(found, expected):
    """Compare an assessment with risks, candidates and feasible records by row."""
    assert found.value == pytest.approx(float(sum(risk for risk, _, _ in expected.values())))
    assert found.low <= found.value <= found.high
    for row, (risk, fits, feasible) in expected.items():
        assert found.risks[row] == pytest.approx(float(risk))
        assert found.candidates[row] == fits
        assert found.feasible[row] == feasible
    assert found.forced == sum(risk == 1 for risk, _, _ in expected.values())
    assert found.people == len(expected)


@given(drawn=releases(), known=SETS)
@examples(60)
def test_figures_are_those_of_all_matchings(drawn, known):
    agrees(assess(published(*drawn), names(known), method="exact"), cracks(*drawn, known))


@given(drawn=releases(), known=SETS, out=st.sets(st.integers(0, 4)), present=st.booleans())
@examples(60)
def test_people_left_out_compete_where_nobody_is_known_to_be_in(drawn, known, out, present):
    suppressed = sorted(row for row in out if row < len(drawn[0]))
    found = assess(
        published(*drawn, suppressed=suppressed), names(known), present=present, method="exact"
    )
    agrees(found, cracks(*drawn, known, suppressed=suppressed, present=present))
    assert np.isnan(found.risks[suppressed]).all()
    assert not found.candidates[suppressed].any()


@given(drawn=releases(most=3), counts=st.lists(st.integers(1, 2), min_size=3, max_size=3))
@examples(40)
def test_a_weighted_table_is_the_table_written_out(drawn, counts):
    rows, cells = drawn
    counts = counts[: len(rows)]
    every = np.repeat(np.arange(len(rows)), counts)
    short = assess(published(rows, cells, counts=counts))
    long = assess(published([rows[i] for i in every], [cells[i] for i in every]))
    assert short.value == pytest.approx(long.value)
    assert short.risks[every] == pytest.approx(long.risks)
    assert (short.people, short.forced, short.above) == (long.people, long.forced, long.above)
    assert short.mean_feasible == pytest.approx(long.mean_feasible)


@given(
    drawn=releases(most=4),
    rates=st.dictionaries(st.integers(0, 1), st.sampled_from([0, 0.125, 0.5])),
)
@examples(60)
def test_doubts_about_attributes_are_weights(drawn, rates):
    found = assess(published(*drawn), prior={"ab"[j]: rate for j, rate in rates.items()})
    exact = {j: Fraction(rate) for j, rate in rates.items()}
    agrees(found, cracks(*drawn, rates=exact))


@given(drawn=releases(most=4), seed=st.integers(0, 2**32))
@examples(40)
def test_a_prior_of_person_times_record_changes_nothing(drawn, seed):
    rows, _ = drawn
    drawing = np.random.default_rng(seed)
    mine, theirs = drawing.random((2, 9)) + 0.1
    kind = np.array([3 * a + b for a, b in rows])
    release = published(*drawn)

    def held(people, records):
        return mine[kind[people]] * theirs[release.classes.ids[records]]

    assert assess(release, prior=held).risks == pytest.approx(assess(release).risks)


def test_a_function_says_which_pairs_are_likelier():
    cells = [({0, 1},), ({0, 1, 2},), ({1, 2},)]
    release = published([(0,), (1,), (2,)], cells)

    def favouring(people, records):
        return np.where(people == records, 3.0, 1.0)

    ways = [
        way for way in permutations(range(3)) if all(i in cells[j][0] for i, j in enumerate(way))
    ]
    right = [sum(i == j for i, j in enumerate(way)) for way in ways]
    mass = [3**number for number in right]
    expected = sum(m * number for m, number in zip(mass, right, strict=True)) / sum(mass)
    assert assess(release).value == pytest.approx(sum(right) / len(ways))
    assert assess(release, prior=favouring).value == pytest.approx(expected)


@given(drawn=releases(most=6))
@examples(60)
def test_feasible_records_are_those_of_k_concealment(drawn):
    release = published(*drawn)
    found = assess(release)
    assert found.feasible.tolist() == release.coverage.matchable().tolist()
    assert found.feasible.min() == shoal.KConcealment(2).level_for(release.coverage)


@pytest.fixture(scope="module")
def loose():
    """A release of 120 people in one column, whose sets overlap from one end to the other."""
    rows = [(i // 3,) for i in range(120)]
    cells = [(set(range(i // 3 - i % 2, i // 3 + 2 + i % 3 // 2)),) for i in range(120)]
    return published(rows, cells)


def test_what_cannot_be_swept_is_walked(loose, monkeypatch):
    exact = assess(loose, method="exact")
    monkeypatch.setattr(solving, "_MAX_SECONDS", 0)
    walked = assess(loose, seed=1, half_width=0.03)
    assert (exact.method, walked.method) == ("exact", "sampled")
    assert walked.sampled == exact.people
    half = walked.high - walked.value
    assert 0 < half <= 0.03 * walked.value
    assert abs(walked.value - exact.value) <= 2 * half
    assert walked.risks == pytest.approx(exact.risks, abs=0.1)
    assert walked.risks.sum() == pytest.approx(exact.value, rel=0.05)
    values = [assess(loose, seed=1, half_width=0.1, threads=threads).value for threads in (1, 2)]
    assert values[0] == values[1]


def test_walks_leave_settled_parts_alone(loose, monkeypatch):
    """One part is settled at sight, the other is walked, together with people outside."""
    rows = [*((i,) for i in range(20)), (90,), (90,), (91,)]
    cells = [*(({i, (i + 1) % 20, (i + 5) % 20},) for i in range(20)), ({90},), ({90},), ({91},)]
    release = published(rows, cells, suppressed=[3, 4])
    exact = assess(release, present=False, method="exact")
    monkeypatch.setattr(solving, "_MAX_SECONDS", 0)
    walked = assess(release, present=False, seed=2, half_width=0.05)
    assert walked.method == "sampled"
    assert abs(walked.value - exact.value) <= 2 * (walked.high - walked.value)
    plain = assess(published(rows, cells), seed=2, half_width=0.05)
    assert plain.risks[20:].tolist() == [0.5, 0.5, 1.0]
    assert plain.forced == 1
    assert plain.sampled == 20


def test_a_guess_says_that_it_is_one(loose):
    found = assess(loose, method="fast")
    assert found.method == "fast"
    assert (found.low, found.high) == (None, None)
    assert "far off" in found.guarantee
    assert found.value == pytest.approx(assess(loose, method="exact").value, rel=0.1)


def test_one_over_candidates_is_not_the_risk():
    """Three people, and only one can have the third record: the others are found as often."""
    release = published([(0,), (0,), (1,)], [({0},), ({0, 1},), ({0, 1},)])
    found = assess(release)
    assert found.value == pytest.approx(float(sum(r for r, _, _ in _by_hand().values())))
    assert (1 / found.candidates).sum() < found.value


def _by_hand():
    return cracks([(0,), (0,), (1,)], [({0},), ({0, 1},), ({0, 1},)], (0,))


def test_classes_that_do_not_overlap_are_found_once_each(released):
    columns = {"age": [20, 21, 22, 40, 41, 60, 61], "disease": list("abcdefg")}
    release = released(columns, [0, 0, 0, 1, 1, -1, -1])
    found = assess(release)
    assert (found.value, found.low, found.high, found.method) == (2.0, 2.0, 2.0, "exact")
    assert found.risks[:5].tolist() == [1 / 3] * 3 + [1 / 2] * 2
    assert (found.people, found.highest_risk, found.above, found.forced) == (5, 0.5, 0, 0)
    assert assess(release, k=3).above == 2
    assert assess(release, ["age", "disease"]).value == 5  # what is published as it is, is found
    assert assess(release, []).value == pytest.approx(1)


def test_nobody_released_is_nobody_found():
    found = assess(published([(0,), (1,)], [({0, 1},)] * 2, suppressed=[0, 1]))
    assert (found.value, found.people, found.share, found.highest_risk) == (0.0, 0, 0.0, 0.0)
    assert (found.above_share, found.mean_candidates) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"known": ["c"]}, "no attribute 'c'"),
        ({"known": "a"}, "a list of attributes"),
        ({"method": "quick"}, "method must be one of auto, exact, fast"),
        ({"half_width": 0}, "half_width must be more than 0"),
        ({"k": 0}, "k must be a whole number"),
        ({"prior": {"c": 0.1}}, "no known attribute 'c'"),
        ({"prior": {"a": 0.7}}, "at most 0.5"),
        ({"prior": {"a": 0.1}, "present": False}, "does not cover people outside"),
        ({"prior": lambda people, records: people * 0.0}, "above 0"),
    ],
)
def test_wrong_questions_are_refused(options, told):
    with pytest.raises(InputError, match=told):
        assess(published([(0, 0), (1, 1)], [({0, 1}, {0, 1})] * 2), **options)


def test_a_release_that_was_not_made_by_coarsening_is_refused():
    release = published([(0,), (1,), (2,)], [({1, 2},), ({0, 1},), ({0, 2},)])
    with pytest.raises(InputError, match="1 row has values outside"):
        assess(release)


def test_too_little_structure_for_exact_values_is_said(monkeypatch, loose):
    monkeypatch.setattr("shoal.risk.matchings.profile.MAX_STEPS", 10)
    with pytest.raises(InputError, match="120 people are in components"):
        assess(loose, method="exact")


def test_more_people_than_a_walk_can_hold_are_refused(monkeypatch, loose):
    monkeypatch.setattr(solving, "_MAX_SECONDS", 0)
    monkeypatch.setattr(solving, "_MAX_PEOPLE", 119)
    with pytest.raises(
        InputError,
        match="120 people are in components too large to solve exactly, more than can be",
    ):
        assess(loose)


def test_parts_beyond_the_budget_are_walked_too(monkeypatch):
    """Two parts alike; the sweep of the first leaves nothing for the second."""
    rows = [(i,) for i in (0, 1, 2, 3, 10, 11, 12, 13)]
    cells = [(set(range(v - v % 10, min(v + 2, v - v % 10 + 4))),) for (v,) in rows]
    release = published(rows, cells)
    exact = assess(release)
    monkeypatch.setattr(solving, "_MAX_TOTAL_SECONDS", 3e-5)
    mixed = assess(release, seed=1, half_width=0.05)
    assert (exact.sampled, mixed.sampled) == (0, 4)
    assert mixed.risks[:4].tolist() == exact.risks[:4].tolist()
    assert mixed.value == pytest.approx(exact.value, rel=0.1)
    assert mixed.low < exact.value < mixed.high


def test_words_hold_no_cell(loose):
    found = assess(loose, seed=1, prior={"a": 0.25})
    told = json.dumps(found.to_dict()) + repr(found)
    assert "v1" not in told
    assert "a with probability 0.25" in told
    assert "everyone in the release" in told
    assert "not which of them" in " ".join(assess(loose, present=False).assumptions)
