"""A node as a model leaves it: which tuples are kept, which are suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.anonymize.lattice.lattice import Lattice, named_node
from shoal.core.arrays import Bools, Counts
from shoal.core.classes import Classes
from shoal.core.grouping import group
from shoal.core.recoding import Recoding
from shoal.core.release import Candidate, Release, Run
from shoal.core.table import Table
from shoal.errors import Infeasible
from shoal.privacy.model import Model


@dataclass(frozen=True, eq=False)
class View:
    """One node under one model.

    tuples: the distinct tuples of the table and its people, with what the model looks at.
    kept: (tuples,) those in classes that keep the model.
    rows: (kept classes,) records in each of them.
    suppressed: records in the other classes.
    """

    tuples: Table
    kept: Bools
    rows: Counts
    suppressed: int


def view(lattice: Lattice, node: Sequence[int], model: Model) -> View:
    """Look at a node: classes that break the model are suppressed."""
    tuples = lattice.tuples(*model.columns).table
    ids = group(lattice.codes(node, tuples), lattice.domains(node)).ids
    classes = Classes.of(tuples, ids, origin=lattice.origin)
    holds = model.holds(classes)
    rows = classes.rows
    return View(tuples, holds[ids], rows[holds], int(rows[~holds].sum()))


def most_suppressed(lattice: Lattice, share: float) -> int:
    """Return how many records a share of the table allows to be suppressed, never all of them."""
    records = lattice.table.records
    return min(int(np.floor(share * records + 1e-9)), records - 1)


def release_at(
    lattice: Lattice,
    node: Sequence[int],
    model: Model,
    *,
    candidates: Sequence[Candidate] = (),
    evaluated: int = 0,
    notes: Sequence[str] = (),
) -> Release:
    """Publish the table at a node, rows in classes that break the model left out."""
    table = lattice.table
    found = view(lattice, node, model)
    if not found.kept.any():
        raise Infeasible(
            f"{model}: every record would be suppressed at {named_node(lattice.named(node))}"
        )
    out = ~found.kept[lattice.tuples(*model.columns).inverse]
    recodings = {
        column.name: Recoding.at_level(replace(column, codes=table[column.name].codes), level)
        for column, level in zip(lattice.columns, node, strict=True)
    }
    return Release(
        table,
        {name: recoding.suppress(out) for name, recoding in recodings.items()},
        model,
        out if out.any() else None,
        Run(notes=(*unguided(lattice), *notes)),
        lattice.named(node),
        candidates,
        evaluated,
    )


def unguided(lattice: Lattice) -> list[str]:
    """Say which columns came without a hierarchy."""
    bare = [c.name for c in lattice.table.quasi_columns if c.hierarchy is None]
    told = "no hierarchy for {}: values are kept or hidden altogether"
    return [told.format(", ".join(bare))] if bare else []
