"""Learning from rows as they are released: logistic regression, and its private counterpart.

One-hot codes for names and ranges, standard scores for numbers that are shown as they are. Test
rows are recoded by the rules of the release: the same hierarchies at the same node.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.support.arrays import Bools, Counts, Floats
from shoal.table.column import Kind
from shoal.table.table import Table
from studies.lattice.tables import Study
from studies.runs import Row, Stopwatch


@dataclass(frozen=True, eq=False)
class Shown:
    """The released part of a table: a node of its lattice, and the published rows."""

    table: Table
    node: Mapping[str, int]
    rows: Counts


def plain(table: Table, train: Counts) -> Shown:
    """Return all rows as they are."""
    return Shown(table, dict.fromkeys(table.quasi, 0), train)


def learn(study: Study, shown: Shown, test: Counts) -> Row:
    """Fit a logistic regression to the released part, and score it on the test rows."""
    labels, truth = study.labels(shown.rows), study.labels(test)
    learned, tested = _cells(shown, shown.rows), _cells(shown, test)
    useful = [i for i in range(learned.shape[1]) if len(np.unique(learned[:, i])) > 1]
    if not useful or labels.all() or not labels.any():
        always = bool(labels.all()) and len(labels) > 0  # nothing shown: nobody is found
        return {**_scored(truth, np.full(len(test), float(always))), "columns": 0, "fit": 0.0}
    model = _pipeline(shown, useful)
    with Stopwatch() as took:
        model.fit(learned, labels)
    found = _scored(truth, model.decision_function(tested), middle=0.0)
    columns = int(model[-1].coef_.shape[1])
    return {**found, "columns": columns, "fit": took.seconds}


def _pipeline(shown: Shown, useful: list[int]) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [i for i, name in enumerate(shown.node) if _is_number(shown, name)]
    coding = ColumnTransformer(
        [
            ("scaled", StandardScaler(), [i for i in useful if i in numbers]),
            (
                "one-hot",
                OneHotEncoder(handle_unknown="ignore"),
                [i for i in useful if i not in numbers],
            ),
        ],
        sparse_threshold=1.0,
    )
    return make_pipeline(coding, LogisticRegression(max_iter=1000))


def _is_number(shown: Shown, name: str) -> bool:
    return shown.node[name] == 0 and shown.table[name].kind is Kind.NUMERIC


def _cells(shown: Shown, rows: Counts) -> Floats:
    """(rows, attributes) the number, or the place of the group, of each attribute at the node."""
    columns = []
    for name, level in shown.node.items():
        column = shown.table[name]
        if _is_number(shown, name):
            columns.append(column.positions[column.codes[rows]])
        else:
            groups: Any = np.arange(column.domain)
            if column.hierarchy is not None:
                groups = column.hierarchy.levels[level].groups
            columns.append(groups[column.codes[rows]].astype(np.float64))
    return np.stack(columns, axis=1)


def _scored(truth: Bools, scores: Floats, middle: float = 0.5) -> Row:
    """Return the accuracy, and the probability that a positive row scores above a negative one."""
    from sklearn.metrics import roc_auc_score

    both = truth.any() and not truth.all()
    return {
        "accuracy": float(((scores > middle) == truth).mean()),
        "auc": float(roc_auc_score(truth, scores)) if both else None,
    }


def majority(study: Study, train: Counts, test: Counts) -> Row:
    """Score the answer that most of the rows have."""
    always = float(study.labels(train).mean() > 0.5)
    return {
        **_scored(study.labels(test), np.full(len(test), always)),
        "columns": 0,
        "fit": 0.0,
        "rows": len(train),
    }


PUBLISHED_FORM: dict[str, Any] = {"norm": "l2", "sensitivity": "published"}
TIGHT_FORM: dict[str, Any] = {"norm": "l1"}


def private_model(
    study: Study, epsilon: float, *, few: bool, options: Mapping[str, Any], seed: int | None
) -> Any:
    """Return the private regression, not fitted yet; rows have as many ones as attributes."""
    from shoal.dp import FunctionalLogisticRegression

    attributes = len((study.few if few else study.wide).quasi)
    bound = math.sqrt(attributes) if options["norm"] == "l2" else float(attributes)
    return FunctionalLogisticRegression(
        epsilon=epsilon, classes=(False, True), norm_bound=bound, seed=seed, **options
    )


def learn_privately(study: Study, model: Any, train: Counts, test: Counts, *, few: bool) -> Row:
    """Fit the private regression; its columns and bounds come from code books, not from rows.

    few: the table in few attributes, names at the first level of their hierarchies.
    """
    learned, tested = (public_design(study, rows, few=few) for rows in (train, test))
    with Stopwatch() as took:
        model.fit(learned, study.labels(train))
    found = _scored(study.labels(test), model.decision_function(tested), middle=0.0)
    return {**found, "columns": learned.shape[1], "fit": took.seconds, "rows": len(train)}


def public_design(study: Study, rows: Counts, *, few: bool) -> Floats:
    """Return rows as numbers from 0 to 1: scaled by public bounds, or one-hot over a code book."""
    table = study.few if few else study.wide
    book, level = (study.few_book, 1) if few else (study.book, 0)
    blocks = []
    for name in table.quasi:
        column = table[name]
        if name in study.frame:
            low, high = study.frame[name]
            scaled = np.clip((column.positions[column.codes[rows]] - low) / (high - low), 0, 1)
            blocks.append(scaled[:, None])
            continue
        hierarchy = book[name]
        groups = hierarchy.levels[min(level, max(hierarchy.height - 1, 0))]
        pairs = zip(hierarchy.values, groups.groups, strict=True)
        place = {text: int(group) for text, group in pairs}
        known = np.array([place[text] for text in column.labels])
        blocks.append(np.eye(len(groups))[known[column.codes[rows]]])
    return np.concatenate(blocks, axis=1)
