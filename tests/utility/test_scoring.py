"""Scores and intervals against scikit-learn's and scipy's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.utility.results import (
    Predictions,
    Score,
    Utility,
    accuracy,
    auroc,
    mae,
    over_folds,
    over_rows,
    r2,
)


def drawn(rows, classes, seed, ties=False):
    generator = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), generator.integers(0, classes, rows - classes)])
    shares = generator.dirichlet(np.ones(classes), rows)
    if ties:
        shares = np.round(shares, 1) + 1e-9
        shares /= shares.sum(axis=1, keepdims=True)
    return Predictions(truth, shares.argmax(axis=1), shares)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("ties", [False, True])
def test_scores_of_classes_are_those_of_scikit_learn(classes, ties):
    from sklearn.metrics import accuracy_score, roc_auc_score

    found = drawn(60, classes, classes, ties)
    asked = found.shares[:, 1] if classes == 2 else found.shares
    assert auroc(found) == pytest.approx(roc_auc_score(found.truth, asked, multi_class="ovr"))
    assert accuracy(found) == accuracy_score(found.truth, found.predicted)


def test_scores_of_numbers_are_those_of_scikit_learn():
    from sklearn.metrics import mean_absolute_error, r2_score

    truth, said = np.random.default_rng(1).normal(size=(2, 50))
    found = Predictions(truth, said)
    assert r2(found) == pytest.approx(r2_score(truth, said))
    assert mae(found) == pytest.approx(mean_absolute_error(truth, said))
    assert r2(Predictions(np.ones(3), np.ones(3))) is None


def test_a_class_that_is_not_there_does_not_count():
    found = drawn(30, 3, 1)
    without = found.take(np.flatnonzero(found.truth != 2))
    areas = [
        auroc(Predictions((without.truth == c).astype(int), None, without.shares[:, [1 - c, c]]))
        for c in (0, 1)
    ]
    assert auroc(without) == pytest.approx(np.mean(areas), abs=0.02)  # the rest is nobody
    assert auroc(found.take(np.flatnonzero(found.truth == 0))) is None


def test_a_class_that_the_model_does_not_know_ranks_no_row_above_another():
    truth = np.array([0, 0, 1, 2])
    shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.5, 0.5]])
    found = Predictions(truth, None, np.column_stack([shares, np.full(4, -np.inf)]))
    assert auroc(found) == pytest.approx((1 + 1 + 1 / 2) / 3)


@given(st.integers(0, 40), st.integers(1, 40))
def test_an_accuracy_has_an_exact_interval(right, wrong):
    from scipy.stats import binomtest

    said = np.array([1] * right + [0] * wrong)
    low, high = over_rows("accuracy", Predictions(np.ones_like(said), said), 0)
    exact = binomtest(right, right + wrong).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))


def test_folds_have_an_interval_by_t_that_knows_they_overlap():
    values = [0.7, 0.72, 0.74, 0.76, 0.78]
    low, high = over_folds("accuracy", values)
    # variance 0.001, t of 4 degrees 2.7764
    half = 2.7764451 * math.sqrt(0.001 * (1 / 5 + 1 / 4))
    assert (low, high) == pytest.approx((0.74 - half, 0.74 + half))
    assert over_folds("accuracy", [0.5]) == (None, None)
    assert over_folds("accuracy", [1.0, 0.9, 1.0])[1] == 1


def test_other_scores_are_resampled():
    found = drawn(200, 2, 5)
    low, high = over_rows("auroc", found, 3)
    assert low < auroc(found) < high
    assert over_rows("auroc", found, 3) == (low, high)
    assert high - low < 0.3
    truth = np.random.default_rng(0).normal(size=200)
    low, high = over_rows("mae", Predictions(truth, np.zeros(200)), 0)
    assert low < np.abs(truth).mean() < high


@pytest.mark.parametrize(
    ("score", "value", "raw", "majority", "kept"),
    [
        ("accuracy", 0.8, 0.9, 0.7, 0.5),
        ("accuracy", 0.6, 0.9, 0.7, -0.5),
        ("mae", 3.0, 2.0, 4.0, 0.5),
        ("mae", 3.0, 4.0, 4.0, None),
        ("r2", 0.2, -0.1, 0.0, None),
        ("r2", 0.2, None, 0.0, None),
    ],
)
def test_what_is_kept_of_what_raw_rows_teach(score, value, raw, majority, kept):
    found = Score("m", score, value, None, None, raw, majority).kept
    assert found is None if kept is None else found == pytest.approx(kept)


def test_results_as_frames_and_text():
    score = Score("ridge", "r2", 0.5, 0.4, None, 0.8, 0.0)
    found = Utility("cost", "regression", "flags", 5, 0, 90, 90, 100, 100, 0, (score,))
    assert found["ridge", "r2"] is score
    assert found.to_pandas().loc[0, "kept"] == pytest.approx(0.625)
    assert found.to_polars()["model"].to_list() == ["ridge"]
    assert found.to_dict()["scores"][0]["high"] is None
    assert repr(found).splitlines() == [
        "Utility('cost', regression, flags, trained on 90 released records, "
        "tested on 100 raw records, 5 folds)",
        "model  score   value     low  high     raw  majority    kept",
        "ridge  r2     0.5000  0.4000     –  0.8000    0.0000  0.6250",
    ]


@pytest.mark.parametrize(
    ("low", "high", "raw", "meaningful"),
    [
        (0.4, 0.6, 0.7, True),  # 0.2 above the majority, 0.1 by chance
        (0.4, 0.6, 0.55, False),
        (None, None, 0.55, True),
        (0.4, 0.6, 0.5, False),  # nothing to learn
    ],
)
def test_a_share_says_something_where_raw_rows_teach_more_than_chance(low, high, raw, meaningful):
    score = Score("m", "accuracy", 0.45, low, high, raw, 0.5)
    assert score.meaningful is meaningful
    assert score.to_dict()["meaningful"] is meaningful
