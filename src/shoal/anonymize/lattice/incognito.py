"""Incognito: a node that is not anonymous in some attributes is not anonymous in more of them.

Searches the lattices of one attribute, then of two, and so on, and evaluates only nodes whose parts
are all anonymous.
LeFevre, DeWitt & Ramakrishnan, "Incognito: efficient full-domain k-anonymity", SIGMOD 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, get_args

import numpy as np

from shoal.anonymize.lattice.lattice import Node
from shoal.anonymize.lattice.objectives import Objective
from shoal.anonymize.lattice.searching import Ground, ask_upwards, check_share, minimal, weigh
from shoal.anonymize.lattice.views import release_at
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.privacy.model import Model
from shoal.support.arrays import Bools
from shoal.support.options import check_choice
from shoal.support.progress import report


@dataclass(frozen=True, kw_only=True)
class Incognito:
    """Full-domain generalization at the minimal node with the least loss, found by subsets.

    max_suppression: share of records that may be suppressed instead of generalized; never all.
    objective: the loss to minimize.

    >>> import shoal
    >>> table = shoal.datasets.load("health-record")
    >>> shoal.anonymize(table, k=2, method=Incognito(objective="loss"))
    Release(incognito, k-anonymity(k=2), rows=7, classes=2, suppressed=0)
    """

    name: ClassVar[str] = "incognito"
    max_suppression: float = 0.0
    objective: Objective = "precision"

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)
        check_choice("objective", self.objective, get_args(Objective))

    def search(self, table: Table, model: Model) -> Release:
        """Return the release at the best minimal node, with all minimal nodes as candidates."""
        ground = Ground.of(table, model, self.max_suppression)
        anonymous, evaluated = _anonymous_nodes(ground)
        nodes = minimal(anonymous)
        if not nodes:
            raise ground.infeasible()
        candidates = weigh(ground, nodes, self.objective)
        return release_at(
            ground.lattice,
            tuple(candidates[0].node.values()),
            model,
            candidates=candidates,
            evaluated=evaluated,
            notes=ground.notes,
        )


def _anonymous_nodes(ground: Ground) -> tuple[Bools, int]:
    """Return which nodes of the whole lattice are anonymous, and the number of evaluated nodes.

    Subsets of attributes exclude nothing if the model is not monotone.
    """
    if not ground.monotone:
        return ask_upwards(ground, ground.lattice, ground.possible)
    width, seen, done = len(ground.lattice.columns), 0, 0
    known: dict[Node, Bools] = {(): np.ones((), dtype=np.bool_)}
    for size in range(1, width + 1):
        fresh: dict[Node, Bools] = {}
        for attributes in combinations(range(width), size):
            possible = _over(ground, attributes)
            allowed = np.ones(possible.shape, dtype=np.bool_)
            for left_out in range(size):
                rest = attributes[:left_out] + attributes[left_out + 1 :]
                allowed &= np.expand_dims(known[rest], left_out)
            fresh[attributes], looked = _grow(ground, attributes, allowed, possible & allowed)
            seen += looked
            done += 1
            report("search", done, 2**width - 1)
        known = fresh
    return known[tuple(range(width))], seen


def _over(ground: Ground, attributes: Node) -> Bools:
    """Return the nodes of some attributes that may be anonymous.

    A node of some attributes has the classes of the node of all attributes whose other levels are
    the highest ones, at which all values are equal.
    """
    every = range(len(ground.lattice.columns))
    return ground.possible[tuple(slice(None) if j in attributes else -1 for j in every)]


def _grow(ground: Ground, attributes: Node, allowed: Bools, possible: Bools) -> tuple[Bools, int]:
    """Return which of the possible nodes are anonymous, and the number of evaluated nodes."""
    if ground.by_size:
        return possible, int(allowed.sum())
    return ask_upwards(ground, ground.lattice.over(attributes), possible)
