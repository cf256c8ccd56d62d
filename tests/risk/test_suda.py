"""SUDA2 against sets tried one by one, and against the documented examples of sdcMicro."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal import KAnonymity, Table
from shoal.risk import suda


def table(data, **options):
    return Table.from_arrow(pa.table(data), dict.fromkeys(data, "quasi"), **options)


def minimal_sets(rows, people, *, most, missing):
    """Return the minimal sample uniques of each row, by the definition.

    people: who is behind each row; a row may stand for several.
    """
    columns = range(len(rows[0]))

    def is_unique(place, chosen):
        mine = [rows[place][j] for j in chosen]
        if not missing and None in mine:
            return False
        alike = [i for i, row in enumerate(rows) if [row[j] for j in chosen] == mine]
        return len(set().union(*(people[i] for i in alike))) == 1

    found = []
    for place in range(len(rows)):
        sets = []
        for size in range(1, most + 1):
            for chosen in combinations(columns, size):
                parts = combinations(chosen, size - 1) if size > 1 else ()
                if is_unique(place, chosen) and not any(is_unique(place, p) for p in parts):
                    sets.append(chosen)
        found.append(sets)
    return found


@st.composite
def cases(draw):
    columns, rows = draw(st.integers(1, 5)), draw(st.integers(1, 14))
    cells = st.lists(st.sampled_from([None, 0, 1, 2]), min_size=rows, max_size=rows)
    data = {f"c{j}": draw(cells) for j in range(columns)}
    whose = draw(st.sampled_from(["rows", "people", "counts"]))
    numbers = draw(st.lists(st.integers(1, 4), min_size=rows, max_size=rows))
    return data, whose, numbers, draw(st.integers(1, columns)), draw(st.booleans())


@examples(150, deep=5000)
@given(cases())
def test_scores_are_those_of_all_minimal_sets(case):
    data, whose, numbers, most, missing = case
    roles = {name: {"role": "quasi", "kind": "nominal"} for name in data}
    people = [{i} for i in range(len(numbers))]
    if whose == "people":
        people = [{number} for number in numbers]
        source = Table.from_arrow(pa.table({**data, "who": numbers}), roles, person="who")
    elif whose == "counts":
        people = [{(i, copy) for copy in range(number)} for i, number in enumerate(numbers)]
        source = Table.from_arrow(pa.table(data), roles, counts=numbers)
    else:
        source = Table.from_arrow(pa.table(data), roles)
    rows = list(zip(*data.values(), strict=True))
    expected = minimal_sets(rows, people, most=most, missing=missing)
    found = suda(source, most=most, count_missing=missing, threads=2)
    m = len(data)
    for place, sets in enumerate(expected):
        points = {s: math.prod(m - i for i in range(len(s), min(most, m - 1) + 1)) for s in sets}
        assert found.scores[place] == sum(points.values())
        assert found.minimal[place].tolist() == [
            sum(len(s) == size for s in sets) for size in range(1, most + 1)
        ]
        assert found.contributions[place].tolist() == [
            sum(value for s, value in points.items() if j in s) for j in range(m)
        ]
    at_risk = set().union(*(p for p, sets in zip(people, expected, strict=True) if sets))
    assert found.at_risk == len(at_risk)


def test_the_guideline_of_sdcmicro():
    """The ten records of its practice guide, as in its own tests."""
    females, males = "Female", "Male"
    incomplete, complete = "Secondary incomplete", "Secondary complete"
    records = [
        ("Urban", females, incomplete, "Employed"),
        ("Urban", females, incomplete, "Employed"),
        ("Urban", females, "Primary incomplete", "Non-LF"),
        ("Urban", males, complete, "Employed"),
        ("Rural", females, complete, "Unemployed"),
        ("Urban", males, complete, "Employed"),
        ("Urban", females, "Primary complete", "Non-LF"),
        ("Urban", males, "Post-secondary", "Unemployed"),
        ("Urban", females, incomplete, "Non-LF"),
        ("Urban", females, incomplete, "Non-LF"),
    ]
    names = ("residence", "gender", "education", "labour")
    found = suda(table(dict(zip(names, map(list, zip(*records, strict=True)), strict=True))))
    assert found.scores.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def test_the_book_example_of_sdcmicro():
    found = suda(
        table(
            {
                "age": ["20s"] * 7 + ["60s"],
                "gender": ["male"] * 4 + ["female"] * 3 + ["male"],
                "income": ["50k+"] * 2 + ["50k-"] * 6,
                "education": ["high"] * 4 + ["university", "high", "middle", "university"],
            }
        )
    )
    assert found.scores[4:].tolist() == [4, 2, 6, 8]


@pytest.mark.parametrize("order", ["abc", "acb", "cab", "cba"])
def test_the_contributions_of_sdcmicro(order):
    data = {"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]}
    shares = suda(table({name: data[name] for name in order})).by_column
    assert shares == {"a": 0.5, "b": 0.375, "c": 0.375}


def test_dis_is_the_share_of_correct_matches_with_uniques():
    """Three uniques and one pair at a fraction of 0.2: 3·0.2 / (3·0.2 + 2·0.8)."""
    found = suda(table({"a": [1, 2, 3, 4, 4]}), sampling_fraction=0.2)
    assert (found.uniques, found.pairs) == (3, 2)
    assert found.dis == pytest.approx(0.6 / 2.2)
    assert found.dis_scores[:3] == pytest.approx([0.6 / 2.2] * 3)  # equal scores: all have `dis`
    assert found.dis_scores[3:].tolist() == [0, 0]
    assert suda(table({"a": [1, 2]})).dis_scores is None


def test_dis_scores_rise_with_the_scores():
    random = np.random.default_rng(3)
    data = {f"c{j}": random.integers(0, 5, 300) for j in range(5)}
    found = suda(table(data), sampling_fraction=0.05)
    order = np.argsort(found.scores)
    assert (np.diff(found.dis_scores[order]) >= 0).all()
    assert 0 < found.dis_scores[order[-1]] < 1
    counted = sum(each["people"] for each in found.to_dict()["dis_intervals"])
    assert counted == found.at_risk


def test_threads_do_not_matter_and_a_release_has_fewer_uniques():
    patients = shoal.datasets.patients(400, seed=2)
    one, two = (suda(patients, most=3, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.scores, two.scores)
    release = shoal.anonymize(patients, KAnonymity(5), "mondrian")
    assert suda(release, most=3).uniques == 0
    assert suda(release, most=3).at_risk < one.at_risk


def test_too_many_sets_are_refused():
    wide = table({f"c{j}": [1, 2] for j in range(40)})
    with pytest.raises(shoal.InputError, match="choose a smaller most"):
        suda(wide)
    assert suda(wide, most=1).by_size == (80,)
