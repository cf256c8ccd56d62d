"""A whole comparison: every run a row, those that fail too."""

import json
import subprocess

import pytest
from tests.comparison import tasks
from tests.comparison.tasks import Broken, Liar

import shoal
from shoal.errors import InputError

pytestmark = pytest.mark.slow

METHODS = ["mondrian", ("anneal", {"steps": 50}), "doka-greedy", Broken("exit"), Liar()]
ASKED = {
    "k": [3],
    "methods": METHODS,
    "seed": 5,
    "metrics": ["ncp", "absolute-distance"],
    "measures": {"smallest": tasks.smallest},
    "processes": 2,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def table():
    return shoal.datasets.load("fars-sample")


@pytest.fixture(scope="module")
def found(table, folder):
    return shoal.compare(table, folder=folder, **ASKED)


def test_each_run_is_a_row(found):
    assert [(row["method"], row["status"]) for row in found] == [
        ("mondrian", "done"),
        ("anneal", "done"),
        ("doka-greedy", "unfit"),
        ("broken", "failed"),
        ("liar", "failed"),
    ]
    assert len({tuple(row) for row in found}) == 1  # all with the same columns
    assert repr(found) == "Comparison(done=2, unfit=1, failed=2)"


def test_a_run_without_a_release_says_why(found):
    reasons = [row["reason"] for row in found]
    assert reasons[:2] == ["", ""]
    assert "cannot meet k-anonymity(k=3)" in reasons[2]
    assert reasons[3] == "the process exited with status 3"
    assert reasons[4].startswith("liar broke k-anonymity(k=3) in ")


def test_a_run_gives_the_release_that_the_door_gives(found, table):
    for row, options in [(found.rows[0], {}), (found.rows[1], {"steps": 50})]:
        release = shoal.anonymize(
            table, shoal.KAnonymity(3), row["method"], seed=row["seed"], **options
        )
        assert row["options"] == options
        assert row["ncp"] == shoal.metrics.ncp(release)
        assert row["absolute-distance"] is None  # not defined for ranges
        assert row["classes"] == len(release.classes)
        assert row["smallest"] == row["smallest class"] == release.classes.sizes.min()


def test_what_a_run_took_is_measured(found):
    for name in ("search seconds", "verify seconds", "cpu seconds", "peak MB"):
        assert all(row[name] > 0 for row in found.done)


def test_finished_runs_are_not_made_again(found, table, folder, monkeypatch):
    class Refused(subprocess.Popen):
        def __init__(self, command, **_):
            raise AssertionError(f"started {command[-1]}")

    monkeypatch.setattr(subprocess, "Popen", Refused)
    finished = {**ASKED, "methods": METHODS[:3]}
    assert shoal.compare(table, folder=folder, **finished).rows == found.rows[:3]
    with pytest.raises(AssertionError, match="started"):
        shoal.compare(table, folder=folder, **{**finished, "seed": 6})


def test_files_of_finished_runs_hold_figures_only(found, table, folder):
    kept = [json.loads(path.read_text()) for path in folder.iterdir()]
    assert sorted(entry["method"] for entry in kept) == ["anneal", "doka-greedy", "mondrian"]
    numbers = [value for entry in kept for value in entry.values() if isinstance(value, dict)]
    assert all(isinstance(v, (float, int, type(None))) for entry in numbers for v in entry.values())


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"metrics": ["nice"]}, "no metric 'nice'"),
        ({"measures": {"ncp": tasks.smallest}}, "has a column of this name"),
        ({"measures": {"size": 3}}, "must be a function"),
        ({"measures": {"size": lambda release: 1.0}}, "define it at the top level of"),
    ],
)
def test_figures_that_cannot_be_counted_are_refused(table, asked, match):
    with pytest.raises(InputError, match=match):
        shoal.compare(table, k=3, methods="mondrian", **asked)
