from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.metrics.strategies import freeform
from tests.risk import naive
from tests.risk.with_people import unit

import shoal
from shoal.errors import InputError
from shoal.release.fitting import Published, fit_people, subsets_of
from shoal.risk import alignment, link, split_for_linkage
from shoal.risk.alignment import best_assignment
from shoal.table.table import Table


def table_of(**columns):
    return Table.from_arrow(pa.table(columns), dict.fromkeys(columns, "quasi"))


def fitting(matrix):
    """Who fits whom by a 0/1 matrix of people and records."""
    people = table_of(x=list(range(len(matrix))))
    codes = np.arange(len(matrix[0]), dtype=np.int32)
    subsets = subsets_of(np.array(matrix, dtype=np.bool_).T)
    return fit_people({"x": Published(codes, subsets)}, people).fits


def weight(fits, found):
    by_person, by_record = fits.degrees
    pairs = zip(found.people, found.records, found.linked, strict=True)
    return sum(n / np.sqrt(by_person[p] * by_record[r]) for p, r, n in pairs)


def best(matrix):
    """The greatest weight over all ways to link, by trying them."""
    rows, columns = len(matrix), len(matrix[0])
    people = [sum(row) for row in matrix]
    records = [sum(row[j] for row in matrix) for j in range(columns)]
    padded = [*range(columns), *([None] * rows)]
    return max(
        sum(
            matrix[i][j] / np.sqrt(people[i] * records[j])
            for i, j in enumerate(chosen)
            if j is not None and matrix[i][j]
        )
        for chosen in set(permutations(padded, rows))
    )


matrices = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=1, max_size=3
    )
)


@examples(40)
@given(matrix=matrices)
def test_no_assignment_weighs_more(matrix):
    fits = fitting(matrix)
    found = best_assignment(fits)
    assert found.exact
    assert weight(fits, found) == pytest.approx(best(matrix))
    for ends, limits in ((found.people, fits.people), (found.records, fits.copies)):
        assert (np.bincount(ends, found.linked, minlength=len(limits)) <= limits).all()


@examples(40)
@given(matrix=matrices, counts=st.lists(st.integers(1, 4), min_size=7, max_size=7))
def test_people_who_fit_the_same_share_what_is_linked(matrix, counts):
    doubled = [row for row in matrix for _ in range(2)]  # kinds of people with equal records
    people = [i for i in range(len(doubled)) for _ in range(counts[i % 7])]
    codes = np.repeat(np.arange(len(matrix[0]), dtype=np.int32), counts[: len(matrix[0])])
    subsets = subsets_of(np.array(doubled, dtype=np.bool_).T)
    fits = fit_people({"x": Published(codes, subsets)}, table_of(x=people)).fits
    found = best_assignment(fits)
    singly = [[doubled[i][j] for j in codes] for i in people]
    assert weight(fits, found) == pytest.approx(solved(singly))
    for ends, limits in ((found.people, fits.people), (found.records, fits.copies)):
        assert (np.bincount(ends, found.linked, minlength=len(limits)) <= limits).all()


def solved(matrix):
    """The greatest weight, person by person."""
    from scipy.optimize import linear_sum_assignment

    fits = np.array(matrix)
    rarity = np.maximum(np.outer(fits.sum(axis=1), fits.sum(axis=0)), 1)
    weights = fits / np.sqrt(rarity)
    return weights[linear_sum_assignment(weights, maximize=True)].sum()


@examples(40)
@given(matrix=matrices)
def test_too_many_edges_are_taken_rarest_first_and_said_so(matrix):
    fits = fitting(matrix)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(alignment, "_MAX_EDGES", 0)
        found = best_assignment(fits)
    assert found.exact == (not any(map(any, matrix)))
    assert best(matrix) / 2 - 1e-9 <= weight(fits, found) <= best(matrix) + 1e-9


@examples(40)
@given(release=freeform().filter(lambda r: r.original.counts is None and naive.people(r)))
def test_pairs_that_fit_are_counted_as_by_hand(release):
    table = release.original
    shown = naive.people(release)
    boxes = {row: naive.cells(release, row) for row in shown}
    degrees = [
        sum(naive.fits(boxes[row], table, one) for row in shown) for one in range(len(table))
    ]
    found = link(release, table, truth=np.arange(len(table)))
    assert (found.people, found.records) == (len(table), len(shown))
    assert found.pairs == sum(degrees)
    assert (found.certain, found.lost) == (degrees.count(1), degrees.count(0))
    assert found.success.present == len(shown)
    guessed = sum(1 / degrees[row] for row in shown)
    assert found.success.guess.value == pytest.approx(guessed)
    assert found.links <= min(len(table), len(shown))
    assert found.success.expected <= found.links + 1e-9


def test_raw_rows_that_differ_are_all_found():
    table = table_of(age=[1, 2, 3, 4], sex=[1, 1, 2, 2])
    split = split_for_linkage(table, 1.0, seed=3)
    found = link(split.released, split.identified, truth=split.truth)
    assert (found.links, found.certain, found.exact) == (4, 4, True)
    assert (found.success.hits, found.success.expected, found.success.blind) == (4, 4, 1)
    assert found.success.precision.value == found.success.recall.value == 1
    assert found.success.guess[:] == (4, 4, 4)
    assert 0.39 < found.success.recall.low < 0.4


def test_ties_are_broken_by_chance_and_right_as_often_as_expected(released):
    release = released({"age": [1, 2, 3, 4, 5, 6]}, [0, 0, 1, 1, 1, 1])
    people = table_of(age=[1, 2, 3, 4, 5, 6])
    truth = np.arange(6)
    runs = [link(release, people, truth=truth, seed=seed).success for seed in range(200)]
    assert runs[0].expected == pytest.approx(2)  # one a class
    assert np.mean([run.hits for run in runs]) == pytest.approx(2, abs=0.25)
    again = link(release, people, truth=truth, seed=7).success
    assert again.hits == runs[7].hits


def test_overlapping_cells_are_told_apart_by_linking_one_to_one():
    # the first person fits both records, the second only one of them
    fits = fitting([[1, 1], [0, 1]])
    found = best_assignment(fits)
    linked = {
        (p, r) for p, r, n in zip(found.people, found.records, found.linked, strict=True) if n
    }
    assert linked == {(0, 0), (1, 1)}


def test_suppressed_people_are_absent_and_strangers_fit_or_not(released):
    release = released({"age": [1, 2, 9]}, [0, 0, -1])
    people = table_of(age=[9, 1, 2, 7])
    found = link(release, people, truth=np.array([2, 0, 1, -1]))
    assert (found.records, found.lost, found.links) == (2, 2, 2)
    assert found.success.present == 2


def test_columns_not_asked_for_are_not_looked_at():
    table = table_of(age=[1, 2, 3], sex=[1, 1, 2])
    found = link(table, table, known=["sex"])
    assert (found.columns, found.certain, found.success) == (("sex",), 1, None)
    assert found.to_dict()["success"] is None


@pytest.mark.parametrize(("share", "both", "alone"), [(1.0, 10, 0), (0.4, 4, 3), (0.0, 0, 5)])
def test_a_table_is_parted_into_two_that_share_people(share, both, alone):
    table = table_of(x=list(range(10)))
    split = split_for_linkage(table, share, seed=1)
    known = split.truth >= 0
    assert known.sum() == both
    assert (len(split.released), len(split.identified)) == (both + alone, both + alone)
    codes = split.released["x"].codes
    assert (codes[split.truth[known]] == split.identified["x"].codes[known]).all()
    assert set(codes) | set(split.identified["x"].codes) == set(range(10))
    assert (np.diff(codes) > 0).all()


def test_a_release_is_harder_to_link_than_the_table():
    table = shoal.datasets.patients(300, 1)
    split = split_for_linkage(table, 0.6)
    known = ["birth_date", "sex", "postcode"]
    release = shoal.anonymize(split.released, shoal.KAnonymity(5), "mondrian")
    raw = link(split.released, split.identified, known=known, truth=split.truth)
    coarse = link(release, split.identified, known=known, truth=split.truth)
    assert raw.success.recall.value > 0.9
    assert coarse.success.recall.high < raw.success.recall.low


@pytest.mark.parametrize(
    ("truth", "told"),
    [([0], "for each identified row"), ([0, 5], "for each identified"), ([1, 1], "at most once")],
)
def test_a_truth_that_cannot_be_is_refused(truth, told):
    table = table_of(x=[1, 2])
    with pytest.raises(InputError, match=told):
        link(table, table, truth=np.array(truth))


def test_weighted_and_empty_tables_have_no_rows_to_link():
    table = Table.from_arrow(pa.table({"x": [1]}), {"x": "quasi"}, counts=[2])
    for refused in (lambda: link(table, table), lambda: split_for_linkage(table, 0.5)):
        with pytest.raises(InputError, match="weighted table cannot be"):
            refused()
    with pytest.raises(InputError, match="nothing to link"):
        link(table_of(x=[1]), table_of(x=[1]).take([]))


def about(table, person):
    return replace(table, person=unit(person))


def test_a_person_is_found_by_any_of_her_rows():
    """Person a has two rows alike, b one like them, c one of her own."""
    table = about(table_of(x=[1, 1, 1, 2]), "aabc")
    found = link(table, table, truth=np.arange(4))
    assert (found.people, found.records, found.links) == (3, 4, 4)
    assert (found.certain, found.lost) == (1, 0)
    won = found.success
    assert won.present == 3
    assert won.recall.value == won.hits / 3
    a = 1 - (1 - 2 / 3) ** 2  # each of two rows takes one of three records, two of them hers
    assert won.guess.value == pytest.approx(a + 1 / 3 + 1)
    assert won.blind == pytest.approx(1 - (1 - 2 / 4) ** 2 + 1 / 4 + 1 / 4)
    runs = [link(table, table, truth=np.arange(4), seed=seed).success for seed in range(100)]
    # a gets two of three records: one of them at least is hers
    assert np.mean([run.hits for run in runs]) == pytest.approx(1 + 1 / 3 + 1, abs=0.15)
    assert won.expected == pytest.approx(1 + 1 / 3 + 1, abs=0.25)


def test_a_name_list_with_one_row_a_person_finds_any_of_her_records():
    records = about(table_of(x=[1, 1, 1]), "aab")
    names = table_of(x=[1, 1])
    won = link(records, names, truth=np.array([0, 2])).success
    assert won.present == 2
    assert won.guess.value == pytest.approx(2 / 3 + 1 / 3)


def test_rows_of_the_name_list_are_of_one_person_where_their_records_are():
    records = about(table_of(x=[1, 2, 3]), "aab")
    won = link(records, table_of(x=[1, 2, 9]), truth=np.array([0, 1, -1])).success
    assert (won.present, won.hits, won.recall.value) == (1, 1, 1.0)
    assert won.precision.value == 1.0


@given(
    values=st.lists(st.integers(0, 1), min_size=2, max_size=5),
    person=st.lists(st.integers(0, 2), min_size=5, max_size=5),
)
@examples(40)
def test_guesses_find_as_many_people_as_all_guesses_written_out(values, person):
    person = person[: len(values)]
    table = about(table_of(x=values), person)
    fitting = [[j for j, other in enumerate(values) if other == value] for value in values]
    every = list(product(*fitting))
    found = [
        len({person[i] for i, j in enumerate(taken) if person[i] == person[j]}) for taken in every
    ]
    won = link(table, table, truth=np.arange(len(values))).success
    assert won.guess.value == pytest.approx(sum(found) / len(every))
    assert won.present == len(set(person))


@pytest.mark.parametrize(("share", "both", "alone"), [(1.0, 6, 0), (0.5, 3, 2), (0.0, 0, 3)])
def test_all_rows_of_a_person_go_where_she_does(share, both, alone):
    person = list("aabbbcddef")
    table = about(table_of(x=list(range(10))), person)
    split = split_for_linkage(table, share, seed=1)
    mine, theirs = (
        {person[code] for code in part["x"].codes} for part in (split.released, split.identified)
    )
    assert (len(mine), len(mine & theirs)) == (both + alone, both)
    for part, people in ((split.released, mine), (split.identified, theirs)):
        assert len(part) == sum(who in people for who in person)
    known = split.truth >= 0
    codes = split.released["x"].codes[split.truth[known]]
    assert (codes == split.identified["x"].codes[known]).all()
