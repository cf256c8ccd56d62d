"""Relaxed Mondrian: records with equal values may be separated if no cut by value is left."""

from __future__ import annotations

import numpy as np

from shoal.methods.partition.groups import Judge, sides
from shoal.methods.partition.mondrian import Layout
from shoal.privacy.model import Model
from shoal.support.arrays import Codes
from shoal.table.table import Table


def divide_ties(
    rows: Table, origin: Table, model: Model, layout: Layout, tuples: Codes, ids: Codes
) -> tuple[Codes, int]:
    """Divide classes further, k records at a time, while the loss falls and the model holds.

    rows: the records; origin: the table whose distributions are assumed to be public.
    tuples: (rows,) the distinct tuple of each record. ids: (rows,) its class so far.
    Returns the new classes and their number.
    """
    from shoal.methods.partition import _growth as kernels
    from shoal.methods.partition._nodes import make_scratch

    space, codes = layout.space, layout.codes[tuples]
    order = np.lexsort((tuples, ids))
    sizes = np.bincount(ids)
    ends = np.cumsum(sizes)
    nodes = np.stack([ends - sizes, ends, sizes, ends, sizes], axis=1)
    judge = Judge(rows, origin, model)
    scratch = make_scratch(len(ids), space.domain)
    count = np.zeros(int(space.domain.max()) + 2, dtype=np.int64)
    ordered, picked, best = np.empty(len(ids), np.int64), np.empty_like(codes), order.copy()
    leaves = []
    while len(nodes):
        small = nodes[:, 2] < 2 * space.k
        leaves.append(nodes[small])
        nodes = nodes[~small]
        kernels.divide_records(codes, order, nodes, space, scratch, count, ordered, picked, best)
        order = best.copy()
        nodes[:, 4] = nodes[:, 3] - nodes[:, 0]
        whole = nodes[:, 3] == nodes[:, 1]
        leaves.append(nodes[whole])
        tried = nodes[~whole]
        good = judge.both_sides(order, tried)
        leaves.append(tried[~good])
        nodes = sides(tried[good])
    final = np.concatenate(leaves)
    final = final[np.argsort(final[:, 0], kind="stable")]
    fresh = np.empty(len(ids), dtype=np.int32)
    fresh[order] = np.repeat(np.arange(len(final), dtype=np.int32), final[:, 1] - final[:, 0])
    return fresh, len(final)
