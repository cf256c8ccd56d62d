"""Predictive loss: counted once more record by record, and its ends."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.metrics.strategies import freeform, releases, tables

import shoal
from shoal import InputError, KAnonymity, Recoding, Release, Table
from shoal.utility import predictive
from shoal.utility.predictive_loss import sample, untouched

WORTH_LEARNING = {"ill": list("xxyy") * 3, "town": list("aabb") * 3, "note": list("pqrs") * 3}


def of(data, quasi, target="ill", counts=None):
    roles = dict.fromkeys(quasi, "quasi") | {target: "sensitive"}
    return Table.from_arrow(pa.table(data), roles, counts=counts)


def plain(table, suppressed=None, hide=()):
    """Each column as it is, or hidden altogether."""
    recodings = {
        c.name: Recoding.suppressed(c) if c.name in hide else Recoding.identity(c)
        for c in table.quasi_columns
    }
    return Release(table, recodings, KAnonymity(2), suppressed)


@given(tables())
def test_an_untouched_table_loses_nothing(table):
    assert predictive(plain(table)) == 0
    if table["ill"].known > 1:
        assert predictive(plain(table), "ill") == 0


@pytest.mark.parametrize("target", ["ill", None])
def test_a_hidden_table_loses_everything(target):
    table = of(WORTH_LEARNING, ["town", "note"])
    assert predictive(plain(table, hide=["town", "note"]), target) == 1
    assert predictive(plain(table, suppressed=np.ones(12, bool)), target) == 1
    assert predictive(plain(table, suppressed=np.arange(12) > 0), target) == 1  # one is no company


def test_what_matters_is_what_the_target_needs():
    coin = {**WORTH_LEARNING, "note": list("pq") * 6}  # tells nothing of the target
    table = of(coin, ["town", "note"])
    assert predictive(plain(table, hide=["note"]), "ill") == pytest.approx(0, abs=0.05)
    assert predictive(plain(table, hide=["town"]), "ill") > 0.9


def test_where_nothing_can_be_learned_nothing_is_lost():
    table = of({"ill": list("xy") * 4, "town": list("aabb") * 2}, ["town"])
    assert predictive(plain(table, hide=["town"])) == 0
    assert predictive(plain(of({"ill": [], "town": []}, ["town"]))) == 0


@examples(40)
@given(releases | freeform(), st.sampled_from(["ill", None]))
def test_it_is_a_share_and_the_same_each_time(release, target):
    if target and release.original["ill"].known < 2:
        return
    found = predictive(release, target)
    assert 0 <= found <= 1
    assert predictive(release, target) == found


@examples(40)
@given(releases | freeform())
def test_it_is_what_two_readers_learn(release):
    if release.original["ill"].known < 2:
        return
    kept, there = (mean_skill(Naive(each)) for each in (release, untouched(release)))
    lost = 0.0 if there <= 0 else min(max(1 - kept / there, 0.0), 1.0)
    assert predictive(release, "ill") == pytest.approx(lost, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_readers_weigh_many_columns_exactly(seed):
    draw = np.random.default_rng(seed)
    data = {name: draw.integers(0, 6, 40).astype(str).tolist() for name in "abcd"}
    data["ill"] = [
        "xyz"[min(int(a) + int(b), 8) // 3] for a, b in zip(data["a"], data["d"], strict=True)
    ]
    release = shoal.anonymize(of(data, "abcd"), KAnonymity(3), "mondrian")
    kept, there = (mean_skill(Naive(each)) for each in (release, untouched(release)))
    assert predictive(release, "ill") == pytest.approx(1 - kept / there, abs=1e-9)


@examples(40)
@given(releases | freeform())
def test_without_target_it_is_what_pairs_tell(release):
    kept, there = (naive_gains(Naive(each)) for each in (release, untouched(release)))
    lost = 0.0 if there <= 1e-12 else min(max(1 - kept / there, 0.0), 1.0)
    assert predictive(release) == pytest.approx(lost, abs=1e-6)


class Naive:
    """A release as lists: of each record what is published, what is true, and its label."""

    def __init__(self, release):
        table = release.original
        times = np.ones(len(table), int) if table.counts is None else table.counts
        hidden = np.zeros(len(table), bool) if release.suppressed is None else release.suppressed
        columns = list(release.recodings.values())
        self.records = []
        for row in range(len(table)):
            cells = [frozenset(c.subsets.members(int(c.codes[row])).tolist()) for c in columns]
            true = [int(c.column.codes[row]) for c in columns]
            label = int(table["ill"].codes[row])
            told = (cells, true, label, not hidden[row])
            self.records += [told] * int(times[row])
        self.told = [record for record in self.records if record[3]]
        self.labels = table["ill"].known
        self.width = len(columns)

    def share(self, label):
        return Fraction(sum(r[2] == label for r in self.told), len(self.told))


def mean_skill(naive):
    if len(naive.told) < 2:
        return 0.0
    return max((by_column(naive) + nearest(naive)) / 2, 0.0)


def by_column(naive):
    """Odds of each label for each record, as products of exact fractions; then pairs counted."""
    odds = []
    for _, true, _, _ in naive.records:
        weights = []
        for label in range(naive.labels):
            usual = naive.share(label)
            weight = Fraction(max(2 * sum(r[2] == label for r in naive.told), 1), 2)
            for j, value in enumerate(true):
                seen = [Fraction(int(value in r[0][j]), len(r[0][j])) for r in naive.told]
                mine = sum(s for s, r in zip(seen, naive.told, strict=True) if r[2] == label)
                if usual:
                    weight *= (mine + 2 * usual) / (usual * (sum(seen) + 2))
            weights.append(weight)
        odds.append([w / (sum(weights) - w) for w in weights])
    areas = []
    for label in range(naive.labels)[naive.labels == 2 :]:
        ours = [o[label] for o, r in zip(odds, naive.records, strict=True) if r[2] == label]
        others = [o[label] for o, r in zip(odds, naive.records, strict=True) if r[2] != label]
        if ours and others:
            wins = sum((a > b) + Fraction(a == b, 2) for a in ours for b in others)
            areas.append(wins / (len(ours) * len(others)))
    return float(2 * sum(areas) / len(areas) - 1) if areas else 0.0


def nearest(naive):
    """Five places, nearest first; those who are equally near share what is left."""
    usual = [naive.share(label) for label in range(naive.labels)]
    chance = sum(u * u for u in usual)
    if chance == 1:
        return 0.0
    believed = Fraction(0)
    for own, true, label, released in naive.records:
        by_distance = {}
        for cells, _, other, _ in naive.told:
            by_distance.setdefault(distance(cells, true), []).append(other)
        if released:
            by_distance[distance(own, true)].remove(label)
        votes, left = [Fraction(0)] * naive.labels, Fraction(5)
        for away in sorted(by_distance):
            there = by_distance[away]
            part = min(left / len(there), 1) if there else 0
            for other in there:
                votes[other] += part
            left -= part * len(there)
        total = sum(votes) + Fraction(1, 2)
        believed += (votes[label] + usual[label] / 2) / total
    mean = believed / len(naive.records)
    return float((mean - chance) / (1 - chance))


def distance(cells, true):
    return sum(len(c) + 1 - 2 * (v in c) for c, v in zip(cells, true, strict=True))


def naive_gains(naive):
    """The sum over pairs of columns, the label among them, of what they tell of each other."""
    if len(naive.told) < 2:
        return 0.0
    cells = [[*r[0], frozenset([r[2]])] for r in naive.told]
    true = [[*r[1], r[2]] for r in naive.records]
    total = len(cells)
    found = 0.0
    for i in range(naive.width + 1):
        for j in range(i):
            gain = 0.0
            for values in true:
                a, b = values[i], values[j]
                first = [Fraction(int(a in c[i]), len(c[i])) for c in cells]
                second = [Fraction(int(b in c[j]), len(c[j])) for c in cells]
                apart = sum(first) * sum(second) / total
                both = sum(x * y for x, y in zip(first, second, strict=True))
                if apart:
                    ratio = (both + 2 * apart / total) / ((1 + Fraction(2, total)) * apart)
                    gain += math.log(ratio)
            found += max(gain / len(true), 0.0)
    return found


@examples(30)
@given(tables(), st.sampled_from(["ill", None]), st.randoms(use_true_random=False))
def test_a_weighted_row_is_as_many_records(table, target, random):
    if table.counts is None or table["ill"].known < 2:
        return
    rows = np.repeat(np.arange(len(table)), table.counts)
    alone = Table(tuple(column.take(rows) for column in table))
    hide = [name for name in table.quasi if random.random() < 0.5]
    assert predictive(plain(table, hide=hide), target) == pytest.approx(
        predictive(plain(alone, hide=hide), target), abs=1e-9
    )


def test_numbers_are_guessed_by_fifths():
    place = list(range(40))
    data = {"income": [float(i) for i in place], "age": [i // 4 for i in place]}
    table = of(data, ["age"], "income")
    release = shoal.anonymize(table, KAnonymity(20), "mondrian")
    assert 0 < predictive(release, "income") < 1
    assert predictive(plain(table, hide=["age"]), "income") == 1


def test_finer_releases_of_a_census_lose_less():
    table = shoal.datasets.patients(1500, seed=3)
    target = table.sensitive[0]
    fine, coarse = (shoal.anonymize(table, KAnonymity(k), "mondrian") for k in (2, 150))
    assert predictive(fine, target) < predictive(coarse, target)
    assert predictive(fine) < predictive(coarse)


def test_it_says_what_it_needs():
    data = {"ill": list("xy"), "town": list("ab")}
    alone = Table.from_arrow(pa.table(data), {"town": "quasi"})
    with pytest.raises(InputError, match="at least two columns"):
        predictive(plain(alone))
    named = Table.from_arrow(pa.table(data), {"ill": "identifier", "town": "quasi"})
    with pytest.raises(InputError, match="identifier"):
        predictive(plain(named), "ill")
    with pytest.raises(InputError, match="besides the target"):
        predictive(plain(alone), "town")


def test_many_records_are_sampled_by_their_weight():
    rows = sample(np.array([1.0, 0.0, 3.0]), 10)
    assert rows.tolist() == [0, 2, 2, 2]
    drawn = np.bincount(sample(np.array([1e6, 0.0, 3e6]), 1000), minlength=3)
    assert drawn.sum() == 1000
    assert drawn[1] == 0
    assert drawn[2] / 1000 == pytest.approx(0.75, abs=0.06)
