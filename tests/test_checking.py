"""The gate for pipelines: it passes what holds and stops the rest, with counts."""

from __future__ import annotations

import pandas as pd
import pytest

import shoal

PUBLISHED = pd.DataFrame(
    {
        "age": ["[30, 40]", "[30, 40]", "[30, 40]", "*", "*"],
        "disease": ["flu", "gout", "flu", "flu", "flu"],
        "patient": [1, 2, 2, 3, 4],
    }
)


def test_what_holds_passes_with_the_level_that_it_reaches():
    outcome = shoal.check(PUBLISHED, k=2, quasi="age")
    assert outcome
    assert outcome.smallest == 2
    assert outcome.levels == {"k-anonymity(k=2)": 2}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"k": 3}, r"1 of 2 classes breaks it \(2 of 5 rows\)"),
        ({"k": 2, "model": "l-diversity(2, disease)"}, r"1 of 2 classes breaks it \(2 of 5 rows\)"),
        ({"k": 5}, r"2 of 2 classes break it \(5 of 5 rows\)"),
    ],
)
def test_what_does_not_hold_is_stopped_with_counts(asked, message):
    with pytest.raises(shoal.NotAnonymous, match=message):
        shoal.check(PUBLISHED, quasi="age", **asked)


def test_people_are_counted_by_the_person_column():
    assert shoal.check(PUBLISHED, k=2, quasi="age", person="patient")
    with pytest.raises(shoal.NotAnonymous):
        shoal.check(PUBLISHED, k=3, quasi="age", person="patient")


def test_a_file_is_checked_as_it_is_written(tmp_path):
    path = tmp_path / "published.csv"
    path.write_text("zip\n01\n01\n1\n1\n")
    assert shoal.check(path, k=2, quasi="zip").classes == 2


def test_the_guarantee_and_the_columns_must_be_stated():
    with pytest.raises(shoal.InputError, match="give a guarantee"):
        shoal.check(PUBLISHED, quasi="age")
    with pytest.raises(shoal.InputError, match="quasi="):
        shoal.check(PUBLISHED, k=2, quasi=[])
