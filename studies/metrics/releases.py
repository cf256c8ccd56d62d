"""The releases of the metrics study, with every metric and every utility.

de Spoelberch, "The limits of information loss metrics as measures for utility", 2020, chapter 3.
Releases by permuted orders are measured on the table in its own order: it is there that a distance
or a range means something.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa

from shoal import metrics
from shoal.datasets import binned, load, permuted, random_hierarchies
from shoal.methods import anonymize
from shoal.privacy.k_anonymity import KAnonymity
from shoal.release.release import Release
from shoal.table.column import Column
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets
from shoal.table.table import Table
from shoal.utility import evaluate
from studies.lattice.tables import adult_cells
from studies.runs import Row, Task

TABLES = {"cmc": "method", "ring": "target", "adult": "income", "heart": "TenYearCHD"}
ALGORITHMS = ("datafly", "datafly-shuffled", "mondrian")
# "mondrian" is the published algorithm: the widest attribute is cut at its median; the others are
# Mondrian too, and no part of the study: relaxed, and with the cuts that Shoal chooses by default
MONDRIANS = {
    "mondrian": {"cuts": "median", "strict": True},
    "mondrian-relaxed": {"cuts": "median", "strict": False},
    "mondrian-best": {"cuts": "best", "strict": True},
}
# those of table 4.1, and kl-divergence in place of precision, which mondrian's cells have not
METRICS = (
    "entropy", "classification", "diameter", "discernibility", "information-loss", "hellinger",
    "bivariate-correlation", "average-class-size", "ambiguity", "granularity",
    "squared-distance-error", "kl-divergence",
)  # fmt: skip
MODELS = {"lr": "logistic-regression", "rf": "random-forest", "knn": "k-nearest-neighbours"}
UTILITIES = tuple(f"{model} {score}" for model in MODELS for score in ("accuracy", "auroc"))
FOLDS = 3
_MOVED = "squared-distance-error"
_NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_LEFT_OUT = ("fnlwgt", "education")  # a weight, and the words for education-num


@cache
def base(name: str, rows: int | None = None) -> Table:
    """Return a table without hierarchies, all columns but the target quasi-identifiers.

    Numbers of more than 20 values are in 20 bins of equal width.
    rows: drawn at random, by default all.
    """
    table = _adult() if name == "adult" else _public(name)
    if rows is not None and rows < len(table):
        picked = np.sort(np.random.default_rng(rows).permutation(len(table))[:rows])
        table = Table(tuple(_again(column.take(picked)) for column in table))
    table = binned(table)
    for column in table.quasi_columns:
        table = table.with_column(replace(column, hierarchy=None))
    return table


def _public(name: str) -> Table:
    target = TABLES[name]
    names = [column.name for column in load(name)]
    return load(name, {each: "sensitive" if each == target else "quasi" for each in names})


def _adult() -> Table:
    """Return the 30,162 complete rows in the twelve attributes that the study counts."""
    cells = adult_cells("adult.data.gz")
    for name in _NUMBERS:
        cells[name] = [int(cell) for cell in cells[name]]
    kept = {name: column for name, column in cells.items() if name not in _LEFT_OUT}
    roles = {name: "sensitive" if name == "income" else "quasi" for name in kept}
    return Table.from_arrow(pa.table(kept), roles)


def _again(column: Column) -> Column:
    """Return a column of fewer rows without the values that none of them has."""
    return Column.encode(column.name, column.to_arrow(), column.role)


def released(task: Task) -> Release:
    """Anonymize one table once: trees, or orders, follow from the seed."""
    table, model = base(task["table"], task["rows"]), KAnonymity(task["k"])
    if task["algorithm"] in MONDRIANS:
        changed = permuted(table, task["seed"])
        release = anonymize(changed, model, "mondrian", hierarchies=False, **task["options"])
        return in_own_order(release, table)
    ordered = task["algorithm"] == "datafly"
    return anonymize(random_hierarchies(table, task["seed"], ordered=ordered), model, "datafly")


def in_own_order(release: Release, table: Table) -> Release:
    """Return a release of a permuted table as one of the table itself: the same sets of values."""
    recodings = {}
    for name, recoding in release.recodings.items():
        column = table[name]
        place = {text: code for code, text in enumerate(column.labels)}
        own = np.array([place[text] for text in recoding.column.labels], dtype=np.int32)
        indptr, members = recoding.subsets.flat()
        entry = np.repeat(np.arange(len(recoding.subsets)), np.diff(indptr))
        moved = own[members]
        moved = moved[np.lexsort((moved, entry))]
        subsets = Subsets.of_members(column.domain, indptr, moved)
        recodings[name] = Recoding(column, recoding.codes, subsets, recoding.labels)
    return replace(release, original=table, recodings=recodings)


def moved(release: Release) -> float:
    """Return the squared distance error against full suppression, above 1 where that moves less.

    The metric itself ends at 1, and could no longer distinguish shuffled releases.
    """
    hidden = {name: Recoding.suppressed(each.column) for name, each in release.recodings.items()}
    worst = metrics.squared_distance_error(replace(release, recodings=hidden), raw=True)
    return metrics.squared_distance_error(release, raw=True) / worst


def measure(task: Task) -> Row:
    """Make one release; return its losses by every metric and the scores of models it trains."""
    from studies.metrics.predictive_rates import measured

    release, target = released(task), TABLES[task["table"]]
    row: Row = dict(metrics.evaluate(release, METRICS, target=target))
    row[_MOVED] = moved(release)
    row |= measured(release, target)
    found = evaluate(release, target, models=list(MODELS.values()), folds=task["folds"], raw=False)
    for name in UTILITIES:
        model, score = name.split()
        row[name] = found[MODELS[model], score].value
    return row
