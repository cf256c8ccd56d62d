"""What models learn, as figures of a comparison."""

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import InputError, KAnonymity, Recoding, Release, Table
from shoal.comparison.learning import learned
from shoal.support.wording import plain


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    age = generator.integers(20, 80, 200)
    data = {
        "age": age,
        "ill": np.where(age + generator.normal(0, 5, 200) > 50, "yes", "no"),
        "cost": age * 10.0,
        "noise": generator.normal(size=200),
    }
    roles = {"age": "quasi"} | dict.fromkeys(["ill", "cost", "noise"], "sensitive")
    return Table.from_arrow(pa.table(data), roles)


def published(table, how):
    return Release(table, {"age": how(table["age"])}, KAnonymity(2))


@pytest.mark.parametrize(
    ("target", "scores"), [("ill", ["accuracy", "auroc"]), ("cost", ["r2", "mae"])]
)
def test_nothing_is_lost_of_an_untouched_table_and_all_of_a_hidden_one(table, target, scores):
    figures = learned(table, target)
    assert list(figures) == ["utility loss", *(f"utility {score}" for score in scores)]
    same, nothing = (published(table, how) for how in (Recoding.identity, Recoding.suppressed))
    assert figures["utility loss"](same) == 0
    assert figures["utility loss"](nothing) == pytest.approx(1, abs=0.02)
    if target == "ill":
        assert figures["utility auroc"](nothing) == 0.5 < figures["utility auroc"](same)


def test_where_raw_rows_teach_nothing_there_is_no_loss(table):
    figures = learned(table, "noise")
    found = published(table, Recoding.identity)
    assert figures["utility r2"](found) < 0
    with pytest.raises(InputError, match="no better than the baseline"):
        figures["utility loss"](found)


def test_figures_of_one_release_are_learned_once(table, monkeypatch):
    figures = learned(table, "ill")
    found = published(table, Recoding.identity)
    figures["utility accuracy"](found)
    monkeypatch.setattr("shoal.comparison.learning.evaluate", None)
    assert figures["utility auroc"](found) > 0.5


def test_figures_go_by_a_stable_name(table):
    told = plain(learned(table, "ill"))
    assert told == plain(learned(table, "ill"))
    assert told != plain(learned(table, "cost"))


@pytest.mark.slow
def test_a_comparison_by_what_is_learned(table, tmp_path):
    found = shoal.compare(table, k=[5], methods=["mondrian"], metrics=["ncp"], utility="ill")
    (row,) = found
    assert row["utility loss"] < 0.5
    assert 0 <= row["utility auroc"] <= 1
    assert found.front("utility loss")
    found.picture(tmp_path / "front.html", loss="utility loss")
    assert "utility loss" in (tmp_path / "front.html").read_text()


def test_what_is_asked_wrongly_is_refused(table):
    with pytest.raises(InputError, match="no column 'nothing'"):
        shoal.compare(table, k=2, utility="nothing")
    with pytest.raises(InputError, match="'age' is a quasi-identifier"):
        shoal.compare(table, k=2, utility="age")
    with pytest.raises(InputError, match="adds a measure of this name"):
        shoal.compare(table, k=2, utility="ill", measures={"utility loss": len})
