"""What models learn, in the report: of the released records, and only where a target is named."""

import json

import pytest
from tests.cases import ready_for
from tests.report.report_tables import SECRETS, people, table

import shoal
from shoal import InputError, KAnonymity
from shoal.report import contents


@pytest.fixture(scope="module")
def release():
    rows = people(120)
    return shoal.anonymize(table(rows), KAnonymity(3), "datafly", max_suppression=0.1)


def test_a_target_gives_a_section(release, tmp_path):
    release.report(tmp_path / "report.html", target="disease")
    page = (tmp_path / "report.html").read_text()
    assert "Predictive utility" in page
    assert "gradient-boosting" in page
    assert not any(secret in page for secret in SECRETS)


def test_it_is_told_of_the_released_records_alone(release):
    told = contents(release, target="disease")["utility"]
    released = release.original.records - release.classes.suppressed
    assert release.classes.suppressed
    assert told["trained"] == told["tested"] == released
    assert all(round(s["value"], 3) == s["value"] for s in told["scores"])
    json.dumps(told, allow_nan=False)


def test_without_a_target_there_is_none(release, tmp_path):
    assert contents(release)["utility"] is None
    release.report(tmp_path / "report.html")
    assert "Predictive utility" not in (tmp_path / "report.html").read_text()


def test_a_release_with_claims_does_not_tell_it(release, tmp_path):
    some = shoal.datasets.patients(400, seed=1)
    drawn = shoal.anonymize(ready_for("safe-la", some), KAnonymity(50), "safe-la", seed=1)
    with pytest.raises(InputError, match="cannot include predictive utility"):
        drawn.report(tmp_path / "report.html", target="diagnosis")
    assert not (tmp_path / "report.html").exists()
