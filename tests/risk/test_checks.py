from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from tests.metrics.strategies import releases

import shoal
from shoal.privacy import KAnonymity, LDiversity, OneKAnonymity
from shoal.risk import checks
from shoal.table.classes import Classes
from shoal.table.table import Table

SECRETS = ("quokka", "wombat", "numbat", "bilby")


def verdicts(source):
    return {check.name: check.severity for check in checks(source)}


@pytest.mark.parametrize(
    ("groups", "verdict"),
    [
        (("aaa", "bcd"), "serious"),
        (("a" * 9 + "b", "abcd" * 5), "look"),
        (("abc", "bcd"), "fine"),
        (("aaa", "aaa"), "fine"),  # everybody knew before
        (("a" * 99 + "b", "a" * 98 + "bb"), "fine"),  # the table is as sure
    ],
)
def test_verdicts_on_homogeneity(grouped, groups, verdict):
    assert verdicts(grouped(*groups))["homogeneity"] == verdict


@pytest.mark.parametrize(
    ("groups", "verdict"),
    [
        (("aab", "bba"), "look"),  # a third more is guessed right
        (("ab", "ab"), "fine"),
        (("aaab", "bcde" * 10), "look"),  # few are concerned
        (("aaab", "bcde" * 3), "serious"),
    ],
)
def test_verdicts_on_skewness(grouped, groups, verdict):
    assert verdicts(grouped(*groups))["skewness"] == verdict


@pytest.mark.parametrize(
    ("groups", "verdict"),
    [
        (([1, 2], [*range(3, 43)]), "look"),
        (([1, 2, 3], [3, 4, 5], [*range(6, 43)]), "look"),
        (([1, 9], [2, 8], [3, 7]), "fine"),
        (([1, 2], [3, 4], [*range(5, 25), 1]), "look"),
        (tuple([i, i + 1] for i in range(0, 40, 2)), "serious"),
    ],
)
def test_verdicts_on_similarity(grouped, groups, verdict):
    assert verdicts(grouped(*groups))["similarity"] == verdict


def test_similarity_is_not_asked_where_nothing_is_close(grouped):
    assert set(verdicts(grouped("ab", "cd"))) == {"homogeneity", "skewness"}


def test_minimality_is_asked_of_releases_with_a_sensitive_model(released):
    columns = {"age": [1, 1, 2, 2], "disease": list("aabb")}
    assert "minimality" not in verdicts(released(columns, [0] * 4))
    release = released(columns, [0] * 4, KAnonymity(2) & LDiversity(2, "disease"))
    assert verdicts(release)["minimality"] == "look"
    [found] = [check for check in checks(release) if check.name == "minimality"]
    assert (found.column, found.figures["held"]) == (None, 1)
    assert "1 of 1 class (4 people)" in found.sentence


def test_sentences_count_people(grouped):
    found = checks(grouped("aaa", "bcd"))[0]
    assert found.sentence == (
        "3 of 6 people: all records that may be theirs show one value of disease"
    )
    assert found.figures["certain_share"] == 0.5
    assert found.to_dict()["column"] == "disease"


def test_nothing_is_checked_without_sensitive_columns():
    table = Table.from_arrow(pa.table({"age": [1, 1]}), {"age": "quasi"})
    assert checks(Classes.by_quasi(table)) == ()


def test_no_sentence_or_figure_shows_a_cell():
    spec = {
        "place": {"role": "quasi", "hierarchy": {"tree": {"marsupial-land": list(SECRETS)}}},
        "animal": {"role": "sensitive", "hierarchy": {"tree": {"m-land": list(SECRETS)}}},
        "other": {"role": "sensitive", "order": list(SECRETS)},
    }
    table = Table.from_arrow(pa.table(dict.fromkeys(spec, list(SECRETS) * 2)), spec)
    model = KAnonymity(2) & LDiversity(2, "animal")
    for method in ("mondrian", "flash"):
        found = checks(shoal.anonymize(table, model, method))
        assert len(found) == 7
        shown = f"{found!r} {[check.to_dict() for check in found]}".lower()
        assert not [s for s in (*SECRETS, "marsupial-land", "m-land") if s in shown]


@given(release=releases)
def test_every_release_can_be_checked(release):
    for model in (KAnonymity(2), OneKAnonymity(1000), KAnonymity(2) & LDiversity(2, "ill")):
        found = checks(replace(release, model=model))
        assert {check.name for check in found} >= {"homogeneity", "skewness"}
        assert all(check.severity in ("fine", "look", "serious") for check in found)
        for check in found:
            shares = [v for name, v in check.figures.items() if name.endswith("_share")]
            assert all(0 <= value <= 1 for value in shares)
