"""`safe-la` on tables small enough to enumerate every sample.

An outcome is everything that a release publishes: the node, the rows and the notes.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.anonymize.lattice.safe_la import SafeLA
from shoal.anonymize.lattice.sampled_draw import SampledDraw
from shoal.auditing import AuditCase
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.privacy.k_anonymity import KAnonymity
from shoal.support.arrays import Counts

K, BETA, CHOICE, N0 = 4, 0.5, 1.0, 4
TOWNS, ILLNESSES = ("a", "b"), ("cold", "flu")
Outcome = tuple[Any, ...]
_ROLES: dict[str, Any] = {
    "town": {
        "role": "quasi",
        "type": "text",
        "values": TOWNS,
        "hierarchy": Hierarchy.from_rows([(town, "*") for town in TOWNS]),
    },
    "illness": {"role": "sensitive", "type": "text", "values": ILLNESSES},
}
_PAIRS = (
    (("a-flu", 5), ("b-flu", 3), ("a-cold", 1)),  # the only one with a cold
    (("a-flu", 2), ("b-flu", 4), ("a-flu", 1)),  # changes the choice of the node most
    (("a-flu", 5), ("b-flu", 3), ("a-flu", 1)),  # in a class of the worst size
)


def case(epsilon: float = CHOICE - math.log(1 - BETA)) -> AuditCase:
    """Return the audit of `safe-la` at this ε, on tables with and without one record."""
    method = SafeLA(epsilon=epsilon, choice=CHOICE, beta=BETA, n0=N0, allow_large_delta=True)
    pairs = []
    for cells in _PAIRS:
        rows = [tuple(cell.split("-")) for cell, count in cells for _ in range(count)]
        with_one, without = (small_table(each) for each in (rows, rows[:-1]))
        model = KAnonymity(K)
        pairs.append((method.prepare(with_one, model), method.prepare(without, model)))
    return AuditCase(
        "a table, with and without one record", method.claim(K), run, tuple(pairs), distribution
    )


def small_table(
    rows: Sequence[Sequence[str]], roles: dict[str, Any] | None = None, **options: Any
) -> Table:
    """Return a declared table of these rows, by default of a town and an illness."""
    roles = _ROLES if roles is None else roles
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(roles)
    cells = {
        name: pa.array(column, pa.string()) for name, column in zip(roles, columns, strict=True)
    }
    return Table.from_arrow(pa.table(cells), roles, **options)


def run(draw: SampledDraw, generator: np.random.Generator) -> Outcome:
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
    found: dict[Outcome, float] = defaultdict(float)
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
                found[node, shown] += weight * float(chances[node])
    return dict(found)


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
