"""Audits of Shoal's own mechanisms: the shipped code runs on small tables that differ in one unit.

`shoal.dp.audit` searches for events that refute a claim; this module supplies the mechanisms and
the tables:

    safe-la            every sample can be enumerated; neighbours differ by one record
    safe-la, people    several rows per person; neighbours differ by one person with all their rows
    regression         the functional logistic regression, with and without one row

An outcome is everything that a release publishes: the node, the rows and the notes.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.dp.audit import Audit, audit
from shoal.dp.audit_exact import ExactAudit, audit_exactly
from shoal.dp.claims import Claim
from shoal.dp.functional_logistic_regression import FunctionalLogisticRegression
from shoal.methods.lattice.safe_la import SafeLA
from shoal.methods.lattice.sampled_draw import SampledDraw
from shoal.privacy.k_anonymity import KAnonymity
from shoal.release.release import Release
from shoal.support.arrays import Bools, Counts, Floats
from shoal.table.hierarchy import Hierarchy
from shoal.table.table import Table

K, BETA, CHOICE, N0 = 4, 0.5, 1.0, 4
PEOPLE_K, SLOTS, PEOPLE_EPSILON = 3, 2, 2.0
REGRESSION_EPSILON = 1.0
_EDGES = np.array([-16.0, -4.0, -1.0, -0.25, 0.0, 0.25, 1.0, 4.0, 16.0])  # of a weight
TOWNS, ILLNESSES = ("a", "b"), ("cold", "flu")
_RECORD_ROLES: dict[str, Any] = {
    "town": {
        "role": "quasi",
        "type": "text",
        "values": TOWNS,
        "hierarchy": Hierarchy.from_rows([(town, "*") for town in TOWNS]),
    },
    "illness": {"role": "sensitive", "type": "text", "values": ILLNESSES},
}
_RECORDS = (
    (("a-flu", 5), ("b-flu", 3), ("a-cold", 1)),  # the only one with a cold
    (("a-flu", 2), ("b-flu", 4), ("a-flu", 1)),  # changes the choice of the node most
    (("a-flu", 5), ("b-flu", 3), ("a-flu", 1)),  # in a class of the worst size
)
_PEOPLE_ROLES: dict[str, Any] = {
    "who": "identifier",
    "visit": {
        "role": "quasi",
        "type": "text",
        "values": ("u", "v"),
        "hierarchy": Hierarchy.from_rows([("u", "*"), ("v", "*")]),
    },
}
_PEOPLE = (
    (("p1", "uu"), ("p2", "uu"), ("p3", "vv"), ("p4", "uu")),
    (("p1", "uv"), ("p2", "v"), ("p3", "v"), ("p4", "uuuuuu")),  # more rows than are used
)
Rows = tuple[Floats, Bools]
Outcome = tuple[Any, ...]


@dataclass(frozen=True)
class AuditCase:
    """A shipped mechanism with neighbouring inputs.

    Parameters:
        about: Short description of what is run.
        claim: What the mechanism claims.
        run: `run(input, generator)` returns everything that one run publishes.
        pairs: Neighbouring inputs: one with a unit, one without it.
        distribution: Returns the probability of every outcome of an input, where it is known.
    """

    about: str
    claim: Claim
    run: Callable[[Any, np.random.Generator], Any]
    pairs: tuple[tuple[Any, Any], ...]
    distribution: Callable[[Any], dict[Any, float]] | None = None

    def by_runs(self, runs: int, confidence: float = 0.999, seed: int = 0) -> Audit:
        """Run the mechanism on every pair and look for events that refute the claim."""
        return audit(self.run, self.pairs, self.claim, runs=runs, confidence=confidence, seed=seed)

    def exactly(self) -> ExactAudit | None:
        """Return the privacy loss of the worst pair, None if probabilities cannot be computed."""
        if self.distribution is None:
            return None
        audits = [
            audit_exactly(self.distribution(first), self.distribution(second), self.claim)
            for first, second in self.pairs
        ]
        return max(audits, key=lambda each: each.delta_found)


def audit_cases() -> dict[str, Callable[[], AuditCase]]:
    """Return the mechanisms that Shoal audits, by name; each builds its case when called."""
    return {
        "safe-la": sampled_case,
        "safe-la, small ε": partial(sampled_case, epsilon=1.2),
        "safe-la, people": people_case,
        "regression": regression_case,
    }


def sampled_case(epsilon: float = CHOICE - math.log(1 - BETA)) -> AuditCase:
    """Return the audit of `safe-la` at this ε, on tables with and without one record."""
    safe_la = SafeLA(epsilon=epsilon, choice=CHOICE, beta=BETA, n0=N0, allow_large_delta=True)
    pairs = []
    for cells in _RECORDS:
        rows = [tuple(cell.split("-")) for cell, count in cells for _ in range(count)]
        with_one, without = (small_table(each) for each in (rows, rows[:-1]))
        model = KAnonymity(K)
        pairs.append((safe_la.prepare(with_one, model), safe_la.prepare(without, model)))
    return AuditCase(
        "a table, with and without one record",
        safe_la.claim(K),
        run_sampled,
        tuple(pairs),
        distribution,
    )


def people_case() -> AuditCase:
    """Return the audit of `safe-la` with up to two rows per person."""
    safe_la, model = people_method(), KAnonymity(PEOPLE_K)
    pairs = tuple(
        (safe_la.prepare(visits(people), model), safe_la.prepare(visits(people[:-1]), model))
        for people in _PEOPLE
    )
    about = "people with up to six rows, with and without one person"
    return AuditCase(about, safe_la.claim(PEOPLE_K, "person"), run_sampled, pairs, distribution)


def people_method() -> SafeLA:
    """Return the method that is audited."""
    return SafeLA(
        epsilon=PEOPLE_EPSILON,
        choice=CHOICE / 2,
        beta=BETA,
        n0=N0,
        max_rows_per_person=SLOTS,
        allow_large_delta=True,
    )


def visits(people: Sequence[tuple[str, str]]) -> Table:
    """Return a table of people, each with the letters of their visits."""
    rows = [(name, visit) for name, letters in people for visit in letters]
    return small_table(rows, _PEOPLE_ROLES, person="who")


def small_table(
    rows: Sequence[Sequence[str]], roles: dict[str, Any] | None = None, **options: Any
) -> Table:
    """Return a declared table of these rows, by default of a town and an illness."""
    roles = _RECORD_ROLES if roles is None else roles
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(roles)
    cells = {
        name: pa.array(column, pa.string()) for name, column in zip(roles, columns, strict=True)
    }
    return Table.from_arrow(pa.table(cells), roles, **options)


def run_sampled(draw: SampledDraw, generator: np.random.Generator) -> Outcome:
    """Release a prepared table once, with a fresh seed."""
    return outcome(draw.draw(int(generator.integers(2**63))))


def outcome(release: Release) -> Outcome:
    """Return everything that a release publishes."""
    rows = release.to_arrow().to_pydict()
    counts = Counter(zip(*rows.values(), strict=True))
    node = tuple((release.node or {}).values())
    return node, tuple(sorted(counts.items())), release.run.notes


def distribution(draw: SampledDraw) -> dict[Outcome, float]:
    """Return the probability of every outcome by enumerating all slots and samples.

    Scores and classes are those of the shipped code. This function assumes that nodes, slots and
    records are drawn with the stated probabilities; audits by runs test that assumption.
    """
    probabilities: dict[Outcome, float] = defaultdict(float)
    for slots, share in _assignments(draw):
        inside = np.flatnonzero(np.sum(slots, axis=0))
        for mask in product((False, True), repeat=len(inside)):
            drawn = np.zeros(len(draw.records), dtype=np.int64)
            drawn[inside[np.array(mask, dtype=np.bool_)]] = 1
            samples = [slot * drawn for slot in slots]
            chances = draw.choice(slots, samples).probabilities
            weight = share * draw.beta ** sum(mask) * (1 - draw.beta) ** (len(mask) - sum(mask))
            for node in np.ndindex(*chances.shape):
                kept = np.sum([draw.in_large_classes(each, node) for each in samples], axis=0)
                shown = _published(draw, node, np.flatnonzero(kept))
                probabilities[node, shown] += weight * float(chances[node])
    return dict(probabilities)


def _assignments(draw: SampledDraw) -> Iterator[tuple[list[Counts], float]]:
    """Yield every assignment of rows to slots with its probability."""
    unit, rows = draw.records.unit, len(draw.records)
    if unit is None:
        none = [np.zeros(rows, dtype=np.int64)] * (draw.slots - 1)
        yield [np.ones(rows, dtype=np.int64), *none], 1.0
        return
    owned = [np.flatnonzero(unit.ids == each) for each in range(unit.count)]
    orders = [list(permutations(each, min(len(each), draw.slots))) for each in owned]
    for chosen in product(*orders):
        slots = [np.zeros(rows, dtype=np.int64) for _ in range(draw.slots)]
        for order in chosen:
            for slot, row in zip(slots, order, strict=False):
                slot[row] = 1
        yield slots, 1 / math.prod(len(each) for each in orders)


def _published(draw: SampledDraw, node: tuple[int, ...], kept: Any) -> tuple[Any, ...]:
    """Return how often each tuple of recoded codes is published."""
    lattice = draw.lattice
    others = [draw.records[name].codes for name in draw.records.sensitive]
    codes = np.stack([*lattice.codes(node), *others])[:, kept]
    return tuple(sorted(Counter(map(tuple, codes.T.tolist())).items()))


def regression_case() -> AuditCase:
    """Return the audit of a fit of one column, on tables with and without one row."""
    rows = np.array([[1.0], [-1.0], [1.0]])
    labels = np.array([True, False, True])
    with_one, without = (rows, labels), (rows[:-1], labels[:-1])
    alone = (rows[:1], labels[:1]), (rows[:0], labels[:0])
    claim = _regression(None).claim
    return AuditCase("the weight of a fit, with and without one row", claim, run_regression, (
        (with_one, without), alone,
    ))  # fmt: skip


def run_regression(data: Rows, generator: np.random.Generator) -> int:
    """Fit once, with a fresh seed, and return the range that the weight falls into."""
    model = _regression(int(generator.integers(2**63))).fit(*data)
    return int(np.searchsorted(_EDGES, float(model.coef_[0, 0])))


def _regression(seed: int | None) -> Any:
    return FunctionalLogisticRegression(
        epsilon=REGRESSION_EPSILON,
        fit_intercept=False,
        bounds=([-1.0], [1.0]),
        classes=(False, True),
        seed=seed,
    )
