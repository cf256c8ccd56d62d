"""Learning utility: models are trained on the release and tested on raw rows of other people.

    Target.of        the labels to predict (`targets.py`)
    split_folds      rounds of a cross-validation, or
    split_by_table   one round with a given test table
    _Training.run    for each round: scales fitted on training rows (`encodings.py`), models trained
                     on released rows and on raw ones (`learners.py`), raw rows predicted
    Utility          scores with intervals, next to those of raw rows and of the majority

No person is in both training and test: all rows of a person are in the same fold. In
cross-validation the release itself was made from a table that includes the test rows, as in the
study; to test on people who are not in the release, give a test table. de Spoelberch, "The limits
of information loss metrics as measures for utility", 2020, 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import InputError, unknown
from shoal.release.release import Release
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.options import check_choice, check_seed, check_whole
from shoal.support.progress import report
from shoal.support.wording import counted
from shoal.table.column import Column
from shoal.table.recoding import Recoding
from shoal.table.table import Table
from shoal.utility.encodings import ENCODINGS, Encoding, Features, columns_of, released_cells
from shoal.utility.learners import Models, choose_models, train
from shoal.utility.results import SCORES, Predictions, Score, Utility, over_folds, over_rows
from shoal.utility.targets import Target, Task, TestedPeople, assign_folds, owners

_Predicted = dict[str, list[Predictions]]  # by model, one for each round


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

    Without a test table, the evaluation uses cross-validation: models are trained on the released
    rows of all folds but one and tested on the raw rows of that fold, including people whose
    records were suppressed. All rows of a person (or of a household if no person is declared) are
    in the same fold. Rows without a label are ignored. The same options and seed give the same
    results.

    If the table has sampling weights, models learn from each row by its weight and scores count
    each test row by its weight, so that both are estimates for the population. Nearest neighbours
    and your own estimators without `sample_weight` learn without weights.

    Parameters:
        release: The release.
        target: A sensitive or insensitive column, or a quasi-identifier that is published
            unchanged.
        test: Raw rows of other people, with the same columns; rows about people of the original
            table are left out.
        models: Names from CLASSIFIERS or REGRESSORS, or scikit-learn estimators by a name of your
            choice; by default all.
        encoding: flags, weights or midpoints.
        scores: accuracy, auroc; r2, mae for regression; by default both.
        task: By default regression for numbers with more than 20 distinct values, otherwise
            classification.
        also: Columns published unchanged to learn from, in addition to the quasi-identifiers.
        folds: Number of folds of the cross-validation.
        raw: Whether to train on raw rows as well, for comparison.
        seed: Seed of folds and models.

    Returns:
        The scores of every model, with baselines.

    Raises:
        InputError: The target cannot be predicted, an option is unknown, or there are too few rows
            or people with a label.

    >>> import pyarrow as pa
    >>> import shoal
    >>> rows = pa.table({"age": [31, 33, 47, 48] * 5, "ill": ["no", "no", "yes", "yes"] * 5})
    >>> release = shoal.anonymize(rows, k=6, quasi="age", sensitive="ill")
    >>> utility = evaluate(release, "ill", models="logistic-regression", folds=2)
    >>> utility["logistic-regression", "accuracy"].value
    1.0
    """
    check_choice("encoding", encoding, tuple(ENCODINGS))
    check_seed(seed, bits=32)  # the range that scikit-learn accepts
    goal = Target.of(release, target, task)
    names = _names_of_scores(scores, goal.task)
    learners = choose_models(models, classes=goal.classes, seed=seed)
    cells = released_cells(release, target, also)
    if test is None:
        split = split_folds(release, goal, cells, folds, seed)
    else:
        split = split_by_table(release, goal, cells, test)
    groups = owners(release.original)
    sampling = release.original.weights
    weights = None if sampling is None else sampling.values
    training = _Training(goal, learners, encoding, seed, groups, raw, weights)
    predicted, predicted_raw = training.run(split.rounds, cells)
    majority = [_majority(goal, part, weights) for part in split.rounds]
    results = []
    for model, answers in predicted.items():
        for score in names:
            sides = (answers, predicted_raw.get(model, []), majority)
            values, by_raw, by_most = (_defined_scores(goal, score, side) for side in sides)
            low, high = over_folds(score, values)
            if test is not None and values:
                low, high = over_rows(score, answers[0], seed, split.tested_groups)
            means = _mean(by_raw), _mean(by_most)
            results.append(Score(model, score, _mean(values), low, high, *means))
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
        scores=tuple(results),
        weight=None if sampling is None else sampling.column,
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
    weights: Floats | None = None

    def run(
        self, rounds: Sequence[Round], cells: Sequence[Recoding]
    ) -> tuple[_Predicted, _Predicted]:
        """Return the predictions of each model, trained on released rows and on raw rows."""
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        predicted: _Predicted = {name: [] for name in self.learners}
        predicted_raw: _Predicted = {name: [] for name in self.learners if self.raw}
        plain = [Recoding.identity(each.column) for each in cells]
        total = len(rounds) * (len(predicted) + len(predicted_raw))
        with threadpool_limits(1):  # sums would depend on the number of threads
            done = 0
            for part in rounds:
                sides = [(predicted, cells, part.released), (predicted_raw, plain, part.raw)]
                for answers, columns, rows in sides[: 1 + self.raw]:
                    features = Features.fit(columns, rows, self.encoding)
                    tested = features.of_raw(part.columns, part.tested)
                    for name in answers:
                        report("utility", done, total)
                        model = self._fit(name, features, rows)
                        answer = Predictions.of(
                            model, tested, part.truth, self.goal.classes, part.weights
                        )
                        answers[name].append(answer)
                        done += 1
            report("utility", total, total)
        return predicted, predicted_raw

    def _fit(self, name: str, features: Features, rows: Counts) -> Any:
        return train(
            name,
            self.learners[name],
            features.train,
            self.goal.labels[rows],
            None if self.groups is None else self.groups[rows],
            regressed=self.goal.regressed,
            seed=self.seed,
            weights=None if self.weights is None else self.weights[rows],
        )


def _majority(goal: Target, part: Round, weights: Floats | None) -> Predictions:
    """Return the baseline predictions that use only the labels of the raw training rows."""
    labels, rows = goal.labels[part.raw], len(part.truth)
    learned = None if weights is None else weights[part.raw]
    if goal.regressed:
        mean = float(np.average(labels, weights=learned))
        return Predictions(part.truth, np.full(rows, mean), weights=part.weights)
    counts = np.bincount(labels, learned, minlength=goal.classes)
    shares = np.tile(counts / counts.sum(), (rows, 1))
    return Predictions(part.truth, np.full(rows, counts.argmax()), shares, part.weights)


def _names_of_scores(scores: Iterable[str] | None, task: str) -> list[str]:
    known = SCORES[task]
    names = list(known if scores is None else [scores] if isinstance(scores, str) else scores)
    for name in names:
        if name not in known:
            raise unknown(f"no score for {task}", name, known)
    if not names:
        raise InputError(f"scores is empty; name at least one of {', '.join(known)}")
    return names


def _defined_scores(goal: Target, score: str, answers: Sequence[Predictions]) -> list[float]:
    """Return the score of every round for which it is defined."""
    count: Callable[[Predictions], float | None] = SCORES[goal.task][score]
    return [value for value in map(count, answers) if value is not None]


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


@dataclass(frozen=True, eq=False)
class Round:
    """One round of training and testing; rows are positions, repeated by multiplicity.

    released: released training rows; raw: these and the suppressed training rows.
    columns: the columns of the test table; tested: the test rows.
    truth: (test rows,) their labels.
    weights: (test rows,) their sampling weights, None if there are none.
    """

    released: Counts
    raw: Counts
    columns: Sequence[Column]
    tested: Counts
    truth: Any
    weights: Floats | None = None

    def __post_init__(self) -> None:
        if not len(self.released):
            raise InputError("no released record has a label to learn from")
        if not len(self.tested):
            raise InputError("no raw record has a label to test on")


@dataclass(frozen=True, eq=False)
class Split:
    """The rounds of an evaluation.

    groups: (test table's rows,) the person of each row, None if each row is a different person.
    left_out: rows of a test table that are about people of the training table.
    """

    rounds: Sequence[Round]
    groups: Codes | None
    left_out: int = 0

    @property
    def tested(self) -> Counts:
        """(tests,) the test rows of all rounds."""
        return np.concatenate([part.tested for part in self.rounds])

    @property
    def tested_groups(self) -> Codes | None:
        """(tests,) the person of each test row, None if each row is a different person."""
        return None if self.groups is None else self.groups[self.tested]


def people_of(rows: Counts, groups: Codes | None) -> int:
    """Return how many people some rows are about."""
    return len(rows) if groups is None else len(np.unique(groups[rows]))


def split_folds(
    release: Release, target: Target, cells: Sequence[Recoding], folds: int, seed: int
) -> Split:
    """Return the rounds of a cross-validation; labels are balanced over the folds.

    The records of a weighted table are assigned individually unless they belong to one person.
    """
    check_whole("folds", folds, 2)
    rows = labelled(release.original, target)
    groups = owners(release.original)
    people = people_of(rows, groups)
    if people < 2 * folds:
        one, many = ("record", "records") if groups is None else ("person", "people")
        raise InputError(
            f"{counted(people, f'{one} has', f'{many} have')} a label; {folds} folds need at least "
            f"{2 * folds}"
        )
    if groups is None:
        fold = _assign_rows(target.labels[rows], folds, seed)
    else:
        fold = assign_folds(target.labels[rows], groups[rows], folds, seed)
    columns = [each.column for each in cells]
    rounds = []
    for number in range(folds):
        train, tested = rows[fold != number], rows[fold == number]
        truth = target.labels[tested]
        weights = weights_at(release.original, tested)
        released = released_among(release, train)
        rounds.append(Round(released, train, columns, tested, truth, weights))
    return Split(rounds, groups)


# As balanced as scikit-learn's StratifiedKFold in a quarter of the time. Numbers are balanced too,
# where StratifiedKFold accepts only classes, and rare classes cause no warning.
def _assign_rows(labels: Any, folds: int, seed: int) -> Counts:
    """Return (rows,) the fold of each row: rows are shuffled, sorted by label, dealt in turn."""
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def split_by_table(
    release: Release, target: Target, cells: Sequence[Recoding], test: Table
) -> Split:
    """Return the single round of a given test table: training on all rows, tests on new people."""
    people = TestedPeople.of(test, release.original)
    people.check()
    rows = labelled(release.original, target)
    columns = columns_of(test, [each.name for each in cells])
    truth, tested = target.labels_of(columns_of(test, [target.column.name])[0])
    new = people.new[tested]
    truth, tested, known = truth[new], tested[new], np.flatnonzero(~people.new)
    if test.counts is not None:
        times = test.counts[tested]
        truth, tested = np.repeat(truth, times), np.repeat(tested, times)
        known = np.repeat(known, test.counts[known])
    weights = weights_at(test, tested)
    single = Round(released_among(release, rows), rows, columns, tested, truth, weights)
    return Split([single], people.groups, len(known))


def weights_at(table: Table, rows: Counts) -> Floats | None:
    """Return the sampling weights of some rows, None if the table has none."""
    return None if table.weights is None else table.weights.values[rows]


def labelled(table: Table, target: Target) -> Counts:
    """Return the row of each record that has a label."""
    rows = np.arange(len(table))
    if table.counts is not None:
        rows = np.repeat(rows, table.counts)
    return rows[target.known[rows]]


def released_among(release: Release, rows: Counts) -> Counts:
    """Return the released rows among some rows."""
    return rows if release.suppressed is None else rows[~release.suppressed[rows]]
