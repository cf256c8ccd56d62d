"""Studies of a release call the library on the release itself, or on the same one made again."""

from __future__ import annotations

import asyncio
import json
import pickle
import zipfile
from dataclasses import replace

import pyarrow.parquet
import pytest
from tests.web.conftest import finished

import shoal
from shoal.errors import InputError
from shoal.privacy.models import parse
from shoal.risk import assess
from shoal.web.project import studies
from shoal.web.project.lattice import explore
from shoal.web.project.releasing import KEPT
from shoal.web.project.studies import Studies


def quiet(fraction, text):
    assert fraction is None or 0 <= fraction <= 1


@pytest.fixture(scope="module")
def request_of_release(tmp_path_factory, patients, analyst):
    """A finished release of a project, as everything that determines it."""
    from tests.web.conftest import ThreadJob

    from shoal.web.project.project import Project

    async def make():
        project = Project(tmp_path_factory.mktemp("studied"), ThreadJob)
        project.analyst = analyst
        await project.open(patients)
        project.promise(k=3, sentences=())
        project.start_run()
        run = await finished(project)
        assert run.state == "done", run.text
        return run.request

    return asyncio.run(make())


def test_the_risk_is_that_of_the_release(request_of_release, tmp_path):
    found = studies.assess_risk(quiet, request_of_release, tmp_path, ["sex", "birth_date"])
    release = studies.read_release(request_of_release, tmp_path)
    expected = assess(release, ["sex", "birth_date"], seed=0)
    assert found["inside"]["value"] == expected.value
    assert (found["outside"] is None) == (release.classes.suppressed == 0)


def test_a_release_without_its_kept_copy_is_made_again(request_of_release, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for path in request_of_release.folder.iterdir():
        if path.is_file() and path.name != KEPT:
            (folder / path.name).write_bytes(path.read_bytes())
    request = replace(request_of_release, folder=folder)
    release = studies.read_release(request, tmp_path / "studies")
    assert len(release.original) == 400
    kept = tmp_path / "studies" / KEPT
    assert kept.stat().st_mode & 0o777 == 0o600
    assert studies.read_release(request, tmp_path / "studies").original.quasi == (
        release.original.quasi
    )


def test_a_release_with_other_rows_is_not_studied(request_of_release, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for path in request_of_release.folder.iterdir():
        if path.is_file() and path.name != KEPT:
            (folder / path.name).write_bytes(path.read_bytes())
    (folder / request_of_release.output).write_text("other rows\n", encoding="utf-8")
    request = replace(request_of_release, folder=folder)
    with pytest.raises(InputError, match="cannot be made again"):
        studies.read_release(request, tmp_path / "studies")
    assert not (tmp_path / "studies" / KEPT).exists()


def test_a_parquet_file_has_the_released_rows(request_of_release, tmp_path):
    output = tmp_path / "release.parquet"
    studies.write_release(quiet, request_of_release, tmp_path, output, False)
    release = studies.read_release(request_of_release, tmp_path)
    assert pyarrow.parquet.read_table(output).num_rows == release.classes.released_people
    assert output.stat().st_mode & 0o777 == 0o600


def test_all_combinations_of_levels_are_listed(request_of_release, tmp_path):
    output = tmp_path / "levels.bin"
    found = studies.list_nodes(quiet, request_of_release, output, None, 0.05)
    view, trees = pickle.loads(output.read_bytes())
    assert len(view) == found["nodes"]
    assert {name: tree.height for name, tree in trees.items()} == dict(
        zip(view.columns, view.heights, strict=True)
    )
    assert view[len(view) - 1].state != "not anonymous"
    assert output.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kept", [True, False])
def test_combinations_are_the_same_with_and_without_the_kept_release(
    request_of_release, tmp_path, monkeypatch, kept
):
    if not kept:
        monkeypatch.setattr(studies, "read_kept", lambda folder: None)
    studies.list_nodes(quiet, request_of_release, tmp_path / "levels.bin", None, 0.05)
    view, _ = pickle.loads((tmp_path / "levels.bin").read_bytes())
    table = studies.with_all_hierarchies(studies.read_table(request_of_release))
    expected = explore(table, parse(request_of_release.model))
    assert view.columns == expected.columns
    assert [view[i] for i in range(len(view))] == [expected[i] for i in range(len(expected))]


def test_alternatives_keep_at_least_the_guarantee(request_of_release, monkeypatch):
    monkeypatch.setattr(studies, "METHODS", ())
    found = studies.compare_releases(quiet, request_of_release, (3,))
    assert [row["status"] for row in found["rows"]] == ["done"]
    assert found["rows"][0]["highest risk"] <= 1 / 3
    assert found["rows"][0][found["loss"]] is not None


@pytest.mark.slow
def test_the_evidence_pack_is_one_archive(request_of_release, tmp_path):
    released = request_of_release.folder / request_of_release.output
    output = tmp_path / "evidence.zip"
    found = studies.write_pack(
        quiet, request_of_release, tmp_path, released, output, {"purpose": "research"}
    )
    with zipfile.ZipFile(output) as archive:
        names = archive.namelist()
        evidence = json.loads(archive.read("evidence/evidence.json"))
    assert {"evidence/index.html", "evidence/verify.py", released.name} <= set(names)
    assert "research" in json.dumps(evidence)
    assert len(found["sha256"]) == 64
    assert not output.with_suffix("").exists()


class Fake:
    def __init__(self, state="running"):
        self.state, self.result, self.on_change = state, "answer", None

    def cancel(self):
        self.state = "cancelled"


class FakeProject:
    def __init__(self):
        self.touched, self.started = [], []

    def touch(self, topic):
        self.touched.append(str(topic))

    def start_job(self, task, *arguments):
        self.started.append(arguments)
        return Fake()


def test_the_same_question_is_asked_once_and_another_replaces_it():
    project = FakeProject()
    asked = Studies(project)
    first = asked.begin("risk", "Release 1", shoal.read, 1, key="sex")
    assert asked.begin("risk", "Release 1", shoal.read, 1, key="sex") is first
    assert first.result is None
    second = asked.begin("risk", "Release 1", shoal.read, 2, key="age")
    assert first.state == "cancelled"
    second.job.state = "done"
    second.job.on_change()
    assert asked["risk", "Release 1"].result == "answer"
    assert project.started == [(1,), (2,)]
    before = len(project.touched)
    first.job.on_change()  # the old study is no longer shown
    assert len(project.touched) == before
    asked.clear()
    assert asked["risk", "Release 1"] is None
