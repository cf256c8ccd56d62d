"""Learning utility: models trained on the release, tested on raw rows of people not trained on.

Scales, components and models are fitted on training rows alone. In cross-validation the release
itself was made with the test rows in the table, as in the study; to test on people who had no part
in the release, give a test table.
de Spoelberch, "The limits of information loss metrics as measures for utility", 2020, 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.anonymize.algorithm import check_choice
from shoal.core.arrays import Codes, Counts
from shoal.core.options import check_seed
from shoal.core.progress import report
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import InputError, unknown
from shoal.utility.encodings import ENCODINGS, Encoding
from shoal.utility.grouped_splits import owners
from shoal.utility.learners import Models, chosen, trained
from shoal.utility.matrices import Features, released_cells
from shoal.utility.results import Score, Utility
from shoal.utility.rounds import Round, folded, held_out, labelled, people_of, released_among
from shoal.utility.scoring import SCORES, Predictions, over_folds, over_rows
from shoal.utility.targets import Target, Task

_Told = dict[str, list[Predictions]]  # of each model, round by round


def evaluate(
    release: Release,
    target: str,
    test: Table | None = None,
    *,
    models: Models = None,
    encoding: Encoding = "flags",
    folds: int = 5,
    seed: int = 0,
    scores: Iterable[str] | None = None,
    task: Task | None = None,
    also: Sequence[str] = (),
    raw: bool = True,
) -> Utility:
    """Train models on the release and test them on raw rows.

    Without a test table by cross-validation: trained on the released rows of all folds but one,
    tested on the raw rows of that one, people whose records were suppressed among them. All rows
    of a person (of a household where no person is named) are in one fold. Rows without a label
    take no part. Equal options and seed give equal figures.

    target: a sensitive or insensitive column, or a quasi-identifier that is published as it is.
    test: raw rows of other people, with the same columns; rows about people of the original table
        are left out.
    models: names from CLASSIFIERS or REGRESSORS, or scikit-learn estimators by a name of yours;
        by default all.
    encoding: flags, weights or midpoints.
    scores: accuracy, auroc; r2, mae for regression; by default both.
    task: by default regression for numbers of more than 20 different values, else classification.
    also: columns that pass unchanged to learn from too, beside the quasi-identifiers.
    raw: also train on raw rows, to compare.
    """
    check_choice("encoding", encoding, tuple(ENCODINGS))
    check_seed(seed, bits=32)  # as scikit-learn takes them
    goal = Target.of(release, target, task)
    names = _scores(scores, goal.task)
    learners = chosen(models, classes=goal.classes, seed=seed)
    cells = released_cells(release, target, also)
    if test is None:
        split = folded(release, goal, cells, folds, seed)
    else:
        split = held_out(release, goal, cells, test)
    groups = owners(release.original)
    training = _Training(goal, learners, encoding, seed, groups, raw=raw)
    told, told_raw = training.run(split.rounds, cells)
    majority = [_majority(goal, one) for one in split.rounds]
    found = []
    for model, answers in told.items():
        for score in names:
            sides = (answers, told_raw.get(model, []), majority)
            values, by_raw, by_most = (_values(goal, score, side) for side in sides)
            low, high = over_folds(score, values)
            if test is not None and values:
                low, high = over_rows(score, answers[0], seed, split.tested_groups)
            means = _mean(by_raw), _mean(by_most)
            found.append(Score(model, score, _mean(values), low, high, *means))
    trained_on = released_among(release, labelled(release.original, goal))
    return Utility(
        target,
        goal.task,
        encoding,
        folds if test is None else None,
        seed,
        trained=len(trained_on),
        trained_people=people_of(trained_on, groups),
        tested=len(split.tested),
        tested_people=people_of(split.tested, split.groups),
        left_out=split.left_out,
        scores=tuple(found),
    )


@dataclass(frozen=True, eq=False)
class _Training:
    """Trains every model in every round, on released rows and on raw ones."""

    goal: Target
    learners: Mapping[str, Any]
    encoding: str
    seed: int
    groups: Codes | None
    raw: bool

    def run(self, rounds: Sequence[Round], cells: Sequence[Recoding]) -> tuple[_Told, _Told]:
        """Return what each model says of the test rows, trained on released rows and on raw."""
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        told: _Told = {name: [] for name in self.learners}
        told_raw: _Told = {name: [] for name in self.learners if self.raw}
        plain = [Recoding.identity(each.column) for each in cells]
        total = len(rounds) * (len(told) + len(told_raw))
        with threadpool_limits(1):  # sums shared out among threads would differ with their number
            done = 0
            for one in rounds:
                sides = [(told, cells, one.released), (told_raw, plain, one.raw)]
                for answers, side, rows in sides[: 1 + self.raw]:
                    features = Features.fit(side, rows, self.encoding)
                    tested = features.of_raw(one.columns, one.tested)
                    for name in answers:
                        report("utility", done, total)
                        model = self._fit(name, features, rows)
                        answer = Predictions.of(model, tested, one.truth, self.goal.classes)
                        answers[name].append(answer)
                        done += 1
            report("utility", total, total)
        return told, told_raw

    def _fit(self, name: str, features: Features, rows: Counts) -> Any:
        return trained(
            name,
            self.learners[name],
            features.train,
            self.goal.labels[rows],
            None if self.groups is None else self.groups[rows],
            regressed=self.goal.regressed,
            seed=self.seed,
        )


def _majority(goal: Target, one: Round) -> Predictions:
    """Return what somebody says who only knows the labels of the raw training rows."""
    labels, rows = goal.labels[one.raw], len(one.truth)
    if goal.regressed:
        return Predictions(one.truth, np.full(rows, labels.mean()))
    counts = np.bincount(labels, minlength=goal.classes)
    shares = np.tile(counts / len(labels), (rows, 1))
    return Predictions(one.truth, np.full(rows, counts.argmax()), shares)


def _scores(asked: Iterable[str] | None, task: str) -> list[str]:
    known = SCORES[task]
    names = list(known if asked is None else [asked] if isinstance(asked, str) else asked)
    for name in names:
        if name not in known:
            raise unknown(f"no score for {task}", name, known)
    if not names:
        raise InputError(f"no score to count; name some of {', '.join(known)}")
    return names


def _values(goal: Target, score: str, answers: Sequence[Predictions]) -> list[float]:
    """Return a score round by round, where it is defined."""
    count: Callable[[Predictions], float | None] = SCORES[goal.task][score]
    return [value for value in map(count, answers) if value is not None]


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None
