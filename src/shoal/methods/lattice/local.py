"""Local recoding with a lattice: rows that one node suppresses are recoded at another node.

Each round publishes a part of the rows that are left, at the node whose levels cost them least, so
that rows in dense regions keep fine values. The rounds end when no row is left or the rest cannot
form a class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from shoal.errors import Infeasible
from shoal.methods.lattice.lattice import Lattice, Node, most_suppressed, unguided, view
from shoal.methods.lattice.objectives import Costs, LevelCosts, Objective
from shoal.methods.lattice.optimum import find_optimum
from shoal.methods.lattice.problem import Problem
from shoal.privacy.model import Model
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.support.arrays import Codes
from shoal.support.progress import report
from shoal.table.column import Column
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets
from shoal.table.table import Table

_SECONDS = 60.0  # for a round on a lattice that cannot be measured completely


@dataclass(frozen=True, eq=False)
class _Rounds:
    """The nodes of the rounds, and the round that publishes each row, −1 for none."""

    nodes: list[Node]
    of_row: Codes

    def suppressed(self, table: Table) -> int:
        """Return the number of records that no round publishes."""
        out = self.of_row < 0
        return int(out.sum() if table.counts is None else table.counts[out].sum())

    def cost(self, table: Table, costs: Costs) -> float:
        """Return the cost of all rows, each at the node of its round."""
        if not self.nodes:
            return inf
        levels = np.array(self.nodes)[self.of_row]
        levels[self.of_row < 0] = -1
        return costs.of_rows(table, levels)


def recode_locally(
    table: Table, model: Model, objective: Objective, max_suppression: float, step: float
) -> Release:
    """Publish each row at the node of the first round that keeps it.

    A round keeps at least the share `step` of its rows, at the node whose levels cost least; or it
    suppresses at most the share `max_suppression`, at its optimal node. The rounds that cost less
    are used, so that the release costs no more than that of the best single node.
    """
    lattice = Lattice.of(table)
    rounds = _rounds(table, model, max_suppression, lambda part: Costs(part, objective))
    costs = Costs(lattice, objective)
    if not costs.by_classes:
        # rounds that may leave most rows to the next one, at levels that cost their own rows least
        fine = _rounds(table, model, 1 - step, lambda part: LevelCosts(part, objective))
        limit = most_suppressed(lattice, max_suppression)
        if fine.suppressed(table) <= limit and fine.cost(table, costs) < rounds.cost(table, costs):
            rounds = fine
    if not rounds.nodes:
        raise Infeasible(f"{model} cannot be met by any node, even with suppression")
    nodes, of_row = rounds.nodes, rounds.of_row
    out = of_row < 0
    recodings = {
        column.name: _at_levels(
            replace(column, codes=table[column.name].codes), [n[j] for n in nodes], of_row
        ).suppress(out)
        for j, column in enumerate(lattice.columns)
    }
    notes = (
        *unguided(lattice),
        f"recoded locally in {len(nodes)} rounds; node is that of the first round",
    )
    return Release(
        table,
        recodings,
        model,
        out if out.any() else None,
        Run(notes=notes),
        lattice.named(nodes[0]),
        evaluated=len(nodes),
    )


def _rounds(
    table: Table, model: Model, left_out: float, costs: Callable[[Lattice], Costs]
) -> _Rounds:
    """Publish rows at the node with the least cost, then the rest in the same way.

    left_out: the largest share of its rows that a round may leave to the next one.
    """
    nodes: list[Node] = []
    rows = np.arange(len(table))
    of_row = np.full(len(table), -1, dtype=np.int32)
    while len(rows):
        try:
            problem = Problem.of(table.take(rows), model, left_out, origin=table)
            node = find_optimum(problem, costs(problem.lattice), _SECONDS).node
        except Infeasible:
            break
        of_tuple = problem.lattice.tuples(*model.columns).inverse
        kept = view(problem.lattice, node, model).kept[of_tuple]
        if not kept.any():
            break
        of_row[rows[kept]] = len(nodes)
        nodes.append(node)
        rows = rows[~kept]
        report("round", len(table) - len(rows), len(table))
    return _Rounds(nodes, of_row)


def _at_levels(column: Column, levels: list[int], of_row: Codes) -> Recoding:
    """Publish each row at the level of its round."""
    used = sorted(set(levels))
    parts = [Recoding.at_level(column, level) for level in used]
    first = np.cumsum([0, *(len(part.labels) for part in parts)])
    codes = np.zeros(len(column), dtype=np.int32)
    for number, level in enumerate(levels):
        here, place = of_row == number, used.index(level)
        codes[here] = parts[place].codes[here] + first[place]
    bounds = [
        None if any(b is None for b in ends) else np.concatenate([b for b in ends if b is not None])
        for ends in ([part.low for part in parts], [part.high for part in parts])
    ]
    heights = [part.levels for part in parts if part.levels is not None]
    return Recoding(
        column,
        codes,
        Subsets.joined([part.subsets for part in parts]),
        tuple(label for part in parts for label in part.labels),
        bounds[0],
        bounds[1],
        np.concatenate(heights),
    )
