"""People found, against all matchings of a few rows of a few people, written out."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.risk.enumeration import people_found, published, releases
from tests.risk.with_people import about, grouped_people, several_rows

from shoal.errors import InputError
from shoal.risk import assess
from shoal.risk.matchings.worm import log_missed

OWNERS = st.lists(st.integers(0, 2), min_size=5, max_size=5)


def agrees(found, expected, person):
    links, risks = expected
    assert found.people == len(risks)
    assert found.value == pytest.approx(float(sum(risks.values())))
    assert found.links == pytest.approx(float(links))
    assert found.low <= found.value <= found.high
    for row in np.flatnonzero(found.counts):
        assert found.risks[row] == pytest.approx(float(risks[person[row]]), abs=1e-9)


@given(drawn=several_rows(most=6))
@examples(60)
def test_in_classes_that_do_not_overlap_the_figures_are_exact(drawn):
    person, ids = drawn
    out = [row for row, place in enumerate(ids) if place < 0]
    rows = [(place,) for place in ids]
    cells = [({place},) for place in ids]
    found = assess(grouped_people(person, ids), method="exact")
    agrees(found, people_found(rows, cells, person, (0,), suppressed=out), person)
    assert found.method == "exact"


def test_a_person_with_nine_of_ten_rows_is_always_found():
    found = assess(grouped_people("a" + 9 * "b", 10 * [0]), k=2)
    assert (found.people, found.records) == (2, 10)
    assert found.value == pytest.approx(1 / 10 + 1)
    assert found.links == pytest.approx((1 + 81) / 10)
    assert (found.highest_risk, found.above, found.forced) == (1.0, 1, 0)
    assert found.candidates.tolist() == found.feasible.tolist() == [2] * 10


def test_a_person_in_two_classes_has_two_chances():
    found = assess(grouped_people("abcad", [0, 0, 0, 1, 1]))
    assert found.risks[0] == pytest.approx(1 - (2 / 3) * (1 / 2))
    assert found.risks[3] == found.risks[0]
    assert found.value == pytest.approx(2 / 3 + 1 / 3 + 1 / 3 + 1 / 2)
    assert found.mean_candidates == pytest.approx((2 + 3 + 3 + 2) / 4)


def test_a_person_alone_in_a_class_is_certain():
    found = assess(grouped_people("aabbc", [0, 0, 1, 1, 1]))
    assert (found.forced, found.highest_risk) == (1, pytest.approx(1))


@given(drawn=releases(), person=OWNERS, data=st.data())
@examples(25)
def test_sampled_figures_are_near_those_of_all_matchings(drawn, person, data):
    rows, cells = drawn
    person = person[: len(rows)]
    out = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=1)))
    present = data.draw(st.booleans())
    release = about(published(rows, cells, suppressed=out), person)
    found = assess(release, present=present, half_width=0.02, seed=1)
    links, risks = people_found(rows, cells, person, suppressed=out, present=present)
    value = float(sum(risks.values()))
    assert found.value == pytest.approx(value, rel=0.05, abs=1e-9)
    assert found.links == pytest.approx(float(links), rel=0.1, abs=1e-9)
    for row in np.flatnonzero(found.counts):
        assert found.risks[row] == pytest.approx(float(risks[person[row]]), abs=0.06)
    if found.method == "exact":
        assert found.value == pytest.approx(value)


@given(drawn=releases(most=4), counts=st.lists(st.integers(1, 2), min_size=4, max_size=4))
@examples(15)
def test_a_weighted_table_of_people_is_the_table_written_out(drawn, counts):
    rows, cells = drawn
    person = [0, 0, 1, 1][: len(rows)]
    counts = counts[: len(rows)]
    every = np.repeat(np.arange(len(rows)), counts)
    short = assess(about(published(rows, cells, counts=counts), person), seed=1)
    long = assess(
        about(
            published([rows[i] for i in every], [cells[i] for i in every]),
            [person[i] for i in every],
        ),
        seed=1,
    )
    assert short.records == long.records == sum(counts)
    assert short.value == pytest.approx(long.value, rel=0.03)
    assert short.risks[every] == pytest.approx(long.risks, abs=0.05)


@given(drawn=releases(), known=st.sampled_from([(0,), (0, 1)]))
@examples(30)
def test_people_of_one_row_each_are_found_as_rows_are(drawn, known):
    names = ["ab"[j] for j in known]
    plain = assess(published(*drawn), names, method="exact")
    named = assess(about(published(*drawn), range(len(drawn[0]))), names, method="exact")
    assert named.value == plain.value
    assert named.risks.tolist() == plain.risks.tolist()
    assert named.known_rows == ()


def test_a_doubt_about_an_attribute_is_a_weight_of_rows():
    rows, cells, person = [(0,), (1,), (1,)], [({0},), ({1},), ({1},)], [0, 0, 1]
    found = assess(
        about(published(rows, cells), person), prior={"a": 0.25}, seed=1, half_width=0.005
    )
    links, risks = people_found(rows, cells, person, (0,), rates={0: 0.25})
    assert found.method == "sampled"
    assert found.low <= float(sum(risks.values())) <= found.high
    assert found.links == pytest.approx(float(links), rel=0.02)


def test_overlapping_parts_with_repeated_people_have_no_exact_figure():
    rows, cells = [(0,), (1,), (2,)], [({0, 1},), ({0, 1, 2},), ({1, 2},)]
    release = about(published(rows, cells), [0, 0, 1])
    with pytest.raises(InputError, match="for an estimate"):
        assess(release, method="exact")
    found = assess(release, method="fast")
    assert (found.method, found.low, found.sampled) == ("fast", None, 2)
    _, risks = people_found(rows, cells, [0, 0, 1], (0,))
    assert found.value == pytest.approx(float(sum(risks.values())), rel=0.3)
    assert assess(release, seed=1).sampled == 2


@pytest.mark.parametrize(("n", "a", "b"), [(5, 2, 2), (7, 1, 3), (4, 2, 3), (6, 0, 2)])
def test_the_chance_to_be_missed_is_a_share_of_subsets(n, a, b):
    found = np.exp(log_missed(np.array([n]), np.array([a]), np.array([b])))
    assert found.tolist() == pytest.approx([comb(n - b, a) / comb(n, a)])


def test_households_of_an_assessment_are_found_with_any_member():
    found = assess(grouped_people("abca", [0, 0, 1, 1], household="hhih"))
    a, b, c = found.risks[0], found.risks[1], found.risks[2]
    assert found.household.expected == pytest.approx(1 - (1 - a) * (1 - b) + c)
    assert found.household.k == 1
    assert found.to_dict()["household"]["households"] == 2
