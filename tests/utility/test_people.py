"""Rows of one person are never on both sides of a split."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shoal import InputError, KAnonymity, Recoding, Release, Table
from shoal.utility import evaluate
from shoal.utility.predictive_loss import Labels, _further_rows, _repeated, columns_of, skill
from shoal.utility.results import Predictions, over_rows
from shoal.utility.targets import assign_folds

NEAREST = {"nearest": KNeighborsClassifier(1)}


def visits(people=40, rows=5, *, person="patient", first=0, **columns):
    """Each patient has a code of their own, which says nothing of the illness of others."""
    draw = np.random.default_rng(1)
    who = np.repeat(np.arange(people), rows)
    data = {
        "patient": who + first,
        "code": [f"c{i:03}" for i in who],
        "ill": np.array(["no", "yes"])[draw.permutation(np.arange(people) % 2)][who],
        "cost": draw.permutation(np.arange(people) * 10.0)[who],
    } | columns
    roles = {"patient": "identifier", "code": "quasi", "ill": "sensitive", "cost": "sensitive"}
    stated = {"person": person} if person else {"rows_are_people": True}
    return Table.from_arrow(pa.table(data), roles, **stated)


def untouched(table, suppressed=None):
    same = {column.name: Recoding.identity(column) for column in table.quasi_columns}
    return Release(table, same, KAnonymity(2), suppressed)


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers the rows it was trained on."""

    seen = []  # noqa: RUF012  shared by all copies

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        self.seen.append(x)
        return self

    def predict(self, x):
        return np.full(len(x), self.classes_[0])


def test_nobody_is_recognized_from_another_row():
    """A model that has seen a code knows the label; one that has not guesses."""
    table = visits()
    by_person = evaluate(untouched(table), "ill", models=NEAREST)["nearest", "accuracy"]
    by_row = evaluate(untouched(visits(person=None)), "ill", models=NEAREST)["nearest", "accuracy"]
    assert by_row.value == 1  # so the test would notice
    assert by_person.value < 0.8


def test_numbers_are_not_recognized_either():
    models = {"ridge": RidgeCV()}
    by_row = evaluate(untouched(visits(person=None)), "cost", models=models, scores=["r2"])
    by_person = evaluate(untouched(visits()), "cost", models=models, scores=["r2"])
    assert by_row["ridge", "r2"].value > 0.9
    assert by_person["ridge", "r2"].value < 0.5


def test_households_are_kept_together_where_no_person_is_named():
    data = pa.table(
        {
            "home": np.repeat(np.arange(40), 5),
            "code": [f"c{i:03}" for i in np.repeat(np.arange(40), 5)],
            "ill": np.array(["no", "yes"])[np.repeat(np.arange(40) * 7 % 2, 5)],
        }
    )
    table = Table.from_arrow(data, {"code": "quasi", "ill": "sensitive"}, household="home")
    found = evaluate(untouched(table), "ill", models=NEAREST)
    assert found["nearest", "accuracy"].value < 0.8
    assert found.tested_people == 40


def test_results_count_rows_and_people():
    table = visits()
    hidden = np.arange(200) < 7  # all rows of the first patient and two of the second
    found = evaluate(untouched(table, hidden), "ill", models=NEAREST, raw=False)
    assert (found.trained, found.trained_people) == (193, 39)
    assert (found.tested, found.tested_people) == (200, 40)
    assert found.to_dict()["trained_people"] == 39
    assert "193 released rows about 39 people, tested on 200 raw rows about 40 people" in repr(
        found
    )


def test_a_person_column_without_repeats_changes_nothing():
    named, unnamed = (visits(200, 1, person=person) for person in ("patient", None))
    first, second = (evaluate(untouched(t), "ill", models=NEAREST) for t in (named, unnamed))
    assert first == second


@pytest.mark.parametrize("labels", [np.arange(60) % 3, np.arange(60) * 1.5, np.arange(60)])
def test_folds_divide_nobody_and_are_all_used(labels):
    groups = np.repeat(np.arange(15), 4)
    fold = assign_folds(labels, groups, 5, seed=0)
    assert [len(set(fold[groups == one])) for one in range(15)] == [1] * 15
    assert set(fold.tolist()) == set(range(5))
    assert np.array_equal(fold, assign_folds(labels, groups, 5, seed=0))


def test_folds_hold_about_the_same_share_of_each_label():
    groups = np.repeat(np.arange(40), 5)
    fold = assign_folds(groups % 2, groups, 5, seed=0)
    assert [float((groups[fold == number] % 2).mean()) for number in range(5)] == [0.5] * 5


def test_too_few_people_for_the_folds_is_an_error():
    with pytest.raises(InputError, match=r"8 people have a label; 5 folds need at least 10"):
        evaluate(untouched(visits(8, 50)), "ill")


def test_an_estimator_that_tunes_itself_splits_by_person():
    """With rows of a patient on both sides, one neighbour would always win."""
    grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 25]})
    Spy.seen = []
    spy = GridSearchCV(Spy(), {}, cv=4, refit=False, scoring="accuracy")
    table = visits()
    for model in (grid, make_pipeline(StandardScaler(), grid)):
        evaluate(untouched(table), "ill", models={"grid": model}, raw=False)
    with pytest.raises(AttributeError):  # it is not refitted, so it cannot predict
        evaluate(untouched(table), "ill", models={"spy": spy}, raw=False)
    codes = [{tuple(row) for row in x.tolist()} for x in Spy.seen]
    assert [len(seen) for seen in codes] == [24] * 4  # of 32 patients; a split by row has them all


def test_a_splitter_that_divides_people_is_refused():
    def grid(cv):
        return {"grid": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1]}, cv=cv)}

    release = untouched(visits())
    with pytest.raises(InputError, match="'grid': cv puts rows of one person into both"):
        evaluate(release, "ill", models=grid(KFold(3, shuffle=True, random_state=0)))
    evaluate(release, "ill", models=grid(GroupKFold(3)), raw=False)
    nested = GridSearchCV(GridSearchCV(KNeighborsClassifier(), {}), {})
    with pytest.raises(InputError, match="splits rows inside the splits of cv"):
        evaluate(release, "ill", models={"grid": nested})


def test_people_of_the_original_are_left_out_of_a_test_table():
    table, test = visits(), visits(10, first=38)  # two of ten patients are in the table
    found = evaluate(untouched(table), "ill", test, models=NEAREST)
    assert (found.tested, found.tested_people, found.left_out) == (40, 8, 10)
    text = visits(10, patient=[str(48 - i) for i in np.repeat(np.arange(10), 5)])
    found = evaluate(untouched(table), "ill", text, models=NEAREST)  # 39 to 48, as text
    assert (found.tested_people, found.left_out) == (9, 5)


def test_a_test_table_without_new_people_is_refused():
    with pytest.raises(InputError, match="40 people are also in the training table"):
        evaluate(untouched(visits()), "ill", visits(), models=NEAREST)


def test_a_test_table_that_does_not_name_its_people_is_refused():
    test = Table(tuple(c for c in visits(first=90) if c.name != "patient"))
    with pytest.raises(InputError, match="the test table does not have column 'patient'"):
        evaluate(untouched(visits()), "ill", test, models=NEAREST)


def test_an_interval_over_people_is_wider_than_one_over_their_rows():
    right = np.repeat(np.arange(20) % 2, 10)
    found = Predictions(np.ones(200, dtype=np.int64), right)
    narrow = over_rows("accuracy", found, 0)
    wide = over_rows("accuracy", found, 0, np.repeat(np.arange(20), 10))
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])


def read_codes(table):
    """Return the skill of the readers of an untouched table."""
    codes = table["ill"].codes.astype(np.int64)
    return skill(untouched(table), Labels(codes, codes >= 0, 2), ["code"])


def test_neighbours_are_other_people():
    """Codes tell the label only of their own patient: the first reader knows it, the second not."""
    assert read_codes(visits(person=None)) > 0.8
    assert read_codes(visits()) == pytest.approx(0.5, abs=0.05)


def test_further_rows_of_a_person_are_no_evidence():
    """All have one code; the five visits of the only ill patient must not outweigh three others."""
    who, ill = [0] * 5 + [1, 2, 3], ["yes"] * 5 + ["no"] * 3
    table = visits(8, 1, patient=who, code=["c"] * 8, ill=ill)
    labels = Labels(table["ill"].codes.astype(np.int64), np.ones(8, dtype=np.bool_), 2)
    rows, weights = np.arange(8), np.ones(8)
    cells = columns_of(untouched(table), [Recoding.identity(table["code"])])[0]
    further = _further_rows(untouched(table), weights, rows)
    taken = _repeated(cells, labels, rows, further)  # no, yes
    assert taken.tolist() == [[0, 4]] * 5 + [[0, 0]] * 3


def test_a_weighted_row_of_one_person_is_read_as_its_records_written_out():
    table, plain = visits(40, 1), visits(40, 5)
    weighted = Table(table.columns, np.full(40, 5), person=table.person)
    assert read_codes(weighted) == pytest.approx(read_codes(plain))
    assert read_codes(weighted) != pytest.approx(read_codes(Table(table.columns, weighted.counts)))
