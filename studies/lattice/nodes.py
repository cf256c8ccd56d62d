"""The probability of good nodes and of the best node, and the effect of guessed scores.

Probabilities are computed, not sampled, for each draw of rows: figures 5.1 to 5.5 and table 5.3 of
Li, "Improving a de-identification algorithm that achieves both k-anonymity and differential
privacy", 2019.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.dp import bernoulli
from shoal.methods.lattice.node_choice import (
    DictionaryInterpolation,
    Interpolation,
    LevelInterpolation,
    NodeChoice,
    Score,
    all_published,
)
from shoal.support.arrays import Bools
from shoal.table.table import Table
from studies.lattice.methods import BETA
from studies.lattice.tables import Study, reference
from studies.runs import Row, Stopwatch

EPSILONS = (0.01, 0.1, 0.5, 1.0)
PENALTIES = tuple(float(f) for f in np.geomspace(0.1, 50, 28).round(4))
SHORTFALLS = (0.15, 0.05)  # shares of records below which a good node suppresses
COARSEST = 0.6  # the generalization below which it stays
SETTINGS: dict[str, dict[str, float]] = {  # of the node, in the tables on best nodes and guesses
    "expected": {"epsilon": 0.1, "penalty": 2.0},
    "published": {"epsilon": 0.5, "penalty": 2.0},
}
Guess = LevelInterpolation | DictionaryInterpolation
SINGLE = 30  # nodes that are counted one by one, to estimate the time of all


def good(choice: NodeChoice, shortfall: float) -> Bools:
    """Return which nodes suppress and generalize little."""
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
    settings: dict[str, Any] = {**SETTINGS.get(score, SETTINGS["expected"]), **options}
    return NodeChoice.of(
        table,
        k=study.k,
        beta=BETA,
        n0=study.n0,
        score=score,
        interpolation=interpolation,
        **settings,
    )


def good_nodes(study: Study, attributes: int, score: Score, seed: int) -> Row:
    """Return the probability of good nodes for each ε′ and penalty, on one draw of rows."""
    table = study.part(study.split(seed)[0], study.named.get(attributes))
    choice = scored(study, table, score, seed)
    mass = {
        str(shortfall): choice.grid(EPSILONS, PENALTIES, good(choice, shortfall)).tolist()
        for shortfall in SHORTFALLS
    }
    return {"nodes": choice.lattice.nodes, "mass": mass}


def best_node(study: Study, lattice: str, score: Score, seed: int) -> Row:
    """Return the probability of the most likely node at ε′ = 0.1 and a penalty of 1.

    lattice: "reference" has the target as one more attribute that may be hidden, "wide" publishes
        it as it is.
    """
    rows = study.split(seed)[0]
    table = reference() if lattice == "reference" else study.part(rows)
    with Stopwatch() as took:
        choice = scored(study, table, score, seed, epsilon=0.1, penalty=1.0)
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


def interpolated(study: Study, attributes: int, score: Score, seed: int) -> Row:
    """Compare guessed scores with counted ones: their error, and their effect on the draw."""
    table = study.part(study.split(seed)[0], study.named.get(attributes))
    full = scored(study, table, score, seed)
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


def timed(study: Study, attributes: int, seed: int) -> Row:
    """Time one pass over the lattice, and counting nodes one by one, all and half of them."""
    table = study.part(study.split(seed)[0], study.named.get(attributes))
    scored(study, table.take(np.arange(2 * study.k)), "expected", 0)  # loads the kernels
    with Stopwatch() as took:
        scored(study, table, "expected", 0)
    lattice = all_published(table)
    picked = np.random.default_rng(seed).choice(lattice.nodes, min(SINGLE, lattice.nodes), False)
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
