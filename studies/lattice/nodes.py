"""Which nodes are likely: the chance of good ones, of the best one, and what guessing scores does.

All chances are computed, not drawn: figures 5.1 and 5.2 to 5.5 and table 5.3 of Li, "Improving a
de-identification algorithm that achieves both k-anonymity and differential privacy", 2019.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.anonymize.lattice.interpolation import DictionaryInterpolation, LevelInterpolation
from shoal.anonymize.lattice.node_choice import Interpolation, NodeChoice, Score, all_published
from shoal.core.table import Table
from shoal.dp import bernoulli
from shoal.support.arrays import Bools
from studies.lattice.methods import BETA
from studies.lattice.tables import Study, reference
from studies.runs import Row, Stopwatch

EPSILONS = (0.01, 0.1, 0.5, 1.0)
PENALTIES = tuple(float(f) for f in np.geomspace(0.1, 50, 28).round(4))
SHORTFALLS = (0.15, 0.05)  # the share of records that a good node may suppress
COARSEST = 0.6  # the generalization that it stays below
SETTINGS: dict[str, dict[str, float]] = {  # of the node, in the tables on best nodes and guesses
    "expected": {"epsilon": 0.1, "penalty": 2.0},
    "published": {"epsilon": 0.5, "penalty": 2.0},
}
Guess = LevelInterpolation | DictionaryInterpolation
SINGLE = 30  # nodes that are counted one by one, to tell what all would take


def good(choice: NodeChoice, shortfall: float) -> Bools:
    """Tell which nodes suppress and generalize little."""
    fine = (choice.suppression < shortfall) & (choice.generalization < COARSEST)
    return np.asarray(fine, dtype=np.bool_)


def scored(
    study: Study,
    table: Table,
    score: Score,
    seed: int,
    interpolation: Interpolation | None = None,
    **options: float,
) -> NodeChoice:
    """Score all nodes: on the table, or on a sample of it as the published mechanism does."""
    if score == "published":
        table = table.take(np.flatnonzero(bernoulli(len(table), BETA, seed)))
    told: dict[str, Any] = {**SETTINGS.get(score, SETTINGS["expected"]), **options}
    return NodeChoice.of(
        table,
        k=study.k,
        beta=BETA,
        n0=study.n0,
        score=score,
        interpolation=interpolation,
        **told,
    )


def good_nodes(study: Study, attributes: int, score: Score, samples: int) -> Row:
    """Return the chance of good nodes for each ε′ and penalty, averaged over samples.

    The sound mechanism looks at all rows, so that there is one table only.
    """
    times = samples if score == "published" else 1
    sums: dict[float, Any] = dict.fromkeys(SHORTFALLS, 0.0)
    number = 0
    for seed in range(times):
        table = study.part(study.split(0)[0], study.named.get(attributes))
        choice = scored(study, table, score, seed)
        number = choice.lattice.nodes
        for shortfall in SHORTFALLS:
            which = good(choice, shortfall)
            sums[shortfall] = sums[shortfall] + choice.grid(EPSILONS, PENALTIES, which) / times
    mass = {str(shortfall): total.tolist() for shortfall, total in sums.items()}
    return {"nodes": number, "mass": mass}


def best_node(study: Study, lattice: str, score: Score) -> Row:
    """Return the chance of the most likely node at ε′ = 0.1 and a penalty of 1.

    lattice: "reference" has the target as one more attribute that may be hidden, "wide" publishes
        it as it is.
    """
    rows = study.split(0)[0]
    table = reference() if lattice == "reference" else study.part(rows)
    with Stopwatch() as took:
        choice = scored(study, table, score, 0, epsilon=0.1, penalty=1.0)
        chances = np.sort(choice.probabilities, axis=None)[::-1]
    best = choice.best
    return {
        "nodes": choice.lattice.nodes,
        "chance": float(chances[0]),
        "second": float(chances[1]),
        "suppression": float(choice.suppression[best]),
        "node": list(best),
        "seconds": took.seconds,
    }


def guesses(shape: Sequence[int]) -> dict[str, Guess]:
    """Return the ways to guess: every other row, and levels of an attribute as published."""
    ways: dict[str, Guess] = {"level": LevelInterpolation()}
    for attribute, level in ((0, 2), (3, 1)):
        if attribute < len(shape) and level < shape[attribute]:
            name = f"dictionary, attribute {attribute}, level {level}"
            ways[name] = DictionaryInterpolation(attribute, level)
    return ways


def interpolated(study: Study, attributes: int, score: Score) -> Row:
    """Hold guessed scores against counted ones: how far off, and what it does to the draw."""
    table = study.part(study.split(0)[0], study.named.get(attributes))
    full = scored(study, table, score, 0)
    fine = good(full, SHORTFALLS[0])
    whole = full.lattice.table.records * (BETA if score == "expected" else 1.0)
    rows = []
    for name, way in guesses(full.lattice.shape).items():
        other = replace(full, kept=way.fill(full.kept))
        off = np.abs(other.kept - full.kept)[way.guessed(full.lattice.shape)] / whole
        rows.append(
            {
                "way": name,
                "guessed": len(off) / full.lattice.nodes,
                "mean off": float(off.mean()),
                "most off": float(off.max()),
                "variation": full.distance(other),
                "good": full.mass(fine),
                "good, guessed": other.mass(fine),
                "same best": other.best == full.best,
            }
        )
    return {"nodes": full.lattice.nodes, "ways": rows}


def timed(study: Study, attributes: int) -> Row:
    """Time one pass over the lattice, and counting nodes one by one, all and half of them."""
    table = study.part(study.split(0)[0], study.named.get(attributes))
    scored(study, table.take(np.arange(2 * study.k)), "expected", 0)  # loads the kernels
    with Stopwatch() as took:
        scored(study, table, "expected", 0)
    lattice = all_published(table)
    picked = np.random.default_rng(0).choice(lattice.nodes, min(SINGLE, lattice.nodes), False)
    nodes = [tuple(int(i) for i in np.unravel_index(n, lattice.shape)) for n in picked]
    lattice.measure_node(nodes[0], study.k)
    begun = time.process_time()
    for node in nodes:
        lattice.measure_node(node, study.k)
    each = (time.process_time() - begun) / len(nodes)
    counted = 1 - float(LevelInterpolation().guessed(lattice.shape).mean())
    return {
        "nodes": lattice.nodes,
        "pass": took.seconds,
        "singly": each * lattice.nodes,
        "singly, half guessed": each * lattice.nodes * counted,
    }
