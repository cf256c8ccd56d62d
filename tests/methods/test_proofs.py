"""Proofs and bounds against every grouping of small tables, and against every other method."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.cases import ON_SMALL_TABLES, told

import shoal
from shoal import Release, Table
from shoal.errors import ShoalError
from shoal.methods.partition.bound import penalties
from shoal.methods.registry import METHODS
from shoal.privacy import MODELS, parse

GUARANTEES = [
    "k-anonymity(2)",
    "k-anonymity(2) & l-diversity(2, ill)",
    "k-anonymity(2) & k-concealment(3)",
    "k-anonymity(2) & average-risk(0.4)",
    "km-anonymity(2, 2)",
    "l-diversity(2, ill)",
    "entropy-l-diversity(1.8, ill)",
    "recursive-l-diversity(2.5, 2, ill)",
    "t-closeness(0.5, ill)",
    "alpha-k-anonymity(0.7, 2, ill)",
    "delta-disclosure(2, ill)",
    "beta-likeness(1.5, ill)",
    "beta-likeness(1.5, ill) & k-anonymity(2)",
    "risk(0.5)",
    "risk(0.4, weights)",
    "average-risk(0.4)",
    "k-map(3)",
    "delta-presence(0, 0.6)",
    "freeform-anonymity(3)",
    "k-concealment(3)",
    "k-k-anonymity(3)",
    "one-k-anonymity(3)",
    "k-one-anonymity(3)",
]
BOUNDED = ("anneal", "greedy", "k-member", "sorted", "split-carry", "mondrian")
ROWS = 6


def people(seed, rows=ROWS):
    """A few people, and a population that contains them."""
    draw = np.random.default_rng(seed)
    data = {
        "age": draw.integers(20, 30, 2 * rows),
        "sex": draw.choice(["f", "m"], 2 * rows),
        "ill": draw.choice(["flu", "gout", "cold"], 2 * rows),
        "stands_for": draw.integers(1, 9, 2 * rows),
    }
    roles = {"age": "quasi", "sex": "quasi", "ill": "sensitive", "stands_for": "weight"}
    everyone = Table.from_arrow(pa.table(data), roles)
    own = pa.table({name: cells[:rows] for name, cells in data.items()})
    return own, roles, everyone


def asked(seed):
    own, roles, everyone = people(seed)
    table = Table.from_arrow(own, roles)
    return Table(table.columns, weights=table.weights, population=everyone)


def attempted(table, model, method, **options):
    """The release of a method, None if it refuses the model or finds no release."""
    try:
        return shoal.anonymize(table, model, method, **options)
    except ShoalError:
        return None


def groupings(rows):
    """Every division of a few rows, as the group of each."""
    if not rows:
        yield []
        return
    for ids in groupings(rows - 1):
        for group in range(max(ids, default=-1) + 2):
            yield [*ids, group]


def least_loss(table, model):
    """The least loss of any grouping that meets the model; infinite if none does."""
    least = np.inf
    for ids in groupings(len(table)):
        release = Release.of_groups(
            table, np.array(ids), max(ids) + 1, model, use_hierarchies=False
        )
        if penalties(release) < least and release.verify():
            least = penalties(release)
    return least


def test_every_model_is_asked_for():
    named = {part.name for text in GUARANTEES for part in parse(text).parts}
    assert named == set(MODELS)


@pytest.mark.parametrize("text", GUARANTEES)
@pytest.mark.parametrize("seed", range(2))
def test_no_proof_lies_above_a_release_that_meets_the_model(text, seed):
    model, table = parse(text), asked(seed)
    bounded = [attempted(table, model, name, bound=True, **ranges(name)) for name in BOUNDED]
    bounded.append(attempted(table, model, "optimal", time_limit=None))
    proofs = [release.proof for release in bounded if release and release.proof]
    losses = [least_loss(table, model)]
    for name in METHODS:
        options = {**ON_SMALL_TABLES.get(name, {}), **ranges(name)}
        release = attempted(table, model, name, **options)
        if release and release.suppressed is None and not release.claims:
            losses.append(penalties(release))
    with told(text, seed, losses):
        assert all(proof.bound <= min(losses) * (1 + 1e-9) for proof in proofs)
        for release in filter(None, bounded):
            stated = "proven optimal" in release.run.notes
            assert stated <= (release.proof is not None and release.proof.proven)
    if not any(part.equivalent_size for part in model.parts):
        assert not proofs


def ranges(method):
    return {"hierarchies": False} if method == "mondrian" else {}
