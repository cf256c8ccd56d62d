"""A node under a model: which tuples are kept and which are suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.anonymize.lattice.lattice import Lattice, named_node
from shoal.core.classes import Classes
from shoal.core.grouping import group
from shoal.core.provenance import Candidate, Run
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import Infeasible
from shoal.privacy.model import Model
from shoal.support.arrays import Bools, Counts


@dataclass(frozen=True, eq=False)
class View:
    """One node under one model.

    tuples: the distinct tuples of the table and its people, with the columns of the model.
    kept: (tuples,) whether each is in a class that meets the model.
    rows: (kept classes,) records in each of them.
    suppressed: records in the other classes.
    """

    tuples: Table
    kept: Bools
    rows: Counts
    suppressed: int


def view(lattice: Lattice, node: Sequence[int], model: Model) -> View:
    """Return the view of a node: classes that break the model are suppressed."""
    tuples = lattice.tuples(*model.columns).table
    ids = group(lattice.codes(node, tuples), lattice.domains(node)).ids
    classes = Classes.of(tuples, ids, origin=lattice.origin)
    holds = model.holds(classes)
    rows = classes.rows
    return View(tuples, holds[ids], rows[holds], int(rows[~holds].sum()))


def most_suppressed(lattice: Lattice, share: float) -> int:
    """Return the number of records that a share of the table is, but never all of them."""
    records = lattice.table.records
    return min(int(np.floor(share * records + 1e-9)), records - 1)


def release_at(
    lattice: Lattice,
    node: Sequence[int],
    model: Model,
    *,
    found: View | None = None,
    candidates: Sequence[Candidate] = (),
    evaluated: int = 0,
    notes: Sequence[str] = (),
) -> Release:
    """Publish the table at a node, without the rows of classes that break the model.

    found: the view of the node, if it is known.
    """
    table = lattice.table
    found = found or view(lattice, node, model)
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
    """Return a note about columns without a hierarchy."""
    bare = [c.name for c in lattice.table.quasi_columns if c.hierarchy is None]
    note = "no hierarchy for {}: values are either kept or suppressed"
    return [note.format(", ".join(bare))] if bare else []
