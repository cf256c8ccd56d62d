"""Sampling weights in models and scores: a row of weight 3 counts like three equal rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("sklearn")

from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import shoal
from shoal.utility.learners import choose_models, train
from shoal.utility.results import SCORES, Predictions, over_rows


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_weighted_score_is_that_of_repeated_rows(task):
    for seed in range(20):
        random = np.random.default_rng(seed)
        rows, weights = 40, random.integers(1, 5, 40).astype(np.float64)
        if task == "classification":
            truth, predicted = random.integers(0, 3, (2, rows))
            shares = random.integers(0, 4, (rows, 3)) / 4  # with ties
        else:
            truth, predicted = random.normal(size=(2, rows))
            shares = None
        weighted = Predictions(truth, predicted, shares, weights)
        repeated = Predictions(truth, predicted, shares).take(
            np.repeat(np.arange(rows), weights.astype(int))
        )
        for score in SCORES[task].values():
            assert score(weighted) == pytest.approx(score(repeated))


def test_a_weighted_auroc_is_that_of_scikit_learn():
    random = np.random.default_rng(3)
    truth, shares, weights = random.integers(0, 2, 60), random.normal(size=60), random.random(60)
    ours = Predictions(truth, truth, np.column_stack([-shares, shares]), weights)
    expected = roc_auc_score(truth, shares, sample_weight=weights)
    assert SCORES["classification"]["auroc"](ours) == pytest.approx(expected)
    low, high = over_rows("accuracy", ours, 0)
    assert low == high == 1.0  # bootstrapped


def test_models_learn_by_weight_if_they_can():
    random = np.random.default_rng(0)
    features, weights = random.normal(size=(80, 3)), random.integers(1, 9, 80).astype(float)
    labels = (features[:, 0] + random.normal(size=80) > 0).astype(int)
    for name, model in choose_models(None, classes=2, seed=0).items():
        plain = train(name, model, features, labels, regressed=False, seed=0)
        weighted = train(name, model, features, labels, regressed=False, seed=0, weights=weights)
        same = np.allclose(plain.predict_proba(features), weighted.predict_proba(features))
        assert same == (name == "k-nearest-neighbours")
        if name == "logistic-regression":
            expected = LogisticRegression(max_iter=300, random_state=0)
            expected.fit(features, labels, sample_weight=weights / weights.mean())
            assert weighted.coef_ == pytest.approx(expected.coef_)


def test_evaluate_uses_the_weights_of_the_table():
    ages, ill = [31, 33, 47, 48] * 10, ["no", "no", "yes", "yes"] * 10
    rows = {"age": ages, "ill": ill, "w": [9.0 if each == "yes" else 1.0 for each in ill]}
    roles = {"age": "quasi", "ill": "sensitive", "w": "weight"}
    table = shoal.Table.from_arrow(pa.table(rows), roles)
    release = shoal.anonymize(table, k=40, method="mondrian")  # nothing to learn from
    found = shoal.utility.evaluate(release, "ill", models="logistic-regression", folds=2)
    score = found["logistic-regression", "accuracy"]
    assert found.weight == "w"
    assert "weighted by 'w'" in repr(found)
    assert (score.value, score.majority) == (pytest.approx(0.9), pytest.approx(0.9))
    plain = shoal.anonymize(pa.table(rows).drop("w"), k=40, quasi="age", sensitive="ill")
    other = shoal.utility.evaluate(plain, "ill", models="logistic-regression", folds=2)
    assert other.weight is None
    assert other["logistic-regression", "accuracy"].majority == pytest.approx(0.5)
