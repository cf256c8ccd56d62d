"""The real mechanism on tiny tables does what the small one does, of which all is known."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.examples import times

from shoal import Hierarchy, KAnonymity, SafeLA, Table, anonymize
from shoal.anonymize.lattice import safe_la
from shoal.anonymize.lattice.lattice import Lattice
from shoal.dp import mechanisms
from shoal.dp.audit import audit
from shoal.dp.audit_bounds import lower_bound, upper_bound
from shoal.dp.audit_examples import EXAMPLES, SmallRelease

SMALL = SmallRelease()
REAL = SafeLA(
    epsilon=SMALL.claim.epsilon,
    choice=SMALL.choice_epsilon,
    beta=SMALL.beta,
    n0=SMALL.cost / SMALL.beta,
)
CELLS = [("a", "flu"), ("a", "cold"), ("b", "flu"), ("b", "cold")]
ALONE = EXAMPLES["sound"].pairs[0]


def table(counts):
    rows = [cell for cell, count in zip(CELLS, counts, strict=True) for _ in range(count)]
    columns = {"town": [row[0] for row in rows], "illness": [row[1] for row in rows]}
    towns = Hierarchy.from_rows([("a", "*"), ("b", "*")])
    return Table.from_arrow(
        pa.table(columns), {"town": "quasi", "illness": "sensitive"}, {"town": towns}
    )


def shown(release):
    """What is published, written as the small mechanism does."""
    level = release.node["town"]
    columns = release.to_arrow().to_pydict()
    counts = Counter(zip(columns["town"], columns["illness"], strict=True))
    cells = [counts["*" if level else town, illness] for town, illness in CELLS]
    return (level, *cells, 0)


def searched(original, generator):
    method = replace(REAL, seed=int(generator.integers(2**31)))
    return shown(method.search(original, KAnonymity(SMALL.k)))


def released(original, generator):
    method = replace(REAL, seed=int(generator.integers(2**31)))
    return shown(anonymize(original, KAnonymity(SMALL.k), method=method))


@pytest.mark.parametrize(("mechanism", "runs"), [(searched, 250), (released, 100)])
def test_outcomes_come_as_often_as_computed(mechanism, runs):
    runs, generator, error = times(runs), np.random.default_rng(5), 1e-6
    original = table(ALONE[0])
    seen = Counter(mechanism(original, generator) for _ in range(runs))
    stated = SMALL.distribution(ALONE[0])
    assert set(seen) <= set(stated)
    for outcome, chance in stated.items():
        hits = seen[outcome]
        assert lower_bound(hits, runs, error) <= chance <= upper_bound(hits, runs, error)


def told_on(outcome):
    """Whether the only one with a cold shows."""
    return outcome[2] > 0


def audited(mechanism=searched):
    pair = tuple(table(counts) for counts in ALONE)
    events = {"the only one with a cold is shown": told_on}
    return audit(mechanism, [pair], REAL.claim(SMALL.k), runs=times(200), events=events)


def test_an_audit_finds_nothing_against_it():
    claim = REAL.claim(SMALL.k)
    assert (claim.epsilon, claim.delta) == (SMALL.claim.epsilon, SMALL.claim.delta)
    found = audited()
    assert not found.violated
    assert found.noticeable_delta < 0.47  # less than either fault below


def test_and_finds_it_out_once_classes_are_counted_without_the_sensitive_column(monkeypatch):
    monkeypatch.setattr(safe_la, "all_published", Lattice.of)
    found = audited()
    assert found.violated
    assert found.worst.others == 0


def test_and_once_a_fixed_share_is_drawn(monkeypatch):
    def fixed(size, beta, seed):
        drawn = np.arange(size) < int(beta * size)
        return np.random.default_rng(seed).permutation(drawn)

    monkeypatch.setattr(mechanisms, "bernoulli", fixed)
    pair = table((8, 0, 8, 0)), table((8, 0, 7, 0))
    events = {"eight in all": lambda outcome: outcome[0] == 1 and outcome[1] == 8}
    found = audit(searched, [pair], REAL.claim(SMALL.k), runs=times(200), events=events)
    assert found.violated
