"""Functional logistic regression: exact without noise, better with a larger ε."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from shoal.dp import DP, FunctionalLogisticRegression, Ledger
from shoal.dp import functional_logistic_regression as module
from shoal.dp.functional_logistic_regression import published_sensitivity, sensitivity
from shoal.errors import BudgetSpent, InputError

NOISELESS = 1e13


def people(count=4000, columns=3, seed=1):
    """Made-up rows in −1 … 1 with labels that follow some columns, and a constant."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, size=(count, columns))
    odds = rows @ np.linspace(3, -2, columns) + 0.5
    return rows, (rng.random(count) < 1 / (1 + np.exp(-odds))).astype(int)


def least_squares(rows, labels, intercept=True):
    """Where the quadratic is least: the row's odds nearest to 4 (y − ½), in squares."""
    ready = np.column_stack([rows, np.ones(len(rows))]) if intercept else rows
    found = np.linalg.lstsq(ready, 4 * (labels - 0.5), rcond=None)[0]
    return (found[:-1], found[-1]) if intercept else (found, 0.0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "frame",
    [
        {"norm_bound": 3**0.5},
        {"norm": "l1", "norm_bound": 3.0},
        {"bounds": (-1, 1)},
        {"bounds": ([-1, -2, -1], [1, 1, 3]), "norm": "l1"},
        {"norm_bound": 5.0, "sensitivity": "published", "regularize": 0},
    ],
    ids=str,
)
def test_without_noise_the_weights_are_at_the_minimum(frame, intercept):
    rows, labels = people()
    model = FunctionalLogisticRegression(
        epsilon=NOISELESS, fit_intercept=intercept, seed=0, **frame
    ).fit(rows, labels)
    slopes, constant = least_squares(rows, labels, intercept)
    assert model.coef_[0] == pytest.approx(slopes, abs=1e-5)
    assert model.intercept_[0] == pytest.approx(constant, abs=1e-5)


def test_secure_noise_that_is_small_leaves_the_minimum_too():
    rows, labels = people()
    model = FunctionalLogisticRegression(epsilon=NOISELESS, bounds=(-1, 1)).fit(rows, labels)
    assert model.coef_[0] == pytest.approx(least_squares(rows, labels)[0], abs=1e-5)


def test_rows_beyond_the_bounds_count_as_at_them():
    rows, labels = people(count=200)
    far = rows.copy()
    far[:20] = 1e300
    near = np.where(far > 1, 1.0, far)
    fitted = [
        FunctionalLogisticRegression(bounds=(-1, 1), seed=5).fit(each, labels).coef_
        for each in (far, near)
    ]
    assert np.array_equal(*fitted)


def test_rows_longer_than_the_norm_bound_count_as_so_long():
    rows, labels = people(count=200)
    long = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    fitted = [
        FunctionalLogisticRegression(seed=5).fit(each, labels).coef_ for each in (long, long * 64)
    ]
    assert np.array_equal(*fitted)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("chosen", ["tight", "published"])
def test_noise_is_of_the_scale_that_the_claim_needs(monkeypatch, norm, intercept, chosen):
    rows, labels = people(count=50)
    seen = []

    def spy(values, scale, seed=None):
        seen.append((values.shape, scale, seed))
        return values

    monkeypatch.setattr(module, "laplace", spy)
    model = FunctionalLogisticRegression(
        epsilon=0.5, norm=norm, fit_intercept=intercept, sensitivity=chosen
    ).fit(rows, labels)
    columns = 3 + intercept
    moved = (
        sensitivity(3, norm, intercept=intercept)
        if chosen == "tight"
        else published_sensitivity(columns)
    )
    (shape, scale, seed) = seen[0]
    assert shape == (columns + columns * (columns + 1) // 2,)
    assert scale >= moved / 0.5
    assert scale == pytest.approx(moved / 0.5)
    assert (len(seen), seed) == (1, None)
    assert (model.privacy_.sensitivity, model.privacy_.columns) == (moved, columns)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "frame",
    [
        {"norm_bound": 1.5},
        {"norm": "l1"},
        {"bounds": ([-1, 0, -2], [1, 5, 3])},
        {"bounds": (-1, 1), "norm": "l1"},
        {"sensitivity": "published"},
    ],
    ids=str,
)
def test_one_row_more_never_moves_the_numbers_by_more_than_the_noise_covers(
    monkeypatch, frame, intercept
):
    """By brute force on whole fits: corners, edges, zeros, rows far outside, and random ones."""
    given = []

    def spy(values, scale, seed=None):
        given.append((values, scale))
        return values

    monkeypatch.setattr(module, "laplace", spy)
    corners = np.array(np.meshgrid(*[(-9.0, 0.0, 1.0, 1e300)] * 3)).reshape(3, -1).T
    rows = np.vstack([corners, np.random.default_rng(0).normal(0, 2, (60, 3))])
    others, labels = people(count=20)
    model = FunctionalLogisticRegression(
        epsilon=0.5, fit_intercept=intercept, classes=[0, 1], **frame
    )
    model.fit(others, labels)
    for label in (0, 1):
        for row in rows:
            model.fit(np.vstack([others, row]), [*labels, label])
    before, scale = given[0]
    steps = [float(np.abs(values - before).sum()) for values, _ in given[1:]]
    assert {each for _, each in given} == {scale}
    assert max(steps) <= 0.5 * scale
    if frame not in ({"bounds": (-1, 1), "norm": "l1"}, {"sensitivity": "published"}):
        assert max(steps) > 0.5 * scale * 0.95  # no more noise than needed


def test_accuracy_rises_with_epsilon():
    rows, labels = people(count=6000, columns=4)
    train, test = slice(0, 4000), slice(4000, None)

    def accuracy(epsilon):
        models = [
            FunctionalLogisticRegression(epsilon=epsilon, bounds=(-1, 1), seed=seed)
            for seed in range(15)
        ]
        fitted = (model.fit(rows[train], labels[train]) for model in models)
        return np.mean([model.score(rows[test], labels[test]) for model in fitted])

    scores = [accuracy(epsilon) for epsilon in (0.001, 0.05, 5.0)]
    assert scores[0] + 0.03 < scores[1]
    assert scores[1] + 0.005 < scores[2]
    assert scores[2] > 0.79


def test_scikit_learn_accepts_it():
    outcomes = check_estimator(FunctionalLogisticRegression(seed=0), on_skip=None, on_fail=None)
    failed = [found["check_name"] for found in outcomes if found["status"] == "failed"]
    assert len(outcomes) > 40
    assert failed == []


def test_probabilities_and_classes_follow_the_odds():
    rows, labels = people(count=300)
    named = np.array(["no", "yes"])[labels]
    model = FunctionalLogisticRegression(seed=1, norm_bound=2.0).fit(rows, named)
    odds, chances = model.decision_function(rows), model.predict_proba(rows)
    assert model.classes_.tolist() == ["no", "yes"]
    assert odds == pytest.approx(rows @ model.coef_[0] + model.intercept_)
    assert chances.sum(axis=1) == pytest.approx(np.ones(300))
    assert np.log(chances[:, 1] / chances[:, 0]) == pytest.approx(odds)
    assert model.predict(rows).tolist() == np.where(odds > 0, "yes", "no").tolist()


def test_named_classes_set_the_sign():
    rows, labels = people(count=500)
    one, other = (
        FunctionalLogisticRegression(epsilon=NOISELESS, seed=0, classes=classes).fit(rows, labels)
        for classes in ((0, 1), (1, 0))
    )
    assert one.coef_ == pytest.approx(-other.coef_, abs=1e-6)
    assert one.predict(rows).tolist() == other.predict(rows).tolist()


@pytest.mark.parametrize("count", [0, 1])
def test_with_named_classes_there_may_be_hardly_a_row(count):
    """So the error that scikit-learn asks for does not tell whether there is one."""
    model = FunctionalLogisticRegression(classes=(0, 1)).fit(np.ones((count, 2)), np.ones(count))
    assert model.coef_.shape == (1, 2)


def test_the_claim_is_known_before_and_after():
    rows, labels = people(count=50)
    model = FunctionalLogisticRegression(epsilon=0.7)
    assert isinstance(model.claim, DP)
    assert (model.claim.epsilon, model.claim.delta) == (0.7, 0)
    model.fit(rows, labels)
    assert (model.privacy_.epsilon, model.privacy_.delta) == (0.7, 0)
    assert not model.testing_only_
    assert "14 numbers over 4 columns" in "\n".join(model.privacy_.arithmetic())
    assert str(model.privacy_) == "differential privacy(0.7, 0)"


def test_a_seed_is_said_to_be_for_testing_only():
    rows, labels = people(count=50)
    models = [FunctionalLogisticRegression(seed=3).fit(rows, labels) for _ in range(2)]
    assert np.array_equal(models[0].coef_, models[1].coef_)
    assert models[0].testing_only_
    assert "for testing only" in str(models[0].privacy_)
    assert "for testing only" in models[0].privacy_.describe()


def test_without_a_seed_every_fit_draws_anew():
    rows, labels = people(count=50)
    fitted = [FunctionalLogisticRegression().fit(rows, labels).coef_ for _ in range(2)]
    assert not np.array_equal(*fitted)


def test_a_ledger_pays_for_fits_and_refuses_the_one_too_many():
    rows, labels = people(count=50)
    model, ledger = FunctionalLogisticRegression(epsilon=0.4), Ledger(1.0)
    for _ in range(2):
        with ledger.spend(model.claim, what="a model"):
            clone(model).fit(rows, labels)
    with pytest.raises(BudgetSpent), ledger.spend(model.claim, what="a model"):
        model.fit(rows, labels)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0},
        {"epsilon": float("inf")},
        {"epsilon": "1"},
        {"norm": "l3"},
        {"norm_bound": 0},
        {"norm_bound": float("nan")},
        {"sensitivity": "none"},
        {"regularize": -1},
        {"bounds": (1, 0)},
        {"bounds": (0, float("inf"))},
        {"bounds": 3},
        {"bounds": ([0, 0], [1, 1])},
        {"classes": (1, 1)},
        {"classes": (0, 1, 2)},
        {"classes": (5, 6)},
    ],
    ids=str,
)
def test_wrong_options_are_refused(options):
    rows, labels = people(count=20)
    with pytest.raises(InputError):
        FunctionalLogisticRegression(**options).fit(rows, labels)


@pytest.mark.parametrize("labels", [[0] * 6, [0, 1, 2] * 2])
def test_other_than_two_classes_are_refused(labels):
    with pytest.raises(InputError, match="class"):
        FunctionalLogisticRegression().fit(np.ones((6, 2)), labels)


def test_strange_labels_are_counted_not_shown():
    with pytest.raises(InputError, match="2 labels") as caught:
        FunctionalLogisticRegression(classes=(0, 1)).fit(np.ones((3, 1)), [77, 77, 1])
    assert "77" not in str(caught.value)
