"""What classes show of sensitive values where people have several rows, recounted by loops."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.risk.enumeration import published, releases
from tests.risk.with_people import about, grouped_people, several_rows

from shoal.privacy import FreeformAnonymity
from shoal.risk import checks, homogeneity, similarity, skewness
from shoal.risk.sensitive import Candidates
from shoal.table.column import Column

LETTERS = st.lists(st.sampled_from("abc"), min_size=9, max_size=9)


@given(drawn=several_rows(), ill=LETTERS)
@examples(80)
def test_people_are_counted_once_in_every_class(drawn, ill):
    person, ids = drawn
    ill = ill[: len(ids)]
    showing = defaultdict(lambda: defaultdict(set))
    members = defaultdict(set)
    for who, place, value in zip(person, ids, ill, strict=True):
        if place >= 0:
            showing[place][value].add(who)
            members[place].add(who)
    certain, nearly, largest = set(), set(), 0.0
    for place, values in showing.items():
        top = max(len(people) for people in values.values()) / len(members[place])
        largest = max(largest, top)
        certain |= members[place] if len(values) == 1 else set()
        nearly |= members[place] if top >= 0.9 else set()
    found = homogeneity(grouped_people(person, ids, disease=ill), "disease")
    assert found.people == len(set().union(*members.values()))
    assert (found.certain, found.nearly) == (len(certain), len(nearly))
    assert found.largest == pytest.approx(largest)
    everybody = set(person)
    shares = [
        len({w for w, v in zip(person, ill, strict=True) if v == value}) / len(everybody)
        for value in set(ill)
    ]
    assert found.usual == pytest.approx(max(shares))


def test_a_value_that_one_person_repeats_is_not_common():
    """Nine rows of one value are one person's; half of the people have it."""
    release = grouped_people("a" + 9 * "b", 10 * [0], disease=["x"] + 9 * ["y"])
    found = homogeneity(release, "disease")
    assert (found.people, found.certain, found.nearly, found.largest) == (2, 0, 0, 0.5)
    assert skewness(release, "disease").guessed == pytest.approx(0.5)
    assert skewness(release, "disease").rise == 0


def with_disease(release, ill):
    column = Column.encode("disease", list(ill), "sensitive")
    table = release.original
    columns = (*table.columns, column)
    return type(release)(
        type(table)(columns, person=table.person), release.recodings, FreeformAnonymity(99)
    )


@given(drawn=releases(), ill=LETTERS, person=st.lists(st.integers(0, 2), min_size=5, max_size=5))
@examples(60)
def test_candidates_by_coverage_are_people(drawn, ill, person):
    rows, cells = drawn
    person, ill = person[: len(rows)], ill[: len(rows)]
    release = with_disease(about(published(rows, cells), person), ill)
    found = Candidates.of(release, "disease")
    place = {label: code for code, label in enumerate(release.original["disease"].labels)}
    for i, row in enumerate(rows):
        fitting = [
            j for j, cell in enumerate(cells) if all(v in c for v, c in zip(row, cell, strict=True))
        ]
        showing = defaultdict(set)
        for j in fitting:
            showing[place[ill[j]]].add(person[j])
        group = release.coverage.tuples[i]
        span = slice(*found.values.indptr[group : group + 2])
        counted = dict(
            zip(found.values.codes[span].tolist(), found.values.counts[span].tolist(), strict=True)
        )
        assert counted == {value: len(people) for value, people in showing.items()}
        assert found.sizes[group] == len({person[j] for j in fitting})
    assert found.total == len(set(person))
    assert found.count(np.ones(len(found), dtype=np.bool_)) == found.total


def test_close_values_are_counted_by_people():
    release = grouped_people("aabc", [0, 0, 0, 1], disease=[1, 2, 3, 90])
    assert similarity(release, "disease").people == 3
    assert [check.name for check in checks(release)] == ["homogeneity", "skewness", "similarity"]
