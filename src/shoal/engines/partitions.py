"""One partition of a table, anonymized on its own in a worker process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column
from shoal.core.grouping import group_keys
from shoal.core.people import Unit
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.metrics import evaluate
from shoal.metrics.cell_shares import cell_shares_by_attribute
from shoal.support.arrays import Codes, Counts

LOSSES = ("ncp", "class", "pub")


@dataclass(frozen=True, eq=False)
class Work:
    """What is done with every partition.

    columns: the quasi-identifiers and the columns of the model, without rows.
    person, household: the columns that identify them. search: runs the method and checks it.
    """

    columns: tuple[Column, ...]
    person: tuple[str, ...]
    household: tuple[str, ...]
    search: Callable[[Table], Release]

    def table(
        self, codes: Mapping[str, Codes], person: Counts | None, household: Counts | None
    ) -> Table:
        """Return the rows of a partition as a table."""
        return Table(
            tuple(replace(column, codes=codes[column.name]) for column in self.columns),
            person=_unit(self.person, person),
            household=_unit(self.household, household),
        )

    def __call__(
        self, codes: Mapping[str, Codes], person: Counts | None, household: Counts | None
    ) -> Outcome:
        """Anonymize the rows of a partition."""
        release = self.search(self.table(codes, person, household))
        entries, labels = {}, {}
        for name, recoding in release.recodings.items():
            used, entry = np.unique(recoding.codes, return_inverse=True)
            entries[name] = entry.astype(np.int32)
            labels[name] = pa.array([recoding.labels[each] for each in used.tolist()], pa.string())
        shares = {n: s.to_dict() for n, s in cell_shares_by_attribute(release).items()}
        lost = release.suppressed
        return Outcome(
            len(release.original),
            entries,
            labels,
            None if lost is None else np.flatnonzero(lost),
            dict(evaluate(release, LOSSES)),
            shares,
            release.run.notes,
        )


@dataclass(frozen=True, eq=False)
class Outcome:
    """The release of one partition.

    entries: for each quasi-identifier, (rows,) the published entry.
    labels: the text of each entry, as an Arrow array.
    suppressed: positions of suppressed rows, None if there are none.
    losses: metrics. shares: the shares of kept, generalized and hidden cells by column.
    """

    rows: int
    entries: Mapping[str, Codes]
    labels: Mapping[str, Any]
    suppressed: Counts | None
    losses: Mapping[str, float]
    shares: Mapping[str, Mapping[str, float]]
    notes: tuple[str, ...]

    @property
    def lost(self) -> int:
        """Number of suppressed rows."""
        return 0 if self.suppressed is None else len(self.suppressed)


def _unit(columns: tuple[str, ...], ids: Counts | None) -> Unit | None:
    if ids is None or not columns:
        return None
    found = group_keys(ids)
    return Unit(columns, found.ids, len(found))


def run_work(arguments: tuple[Work, Any, Any, Any]) -> Outcome:
    """Run the work of one partition, in any process."""
    work, codes, person, household = arguments
    return work(codes, person, household)
