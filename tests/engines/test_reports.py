"""The report of a release on disk has the figures of the same release in memory."""

from __future__ import annotations

import json

import pytest
from tests.engines.conftest import ROLES, TREES
from typer.testing import CliRunner

import shoal
from shoal import InputError
from shoal.cli import app
from shoal.engines.large_table import LargeTable
from shoal.report import contents

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
SETTINGS = {"roles": ROLES, "hierarchies": TREES, "missing": ["NA"]}
DIFFERENT = ("repeat",)  # it names the versions, the notes and the time


def figures(release):
    found = contents(release)
    return {name: part for name, part in found.items() if name not in DIFFERENT}


@pytest.mark.parametrize("method", ["flash", "mondrian", "datafly"])
@pytest.mark.parametrize("model", ["k-anonymity(3)", "l-diversity(2, illness)"])
@pytest.mark.parametrize("units", [{"rows_are_people": True}, {"person": "patient"}])
def test_every_figure_is_that_of_the_release_in_memory(method, model, units, people):
    settings = SETTINGS | units
    one = shoal.anonymize(shoal.read(people, **settings), model, method)
    other = shoal.anonymize(shoal.open(people, **settings), model, method)
    assert figures(other) == figures(one)


def test_a_report_from_coarser_levels_has_the_same_risks(people, monkeypatch):
    settings = SETTINGS | {"rows_are_people": True}
    fine = shoal.anonymize(shoal.open(people, **settings), k=8, method="ola")
    exact = figures(fine)
    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 150)
    release = shoal.anonymize(shoal.open(people, **settings), k=8, method="ola")
    assert release.digest.original["age"].floor
    coarse = figures(release)
    assert release.node == fine.node
    same = ("verdict", "records", "unit", "guarantee", "risk", "singling_out", "attacks")
    assert {name: coarse[name] for name in same} == {name: exact[name] for name in same}
    assert "coarser level" in coarse["losses"]["undefined"]["class"]
    with pytest.raises(InputError, match="metric class: values were read at a coarser level"):
        shoal.metrics.evaluate(release, ["class"])


def test_a_report_that_does_not_fit_is_refused_before_anything_is_written(people, monkeypatch):
    table = shoal.open(people, **SETTINGS, rows_are_people=True)
    release = shoal.anonymize(table, k=3, method="mondrian")
    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 5)
    with pytest.raises(InputError, match="a report needs the distinct tuples"):
        contents(release)


def test_the_command_writes_the_report_of_rows_that_stay_on_disk(people, tmp_path):
    def run(*more):
        report = tmp_path / "report.json"
        arguments = ["anonymize", people, "--quasi", "postcode,sex", "--sensitive", "illness"]
        arguments += ["--hierarchy", "postcode=mask: right", "--rows-are-people", "-k", 5]
        arguments += ["--method", "flash", "-o", tmp_path / "release", "--force", "--json"]
        arguments += ["--report", report, "--picture", tmp_path / "lattice.svg", *more]
        done = CliRunner().invoke(app, list(map(str, arguments)))
        assert done.exit_code == 0, done.output
        return json.loads(report.read_text())

    one, other = run(), run("--engine", "duckdb")
    assert other["risk"] == one["risk"]
    assert other["singling_out"] == one["singling_out"]
    assert other["repeat"]["file"] == one["repeat"]["file"]
    assert (tmp_path / "lattice.svg").stat().st_size
