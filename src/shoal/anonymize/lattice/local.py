"""Local recoding with a lattice: rows that one node suppresses are recoded at another node.

The optimal search runs again on the suppressed rows, until none is left or the rest cannot form a
class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shoal.anonymize.lattice.lattice import Lattice, Node
from shoal.anonymize.lattice.searching import Ground
from shoal.anonymize.lattice.views import unguided, view
from shoal.core.column import Column
from shoal.core.provenance import Run
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.subsets import Subsets
from shoal.core.table import Table
from shoal.errors import Infeasible
from shoal.privacy.model import Model
from shoal.support.arrays import Codes
from shoal.support.progress import report

Choose = Callable[[Ground], Node]


def recode_locally(table: Table, model: Model, max_suppression: float, choose: Choose) -> Release:
    """Publish each row at the node of the first round that keeps it.

    max_suppression: share of its rows that a round may suppress and leave to the next round.
    """
    nodes: list[Node] = []
    rows = np.arange(len(table))
    of_round = np.full(len(table), -1, dtype=np.int32)
    while len(rows):
        part = table.take(rows)
        try:
            ground = Ground.of(part, model, max_suppression, origin=table)
            node = choose(ground)
        except Infeasible:
            break
        of_tuple = ground.lattice.tuples(*model.columns).inverse
        kept = view(ground.lattice, node, model).kept[of_tuple]
        if not kept.any():
            break
        of_round[rows[kept]] = len(nodes)
        nodes.append(node)
        rows = rows[~kept]
        report("round", len(table) - len(rows), len(table))
    if not nodes:
        raise Infeasible(f"{model} cannot be met by any node, even with suppression")
    lattice, out = Lattice.of(table), of_round < 0
    recodings = {
        column.name: _at_levels(
            replace(column, codes=table[column.name].codes), [n[j] for n in nodes], of_round
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


def _at_levels(column: Column, levels: list[int], of_round: Codes) -> Recoding:
    """Publish each row at the level of its round."""
    used = sorted(set(levels))
    parts = [Recoding.at_level(column, level) for level in used]
    first = np.cumsum([0, *(len(part.labels) for part in parts)])
    codes = np.zeros(len(column), dtype=np.int32)
    for number, level in enumerate(levels):
        here, place = of_round == number, used.index(level)
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
