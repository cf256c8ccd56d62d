"""A person with several rows is protected with all of them."""

import math
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal import InputError, KAnonymity, SafeLA, Table
from shoal import auditing as audited
from shoal.auditing import distribution
from shoal.dp import DP, audit_exactly, sampling_delta
from shoal.dp.mechanisms import random_ranks

LOOSE = {"allow_large_delta": True, "n0": 20}
ROLES = {
    "who": "identifier",
    "home": "identifier",
    "town": {"role": "quasi", "type": "text", "values": ["a", "b"]},
}


def visits(rows, **units):
    """A table of rows (who, home, town)."""
    who, home, town = zip(*rows, strict=True)
    cells = pa.table({"who": who, "home": home, "town": town})
    return Table.from_arrow(cells, ROLES, **units)


rows_of_people = st.lists(
    st.tuples(st.sampled_from("pqrstuvw"), st.sampled_from("hij"), st.sampled_from("ab")),
    min_size=1,
    max_size=40,
)


@examples(30)
@given(rows_of_people, st.integers(1, 3), st.integers(2, 3), st.integers(0, 99), st.booleans())
def test_a_person_has_few_rows_in_a_release_and_classes_have_k_people(rows, most, k, seed, homes):
    units = {"person": "who", "household": "home"} if homes else {"person": "who"}
    options = {"epsilon": 3.0, "beta": 0.8, "max_rows_per_person": most, "seed": seed, **LOOSE}
    release = shoal.anonymize(visits(rows, **units), KAnonymity(k), "safe-la", **options)
    assert release.verify()
    shown = (
        np.flatnonzero(~release.suppressed) if release.suppressed is not None else range(len(rows))
    )
    unit = release.original.unit
    owners = [row if unit is None else int(unit.ids[row]) for row in shown]
    assert max(Counter(owners).values(), default=0) <= most
    level = release.node["town"]
    classes = defaultdict(set)
    for row, owner in zip(shown, owners, strict=True):
        classes["*" if level else rows[row][2]].add(owner)
    assert all(len(owners) >= k for owners in classes.values())


def test_which_rows_take_part_is_left_to_chance():
    seen = Counter()
    for seed in range(300):
        ranks = random_ranks(np.array([0, 1, 0, 0], dtype=np.int32), seed)
        assert sorted(ranks[[0, 2, 3]].tolist()) == [0, 1, 2]
        assert ranks[1] == 0
        seen[int(np.flatnonzero(ranks[[0, 2, 3]] == 0)[0])] += 1
    assert min(seen.values()) > 70
    assert len({tuple(random_ranks(np.zeros(6, np.int32))) for _ in range(20)}) > 10


def test_the_claim_adds_up_over_the_slots():
    rows = [(f"p{i}", "h", "a") for i in range(60) for _ in range(3)]
    options = {"epsilon": 2.5, "beta": 0.5, "max_rows_per_person": 3, **LOOSE}
    release = shoal.anonymize(visits(rows, person="who"), KAnonymity(20), "safe-la", **options)
    (claim,) = release.claims
    assert (claim.unit, claim.max_rows_per_person) == ("person", 3)
    assert claim.sampling_epsilon == pytest.approx(0.8)
    assert claim.delta == pytest.approx(3 * sampling_delta(20, 0.5, 0.8))
    assert "neighbours: two tables that differ by one added or removed person" in "".join(
        claim.arithmetic()
    )
    assert "total: ε = 0.1 + 3 · 0.8 = 2.5" in claim.arithmetic()
    assert "At most 3 rows of each person were used" in claim.describe()
    assert 60 < release.to_arrow().num_rows <= 180


def test_the_claim_does_not_depend_on_whether_anybody_has_two_rows():
    told = []
    for rows in ([("p", "h", "a"), ("q", "h", "a")], [("p", "h", "a"), ("p", "h", "a")]):
        release = shoal.anonymize(visits(rows, person="who"), KAnonymity(2), "safe-la", **LOOSE)
        told.append((str(release.claims[0]), release.run.notes, release.to_arrow().num_rows))
    assert [each[:2] for each in told[:1]] == [each[:2] for each in told[1:]]
    assert told[1][2] == 0


@pytest.mark.parametrize(
    ("units", "unit"),
    [
        ({}, "record"),
        ({"person": "who"}, "person"),
        ({"person": "who", "household": "home"}, "household"),
        ({"household": "home"}, "household"),
    ],
)
def test_the_claim_names_what_is_protected(units, unit):
    table = visits([("p", "h", "a"), ("q", "i", "a")], **units)
    (claim,) = shoal.anonymize(table, KAnonymity(2), "safe-la", **LOOSE).claims
    assert claim.unit == unit
    assert claim.neighbours == f"add or remove one {unit}"
    assert SafeLA(**LOOSE).price(KAnonymity(2), table) == claim


def test_rows_per_person_need_people():
    table = visits([("p", "h", "a"), ("q", "i", "a")])
    with pytest.raises(InputError, match="needs a table with person columns"):
        shoal.anonymize(table, KAnonymity(2), "safe-la", max_rows_per_person=2, **LOOSE)
    with pytest.raises(
        InputError, match="the published mechanism supports only one row per person"
    ):
        SafeLA(published=True, max_rows_per_person=2)


@pytest.mark.parametrize("people", ["uu uu", "uv uv vv", "uuv u v", "uuu vvv uv"])
@pytest.mark.parametrize("epsilon", [1.5, 2.0])
def test_no_person_changes_the_outcome_by_more_than_is_claimed(people, epsilon):
    named = [(f"p{i}", visits) for i, visits in enumerate(people.split())]
    method = SafeLA(
        epsilon=epsilon, choice=0.5, beta=0.5, n0=3, max_rows_per_person=2, allow_large_delta=True
    )
    pair = [
        distribution(method.prepare(audited.visits(each), KAnonymity(2)))
        for each in (named, named[:-1])
    ]
    claim = method.claim(2, "person")
    assert not audit_exactly(*pair, claim).violated
    assert math.isclose(sum(pair[0].values()), 1)


def test_and_one_sample_of_it_costs_more_than_a_single_slot_would_claim():
    """So the sum over slots is not there for nothing."""
    method = audited.people_method()
    pair = [
        distribution(method.prepare(audited.visits(each), KAnonymity(2)))
        for each in ((("p", "uu"), ("q", "uu")), (("p", "uu"),))
    ]
    claim = method.claim(2, "person")
    alone = DP(claim.epsilon, claim.delta / 2, "one slot")
    assert audit_exactly(*pair, alone).violated
