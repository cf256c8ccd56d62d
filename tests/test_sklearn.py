"""The scikit-learn transformer: the library's own checks, pipelines, and rows nobody has seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import shoal
from shoal.sklearn import Anonymizer, UncoveredRows

PEOPLE = pd.DataFrame(
    {
        "age": [21, 23, 28, 41, 44, 48],
        "sex": ["f", "m", "f", "m", "f", "m"],
        "income": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)


@pytest.mark.filterwarnings("ignore::shoal.sklearn.UncoveredRows")
@pytest.mark.filterwarnings("ignore:Skipping check:sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([Anonymizer(k=2)])
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    assert check(estimator) is None


def test_fitted_rows_get_the_cells_of_their_class():
    made = Anonymizer(k=3, quasi=["age"], cells="text").fit(PEOPLE)
    assert made.transform(PEOPLE)[:, 0].tolist() == ["[21, 28]"] * 3 + ["[41, 48]"] * 3
    assert made.release_.verify()


def test_new_rows_are_published_by_the_class_that_covers_them():
    made = Anonymizer(k=3, quasi=["age"], cells="text").fit(PEOPLE)
    new = PEOPLE.assign(age=[22, 25, 41, 45, 47, 28])  # 22, 25 and 45 were never seen
    young, old = "[21, 28]", "[41, 48]"
    assert made.transform(new)[:, 0].tolist() == [young, young, old, old, old, young]


def test_rows_that_no_class_covers_are_suppressed_and_counted():
    made = Anonymizer(k=3, quasi=["age"], cells="text").fit(PEOPLE)
    new = PEOPLE.assign(age=[22, 35, 90, 41, 41, 41])
    with pytest.warns(UncoveredRows, match="2 rows of 6"):
        found = made.transform(new)
    assert found[:, 0].tolist() == ["[21, 28]", "*", "*"] + ["[41, 48]"] * 3
    assert made.covered(new).tolist() == [True, False, False, True, True, True]


def test_an_unseen_text_is_covered_by_nothing_but_everything():
    made = Anonymizer(k=2, quasi=["sex"], cells="text").fit(PEOPLE)
    with pytest.warns(UncoveredRows, match="1 row of 1"):
        assert made.transform(PEOPLE.head(1).assign(sex="x"))[0, 1] == "*"
    whole = Anonymizer(k=4, quasi=["sex"], cells="text").fit(PEOPLE)
    assert whole.transform(PEOPLE.head(1).assign(sex="x"))[0, 1] == "*"


@pytest.mark.parametrize(
    ("cells", "names", "first"),
    [
        ("center", ["age", "income"], [24.5, 1.0]),
        ("bounds", ["age_low", "age_high", "income"], [21.0, 28.0, 1.0]),
        ("text", ["age", "income"], ["[21, 28]", 1.0]),
    ],
)
def test_cells_leave_in_the_form_that_is_asked_for(cells, names, first):
    data = PEOPLE[["age", "income"]]
    made = Anonymizer(k=3, quasi=["age"], cells=cells).fit(data)
    assert made.get_feature_names_out().tolist() == names
    assert made.transform(data)[0].tolist() == first
    frame = made.set_output(transform="pandas").transform(data)
    assert frame.columns.tolist() == names


def test_it_works_in_a_pipeline_and_a_column_transformer():
    target = [0, 0, 0, 1, 1, 1]
    columns = ColumnTransformer(
        [
            ("age", Anonymizer(k=3), ["age"]),
            ("sex", make_pipeline(Anonymizer(k=3), OneHotEncoder()), ["sex"]),
        ]
    )
    model = make_pipeline(columns, LogisticRegression()).fit(PEOPLE, target)
    assert model.predict(PEOPLE).tolist() == target


def test_full_domain_levels_and_hierarchies_apply_to_new_values():
    made = Anonymizer(
        k=3, quasi=["age"], method="flash", hierarchies={"age": {"intervals": [10, 20]}},
        cells="text",
    ).fit(PEOPLE)  # fmt: skip
    assert made.transform(PEOPLE.assign(age=29))[0, 0] == made.transform(PEOPLE)[0, 0]


def test_a_model_about_another_column_of_the_same_data_is_kept():
    data = PEOPLE.assign(disease=["flu", "flu", "gout", "flu", "flu", "flu"])
    made = Anonymizer(k=2, quasi=["age"], model="l-diversity(2, disease)").fit(data)
    assert made.release_.classes.distinct("disease").min() == 2


def test_it_is_told_apart_from_columns_by_position_in_an_array():
    rows = np.column_stack([PEOPLE["income"], PEOPLE["age"]])
    found = Anonymizer(k=3, quasi=[1]).fit_transform(rows)
    assert found[:, 0].tolist() == rows[:, 0].tolist()
    assert found[:, 1].tolist() == [24.5] * 3 + [44.5] * 3


def test_more_people_than_there_are_is_refused():
    with pytest.raises(shoal.InputError, match="n_samples = 6"):
        Anonymizer(k=7).fit(PEOPLE)
