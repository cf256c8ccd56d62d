"""The results of the metrics study, for charts and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from studies.metrics.releases import METRICS
from studies.runs import Row


@dataclass(frozen=True)
class Analysis:
    """The results of the study; each list has the rows of one table or figure.

    by_k: the runs of figure 3.4. others: releases by Mondrians that are no part of the study.
    """

    rows: Sequence[Row]
    singles: Sequence[Row]
    tied: Sequence[Row]
    effects: Sequence[Row]
    lines: Sequence[Row]
    lines_by_algorithm: Sequence[Row]
    said: Sequence[Row]
    home: Sequence[Row]
    algorithms: Sequence[Row]
    tables: Sequence[Row]
    utilities: Sequence[Row]
    by_k: Sequence[Row] = ()
    others: Sequence[Row] = ()

    def of_table(self, table: str) -> list[Row]:
        """Return the rates of the metrics on one table, without chance and utility itself."""
        return [r for r in self.singles if r["table"] == table and r["metric"] in METRICS]

    @property
    def tables_there(self) -> list[str]:
        """The tables of this run."""
        return list(dict.fromkeys(row["table"] for row in self.rows))
