"""Frames and texts where tables and models are expected."""

from __future__ import annotations

from dataclasses import fields

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.table.roles import UnassignedColumns

PEOPLE = {
    "name": ["a", "b", "c", "d"],
    "age": [31, 33, 47, 48],
    "disease": ["flu", "asthma", "flu", "gout"],
}
ROLES = {"quasi": ["age"], "sensitive": ["disease"], "identifier": ["name"]}
FRAMES = {
    "pandas": (pd.DataFrame, pd.DataFrame),
    "polars": (pl.DataFrame, pl.DataFrame),
    "pyarrow": (pa.table, pa.Table),
}


@pytest.mark.parametrize("library", FRAMES)
def test_a_release_comes_back_as_what_was_anonymized(library):
    make, kind = FRAMES[library]
    found = shoal.anonymize(make(PEOPLE), k=2, **ROLES).to_native()
    assert isinstance(found, kind)
    assert list(found["age"]) == ["[31, 33]"] * 2 + ["[47, 48]"] * 2 or library == "pyarrow"
    assert "name" not in (found.column_names if library == "pyarrow" else found.columns)


def test_a_pandas_index_is_kept_row_by_row():
    frame = pd.DataFrame(PEOPLE, index=[10, 20, 30, 40])
    frame.loc[50] = ["e", 90, "flu"]
    release = shoal.anonymize(frame, k=2, method="flash", max_suppression=0.4, **ROLES,
                              hierarchies={"age": {"intervals": [20]}})  # fmt: skip
    found = release.to_native()
    assert list(found.index) == [10, 20, 30, 40]
    assert list(found["disease"]) == PEOPLE["disease"]


def test_a_table_from_a_file_comes_back_as_arrow(tmp_path):
    path = tmp_path / "people.csv"
    pd.DataFrame(PEOPLE).to_csv(path, index=False)
    table = shoal.read(path, roles={"age": "quasi", "disease": "sensitive", "name": "identifier"})
    assert isinstance(shoal.anonymize(table, k=2).to_native(), pa.Table)


def test_a_release_is_read_by_what_speaks_the_arrow_c_stream():
    release = shoal.anonymize(pa.table(PEOPLE), k=2, **ROLES)
    assert pl.DataFrame(release).equals(release.to_polars())


def test_a_model_is_given_as_text_as_k_or_as_both():
    frame = pa.table(PEOPLE)
    by_text = shoal.anonymize(frame, "k-anonymity(2) & l-diversity(2, disease)", **ROLES)
    by_both = shoal.anonymize(frame, "l-diversity(2, disease)", k=2, **ROLES)
    by_hand = shoal.anonymize(frame, shoal.KAnonymity(2) & shoal.LDiversity(2, "disease"), **ROLES)
    assert str(by_text.model) == str(by_both.model) == str(by_hand.model)
    assert by_text.to_arrow().equals(by_hand.to_arrow())


def test_people_are_counted_where_a_person_is_named():
    visits = pa.table({"who": [1, 1, 2, 2], "age": [30, 30, 40, 40]})
    release = shoal.anonymize(visits, k=2, quasi="age", person="who")
    assert release.classes.people.tolist() == [2]


def test_columns_without_a_role_are_left_out_with_a_warning_at_the_call():
    with pytest.warns(UnassignedColumns, match="no role for name, disease") as caught:
        shoal.anonymize(pa.table(PEOPLE), k=2, quasi="age")
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 2}, r"quasi=\[…\]"),
        ({"quasi": "age"}, "give a guarantee"),
        ({"k": 2, "quasi": "age", "sensitive": "age"}, "named as quasi and as sensitive"),
        ({"model": 5, "quasi": "age"}, "not int"),
    ],
)
def test_what_is_missing_is_asked_for(given, message):
    with pytest.raises(shoal.InputError, match=message):
        shoal.anonymize(pa.table(PEOPLE), **given)


def test_a_table_keeps_its_own_roles():
    table = shoal.Table.from_arrow(pa.table(PEOPLE), {"age": "quasi"})
    with pytest.raises(shoal.InputError, match="already has roles"):
        shoal.anonymize(table, k=2, quasi="age")


def test_no_option_of_a_method_hides_a_keyword_of_the_call():
    import inspect

    taken = set(inspect.signature(shoal.anonymize).parameters) - {"seed", "hierarchies"}
    for method in shoal.METHODS.values():
        assert not taken & {field.name for field in fields(method)}
