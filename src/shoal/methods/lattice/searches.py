"""Published searches of a lattice: Datafly, Incognito, MinGen, OLA and Samarati.

    Datafly      generalize the column with the most values until few records violate the model:
                 greedy and fast, rarely optimal
    Incognito    nodes of one attribute, then of two, and so on: a node that is not anonymous in
                 some attributes is not anonymous in more of them
    MinGen       of all nodes, an anonymous one with the least distortion; ties by preference
    OLA          of all minimal nodes, one with the least loss; a minimal node is anonymous and no
                 node below it is. Optimal if loss and anonymity both increase with the levels
    Samarati     the lowest height with an anonymous node, by bisection; then least suppression

Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS
10(5), 2002 (Datafly and MinGen, as described by de Spoelberch, 2020, algorithms 1 and 2); LeFevre,
DeWitt & Ramakrishnan, "Incognito: efficient full-domain k-anonymity", SIGMOD 2005; El Emam et al.,
"A globally optimal k-anonymity method for the de-identification of health data", JAMIA 16(5), 2009
(OLA, as described by Li, "Improving a de-identification algorithm that achieves both k-anonymity
and differential privacy", 2019); Samarati, "Protecting respondents' identities in microdata
release", TKDE 13(6), 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import ClassVar, get_args

import numpy as np

from shoal.errors import Infeasible
from shoal.methods.lattice.lattice import Lattice, Node, most_suppressed, release_at, view
from shoal.methods.lattice.local import recode_locally
from shoal.methods.lattice.objectives import Costs, Objective
from shoal.methods.lattice.optimum import TIE, find_tied
from shoal.methods.lattice.problem import (
    MinimalNodes,
    Problem,
    ask_upwards,
    cheapest_minimal,
    check_share,
    minimal,
    minimal_nodes,
    weigh,
)
from shoal.privacy.model import Model
from shoal.release.provenance import Candidate
from shoal.release.release import Release
from shoal.support.arrays import Bools
from shoal.support.options import check_choice
from shoal.support.progress import report
from shoal.support.wording import counted
from shoal.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Datafly:
    """Full-domain generalization, one column per step.

    max_suppression: share of records that may be suppressed instead of generalized; by default the
        paper's rule, at most k records.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=Datafly(max_suppression=0.1))
    Release(datafly, k-anonymity(k=5), rows=100, classes=4, suppressed=0)
    """

    name: ClassVar[str] = "datafly"
    by_level: ClassVar[bool] = True
    max_suppression: float | None = None

    def __post_init__(self) -> None:
        if self.max_suppression is not None:
            check_share("max_suppression", self.max_suppression)

    def search(self, table: Table, model: Model) -> Release:
        """Return the first release on the greedy path that meets the model."""
        lattice = Lattice.of(table)
        node, steps = [0] * len(lattice.columns), 0
        if self.max_suppression is None:  # the paper's rule
            limit = model.least_size if model.least_size > 1 else 0
        else:
            limit = most_suppressed(lattice, self.max_suppression)
        while True:
            current = view(lattice, node, model)
            steps += 1
            if current.suppressed <= limit and current.kept.any():
                return release_at(lattice, node, model, evaluated=steps)
            coarser = [j for j, top in enumerate(lattice.heights) if node[j] < top]
            if not coarser:
                raise Infeasible(
                    f"{model} cannot be met: {current.suppressed:,} of "
                    f"{counted(table.records, 'record')} break it even if every "
                    "column is fully generalized"
                )
            values = [len(np.unique(codes)) for codes in lattice.codes(node, current.tuples)]
            node[max(coarser, key=lambda j: values[j])] += 1


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
    by_level: ClassVar[bool] = True
    max_suppression: float = 0.0
    objective: Objective = "precision"

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)
        check_choice("objective", self.objective, get_args(Objective))

    def search(self, table: Table, model: Model) -> Release:
        """Return the release at the best minimal node, with all minimal nodes as candidates."""
        problem = Problem.of(table, model, self.max_suppression)
        anonymous, evaluated = _anonymous_nodes(problem)
        nodes = minimal(anonymous)
        if not nodes:
            raise problem.infeasible()
        candidates = weigh(problem, nodes, self.objective)
        return release_at(
            problem.lattice,
            tuple(candidates[0].node.values()),
            model,
            candidates=candidates,
            evaluated=evaluated,
            notes=problem.notes,
        )


def _anonymous_nodes(problem: Problem) -> tuple[Bools, int]:
    """Return which nodes of the whole lattice are anonymous, and the number of evaluated nodes.

    Subsets of attributes exclude nothing if the model is not monotone.
    """
    if not problem.monotone:
        return ask_upwards(problem, problem.lattice, problem.possible)
    width, seen, done = len(problem.lattice.columns), 0, 0
    anonymous: dict[Node, Bools] = {(): np.ones((), dtype=np.bool_)}
    for size in range(1, width + 1):
        fresh: dict[Node, Bools] = {}
        for attributes in combinations(range(width), size):
            possible = _over(problem, attributes)
            allowed = np.ones(possible.shape, dtype=np.bool_)
            for left_out in range(size):
                rest = attributes[:left_out] + attributes[left_out + 1 :]
                allowed &= np.expand_dims(anonymous[rest], left_out)
            if problem.by_size:
                fresh[attributes], evaluated = possible & allowed, int(allowed.sum())
            else:
                part = problem.lattice.over(attributes)
                fresh[attributes], evaluated = ask_upwards(problem, part, possible & allowed)
            seen += evaluated
            done += 1
            report("search", done, 2**width - 1)
        anonymous = fresh
    return anonymous[tuple(range(width))], seen


def _over(problem: Problem, attributes: Node) -> Bools:
    """Return the nodes of some attributes that may be anonymous.

    A node of some attributes has the classes of the node of all attributes whose other levels are
    the highest ones, at which all values are equal.
    """
    every = range(len(problem.lattice.columns))
    return problem.possible[tuple(slice(None) if j in attributes else -1 for j in every)]


Preference = Callable[[Sequence[Candidate]], Candidate]


@dataclass(frozen=True, kw_only=True)
class MinGen:
    """Full-domain generalization with the best Precision, weighted by attribute.

    max_suppression: share of records that may be suppressed instead of generalized; never all.
    prefer: function that chooses among nodes of equal Precision; by default the first by levels.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=MinGen(max_suppression=0.1))
    Release(mingen, k-anonymity(k=5), rows=100, classes=4, suppressed=0)
    """

    name: ClassVar[str] = "mingen"
    by_level: ClassVar[bool] = True
    max_suppression: float = 0.0
    prefer: Preference | None = None

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release at a node of minimal distortion, chosen by the preference."""
        problem = Problem.of(table, model, self.max_suppression)
        costs = Costs(problem.lattice, "precision")
        tied, seen = find_tied(problem, costs) or _examine_all(problem, costs)
        if not tied:
            raise problem.infeasible()
        prefer = self.prefer or partial(min, key=lambda c: tuple(c.node.values()))
        chosen = prefer(tied)
        best = tuple(chosen.node.values())
        return release_at(problem.lattice, best, model, candidates=tied, evaluated=seen)


def _examine_all(problem: Problem, costs: Costs) -> tuple[list[Candidate], int]:
    """Return the nodes with the least cost, and the number of examined nodes, by a sweep."""
    lattice = problem.lattice
    least, tied, seen = float("inf"), [], 0
    bounds = costs.bound(problem.measures)
    for node in product(*(range(n) for n in lattice.shape)):
        seen += 1
        if seen % 4096 == 0:
            report("search", seen, lattice.nodes)
        if not problem.possible[node] or bounds[node] > least + TIE:
            continue
        node_view = view(lattice, node, problem.model)
        if node_view.suppressed > problem.limit:
            continue
        value = costs.exact(node, node_view)
        candidate = Candidate(lattice.named(node), value, node_view.suppressed)
        if value < least - TIE:
            least, tied = value, [candidate]
        elif value <= least + TIE:
            tied.append(candidate)
    return tied, seen


@dataclass(frozen=True, kw_only=True)
class Ola:
    """Full-domain generalization at the minimal node with the least loss.

    max_suppression: share of records that may be suppressed instead of generalized; never all.
    objective: the loss to minimize.
    local: publish rows in rounds, each at the node whose levels cost its rows least, until the rest
        cannot form a class; rows then differ in level.
    step: least share of its rows that a round of local recoding publishes; smaller steps lose less
        and take longer.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=Ola(local=True))
    Release(ola, k-anonymity(k=5), rows=100, classes=16, suppressed=4)
    """

    name: ClassVar[str] = "ola"
    by_level: ClassVar[bool] = True
    max_suppression: float = 0.05
    objective: Objective = "precision"
    local: bool = False
    step: float = 0.02

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)
        check_choice("objective", self.objective, get_args(Objective))
        check_choice("local", self.local, (True, False))
        check_share("step", self.step)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release at the best minimal node, with all minimal nodes as candidates."""
        if self.local:
            return recode_locally(table, model, self.objective, self.max_suppression, self.step)
        problem = Problem.of(table, model, self.max_suppression)
        candidates: Sequence[Candidate]
        if found := cheapest_minimal(problem, self.objective):
            best, evaluated = found
            candidates = MinimalNodes(problem, self.objective, best) if best else ()
        else:
            nodes, evaluated = minimal_nodes(problem)
            candidates = weigh(problem, nodes, self.objective)
            best = candidates[0] if candidates else None
        if best is None:
            raise problem.infeasible()
        return release_at(
            problem.lattice,
            tuple(best.node.values()),
            model,
            candidates=candidates,
            evaluated=evaluated,
            notes=problem.notes,
        )


@dataclass(frozen=True, kw_only=True)
class Samarati:
    """Full-domain generalization with the least sum of levels.

    max_suppression: share of records that may be suppressed instead of generalized; never all.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=Samarati(max_suppression=0.1))
    Release(samarati, k-anonymity(k=5), rows=100, classes=4, suppressed=0)
    """

    name: ClassVar[str] = "samarati"
    by_level: ClassVar[bool] = True
    max_suppression: float = 0.05

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release that suppresses least at the lowest height with an anonymous node."""
        problem = Problem.of(table, model, self.max_suppression)
        candidates, evaluated = _lowest(problem)
        if not candidates:
            raise problem.infeasible()
        return release_at(
            problem.lattice,
            tuple(candidates[0].node.values()),
            model,
            candidates=candidates,
            evaluated=evaluated,
            notes=problem.notes,
        )


def _lowest(problem: Problem) -> tuple[list[Candidate], int]:
    """Return the anonymous nodes of the lowest height with any, and the number of evaluated nodes.

    Heights are bisected; if the model is not monotone they are tried one by one from below.
    """
    heights, top = np.indices(problem.lattice.shape).sum(axis=0), sum(problem.lattice.heights)
    low, high, evaluated = 0, top, 0
    lowest: list[Candidate] = []
    while low <= high:
        height = (low + high) // 2 if problem.monotone else low
        level = [tuple(int(i) for i in node) for node in np.argwhere(heights == height)]
        evaluated += len(level)
        anonymous = _anonymous(problem, level, height / max(top, 1))
        if anonymous and not problem.monotone:
            return anonymous, evaluated
        if anonymous:
            lowest, high = anonymous, height - 1
        else:
            low = height + 1
    return lowest, evaluated


def _anonymous(problem: Problem, nodes: list[Node], height: float) -> list[Candidate]:
    """Return the anonymous ones among some nodes, with the least suppression first."""
    anonymous = []
    for node in nodes:
        if not problem.possible[node]:
            continue
        suppressed = (
            problem.suppressed(node)
            if problem.by_size
            else view(problem.lattice, node, problem.model).suppressed
        )
        if suppressed <= problem.limit:
            anonymous.append(Candidate(problem.lattice.named(node), height, suppressed))
    return sorted(anonymous, key=lambda c: (c.suppressed, tuple(c.node.values())))
