"""Models trained on the release, tested on raw rows; nothing of these reaches the training."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Perceptron, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shoal
from shoal import InputError, KAnonymity, Recoding, Release, Table
from shoal.support.progress import listening
from shoal.utility import CLASSIFIERS, ENCODINGS, REGRESSORS, evaluate

QUICK = {"bayes": GaussianNB()}


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers what it was trained on and asked."""

    seen = []  # noqa: RUF012  shared by all copies

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        self.seen.append((x, y))
        return self

    def predict(self, x):
        return np.full(len(x), self.classes_[0])


@pytest.fixture
def spy():
    Spy.seen = []
    return {"spy": Spy()}


def people(rows=200, seed=0, **columns):
    """Age and town say something of the illness; the cost follows the age."""
    generator = np.random.default_rng(seed)
    age = generator.integers(20, 80, rows)
    town = generator.integers(0, 4, rows)
    ill = (age + 10 * town + generator.normal(0, 10, rows)) > 65
    data = {
        "age": age,
        "town": [f"t{i}" for i in town],
        "ill": np.where(ill, "yes", "no"),
        "stage": ["abc"[i] for i in np.clip((age - 20) // 20, 0, 2)],
        "cost": age * 10.0 + generator.normal(0, 40, rows),
        "smokes": np.where(ill, "often", "never"),
    }
    data |= columns
    roles = {"age": "quasi", "town": "quasi"} | dict.fromkeys(list(data)[2:], "sensitive")
    roles["smokes"] = "insensitive"
    return Table.from_arrow(pa.table(data), roles)


def untouched(table, suppressed=None):
    same = {column.name: Recoding.identity(column) for column in table.quasi_columns}
    return Release(table, same, KAnonymity(2), suppressed)


def hidden(table):
    nothing = {column.name: Recoding.suppressed(column) for column in table.quasi_columns}
    return Release(table, nothing, KAnonymity(2))


@pytest.fixture(scope="module")
def table():
    return people()


@pytest.fixture(scope="module")
def release(table):
    return shoal.anonymize(table, KAnonymity(5), hierarchies=False)


def test_four_models_learn_classes(release):
    found = evaluate(release, "ill", folds=3)
    assert [(s.model, s.score) for s in found] == [
        (model, score) for model in CLASSIFIERS for score in ("accuracy", "auroc")
    ]
    for score in found:
        assert score.majority < score.value < 1
        assert score.low < score.value < score.high
        assert score.majority < score.raw
    assert (found.trained, found.tested, found.folds) == (200, 200, 3)


def test_four_models_learn_numbers(release):
    found = evaluate(release, "cost", folds=3, encoding="midpoints")
    assert found.task == "regression"
    assert {s.model for s in found} == set(REGRESSORS)
    for score in found:
        assert score.kept > 0.3
    assert found["ridge", "r2"].majority == pytest.approx(0, abs=0.05)


def test_three_classes(release):
    found = evaluate(release, "stage", folds=3, models=["logistic-regression"])
    assert found["logistic-regression", "auroc"].value > 0.9
    assert found["logistic-regression", "auroc"].majority == 0.5


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_untouched_release_is_as_good_as_the_raw_table(table, encoding):
    for score in evaluate(untouched(table), "ill", models=QUICK, encoding=encoding):
        assert score.value == score.raw


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_release_that_tells_nothing_is_worth_the_majority(table, encoding):
    """Raw rows would: models that were trained on them by mistake would show."""
    for score in evaluate(hidden(table), "ill", encoding=encoding, folds=2):
        assert score.value == score.majority < score.raw


def test_suppressed_rows_are_tested_on_and_not_trained_on(spy):
    rare = np.arange(60) >= 40
    table = people(60, ill=np.where(rare, "rare", np.where(np.arange(60) % 2, "yes", "no")))
    found = evaluate(untouched(table, rare), "ill", models=spy, raw=False)
    assert (found.trained, found.tested) == (40, 60)
    codes = table["ill"].codes
    for x, y in Spy.seen:
        assert len(x) == len(y) == 32  # four fifths of forty
        assert set(y.tolist()) == set(codes[~rare].tolist())
    # it says "no", which a third of the raw rows are
    assert found["spy", "accuracy"].value == pytest.approx(1 / 3)


def test_no_row_is_tested_that_was_trained_on():
    """Who has seen a row says its label, who has not guesses."""
    generator = np.random.default_rng(3)
    labels = np.array(["a", "b"])[generator.integers(0, 2, 300)]
    names = [f"{i:03}" for i in range(300)]
    table = Table.from_arrow(
        pa.table({"id": names, "ill": labels}), {"id": "quasi", "ill": "sensitive"}
    )
    found = evaluate(
        untouched(table), "ill", models={"nearest": KNeighborsClassifier(1)}, encoding="flags"
    )
    assert 0.35 < found["nearest", "accuracy"].value < 0.65
    again = evaluate(untouched(table), "ill", table, models={"nearest": KNeighborsClassifier(1)})
    assert again["nearest", "accuracy"].value > 0.9  # so the test would notice


def test_scales_are_fitted_on_training_rows_alone(spy):
    """One far value squeezes all others into one bin, unless it is only tested on."""
    ages = np.append(np.linspace(20, 80, 99), 1e6)
    table = people(100, age=ages, town=["t"] * 100)
    evaluate(untouched(table), "ill", models=spy, raw=False)
    widths = sorted(x.shape[1] for x, _ in Spy.seen)
    assert widths == [2, 2, 2, 2, 20]


def test_the_test_table_changes_nothing_in_the_training(release, spy):
    for seed in (1, 2):
        evaluate(release, "ill", people(50, seed), models=spy)
    (first, _), (second, _) = Spy.seen[0], Spy.seen[2]
    assert np.array_equal(first, second)


def test_a_test_table_of_other_people(release):
    found = evaluate(release, "ill", people(300, 9), models=["gradient-boosting"])
    assert (found.folds, found.trained, found.tested) == (None, 200, 300)
    for score in found:
        assert score.low < score.value < score.high
        assert score.majority < score.value
    worse = people(300, 9, ill=["never heard of"] * 300)
    found = evaluate(release, "ill", worse, models=["gradient-boosting"], raw=False)
    assert found["gradient-boosting", "accuracy"].value == 0
    assert found["gradient-boosting", "auroc"].value is None


@pytest.mark.parametrize("models", [["random-forest"], {"bag": None}])
def test_the_same_seed_gives_the_same(release, models):
    from sklearn.ensemble import BaggingClassifier

    models = {"bag": BaggingClassifier(n_estimators=3)} if "bag" in models else models
    first, again, other = (
        evaluate(release, "ill", folds=2, seed=seed, models=models) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.scores != other.scores


def test_a_weighted_table_is_its_records_written_out():
    table = people(40)
    counts = np.arange(40) % 3 + 1
    rows = np.repeat(np.arange(40), counts)
    weighted = Table(table.columns, counts)
    plain = table.take(rows)
    ids = np.arange(40, dtype=np.int32) // 4
    found = [
        evaluate(Release.of_groups(t, i, 10, KAnonymity(2)), "ill", models=QUICK)
        for t, i in ((weighted, ids), (plain, ids[rows]))
    ]
    assert found[0] == found[1]
    assert found[0].tested == counts.sum()


def test_rows_without_a_label_take_no_part():
    labels = ["yes" if i % 3 else "no" for i in range(60)]
    some = people(60, ill=[None if i < 10 else label for i, label in enumerate(labels)])
    found = evaluate(untouched(some), "ill", some, models=QUICK)
    assert (found.trained, found.tested) == (50, 50)


def test_any_estimator_can_be_given(release):
    given = {
        "pipeline": make_pipeline(StandardScaler(), GaussianNB()),
        "margin": Perceptron(),  # has a decision function only
        "spy": Spy(),  # says classes only
    }
    found = evaluate(release, "ill", models=given, folds=2)
    assert found["pipeline", "auroc"].value > 0.6
    assert found["margin", "auroc"].value > 0.6
    assert found["spy", "auroc"].value is None
    numbers = evaluate(release, "cost", models={"mine": Ridge(10.0)}, scores=["mae"])
    assert [(s.model, s.score) for s in numbers] == [("mine", "mae")]


def test_columns_that_pass_unchanged_can_be_learned_from(release):
    alone = evaluate(hidden(release.original), "ill", models=QUICK)
    found = evaluate(hidden(release.original), "ill", models=QUICK, also=["smokes"])
    assert alone["bayes", "accuracy"].value == alone["bayes", "accuracy"].majority
    assert found["bayes", "accuracy"].value == 1


def test_a_quasi_identifier_is_a_target_only_as_it_is(release):
    with pytest.raises(
        InputError, match="'town' is a quasi-identifier that the release generalizes"
    ):
        evaluate(hidden(release.original), "town")
    found = evaluate(untouched(release.original), "town", models={"none": DummyClassifier()})
    assert found["none", "accuracy"].value < 0.5  # it was no feature of its own


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "nothing"}, "no column 'nothing'"),
        ({"target": "ill", "models": ["forest"]}, "no model for classification 'forest'"),
        ({"target": "ill", "models": {"m": GaussianNB}}, "must be an estimator"),
        ({"target": "ill", "models": []}, "models is empty"),
        ({"target": "ill", "scores": ["r2"]}, "no score for classification 'r2'"),
        ({"target": "ill", "scores": []}, "scores is empty"),
        ({"target": "ill", "task": "regression"}, "regression needs numbers"),
        ({"target": "cost", "task": "classification"}, "has 200 values"),
        ({"target": "ill", "folds": 1}, "folds must be a whole number, 2 or more"),
        ({"target": "ill", "folds": 101}, "101 folds need at least 202"),
        ({"target": "ill", "encoding": "bits"}, "encoding must be one of"),
        ({"target": "ill", "seed": -1}, "seed must be"),
        ({"target": "ill", "seed": 2**32}, "seed must be smaller than 2..32"),
        ({"target": "ill", "also": ["ill"]}, "is the target"),
    ],
)
def test_what_is_asked_wrongly_is_refused(release, options, message):
    with pytest.raises(InputError, match=message):
        evaluate(release, **options)


def test_what_cannot_be_learned_is_refused(table):
    everybody = np.ones(200, dtype=np.bool_)
    with pytest.raises(InputError, match="no released record has a label"):
        evaluate(untouched(table, everybody), "ill")
    with pytest.raises(InputError, match="fewer than two values"):
        evaluate(untouched(people(50, ill=["yes"] * 50)), "ill")
    with pytest.raises(InputError, match="test: the table has no column 'town'"):
        evaluate(untouched(table), "ill", Table((table["age"], table["ill"])))
    named = Table.from_arrow(
        pa.table({"age": [1, 2], "name": ["QXZW", "b"]}), {"age": "quasi", "name": "identifier"}
    )
    with pytest.raises(InputError, match="is an identifier") as caught:
        evaluate(untouched(named), "name")
    assert "QXZW" not in str(caught.value)


def test_few_released_rows_are_worth_their_majority(table):
    few = np.arange(200) >= 8
    found = evaluate(untouched(table, few), "ill", folds=2, models=["k-nearest-neighbours"])
    assert 0 < found["k-nearest-neighbours", "accuracy"].value < 1


def test_progress_is_told(release):
    told = []
    with listening(told.append):
        evaluate(release, "ill", models=QUICK, folds=2)
    assert [(p.stage, p.done, p.total) for p in told] == [("utility", i, 4) for i in range(5)]


def test_numbers_that_are_carried_as_text_are_numbers(table):
    texts = [None, *(f"{cost:.2f}" for cost in table["cost"].to_arrow().to_pylist()[1:])]
    some = Table((*table.quasi_columns, shoal.Column.encode("cost", texts, "insensitive")))
    found = evaluate(untouched(some), "cost", some, models={"r": Ridge()})
    assert (found.task, found.tested) == ("regression", 199)
    assert found["r", "r2"].value > 0.5


def test_numbers_of_few_values_are_classes(table):
    grades = people(60, grade=np.arange(60) % 4)
    assert evaluate(untouched(grades), "grade", models=QUICK).task == "classification"
    found = evaluate(untouched(grades), "grade", models={"r": Ridge()}, task="regression")
    assert found.task == "regression"


def test_names_are_found_whatever_was_loaded_before(release):
    evaluate(release, "ill", models=QUICK, folds=2)
    assert all(callable(getattr(shoal.utility, name)) for name in ("evaluate", "features"))
    assert set(shoal.utility.__all__) <= set(dir(shoal.utility))


def test_errors_are_not_computed_on_numbers_too_large_for_them():
    large = people(cost=np.linspace(-1, 1, 200) * 1e308)
    with pytest.raises(InputError, match="too large or too small to compute errors"):
        evaluate(untouched(large), "cost", models={"ridge": Ridge()})


def test_large_whole_numbers_are_learned_as_well_as_small_ones():
    cost = 3 * people()["age"].positions[people()["age"].codes].astype(np.int64)
    near, far = (
        evaluate(untouched(people(cost=numbers)), "cost", models={"ridge": Ridge()})
        for numbers in (cost, cost + (2**63 - 1000))
    )
    assert far["ridge", "mae"].value == pytest.approx(near["ridge", "mae"].value)
    assert far["ridge", "r2"].value == pytest.approx(near["ridge", "r2"].value)


def test_infinite_numbers_are_no_features():
    odd = people(smokes=[float("inf"), *[1.0] * 199])
    with pytest.raises(InputError, match="1 distinct value is infinite"):
        evaluate(untouched(odd), "ill", also=["smokes"], models=QUICK)
