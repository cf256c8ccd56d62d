"""Releases: what the app writes is what the command line and Python write."""

from __future__ import annotations

import asyncio
import json
import re
import runpy
import shlex
import shutil
from dataclasses import replace

import pyarrow.csv
import pytest
from hypothesis import given
from tests.examples import examples
from tests.mutants import mutants, put
from tests.web.conftest import finished
from typer.testing import CliRunner

from shoal.cli import app
from shoal.errors import InputError
from shoal.identifiers.keys import Key
from shoal.table.hierarchy import Hierarchy
from shoal.web.project.column_roles import Columns
from shoal.web.project.runs import request_of
from shoal.web.project.saving import apply, list_projects, resume, save

# a recipe leaves the columns out that the person left out, with a warning for each
pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")


async def released(project, path, **changes):
    await project.open(path)
    project.promise(**changes)
    project.start_run()
    return await finished(project)


def run(coroutine):
    return asyncio.run(coroutine)


def repeat_both(run_, folder, source, monkeypatch):
    """Run the recipe of a release as a command and as a program; return what each wrote."""
    written = []
    for way in ("command", "python"):
        place = folder / way
        place.mkdir()
        shutil.copy(run_.files["schema"], place)
        shutil.copy(source, place)
        if (run_.folder / "hierarchies").exists():
            shutil.copytree(run_.folder / "hierarchies", place / "hierarchies")
        monkeypatch.chdir(place)
        if way == "command":
            words = shlex.split(run_.files["command"].read_text())
            outcome = CliRunner().invoke(app, words[1:])
            assert outcome.exit_code == 0, outcome.output
        else:
            runpy.run_path(str(run_.files["python"]))
        written.append((place / run_.request.output).read_bytes())
        assert (place / "report.html").exists()
    return written


@pytest.mark.parametrize(
    "changes",
    [
        {"k": 4},
        {"k": 3, "method": "flash", "options": {"max_suppression": 0.1}, "escape_formulas": True},
    ],
)
def test_the_recipe_repeats_the_release_byte_for_byte(
    project, patients, tmp_path, monkeypatch, changes
):
    done = run(released(project, patients, **changes))
    assert done.state == "done", done.text
    own = done.files["release"].read_bytes()
    assert repeat_both(done, tmp_path, patients, monkeypatch) == [own, own]


def test_the_recipe_repeats_the_title_of_the_report(project, patients, tmp_path, monkeypatch):
    async def body():
        await project.open(patients, name="patients “of 2024”, 'north' $HOME.csv")
        project.promise(k=4)
        project.start_run()
        return await finished(project)

    done = run(body())
    assert done.state == "done", done.text
    title = re.search("<title>(.*?)</title>", done.files["report"].read_text())[1]
    assert "$HOME.csv" in title
    repeat_both(done, tmp_path, patients, monkeypatch)
    for way in ("command", "python"):
        assert f"<title>{title}</title>" in (tmp_path / way / "report.html").read_text()


def test_the_recipe_of_pseudonyms_and_edited_hierarchies_repeats_the_release(
    project, patients, tmp_path, monkeypatch
):
    from shoal.web.project.analyst import hierarchy_of

    key = tmp_path / "key.bin"
    Key.new().write(key)

    async def body():
        await project.open(patients)
        project.change_columns(["patient_id"], replace={"pseudonym": {}})
        project.set_secret(key_file=key, domain="study of “x”")
        tree = await project.ask(hierarchy_of, project.table, "ethnicity")
        project.set_hierarchy("ethnicity", tree)
        project.start_run("with codes")
        return await finished(project)

    done = run(body())
    assert done.state == "done", done.text
    own = done.files["release"].read_bytes()
    assert b"patient_id" in own.splitlines()[0]
    assert repeat_both(done, tmp_path, patients, monkeypatch) == [own, own]


def test_the_summary_agrees_with_the_figures(project, patients):
    async def body():
        done = await released(project, patients, k=6)
        await project._live._task
        return done

    done = run(body())
    assert done.summary["smallest_class"] >= 6
    assert done.summary["cells"]["kept"] == pytest.approx(project.figures.outlook.kept)
    assert set(done.files) == {"schema", "command", "python", "release", "report", "json"}
    assert all(path.exists() for path in done.files.values())


def test_a_promise_that_cannot_be_kept_writes_nothing(project, patients):
    done = run(released(project, patients, k=500))
    assert done.state == "failed"
    assert done.text
    assert not list(done.folder.glob("*.csv"))


def test_names_of_releases_are_unique(project, patients):
    async def body():
        await released(project, patients)
        with pytest.raises(InputError, match="exists"):
            project.start_run("Release 1")
        project.start_run("  ")
        return await finished(project)

    assert run(body()).name == "Release 2"


def test_a_cancelled_release_is_not_listed_as_done(project, patients):
    async def body():
        await project.open(patients)
        made = project.start_run()
        made.job.cancel()
        return await finished(project)

    done = run(body())
    assert done.state == "cancelled"
    assert "release" not in done.files


def test_a_saved_project_continues_with_its_decisions_and_releases(
    project, new_project, patients, tmp_path
):
    folder = tmp_path / "projects" / "study"

    async def first():
        await project.open(patients)
        project.set_role(["cost"], "left out")
        project.promise(k=7)
        project.start_run("the first")
        await finished(project)
        save(project, folder)

    async def second(other):
        await resume(other, folder)

    run(first())
    other = new_project("other")
    run(second(other))
    assert list_projects(folder.parent) == [folder]
    assert other.columns["cost"].role == "left out"
    assert other.guarantee == project.guarantee
    assert [run_.name for run_ in other.runs] == ["the first"]
    assert other.runs[0].files["release"].read_bytes().startswith(b"birth_date")
    assert other.folder == folder
    first_of_all = request_of(project, project.runs[0])
    assert request_of(other, other.runs[0]) == replace(first_of_all, folder=other.runs[0].folder)
    saved = [path.name for path in folder.rglob("*") if path.is_file()]
    assert "release.bin" not in saved
    assert "patients.csv" not in saved


def test_a_saved_upload_asks_for_its_file_again(project, new_project, patients, tmp_path):
    upload = tmp_path / "copy.csv"
    shutil.copy(patients, upload)
    folder = tmp_path / "study"

    async def first():
        await project.open(upload, name="patients.csv", uploaded=True)
        project.promise(k=8)
        save(project, folder)
        project.forget()

    async def second(other):
        await resume(other, folder)
        problem = other.problem
        await other.open(patients)
        return problem

    run(first())
    assert not upload.exists()
    other = new_project("other")
    problem = run(second(other))
    assert "open it again" in problem
    assert other.guarantee.k == 8
    assert other.folder == folder


def test_the_data_is_saved_only_on_request(project, patients, tmp_path):
    async def body():
        await project.open(patients)
        save(project, tmp_path / "with data", with_data=True)
        with pytest.raises(InputError, match="not empty"):
            save(project, tmp_path)

    run(body())
    kept = tmp_path / "with data" / "data" / "patients.csv"
    assert kept.read_bytes() == patients.read_bytes()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_folder_without_a_project_is_refused(project, tmp_path):
    with pytest.raises(InputError, match="not the folder of a saved project"):
        run(resume(project, tmp_path))


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (("runs", 0, "folder"), "../../elsewhere"),
        (("runs", 0, "files", "release"), "../../../secret.csv"),
        (("runs", 0, "files", "release"), "/secret.csv"),
        (("hierarchies", "sex", "file"), "../secret.csv"),
    ],
)
def test_a_saved_project_names_files_of_its_folder_only(
    project, new_project, patients, tmp_path, place, name
):
    folder = tmp_path / "study"

    async def first():
        await released(project, patients, k=7)
        save(project, folder)

    run(first())
    state = json.loads((folder / "project.json").read_text())
    if place[0] == "hierarchies":
        state["hierarchies"]["sex"] = {"origin": "file"}
    part = state
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = name
    (folder / "project.json").write_text(json.dumps(state))
    with pytest.raises(InputError, match=r"becomes a file name|leads out of the folder"):
        run(resume(new_project("other"), folder))


@pytest.fixture
def saved(project, new_project, patients, tmp_path):
    """A saved project as plain data, its folder, and a project with the same file open."""
    folder, other = tmp_path / "study", new_project("other")

    async def body():
        await project.open(patients)
        project.set_role(["patient_id"], "identifier")
        sexes = sorted({row.as_py() for row in pyarrow.csv.read_csv(patients).column("sex")})
        tree = Hierarchy.from_rows([(sex, "any") for sex in sexes], origin="data")
        project.set_hierarchy("sex", tree)
        project.promise(k=7)
        project.start_run("the first")
        assert (await finished(project)).state == "done"
        project.change_columns(["patient_id"], replace={"pseudonym": {"length": 20}})
        save(project, folder)
        await other.open(patients)

    run(body())
    other.refresh = lambda: None
    return json.loads((folder / "project.json").read_text()), folder, other


def held(project):
    """Return what a project holds that a saved one can change."""
    known = list(project.columns), dict(project.hierarchies), project.guarantee, list(project.runs)
    return (*known, project.source, project.key_file, project.domain, project.folder)


def test_a_saved_project_with_a_wrong_part_is_refused_and_changes_nothing(saved):
    state, folder, other = saved
    before = held(other)

    @examples(120, 1500)
    @given(mutants(state, ["quasi", "mondrian", "l-diversity", "hierarchies/sex.csv", "[]"]))
    def check(document):
        (folder / "project.json").write_text(json.dumps(document))
        try:
            apply(other, folder)
        except InputError:
            assert held(other) == before
            return
        other.columns.specs, other.trees, other.table, other.guarantee.model  # noqa: B018
        other.columns = Columns(before[0])
        other.hierarchies, other.guarantee, other.runs = dict(before[1]), before[2], before[3]
        other.source, other.key_file, other.domain, other.folder = before[4:]

    check()


@pytest.mark.parametrize(
    ("place", "part", "said"),
    [
        (("source", "form"), {"name": "x"}, "source.form: no entry 'name'"),
        (("source", "person"), ["nobody"], "source.person names no column of the file"),
        (("columns", "sex", "role"), "king", "columns.sex: its role or kind is unknown"),
        (("columns", "sex", "declared"), {"bounds": 3}, "column 'sex': bounds must be two values"),
        (("columns", "patient_id", "replace"), {"hash": {}}, "a hash without a key"),
        (("hierarchies", "sex", "recipe"), "[]", "hierarchies.sex.recipe is not a recipe"),
        (("hierarchies", "sex", "origin"), "sky", "hierarchies.sex.origin must be one of"),
        (("guarantee", "k"), 1, "guarantee: k must be a whole number, 2 or more"),
        (("guarantee", "method"), "magic", "guarantee: no method 'magic'"),
        (("guarantee", "options"), {"strict": 5}, "guarantee: strict must be one of True, False"),
        (("guarantee", "sentences"), [{"model": "k-map", "column": "sex", "value": 2}],
         "guarantee: sentences: model must be one of l-diversity"),
        (("runs", 0, "files"), {}, "runs[0].files.release is missing"),
        (("runs", 0, "summary"), None, "runs[0].summary must be a mapping"),
    ],
)  # fmt: skip
def test_a_saved_project_is_refused_with_the_name_of_its_part(saved, place, part, said):
    state, folder, other = saved
    (folder / "project.json").write_text(json.dumps(put(state, place, part)))
    with pytest.raises(InputError) as raised:
        apply(other, folder)
    assert said in str(raised.value)
    assert str(folder / "project.json") in str(raised.value)
