"""The report of a release on disk has the figures of the same release in memory."""

from __future__ import annotations

import json

import pytest
from tests.rows.conftest import ROLES, TREES
from typer.testing import CliRunner

import shoal
from shoal import InputError
from shoal.cli import app
from shoal.report import contents
from shoal.rows.large_table import LargeTable

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


TOGETHER = {  # metrics that need all values of a record
    "bivariate-correlation",
    "classification",
    "diameter",
    "kl-divergence",
    "squared-distance-error",
}


def by_counts(release, exact):
    """Compare a report from counts with one from all tuples, except for what it must omit."""
    found, wanted = figures(release), figures(exact)
    assert not release.digest.knows("tuple")
    assert set(found["losses"]["undefined"]) >= TOGETHER
    assert "all values of a record" in found["risk"]["expected"]["reason"]
    assert "all values of a record" in found["correlations"]["reason"]
    for each in (found, wanted):
        each["losses"].pop("undefined")
        kept = [m for m in each["losses"]["metrics"] if m["name"] not in TOGETHER]
        each["losses"]["metrics"] = kept
        each["risk"].pop("expected")
        each["correlations"] = None
        for attribute in each["losses"]["attributes"]:
            attribute.pop("hardest_hit")
        checks = each["attacks"]["checks"]
        each["attacks"] = [c for c in checks if c["name"] != "minimality"]
    assert found == wanted


@pytest.mark.parametrize("method", ["flash", "mondrian", "datafly"])
@pytest.mark.parametrize("model", ["k-anonymity(8)", "l-diversity(2, illness)"])
def test_a_report_from_counts_has_the_figures_that_counts_determine(
    method, model, people, monkeypatch
):
    settings = SETTINGS | {"rows_are_people": True}
    exact = shoal.anonymize(shoal.read(people, **settings), model, method)
    release = shoal.anonymize(shoal.open(people, **settings), model, method)
    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 5)
    by_counts(release, exact)
    with pytest.raises(InputError, match="metric diameter: needs all values of a record"):
        shoal.metrics.evaluate(release, ["diameter"])


def test_a_search_from_a_coarser_level_has_the_figures_of_the_finest(people, monkeypatch):
    settings = SETTINGS | {"rows_are_people": True}
    exact = shoal.anonymize(shoal.read(people, **settings), k=8, method="ola")
    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 150)
    release = shoal.anonymize(shoal.open(people, **settings), k=8, method="ola")
    assert release.floor
    assert release.node == exact.node
    by_counts(release, exact)


def test_values_inside_classes_that_do_not_fit_are_omitted_or_refused(people, monkeypatch):
    release = shoal.anonymize(
        shoal.open(people, **SETTINGS, rows_are_people=True), k=8, method="mondrian"
    )
    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 5)
    values = sum(len(release.source.encoded[name].counts) for name in ("illness", "cost"))
    room = len(release.counted) * values  # enough for sensitive values, not for the others
    monkeypatch.setattr("shoal.release.stored_margins._BYTES_PER_VALUE", 10**9)
    monkeypatch.setattr(
        "shoal.release.stored_margins._SHARE", room * 10**9 / release.source.budget.size
    )
    undefined = shoal.metrics.undefined(release)
    assert "all values of a record" in undefined["class"]
    assert "ncp" not in undefined
    del release.__dict__["digest"]
    monkeypatch.setattr("shoal.release.stored_margins._SHARE", 0)
    with pytest.raises(InputError, match="the values of column 'illness' in"):
        contents(release)


@pytest.mark.parametrize("rows", [160, 1000])
def test_a_release_in_partitions_has_a_report(rows, people):
    settings = SETTINGS | {"rows_are_people": True}
    table = shoal.open(people, **settings, partition_rows=rows, processes=0)
    release = shoal.anonymize(table, k=8, method="sorted")
    measured = shoal.metrics.evaluate(release)
    for name, value in release.losses.items():  # as each partition was measured in memory
        assert measured[name] == pytest.approx(value, rel=1e-12)
    assert contents(release)["guarantee"]["classes"] == len(release.counted)
    if rows > 300:  # all rows in one partition
        exact = shoal.metrics.evaluate(
            shoal.anonymize(shoal.read(people, **settings), k=8, method="sorted")
        )
        assert set(exact) - set(measured) <= TOGETHER
        assert {n: exact[n] for n in measured} == pytest.approx(dict(measured), rel=1e-12)


def test_a_report_about_people_that_do_not_fit_is_refused(people, monkeypatch):
    table = shoal.open(people, **SETTINGS, person="patient")
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
