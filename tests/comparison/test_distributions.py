"""Distributions of files that are no generalizations: noise, swapping, averages, synthetic rows."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from shoal.cli import app
from shoal.comparison.distributions import compare_distributions
from shoal.errors import NotCovering

QUASI = ["age", "income", "town"]


def people(count=300, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, count)
    return pd.DataFrame(
        {
            "age": age,
            "income": (2000 + 20 * age + rng.normal(0, 200, count)).round(),
            "town": rng.choice(list("ABCD"), count),
            "ill": rng.choice(["flu", "gout", "cold"], count),
        }
    )


def noisy(frame):
    rng = np.random.default_rng(1)
    return frame.assign(income=(frame.income + rng.normal(0, 50, len(frame))).round(1))


def swapped(frame):
    rng = np.random.default_rng(1)
    return frame.assign(town=rng.permutation(frame.town), age=rng.permutation(frame.age))


def averaged(frame):
    ordered = frame.sort_values("income")
    groups = np.arange(len(frame)) // 5
    return ordered.assign(income=ordered.groupby(groups).income.transform("mean")).sort_index()


def synthetic(frame):
    return people(2 * len(frame), seed=7)


FILES = {"noise": noisy, "swapping": swapped, "averages": averaged, "synthetic": synthetic}


def compare(original, released):
    return compare_distributions(original, released, quasi=QUASI, sensitive="ill")


def test_equal_files_have_equal_distributions():
    found = compare(people(), people())
    assert set(found.hellinger.values()) == {0}
    ((before, after),) = found.correlations.values()
    assert before == pytest.approx(after)
    assert before > 0.7


def test_swapping_keeps_distributions_and_breaks_correlations():
    found = compare(people(), swapped(people()))
    assert max(found.hellinger.values()) == 0
    ((before, after),) = found.correlations.values()
    assert before > 0.7 > 0.2 > abs(after)


def test_noise_and_averages_change_distributions_a_little():
    for change in (noisy, averaged):
        found = compare(people(), change(people()))
        assert 0 < found.hellinger["income"] < 0.15
        assert found.hellinger["town"] == 0


def test_other_values_have_nothing_in_common():
    found = compare(people(), people().assign(town="Z", age=500))
    assert found.hellinger["town"] == 1
    assert found.hellinger["age"] > 0.8


def test_a_range_is_spread_over_the_values_that_it_may_stand_for():
    original = pd.DataFrame({"age": [20, 30, 40, 50], "town": list("AABB")})
    released = pd.DataFrame({"age": ["[20, 30]"] * 2 + ["[40, 50]"] * 2, "town": ["{A, B}"] * 4})
    found = compare_distributions(original, released, quasi=["age", "town"])
    assert found.hellinger == pytest.approx({"age": 0, "town": 0}, abs=1e-9)
    assert found.not_compared == ("age", "town")


@pytest.mark.parametrize("name", FILES)
def test_the_command_compares_distributions_and_says_why(name, tmp_path):
    people().to_csv(tmp_path / "o.csv", index=False)
    FILES[name](people()).to_csv(tmp_path / "r.csv", index=False)
    roles = ["--quasi", ",".join(QUASI), "--sensitive", "ill", "--rows-are-people", "--json"]
    done = CliRunner().invoke(
        app, ["metrics", str(tmp_path / "o.csv"), str(tmp_path / "r.csv"), *roles]
    )
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["truthful"] is False
    assert set(data["hellinger"]["columns"]) == {*QUASI, "ill"}
    named = ["--metric", "ncp"]
    done = CliRunner().invoke(
        app, ["metrics", str(tmp_path / "o.csv"), str(tmp_path / "r.csv"), *roles, *named]
    )
    assert isinstance(done.exception, NotCovering)
