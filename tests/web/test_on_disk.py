"""Tables larger than the memory: rows stay on disk, and figures are those of all rows."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

pytest.importorskip("nicegui")

from nicegui import ui
from tests.web.conftest import finished
from tests.web.test_screens import go_on, simulate, until

from shoal.errors import InputError
from shoal.identifiers.keys import Key
from shoal.report import document
from shoal.rows.large_table import LargeTable
from shoal.web.project import on_disk
from shoal.web.project.analyst import Analyst, Desk, FileRequest, TableRequest
from shoal.web.project.editors import find_values
from shoal.web.project.feedback import STARTS, bounds_of, count_groups, foresee, foresee_draw
from shoal.web.project.guarantee import PRIVATE
from shoal.web.project.opening import examine
from shoal.web.project.studies import list_nodes
from shoal.web.project.topics import Step
from shoal.web.text import common, group, open, protect, release
from shoal.web.text import open as describe
from shoal.web.text import protect as private_draw

TINY = "200MB"  # the least: every table is larger, because Shoal itself needs as much


@pytest.fixture
def desk():
    made = Desk()
    yield made
    made.close()


def test_a_table_on_disk_is_described_like_one_in_memory(patients, desk, monkeypatch):
    monkeypatch.setattr(on_disk, "SAMPLE_ROWS", 150)
    disk = examine(desk, FileRequest(patients, {}, TINY), {})
    memory = examine(Desk(), FileRequest(patients), {})
    assert (disk["sampled"], memory["sampled"]) == (150, 0)
    assert (disk["records"], disk["people"]) == (400, memory["people"])
    for one, other in zip(disk["columns"], memory["columns"], strict=True):
        fields = ("name", "role", "distinct", "missing", "type")
        assert [one[field] for field in fields] == [other[field] for field in fields]
    assert disk["question"] == memory["question"]


def test_values_and_groups_are_those_of_all_rows(patients, desk, monkeypatch):
    monkeypatch.setattr(on_disk, "SAMPLE_ROWS", 50)
    disk_request, memory_request = _requests(patients)
    plain = Desk()
    assert desk.data(disk_request.file).num_rows == 50
    for name in ("sex", "postcode"):
        one = find_values(desk, disk_request, [name])[name]
        other = find_values(plain, memory_request, [name])[name]
        assert one.column.labels == other.column.labels
        assert one.counts.tolist() == other.counts.tolist()
    for levels in ({}, {"postcode": 2}):
        expected = count_groups(plain, memory_request, 5, levels)
        assert count_groups(desk, disk_request, 5, levels) == expected
        engine = _by_engine(monkeypatch, desk, disk_request, levels)
        assert engine == expected
    asked = ("k-anonymity(5) & l-diversity(2, diagnosis)", "mondrian", {})
    estimate = foresee(desk, disk_request, *asked)
    assert not estimate.exact
    assert estimate.rows == 50
    exact = foresee(desk, disk_request, *asked, None)
    assert exact == foresee(plain, memory_request, *asked, None)


def _requests(patients):
    specs = {
        "sex": {"role": "quasi"},
        "postcode": {"role": "quasi"},
        "age": {"role": "quasi"},
        "diagnosis": {"role": "sensitive"},
    }
    trees = {"postcode": {"mask": "right"}, "age": {"intervals": [5, 10]}}
    disk = TableRequest(FileRequest(patients, {}, TINY), specs, trees, {"rows_are_people": True})
    return disk, replace(disk, file=FileRequest(patients))


def _by_engine(monkeypatch, desk, request, levels):
    """Count as if the distinct tuples were too many for the memory."""
    with monkeypatch.context() as patched:
        patched.setattr(LargeTable, "most_tuples", lambda *_: 0)
        return count_groups(desk, request, 5, levels)


def test_people_with_several_rows_are_counted_on_all_rows(tmp_path, desk, monkeypatch):
    monkeypatch.setattr(on_disk, "SAMPLE_ROWS", 20)
    path = tmp_path / "visits.parquet"
    random = np.random.default_rng(1)
    people = np.repeat(np.arange(100), 3)
    table = {"patient_id": people, "age": people % 7, "diagnosis": random.integers(0, 3, 300)}
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    file = FileRequest(path, {}, TINY)
    found = examine(desk, file, {})
    assert found["person"] == ["patient_id"]
    assert (found["records"], found["people"], found["question"].distinct) == (300, 100, 100)
    specs = {"age": {"role": "quasi"}, "diagnosis": {"role": "sensitive"}}
    groups = count_groups(desk, TableRequest(file, specs, {}, {"person": ("patient_id",)}), 15)
    assert (groups.rows, groups.people, groups.smallest) == (300, 100, 14)
    assert groups.at_risk == 5 * 14


def refuse(*_, **__):
    raise InputError("too many values of a column")


@pytest.mark.parametrize("method", ["mondrian", "sorted"])
def test_a_release_from_disk_is_whole_and_its_command_repeats_it(
    project, patients, method, monkeypatch
):
    if method == "sorted":
        monkeypatch.setattr(document, "contents", refuse)

    async def run():
        project.memory = TINY
        await project.open(patients)
        project.promise(method=method)
        project.start_run()
        return await finished(project)

    made = asyncio.run(run())
    assert made.state == "done", made.text
    assert made.summary["verified"]
    assert made.request.on_disk
    assert not (made.folder / "release.bin").exists()
    assert ("report" in made.files) == (method == "mondrian")
    assert ("no_report" in made.summary) == (method == "sorted")
    released = made.files["release"].read_bytes()
    made.files["release"].unlink()
    made.files.get("report", made.folder / "none").unlink(missing_ok=True)
    program = [sys.executable, made.files["python"].name]
    subprocess.run(program, cwd=made.folder, check=True, capture_output=True)
    assert made.files["release"].read_bytes() == released
    assert "--engine duckdb --memory 200000000" in made.files["command"].read_text()


def write_visits(path):
    """Write 120 people with three visits each; their numbers link the visits."""
    people = np.repeat(np.arange(120), 3)
    ill = np.random.default_rng(1).integers(0, 3, 360)
    table = {"patient_id": [f"P{i:05}" for i in people], "age": people % 7, "diagnosis": ill}
    pyarrow.csv.write_csv(pyarrow.table(table), path)


def test_pseudonyms_on_disk_are_those_in_memory_and_the_command_repeats_them(new_project, tmp_path):
    path, key = tmp_path / "visits.csv", tmp_path / "key.bin"
    write_visits(path)
    Key.new().write(key)

    async def run(memory):
        project = new_project(f"workspace-{memory}")
        project.memory = memory
        await project.open(path)
        project.change_columns(["patient_id"], replace={"pseudonym": {}})
        project.set_secret(key_file=key, domain="study")
        project.promise(method="flash")
        await until(lambda: project.figures.outlook is not None and project.figures.outlook.exact)
        assert project.figures.outlook.problem == ""
        project.start_run()
        return await finished(project)

    disk, memory = (asyncio.run(run(size)) for size in (TINY, None))
    assert disk.state == memory.state == "done", (disk.text, memory.text)
    assert (disk.request.on_disk, memory.request.on_disk) == (True, False)
    released = disk.files["release"].read_bytes()
    assert b"P00000" not in released
    in_memory = memory.files["release"].read_bytes()
    assert sorted(released.splitlines()) == sorted(in_memory.splitlines())
    assert disk.summary["replaced"] == memory.summary["replaced"]
    for kind in ("release", "report"):
        disk.files[kind].unlink()
    command = [sys.executable, "-m", *shlex.split(disk.files["command"].read_text())]
    subprocess.run(command, cwd=disk.folder, check=True, capture_output=True)
    assert disk.files["release"].read_bytes() == released


def test_a_private_draw_on_disk_has_no_replaced_identifiers_and_says_so(project, tmp_path):
    path = tmp_path / "visits.csv"
    write_visits(path)
    project.memory = TINY

    async def run():
        await project.open(path)
        project.change_columns(["patient_id"], replace={"pseudonym": {}})
        declared = {"age": bounds_of(project.columns["age"], "0", "9")}
        declared["diagnosis"] = bounds_of(project.columns["diagnosis"], "0", "2")
        for name, stated in declared.items():
            project.change_columns([name], declared=stated)
        project.promise(method=PRIVATE, options=dict(STARTS), k=40)
        before = foresee_draw(project)
        project.change_columns(["patient_id"], replace=None)
        return before, foresee_draw(project)

    before, after = asyncio.run(run())
    assert before.problem == private_draw.replaced("patient_id")
    assert after.problem == ""


def test_an_interrupted_question_makes_way(tmp_path):
    path = tmp_path / "numbers.parquet"
    random = np.random.default_rng(0)
    columns = {f"q{j}": random.integers(0, 1000, 300_000) for j in range(6)}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    specs = {name: {"role": "quasi"} for name in columns}
    request = TableRequest(FileRequest(path, {}, TINY), specs, {}, {"rows_are_people": True})
    with Analyst(tmp_path) as analyst:
        slow = analyst.ask(count_groups, request, 5)
        assert slow.cancel() or slow.done()
        again = analyst.ask(count_groups, request, 5).result(120)
    assert again.rows == 300_000
    assert again.unique > 290_000


def test_screens_say_that_rows_stay_on_disk_and_what_is_not_offered(project, patients):
    project.memory = TINY

    async def body(user):
        await user.open("/")
        user.find(open.PATH).type(str(patients))
        user.find(kind=ui.button, content=open.OPEN).click()
        await until(lambda: project.is_ready(Step.DESCRIBE) and not project.busy)
        await user.should_see("its rows stay on disk")
        await go_on(user, describe.DESCRIBE_TITLE)
        await go_on(user, group.LEAD)
        await go_on(user, protect.TITLE)
        await user.should_see(protect.METHODS_ON_DISK)
        await user.should_see(private_draw.DRAW_TITLE)
        await until(lambda: project.figures.outlook is not None and project.figures.outlook.exact)
        user.find(common.CREATE).click()
        await until(lambda: bool(project.runs))
        made = await finished(project)
        await user.open("/release")
        for kind, words in release.NOT_ON_DISK.items():
            user.find(release.TABS[kind]).click()
            await user.should_see(words)
        await user.should_not_see(release.PARQUET)
        count = list_nodes(lambda *_: None, made.request, project.workspace / "nodes", None, 0.05)
        assert count["nodes"] > 1

    simulate(project, body)
