"""Split & Carry follows its published example, keeps its bound on sizes and leaves nobody out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal import KAnonymity, SplitCarry, Table
from shoal.methods.partition.carrying import (
    Chain,
    Links,
    carry_least_loss,
    carry_published,
    carry_worst,
    solve_small,
)
from shoal.methods.partition.records import hilbert_order, lay_out
from shoal.methods.partition.split_carry import link
from shoal.support.progress import listening

FIRST = [12, 1, 11, 14, 7, 10, 16, 19, 13]  # Table 3.3a
CARRIED = [14, 7, 10, 16, 19, 13]
OPTIMUM = [  # Table A.1b
    {1, 11, 12},
    {5, 6, 8, 9},
    {7, 10, 16},
    {13, 14, 19},
    {0, 2, 15, 17},
    {3, 4, 18},
]
CHAINS = [
    {},
    {"sets_read": 2, "boundary": 1},
    {"sets_read": 4, "boundary": 5},
    {"carry": "least-loss"},
    {"carry": "least-loss", "boundary": 1},
    {"carry": "bubble"},
    {"carry": "bubble", "problem_size": 17, "accepted": 1},
    {"carry": "bubble", "accepted": 9},
    {"order": "hilbert"},
    {"time_limit": 0},
]


def numbers(rows, columns=3, seed=0, values=30):
    draw = np.random.default_rng(seed)
    data = {f"q{j}": draw.integers(0, values, rows) for j in range(columns)}
    return Table.from_arrow(pa.table(data), dict.fromkeys(data, "quasi"))


def chain_of(records, k, **options):
    return Chain(records, k, link(SplitCarry(**options), k))


def classes(release):
    ids = release.classes.ids
    return sorted(sorted(np.flatnonzero(ids == c).tolist()) for c in np.unique(ids))


def test_the_first_problem_of_the_published_example_is_solved_and_carried_as_published():
    records = lay_out(shoal.datasets.load("fars-sample"))
    part = records.take(np.arange(9))
    assert part.rows.tolist() == FIRST
    solved = solve_small(part, 3)
    groups = [set(part.rows[solved.ids == g].tolist()) for g in range(3)]
    assert sorted(map(sorted, groups)) == [[1, 11, 12], [7, 10, 16], [13, 14, 19]]
    assert part.rows[carry_published(solved.ids, 3, 3)].tolist() == CARRIED


def test_the_published_example_ends_at_the_optimum():
    table = shoal.datasets.load("fars-sample")
    release = shoal.anonymize(table, KAnonymity(3), "split-carry")
    assert classes(release) == sorted(map(sorted, OPTIMUM))
    records = lay_out(table)
    chain = chain_of(records, 3)
    ids = chain.solve(np.arange(20))
    assert records.loss(ids) == pytest.approx(19.26613, abs=1e-5)
    assert chain.sizes == [9, 17]  # Tables 3.3a and 3.4a
    assert release.run.notes == (
        "2 sub-problems of 13.0 records on average, at most 17; "
        "each was solved to a proven optimum",
    )


@pytest.mark.parametrize("options", CHAINS, ids=str)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_every_record_ends_in_a_group_of_k(options, k):
    for rows in [2 * k, 2 * k + 1, 6 * k - 1, 6 * k + 1, 9 * k, 61]:
        for seed in range(3):
            table = numbers(rows, seed=seed, values=8)
            records = lay_out(table)
            chain = chain_of(records, k, **options)
            ids = chain.solve(np.arange(rows), options.get("time_limit"))
            sizes = np.bincount(ids)
            assert len(ids) == rows
            assert sizes.min() >= k
            assert sizes.max() < 2 * k
            assert max(chain.sizes) <= chain.most


@given(
    rows=st.integers(4, 90),
    k=st.integers(2, 4),
    sets=st.integers(2, 4),
    boundary=st.integers(1, 4) | st.none(),
    carry=st.sampled_from(["published", "least-loss"]),
    columns=st.integers(1, 3),
    values=st.sampled_from([2, 5, 50]),
    seed=st.integers(0, 99),
)
@examples(80)
def test_no_problem_is_larger_than_lemma_2_allows(
    rows, k, sets, boundary, carry, columns, values, seed
):
    records = lay_out(numbers(max(rows, 2 * k), columns, seed, values))
    chain = chain_of(records, k, sets_read=sets, boundary=boundary, carry=carry)
    ids = chain.solve(np.arange(len(records)), 0)
    assert max(chain.sizes) <= k * sets + (boundary or k) * (2 * k - 1)
    if boundary in (None, k):
        assert max(chain.sizes) <= k * (2 * k - 1 + sets)
    assert np.bincount(ids).min() >= k


@pytest.mark.parametrize("sets", [3, 4, 5])
def test_sizes_rarely_come_near_the_bound(sets):
    chain = chain_of(lay_out(numbers(1200, 4, sets, 9)), 3, sets_read=sets)
    chain.solve(np.arange(1200))
    sizes = np.array(chain.sizes)
    assert sizes[0] == 3 * sets
    assert (sizes[1:-1] >= 3 * sets + 3).all()  # the class of the last record at least
    assert np.median(sizes) < 3 * sets + 8
    assert (sizes > 3 * sets + 12).mean() < 0.05
    assert chain.unproven == 0


def test_a_class_is_carried_whole_unless_its_rest_is_enough_for_itself():
    def carried(ids, last, k):
        return np.flatnonzero(carry_published(np.array(ids, np.int32), last, k)).tolist()

    assert carried([0, 0, 0, 1, 1, 1], 1, 3) == [3, 4, 5]
    assert carried([0, 0, 0, 1, 0, 1, 1], 2, 3) == [3, 5, 6]
    assert carried([0, 0, 0, 0, 0, 1, 1, 1], 3, 3) == [5, 6, 7]
    assert carried([1, 0, 0, 0, 1, 0, 1, 0], 2, 3) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert carried([0, 0, 0, 0, 0, 0], 1, 3) == [3, 4, 5]  # three stay, three go
    assert carried([0, 0, 0, 0, 0], 1, 3) == [0, 1, 2, 3, 4]


def test_least_loss_hands_on_what_a_class_can_spare():
    ages = [0, 10, 11, 12, 40, 50, 51, 52]
    records = lay_out(Table.from_arrow(pa.table({"age": ages}), {"age": "quasi"}))
    ids = np.array([0, 0, 0, 1, 1, 1, 1, 1], dtype=np.int32)
    carried = carry_least_loss(records, ids, 1, 3)
    assert np.flatnonzero(carried).tolist() == [5, 6]  # without 12 or 40 the class would be tighter
    whole = carry_least_loss(records, np.zeros(6, np.int32), 1, 6)
    assert whole.all()


def test_bubble_hands_on_all_but_the_tightest_classes():
    ages = [0, 9, 20, 21, 40, 44, 60, 63]
    records = lay_out(Table.from_arrow(pa.table({"age": ages}), {"age": "quasi"}))
    ids = np.arange(8, dtype=np.int32) // 2
    assert np.flatnonzero(carry_worst(records, ids, 2)).tolist() == [0, 1, 4, 5]
    assert not carry_worst(records, ids, 4).any()


@pytest.mark.parametrize("carry", ["published", "least-loss", "bubble"])
def test_a_chain_loses_less_than_neighbours_k_at_a_time(carry):
    table = numbers(400, 4, 7, 12)
    records = lay_out(table)
    chain = chain_of(records, 3, carry=carry)
    for along in (np.arange(400), hilbert_order(records)):
        plain = np.empty(400, dtype=np.int32)
        plain[along] = np.minimum(np.arange(400) // 3, 132)
        assert records.units(chain.solve(along)) < records.units(plain)


def test_one_problem_for_the_whole_table_is_the_optimum():
    records = lay_out(numbers(18, 3, 4, 9))
    chain = chain_of(records, 3, sets_read=6)
    assert records.units(chain.solve(np.arange(18))) == solve_small(records, 3).loss
    assert chain.sizes == [18]


def test_weights_change_what_is_kept_apart():
    table = shoal.datasets.load("fars-sample")
    plain = shoal.anonymize(table, KAnonymity(3), "split-carry")
    by_name = {"AGE": 0.8, "SEX": 0.05, "INJ_SEV": 0.1, "DRINKING": 0.05}
    heavy = shoal.anonymize(table, KAnonymity(3), "split-carry", weights=by_name, sets_read=6)

    def mean_width(release):
        ages = np.array(table["AGE"].values)[table["AGE"].codes]
        return sum(np.ptp(ages[c]) * len(c) for c in classes(release)) / 20

    assert mean_width(heavy) < mean_width(plain) / 2  # Table A.1c


def test_without_time_the_notes_tell_what_is_unproven():
    release = shoal.anonymize(numbers(60), KAnonymity(4), "split-carry", time_limit=0)
    assert "may not be optimal" in release.run.notes[0]


def test_progress_ends_with_all_records():
    told = []
    with listening(told.append):
        shoal.anonymize(numbers(50), KAnonymity(3), "split-carry")
    steps = [(p.done, p.total) for p in told if p.stage == "solve"]
    assert steps[-1] == (50, 50)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sets_read": 1}, "sets_read must be"),
        ({"boundary": 0}, "boundary must be"),
        ({"carry": "all"}, "carry must be one of"),
        ({"order": "age"}, "order must be one of"),
        ({"time_limit": -1}, "time_limit must be"),
        ({"problem_size": 12}, "carry='bubble'"),
        ({"accepted": 2}, "carry='bubble'"),
        ({"carry": "bubble", "accepted": 0}, "accepted must be"),
        ({"carry": "bubble", "problem_size": 5}, "problem_size must be 6 or more"),
    ],
)
def test_options_outside_their_range_are_refused(options, message):
    with pytest.raises(shoal.InputError, match=message):
        shoal.anonymize(numbers(30), KAnonymity(3), "split-carry", **options)


def test_links_follow_k():
    assert link(SplitCarry(), 3) == Links("published", 9, 3, 12, 2)
    assert link(SplitCarry(carry="bubble", problem_size=20, accepted=3), 5) == Links(
        "bubble", 15, 5, 20, 3
    )
